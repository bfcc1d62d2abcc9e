package chaos

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Loads of rounds with wide instances: what changes more places than one transaction takes. Their starts and ends
// are decided in one commit and written in several, and nodes are lost between any two.
var wideDefinitions = []string{`
id: wide
root:
  - fork:
    - parallelForEach: ${{ 1..1300 }}
      body: {runTask: wide}
    - delay: 1500ms
    joinMode: WaitAny
  - writeLine: narrow
`}

// wide starts an instance that waits for 1,300 tasks, until its timeout ends them all, or a cancel or a delete.
func (c *caller) wide(ctx context.Context) {
	id := c.name("wide")
	if c.start(ctx, "wide", id, "", "", "start-"+id, nil) != ok {
		return
	}
	c.e.count("wide instances")
	if c.draw(2) == 0 { // its timeout comes
		return
	}
	var wg sync.WaitGroup
	for range 1 + c.draw(2) {
		kind := []string{"cancel", "delete"}[c.draw(2)]
		wg.Go(func() { c.end(ctx, kind, id) })
	}
	wg.Wait()
}

// interrupt loses the owner of what is decided and not written yet, somewhere between its transactions, of two in
// three, until ctx ends.
func (e *evidence) interrupt(ctx context.Context, r *rand.Rand, lose func(ctx context.Context, instance string) bool) {
	for {
		select {
		case id := <-e.history.unwritten:
			wait(ctx, time.Duration(r.IntN(60))*time.Millisecond)
			if r.IntN(3) > 0 && lose(ctx, id) {
				e.count("owners lost behind a decision, or soon after")
			}
		case <-ctx.Done():
			return
		}
	}
}

// decided notes that a commit left something to be written, and what came of that: it was written by the owner who had
// decided it, or by another.
func (h *history) decided(id string, l *life, was, now bool) {
	switch {
	case now && !was:
		l.decidedBy = l.fence
		select {
		case h.unwritten <- id:
		default:
		}
	case was && !now:
		if h.widened++; l.decidedBy != l.fence {
			h.widenedOn++
		}
	}
}
