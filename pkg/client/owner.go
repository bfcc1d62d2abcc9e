package client

import (
	"context"
	"errors"
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

// acquireFunc takes an instance and loads it, no earlier than it is taken. preload names
// what is read with it.
type acquireFunc func(ctx context.Context, preload preload) (ownership, *store.Loaded, error)

// preload is what taking an instance reads for the sake of the first command: the
// record of a caller's Idempotency-Key, the head of the definition that is
// started.
type preload struct {
	key, definition string
	head            int64 // of the definition, as it was planned with
}

func preloadFor(cmd *workflow.Command) (a preload) {
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

// owner is one instance in this node's hands, from taking to release. Its
// goroutine runs [owner.run]; waiters look in through await.
type owner struct {
	n         *Node
	id        string
	key       string    // the record that was that was read along
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

	inbox inbox

	mu     sync.Mutex
	mark   *mark         // of this process at the command of the burst; guarded by mu
	base   *store.Record // as last committed, nil: absent; guarded by mu
	seen   int64         // mail up to this revision is known; used by run only
	loaded *store.Loaded // what taking the instance brought; used by run only
	blind  bool          // stimuli that were queued before its bookmarks were not looked for yet; used by run only
	burst  *engine.Burst // guarded by mu; nil between bursts
	ctx    context.Context
	stop   context.CancelCauseFunc // guarded by mu; nil until the instance is taken
	drop   error                   // why it is dropped, also when it is taken only later; guarded by mu
	over   bool                    // guarded by mu; own is given back
}

func newOwner(n *Node, id string) *owner {
	return &owner{n: n, id: id, began: time.Now(), done: make(chan struct{}), writing: make(chan struct{}, 1)}
}

// answerTwins answers the waiters whose key had been used before.
func (o *owner) answerTwins(name string, a *store.Answer) {
	if a == nil {
		return
	}
	o.inbox.answerWaiting(func(w *waiter) (Result, error, bool) {
		return Result{Answer: a}, nil, w.cmd.Key != nil && w.cmd.Key.Name == name
	})
}

// refuseStale sends back a start whose definition has another head by now than
// the one its version was taken from: it would run what is no longer published.
func (o *owner) refuseStale(head int64) {
	o.inbox.answerWaiting(func(w *waiter) (Result, error, bool) {
		return Result{}, moved(&w.cmd), w.cmd.Start != nil && w.cmd.Start.Head != 0 && w.cmd.Start.Head != head
	})
}

func (o *owner) interrupt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.burst != nil {
		o.burst.Interrupt()
	}
}

func (o *owner) cancel(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop = cause
	if o.stop != nil {
		o.stop(cause)
	}
}

// take gets the instance and what is known of it.
func (o *owner) take(ctx context.Context, take acquireFunc, cmd *workflow.Command) error {
	a := preloadFor(cmd)
	o.inbox.looks()
	own, loaded, err := take(ctx, a)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.own, o.key = own, a.key
	o.taken, o.untold = time.Now(), !tracing.Recorded(ctx)
	o.ctx, o.stop = context.WithCancelCause(tracing.Quiet(own.Context()))
	if o.drop != nil {
		o.stop(o.drop)
	}
	o.first(loaded)
	return nil
}

// first notes what was loaded; mu is held.
func (o *owner) first(l *store.Loaded) {
	o.base, o.seen, o.found, o.loaded = l.Record, l.Revision, l.Revision, l
}

// run works the instance until there is nothing left to do or the lock is lost.
func (o *owner) run() {
	err := o.rounds(o.ctx)
	o.end(err)
}

// rounds is the loop of the package comment.
func (o *owner) rounds(ctx context.Context) error {
	mail, more := o.loaded.Mail, o.loaded.More
	o.answerTwins(o.key, o.loaded.Answer)
	o.refuseStale(o.loaded.Head)
	for round := 0; ; round++ {
		work, err := o.collectEnd(ctx, mail, more)
		if err != nil {
			return err
		}
		if work.empty() && o.crowded {
			return ErrCrowded
		}
		if work.empty() {
			released, left, err := o.leaveIfIdle(ctx)
			if released || err != nil {
				return err
			}
			mail = left
			continue
		}
		next, released, err := o.step(ctx, work, round >= o.n.cfg.Rounds)
		if released || err != nil {
			return err
		}
		mail, more = next.mail, next.more
		if round >= o.n.cfg.Rounds {
			if o.blind { // the next owner would not know
				hd := o.header()
				if _, _, err := o.lookQueue(ctx, &hd); err != nil {
					return err
				}
			}
			// Others may want the lock. What is left is in the mailbox, or goes back
			// to its waiter.
			o.cut = true
			return nil
		}
	}
}

// leaveIfIdle releases the lock if the mailbox holds nothing new.
func (o *owner) leaveIfIdle(ctx context.Context) (bool, []store.Mail, error) {
	o.writing <- struct{}{}
	defer func() { <-o.writing }()
	if _, ok := o.ownership().(*unlockedStart); ok {
		return true, nil, nil // nothing was written, so nobody can have sent it anything
	}
	o.inbox.looks()
	f := o.ownership().Fence()
	if f == nil { // nothing to compare and delete: look, then let go
		l, err := o.n.cfg.Store.Load(ctx, o.id, "", "")
		if err != nil || !o.anyAwake(l.Mail) {
			return true, nil, err
		}
		return false, l.Mail, nil
	}
	kept, err := o.n.cfg.Store.Release(ctx, *f, o.id, o.seen)
	switch {
	case errors.Is(err, store.ErrFenced):
		return true, nil, err
	case err != nil:
		// end releases through the handle, which knows how to clean up
		return true, nil, nil
	case kept == nil:
		o.mu.Lock()
		o.own.Released()
		o.mu.Unlock()
		o.inbox.shut()
		return true, nil, nil
	}
	o.seen = kept.Revision
	// Behind what rests may lie more than one look reads, so that the lock would never
	// be free of new mail: a sweep looks again.
	return !o.anyAwake(kept.Mail), kept.Mail, nil
}

// anyAwake tells whether there is mail to work.
func (o *owner) anyAwake(mail []store.Mail) bool {
	now := o.header()
	o.inbox.choose(func(c *choice) { mail, _ = o.awake(c, now, mail) })
	return len(mail) > 0
}

// end gives everything back: the lock, the waiters that were not served, the
// place in the node's table.
func (o *owner) end(err error) {
	n := o.n
	if o.place != nil {
		defer n.places.leave(*o.place)
	}
	defer n.quarantine.leave(o)
	n.forget(o)
	o.stop(nil)
	o.mu.Lock()
	o.over = true
	own := o.own
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), releaseTimeout)
	defer cancel()
	o.takeBackMark(ctx) // before others have the instance
	if errors.Is(err, store.ErrFenced) {
		own.Released() // there is nothing to delete
	} else {
		// With the key goes what a commit of unknown outcome was to be proved by.
		if rerr := own.Release(ctx); rerr != nil {
			// The work is done; the lease frees the lock at the latest.
			n.cfg.Log.Warn("lock not released; its lease will free it", "instanceId", o.id, "error", rerr)
		}
	}
	if err == nil {
		err = errLeft
	}
	o.finish(err)
	if o.cut || o.inbox.unseen() {
		n.cfg.Hint([]string{o.id}, false)
	}
}

const releaseTimeout = 5 * time.Second

// finish answers everybody who is left.
func (o *owner) finish(err error) {
	now, after := o.header(), headerOf(o.committed())
	o.err = err
	if errors.Is(err, errLeft) {
		o.err = nil
	}
	o.inbox.close(after, func(w *waiter) (Result, error) {
		if errors.Is(err, errLeft) || errors.Is(err, ErrBusy) || errors.Is(err, ErrCrowded) || workflow.CodeOf(err) != "" {
			return Result{}, err
		}
		return w.acceptedOr(now, unavailable("this node lost instance "+o.id+" before it could run the command", err))
	})
	close(o.done)
}
