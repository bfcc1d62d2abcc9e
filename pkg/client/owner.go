package client

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// handle is an owner as other goroutines see it: they hand in commands, and ask. It is
// there from before the instance is taken until everybody is answered.
type handle struct {
	n  *Node
	id string

	inbox   inbox
	desk    desk
	paused  atomic.Pointer[engine.Doing] // what the burst was at that goes on after a pause; nil: none does
	news    chan struct{}                // something came for the instance; it wakes an owner that pauses
	running atomic.Pointer[engine.Burst] // the burst that runs; nil: none does

	interrupted atomic.Bool // since the mailbox was read, and while no burst ran

	done chan struct{} // closed when everybody is answered
	err  error         // set before done is closed
}

func newHandle(n *Node, id string) *handle {
	return &handle{n: n, id: id, news: make(chan struct{}, 1), done: make(chan struct{})}
}

// hand gives the owner a command, or tells it of mail if w is nil. It is not open when
// it takes no more.
func (h *handle) hand(w *waiter) (joined *waiter, open bool, err error) {
	defer h.wake()
	if w == nil {
		return nil, h.inbox.tell(), nil
	}
	if joined, open = h.inbox.offer(w); open && joined == nil {
		err = ErrBusy // its inbox is full
	}
	return joined, open, err
}

// wake ends a pause of the owner.
func (h *handle) wake() {
	select {
	case h.news <- struct{}{}:
	default:
	}
}

// interrupt makes the burst that runs, if there is one, end, as [engine.Burst.Interrupt] says; else
// the next one, unless the mailbox is read before it. Before a call ends that was interrupted for
// nothing, the mailbox is asked whether there is a reason by now.
func (h *handle) interrupt() {
	h.interrupted.Store(true)
	defer h.wake()
	b := h.running.Load()
	if b == nil {
		return
	}
	h.interrupted.Store(false)
	if !b.Interrupt() {
		return
	}
	h.desk.ask(func(o *owner) {
		id, err := o.n.cfg.Store.Interrupted(o.ctx, o.id)
		if err != nil || id == "" {
			return // the sweep behind the watch asks again
		}
		if end, err := o.n.cfg.Store.Mail(o.ctx, o.id, id); err == nil && end != nil {
			b.End(end.Command.Kind)
		}
	})
}

// close answers everybody who is left.
func (h *handle) close(base *store.Record, err error) {
	if h.err = err; errors.Is(err, errLeft) {
		h.err = nil
	}
	now := h.known(base)
	h.inbox.close(headerOf(base), func(w *waiter) (Result, error) {
		if errors.Is(err, errLeft) || errors.Is(err, ErrBusy) || errors.Is(err, admission.ErrCrowded) || workflow.CodeOf(err) != "" {
			return Result{}, err
		}
		return w.acceptedOr(now, unavailable("this node lost instance "+h.id+" before it could run the command", err))
	})
	close(h.done)
}

// known is what a record says of the instance, or its id only.
func (h *handle) known(r *store.Record) workflow.Instance {
	if r == nil {
		return workflow.Instance{ID: h.id}
	}
	return r.Header
}

func headerOf(r *store.Record) workflow.Instance {
	if r == nil {
		return workflow.Instance{}
	}
	return r.Header
}

// owner works one instance, from when it is taken to its release. All that is here
// belongs to the goroutine of [owner.run], and while that runs a burst to who serves at
// the desk.
type owner struct {
	*handle
	ctx    context.Context // ends when the ownership is lost, or the time of the node is over
	stop   context.CancelCauseFunc
	undrop func() bool             // lets go of what the end of the node's time does to ctx
	drop   context.CancelCauseFunc // of the burst that runs without the lock, for who serves at the desk
	traced context.Context         // of the burst that runs: what is done for it is in its trace

	own    ownership
	taken  taken
	base   *store.Record // as last committed; nil: absent
	live   warm.Instance
	seen   int64 // mail up to this revision is known
	mark   *mark // of this process at the command of the burst; nil: none
	seat   seat
	course course
}

// taken is how the instance was taken.
type taken struct {
	recovered bool  // a sweep found its mail
	at        int64 // revision: what came later nobody left
	wentOn    bool  // a burst goes on after a commit: its ~continue, which stays as old as it was, is this owner's by now
	lock      lockWait
}

// lockWait is how long the lock was waited for, until a trace shows it; then, and
// without tracing, it is zero.
type lockWait struct{ from, till time.Time }

// course is what the rounds so far say about the next one.
type course struct {
	atMost    int            // commands that a burst takes, since more were too large; 0: no limit
	unfit     *unfit         // the command that is to be set aside
	deletion  string         // the command that comes again until all children are told
	stopped   engine.Stopped // the call that was interrupted: it is not a second time, and who cancelled hears of it
	stretch   stretch        // of a command that does not come to a wait
	gated     error          // why what could bring it back is refused: another has the gate
	unmatched bool           // stimuli that were queued before its bookmarks are still to be looked for
}

// unfit is a command that does not fit a commit.
type unfit struct{ command, why string }

// take gets the instance and what is known of it. It runs on the goroutine of the
// caller who found no owner.
func (h *handle) take(ctx context.Context, acquire acquireFunc, cmd *workflow.Command) (*owner, state, error) {
	p := preloadFor(cmd)
	known := h.n.warm.Take(h.id)
	p.known = known.Record
	told := h.inbox.looks()
	h.interrupted.Store(false)
	began := time.Now()
	own, loaded, err := acquire(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if told && loaded.Revision == 0 { // nobody looked
		h.inbox.tell()
	}
	o := &owner{handle: h, own: own, base: loaded.Record, seen: loaded.Revision,
		taken: taken{at: loaded.Revision}, seat: seat{loaded: loaded.Bytes}}
	if loaded.Record != nil {
		if known.Record == loaded.Record {
			o.live = known
			o.seat.loaded += known.Size()
		}
		h.n.cfg.Metrics.Load(known.Source(loaded.Record))
	}
	if h.n.cfg.Tracer != nil && !tracing.Recorded(ctx) {
		o.taken.lock = lockWait{began, time.Now()}
	}
	o.ctx, o.stop = context.WithCancelCause(tracing.Quiet(own.Context()))
	o.undrop = context.AfterFunc(h.n.life, func() { o.stop(context.Cause(h.n.life)) })
	h.answerTwins(p.key, loaded.Answer)
	h.refuseStale(loaded)
	return o, choosing{mail: loaded.Mail, more: loaded.More}, nil
}

// answerTwins answers the waiters whose key had been used before.
func (h *handle) answerTwins(name string, a *store.Answer) {
	if a == nil {
		return
	}
	h.inbox.answerWaiting(func(w *waiter) (Result, error, bool) {
		return Result{Answer: a}, nil, w.cmd.Key != nil && w.cmd.Key.Name == name
	})
}

// refuseStale sends back a start whose definition has another head by now than
// the one its version was taken from: it would run what is no longer published. And one whose id an instance had that
// has left the store since it was found to be free: it would be a second one.
func (h *handle) refuseStale(l *store.Loaded) {
	h.inbox.answerWaiting(func(w *waiter) (Result, error, bool) {
		st := w.cmd.Start
		return Result{}, moved(&w.cmd), st != nil && (st.Head != 0 && st.Head != l.Head || st.Free != 0 && l.Deleted > st.Free)
	})
}

// state is what the owner is about. next is all that it does in this state, and says
// what it is about then; nil: everything is given back.
type state interface{ next(o *owner) state }

// run works the instance until there is nothing left to do or it is lost.
func (o *owner) run(s state) {
	for s != nil {
		s = s.next(o)
	}
}

// header is what is known of the instance.
func (o *owner) header() workflow.Instance { return o.known(o.base) }

// reload reads the instance and its mailbox again.
func (o *owner) reload(ctx context.Context) ([]store.Mail, bool, error) {
	o.interrupted.Store(false)
	o.inbox.reads()
	l, err := o.n.cfg.Store.Loading(o.id, "", "", o.base).Load(ctx)
	if err != nil {
		return nil, false, err
	}
	o.base, o.seen = l.Record, l.Revision
	return l.Mail, l.More, nil
}
