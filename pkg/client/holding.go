package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// ownership is an instance that is owned: a cluster lock or a process-local one.
type ownership interface {
	Context() context.Context // ends when the ownership is lost
	Fence() *store.Fence      // nil: guarded by the revision only
	Release(ctx context.Context) error
	Released() // a commit has freed the lock already
}

// taker takes an instance and loads it, no earlier than it is taken. along names
// what is read with it.
type taker func(ctx context.Context, along along) (ownership, *store.Loaded, error)

// along is what taking an instance reads for the sake of the first command: the
// record of a caller's Idempotency-Key, the head of the definition that is
// started.
type along struct {
	key, definition string
	head            int64 // of the definition, as it was planned with
}

func alongFor(cmd *workflow.Command) (a along) {
	if cmd == nil {
		return a
	}
	if cmd.Key != nil {
		a.key = cmd.Key.Name
	}
	if cmd.Start != nil && cmd.Start.Head > 0 {
		a.definition, a.head = cmd.Start.DefinitionID, cmd.Start.Head
	}
	return a
}

// waiter is a command in hand, and who waits for it.
type waiter struct {
	cmd     workflow.Command
	created int64 // of its mailbox key, once it was made durable; guarded by holding.mu
	taken   bool  // part of the burst under way; guarded by holding.mu
	applied bool  // by a commit after which the burst went on; guarded by holding.mu

	done   chan struct{} // closed once result and err are set
	result Result
	err    error
}

func (w *waiter) finish(r Result, err error) {
	select {
	case <-w.done:
	default:
		w.result, w.err = r, err
		close(w.done)
	}
}

// holding is one instance in this node's hands, from taking to release. Its
// goroutine runs [holding.run]; waiters look in through await.
type holding struct {
	n         *Node
	id        string
	key       string    // the record that was read along
	own       ownership // guarded by mu
	recovered bool
	cut       bool // ended by the limit on rounds; used by run only
	began     time.Time
	taken     time.Time
	untold    bool // nobody was there yet to show the taking of the lock to; used by run only
	done      chan struct{}
	err       error // set before done is closed

	writing chan struct{} // capacity 1: who writes for this instance, burst or late durability

	mu     sync.Mutex
	inbox  []*waiter     // guarded by mu
	closed bool          // guarded by mu; no more offers
	base   *store.Record // as last committed, nil: absent; guarded by mu
	seen   int64         // mail up to this revision is known; used by run only
	loaded *store.Loaded // what taking the instance brought; used by run only
	active []*waiter     // part of the burst under way; guarded by mu
	partly []*waiter     // their commands were applied, and the burst goes on; guarded by mu
	burst  *engine.Burst // guarded by mu; nil between bursts
	ctx    context.Context
	stop   context.CancelCauseFunc // guarded by mu
	over   bool                    // guarded by mu; own is given back
}

func newHolding(n *Node, id string) *holding {
	return &holding{n: n, id: id, began: time.Now(), done: make(chan struct{}), writing: make(chan struct{}, 1)}
}

// offer hands in a command, none if w is nil. It returns the waiter to wait for
// (the twin's, if the same call is here already; nil if the hands are full), and
// whether the holding is still open.
func (h *holding) offer(w *waiter) (*waiter, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || w == nil {
		return nil, !h.closed
	}
	for _, twin := range slices.Concat(h.active, h.partly, h.inbox) {
		if twin.cmd.ID == w.cmd.ID {
			return twin, true
		}
	}
	if len(h.inbox) >= inboxLimit {
		return nil, true
	}
	h.inbox = append(h.inbox, w)
	return w, true
}

// answerTwins answers the waiters whose key had been used before.
func (h *holding) answerTwins(name string, a *store.Answer) {
	if a == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inbox = slices.DeleteFunc(h.inbox, func(w *waiter) bool {
		if w.cmd.Key == nil || w.cmd.Key.Name != name {
			return false
		}
		w.finish(Result{Answer: a}, nil)
		return true
	})
}

// refuseStale sends back a start whose definition has another head by now than
// the one its version was taken from: it would run what is no longer published.
func (h *holding) refuseStale(head int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inbox = slices.DeleteFunc(h.inbox, func(w *waiter) bool {
		if w.cmd.Start == nil || w.cmd.Start.Head == 0 || w.cmd.Start.Head == head {
			return false
		}
		w.finish(Result{}, moved(&w.cmd))
		return true
	})
}

// giveBack puts commands that were taken, and not applied, in front of the
// inbox again; active are those that the burst goes on with.
func (h *holding) giveBack(hands []*waiter, active ...*waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range hands {
		w.taken = false
	}
	h.inbox = append(slices.Clone(hands), h.inbox...)
	h.active = active
}

func (h *holding) interrupt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.burst != nil {
		h.burst.Interrupt()
	}
}

func (h *holding) cancel(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop(cause)
	}
}

// batch is what one burst works on.
type batch struct {
	mail  []store.Mail
	hands []*waiter
	more  bool // the mailbox holds more
}

func (b *batch) empty() bool { return len(b.mail) == 0 && len(b.hands) == 0 }

// take gets the instance and what is known of it.
func (h *holding) take(ctx context.Context, take taker, cmd *workflow.Command) error {
	a := alongFor(cmd)
	own, loaded, err := take(ctx, a)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own, h.key = own, a.key
	h.taken, h.untold = time.Now(), !tracing.Recorded(ctx)
	h.ctx, h.stop = context.WithCancelCause(tracing.Quiet(own.Context()))
	h.first(loaded)
	return nil
}

// first notes what was loaded; mu is held.
func (h *holding) first(l *store.Loaded) {
	h.base, h.seen, h.loaded = l.Record, l.Revision, l
}

// run works the instance until there is nothing left to do or the lock is lost.
func (h *holding) run() {
	err := h.rounds(h.ctx)
	h.end(err)
}

// rounds is the loop of the package comment.
func (h *holding) rounds(ctx context.Context) error {
	mail, more := h.loaded.Mail, h.loaded.More
	h.answerTwins(h.key, h.loaded.Answer)
	h.refuseStale(h.loaded.Head)
	for round := 0; ; round++ {
		work := h.collect(mail, more)
		if work.empty() {
			released, left, err := h.leaveIfIdle(ctx)
			if released || err != nil {
				return err
			}
			mail = left
			continue
		}
		next, released, err := h.step(ctx, work, round >= h.n.cfg.Rounds)
		if released || err != nil {
			return err
		}
		mail, more = next.mail, next.more
		if round >= h.n.cfg.Rounds {
			// Others may want the lock. What is left is in the mailbox, or goes back
			// to its waiter.
			h.cut = true
			return nil
		}
	}
}

// collect takes the commands in hand for the next burst. After a takeover one
// command goes at a time, so that a poisonous one harms no other.
func (h *holding) collect(mail []store.Mail, more bool) batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	mail = endsFirst(mail)
	if h.recovered && len(mail) > 0 {
		return batch{mail: mail[:1], more: more || len(mail) > 1}
	}
	b := batch{mail: mail, more: more, hands: h.inbox[:min(len(h.inbox), handBatch)]}
	h.inbox = h.inbox[len(b.hands):]
	for _, w := range b.hands {
		w.taken = true
		// A twin of this call on another node may have put it into the mailbox.
		for i, m := range b.mail {
			if m.Command.ID == w.cmd.ID {
				w.created = m.Created
				b.mail = slices.Delete(slices.Clone(b.mail), i, i+1)
				break
			}
		}
	}
	h.active = b.hands
	return b
}

// endsFirst puts what ends the instance in front of the rest of a burst that is to
// go on: it keeps its place as the oldest, however often it goes on.
func endsFirst(mail []store.Mail) []store.Mail {
	if len(mail) < 2 || mail[0].Command.ID != workflow.ContinueID {
		return mail
	}
	ends := func(m *store.Mail) int {
		if k := m.Command.Kind; k == workflow.CommandCancel || k == workflow.CommandDelete {
			return 0
		}
		return 1
	}
	mail = slices.Clone(mail)
	slices.SortStableFunc(mail, func(a, b store.Mail) int { return ends(&a) - ends(&b) })
	return mail
}

// handBatch bounds the commands in hand that one burst takes.
const handBatch = 100

// idle reports whether nobody has handed in anything.
func (h *holding) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.inbox) == 0
}

// leaveIfIdle releases the lock if the mailbox holds nothing new.
func (h *holding) leaveIfIdle(ctx context.Context) (bool, []store.Mail, error) {
	h.writing <- struct{}{}
	defer func() { <-h.writing }()
	if _, ok := h.owner().(*begun); ok {
		return true, nil, nil // nothing was written, so nobody can have sent it anything
	}
	f := h.owner().Fence()
	if f == nil { // nothing to compare and delete: look, then let go
		l, err := h.n.cfg.Store.Load(ctx, h.id, "", "")
		if err != nil || len(l.Mail) == 0 {
			return true, nil, err
		}
		return false, l.Mail, nil
	}
	kept, err := h.n.cfg.Store.Release(ctx, *f, h.id, h.seen)
	switch {
	case errors.Is(err, store.ErrFenced):
		return true, nil, err
	case err != nil:
		// end releases through the handle, which knows how to clean up
		return true, nil, nil
	case kept == nil:
		h.mu.Lock()
		h.own.Released()
		h.closed = true
		h.mu.Unlock()
		return true, nil, nil
	}
	h.seen = kept.Revision
	return false, kept.Mail, nil
}

// end gives everything back: the lock, the waiters that were not served, the
// place in the node's table.
func (h *holding) end(err error) {
	n := h.n
	n.forget(h)
	h.stop(nil)
	h.mu.Lock()
	h.over = true
	own := h.own
	h.mu.Unlock()
	if errors.Is(err, store.ErrFenced) {
		own.Released() // there is nothing to delete
	} else {
		// With the key goes what a commit of unknown outcome was to be proved by.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), releaseTimeout)
		defer cancel()
		if rerr := own.Release(ctx); rerr != nil {
			// The work is done; the lease frees the lock at the latest.
			n.cfg.Log.Warn("lock not released; its lease will free it", "instanceId", h.id, "error", rerr)
		}
	}
	if err == nil {
		err = errLeft
	}
	h.finish(err)
	if h.cut {
		n.cfg.Hint([]string{h.id}, false)
	}
}

const releaseTimeout = 5 * time.Second

// finish answers everybody who is left.
func (h *holding) finish(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.err = err
	if errors.Is(err, errLeft) {
		h.err = nil
	}
	h.answer(h.base, true)
	for _, w := range h.inbox {
		w.finish(Result{}, err)
	}
	h.inbox = nil
	close(h.done)
}
