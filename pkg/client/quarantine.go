package client

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// After a death others take over all that the process ran: the command that it died
// of, and its neighbours. All of them are marked when the next one dies. So a command
// whose next death makes it poison is a suspect, and begins only while no other suspect
// runs in this process: a death then decides about one of them, in the end about the
// one that is the cause. Commands with fewer marks do not wait, nor does what ends an
// instance.

// decides tells whether a command becomes poison if this process ends while it runs
// it. Marks count here whether or not their process is gone: it may be about to.
func (n *Node) decides(cmd *workflow.Command) bool {
	if ends(cmd.Kind) {
		return false
	}
	others := slices.DeleteFunc(n.recent(cmd.Begun), func(b workflow.Begun) bool { return b.Process == n.cfg.Process })
	return len(others) > 0 && len(others) >= n.cfg.Deaths-1
}

// quarantine is the one place for suspects in this process. Who finds it taken waits
// in memory, as others do for [places]: its instance is let go, and it stays in the
// mailbox, where every node finds it.
type quarantine struct {
	wakeups Wakeups

	mu     sync.Mutex
	in     *handle               // that runs one; guarded by mu
	queued map[suspect]time.Time // who waits, since it was last found so; guarded by mu
	line   []suspect             // the same, in order, with some who do not any more; guarded by mu
	called string                // instance of the one that was woken, and not seen yet; guarded by mu
}

type suspect struct{ instance, command string }

// full tells whether the place is taken by another instance; then s waits for it.
func (q *quarantine) full(s suspect) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.in == nil || q.in.id == s.instance {
		return false
	}
	q.wait(s)
	return true
}

// wait needs mu.
func (q *quarantine) wait(s suspect) {
	if q.queued == nil {
		q.queued = map[suspect]time.Time{}
	}
	if _, ok := q.queued[s]; !ok {
		q.line = append(q.line, s)
	}
	q.queued[s] = time.Now()
}

// enter takes the place for a command of an owner; if it is taken, that waits.
func (q *quarantine) enter(h *handle, command string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := suspect{h.id, command}
	if q.in != nil && q.in != h {
		q.wait(s)
		return false
	}
	q.in = h
	delete(q.queued, s)
	return true
}

// leave gives the place back, if this owner has it.
func (q *quarantine) leave(h *handle) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.in == h {
		q.in = nil
		q.call()
	}
}

// call wakes the next; mu is held, and the place free.
func (q *quarantine) call() {
	for len(q.line) > 0 {
		s := q.line[0]
		q.line = q.line[1:]
		if _, ok := q.queued[s]; ok {
			delete(q.queued, s)
			q.called = s.instance
			q.wakeups.Again(s.instance, true)
			return
		}
	}
	q.called = ""
}

// seen notes that a try for an instance is over. If it was called and is not in the
// place, as another node was faster, the next has its turn.
func (q *quarantine) seen(instance string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.called != instance {
		return
	}
	q.called = ""
	if q.in == nil {
		q.call()
	}
}

// keep forgets who has no mail any more, wakes the next if nobody has the place, and
// tells how many instances wait.
func (q *quarantine) keep(mailed map[string]bool) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := map[string]bool{}
	q.line = slices.DeleteFunc(q.line, func(s suspect) bool {
		if !mailed[s.instance] {
			delete(q.queued, s)
		}
		_, waits := q.queued[s]
		if waits {
			waiting[s.instance] = true
		}
		return !waits
	})
	if q.in == nil {
		q.call()
	}
	return len(waiting)
}

// waits tells whether there is no use in a try for s. Once a minute there is: its marks
// count no more in the end, however long the one in the place takes.
func (q *quarantine) waits(s suspect) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	since, ok := q.queued[s]
	return ok && time.Since(since) < restMost
}

// isolate takes the quarantine for the one command of a batch that is counted, if it
// needs it.
func (o *owner) isolate(ctx context.Context, cmd *workflow.Command) bool {
	n := o.n
	if !n.decides(cmd) {
		return true
	}
	if !n.quarantine.enter(o.handle, cmd.ID) {
		return false
	}
	n.cfg.Metrics.Suspect()
	n.cfg.Log.WarnContext(ctx, "a command runs again that processes ended with; if this one does, it is not run any more. No other such command runs here until then",
		"instanceId", o.id, "commandId", cmd.ID, "kind", cmd.Kind, "attempt", cmd.Attempts+1, "ended", n.ended(cmd))
	return true
}
