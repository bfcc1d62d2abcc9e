package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/engine"
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
	found     int64  // revision at which it was taken: what came later nobody left; set before run
	cut       bool   // ended by the limit on rounds; used by run only
	atMost    int    // commands a burst takes, since more were too large; 0: no limit; used by run only
	place     *want  // in the node's crowd; used by run only
	crowded   bool   // there is no place for it: only what ends the instance is run; used by run only
	ending    bool   // what ends the instance was run, and needs more commits; used by run only
	placed    func() // told when it has one; nil: nobody is; used by run only
	deletion  string // the command that comes again until all children are told; used by run only
	unfit     string // id of a command that is set aside, as it does not fit a commit; used by run only
	unfitFor  string // what is said of it; used by run only
	began     time.Time
	taken     time.Time
	untold    bool // nobody was there yet to show the taking of the lock to; used by run only
	done      chan struct{}
	err       error // set before done is closed

	writing chan struct{} // capacity 1: who writes for this instance, burst or late durability

	mu     sync.Mutex
	inbox  []*waiter     // guarded by mu
	closed bool          // guarded by mu; no more offers
	hinted bool          // guarded by mu; somebody told of mail since the last look into the mailbox began
	mark   *mark         // of this process at the command of the burst; guarded by mu
	base   *store.Record // as last committed, nil: absent; guarded by mu
	seen   int64         // mail up to this revision is known; used by run only
	loaded *store.Loaded // what taking the instance brought; used by run only
	blind  bool          // stimuli that were queued before its bookmarks were not looked for yet; used by run only
	active []*waiter     // part of the burst under way; guarded by mu
	partly []*waiter     // their commands were applied, and the burst goes on; guarded by mu
	burst  *engine.Burst // guarded by mu; nil between bursts
	ctx    context.Context
	stop   context.CancelCauseFunc // guarded by mu; nil until the instance is taken
	drop   error                   // why it is dropped, also when it is taken only later; guarded by mu
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
	if h.closed {
		return nil, false
	}
	if w == nil {
		h.hinted = true
		return nil, true
	}
	for _, twin := range slices.Concat(h.active, h.partly, h.inbox) {
		if twin.cmd.ID != w.cmd.ID {
			continue
		}
		if k, other := w.cmd.Key, twin.cmd.Key; k != nil && other != nil && (k.BodyHash != other.BodyHash || !sameGuard(k.Guard, other.Guard)) {
			w.finish(Result{}, workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key is in use for another request; use a new key for a new request"))
			return w, true
		}
		return twin, true
	}
	if len(h.inbox) >= inboxLimit {
		return nil, true
	}
	h.inbox = append(h.inbox, w)
	return w, true
}

func sameGuard(a, b *workflow.Guard) bool {
	return a == b || a != nil && b != nil && *a == *b
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

// durable is the create revision of a command's mailbox key, 0 while it is only in
// hand.
func (h *holding) durable(w *waiter) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.created
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
	h.drop = cause
	if h.stop != nil {
		h.stop(cause)
	}
}

// take gets the instance and what is known of it.
func (h *holding) take(ctx context.Context, take taker, cmd *workflow.Command) error {
	a := alongFor(cmd)
	h.looks()
	own, loaded, err := take(ctx, a)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own, h.key = own, a.key
	h.taken, h.untold = time.Now(), !tracing.Recorded(ctx)
	h.ctx, h.stop = context.WithCancelCause(tracing.Quiet(own.Context()))
	if h.drop != nil {
		h.stop(h.drop)
	}
	h.first(loaded)
	return nil
}

// first notes what was loaded; mu is held.
func (h *holding) first(l *store.Loaded) {
	h.base, h.seen, h.found, h.loaded = l.Record, l.Revision, l.Revision, l
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
		work, err := h.collectEnd(ctx, mail, more)
		if err != nil {
			return err
		}
		if work.empty() && h.crowded {
			return ErrCrowded
		}
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
			if h.blind { // the next holding would not know
				h.mu.Lock()
				hd := h.header()
				h.mu.Unlock()
				if _, _, err := h.lookQueue(ctx, &hd); err != nil {
					return err
				}
			}
			// Others may want the lock. What is left is in the mailbox, or goes back
			// to its waiter.
			h.cut = true
			return nil
		}
	}
}

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
	h.looks()
	f := h.owner().Fence()
	if f == nil { // nothing to compare and delete: look, then let go
		l, err := h.n.cfg.Store.Load(ctx, h.id, "", "")
		if err != nil || !h.anyAwake(l.Mail) {
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
	// Behind what rests may lie more than one look reads, so that the lock would never
	// be free of new mail: a sweep looks again.
	return !h.anyAwake(kept.Mail), kept.Mail, nil
}

// anyAwake tells whether there is mail to work.
func (h *holding) anyAwake(mail []store.Mail) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	mail, _ = h.awake(mail)
	return len(mail) > 0
}

// end gives everything back: the lock, the waiters that were not served, the
// place in the node's table.
func (h *holding) end(err error) {
	n := h.n
	if h.place != nil {
		defer n.places.leave(*h.place)
	}
	defer n.quarantine.leave(h)
	n.forget(h)
	h.stop(nil)
	h.mu.Lock()
	h.over = true
	own := h.own
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), releaseTimeout)
	defer cancel()
	h.takeBackMark(ctx) // before others have the instance
	if errors.Is(err, store.ErrFenced) {
		own.Released() // there is nothing to delete
	} else {
		// With the key goes what a commit of unknown outcome was to be proved by.
		if rerr := own.Release(ctx); rerr != nil {
			// The work is done; the lease frees the lock at the latest.
			n.cfg.Log.Warn("lock not released; its lease will free it", "instanceId", h.id, "error", rerr)
		}
	}
	if err == nil {
		err = errLeft
	}
	h.finish(err)
	if h.cut || h.hinted {
		n.cfg.Hint([]string{h.id}, false)
	}
}

// looks is called before the mailbox is looked at, which may be as part of a commit:
// what was told until then is seen.
func (h *holding) looks() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hinted = false
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
		switch {
		case errors.Is(err, errLeft), errors.Is(err, ErrBusy), errors.Is(err, ErrCrowded), workflow.CodeOf(err) != "":
			w.finish(Result{}, err)
		case w.created > 0: // a burst had taken it, and gave it back
			w.finish(Result{Accepted: true, Instance: h.header()}, nil)
		default:
			w.finish(Result{}, unavailable("this node lost instance "+h.id+" before it could run the command", err))
		}
	}
	h.inbox = nil
	close(h.done)
}
