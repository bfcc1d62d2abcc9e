package client

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/client/hot"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Config is what the instances of a node share.
type Config struct {
	Store       *etcdstore.Instances // required
	Definitions Definitions          // required
	// Env makes the environment of one burst, when that is opened; required.
	Env     func() engine.Env
	Files   func(instance, parent string, known bool) files.Store // those beside an instance, which is in the store, if it is known there; nil: none are kept
	Wakeups Wakeups                                               // nil: nobody is told
	Limits  admission.Limits

	UnlockedResumes bool // a resume in hand takes no lock while its burst has no effect outside

	// HeldBack reports whether the node takes up no work at the moment. A command that runs for long asks it between
	// two of its commits, and is left then. Nil: it never does.
	HeldBack func() bool

	LateAfter time.Duration // a burst not committed by then makes its cause durable; default 1 s
	Rounds    int           // commits under one lock before it is released to others; default 100

	Process   string        // of this process, as its node's record has it
	NodeID    string        // for people
	Processes Processes     // nil: none is ever known to be gone, and no command is poison
	Deaths    int           // processes that end while they run a command before it is set aside; default 3
	Grace     time.Duration // for which they must be gone, as one that lost its session comes back; default 30 s
	Rest      time.Duration // before a command is begun for the third time, and twice as long each time; default 1 s

	Log     *slog.Logger
	Metrics *metrics.Metrics
	Tracer  *tracing.Tracer // nil: no traces
}

// Definitions are what instances are worked by.
type Definitions interface {
	// Program finds a compiled version.
	Program(ctx context.Context, definition string, version int) (*engine.Program, error)
	// Gate gives the gate that a start has to pass; nil for none.
	Gate(ctx context.Context, start *workflow.Start) (*store.Gate, error)
}

// Wakeups are told, after commits, what there is to do. No method may block.
type Wakeups interface {
	// Hint is told which other instances got mail from a commit, and whether stimuli were sent.
	Hint(instances []string, sent bool)
	// Freed is told which gate an instance held that has ended.
	Freed(gate store.Gate)
	// Lines is told at which limits somebody may be given a place now.
	Lines(lines []limit.Line)
	admission.Wake
}

// Processes are those of all nodes.
type Processes interface {
	// Gone tells for how long no live node has been a process; 0: one is.
	Gone(process string) time.Duration
}

// nobody is told anything, and knows of no process.
type nobody struct{}

func (nobody) Hint([]string, bool)       {}
func (nobody) Freed(store.Gate)          {}
func (nobody) Lines([]limit.Line)        {}
func (nobody) Again(string, bool)        {}
func (nobody) Gone(string) time.Duration { return 0 }

const retryAfter = time.Second

// maxPatience is how long a command in hand waits for a place, at most: a caller is answered
// soon, also where the place is not for it.
const maxPatience = 500 * time.Millisecond

// Node works the instances that this node owns at the moment.
type Node struct {
	persistFor time.Duration // a caller waits so long until its command is durable

	cfg   Config
	slots *admission.Slots

	mu       sync.Mutex
	owners   map[string]*handle // guarded by mu
	stopping bool               // guarded by mu
	draining chan struct{}      // closed by Drain

	life context.Context // of all owners: it ends when the time that Stop gives them is over
	end  context.CancelCauseFunc

	resting    admission.Backoff
	quarantine *admission.Quarantine
	contended  contended // instances that others held lately
	warm       *warm.Cache
	refusals   refusals
	rates      hot.Rates
	long       long
	wg         sync.WaitGroup
}

// NewNode checks cfg. It starts nothing.
func NewNode(cfg Config) (*Node, error) {
	if cfg.Store == nil || cfg.Definitions == nil || cfg.Env == nil {
		return nil, errors.New("client: Store, Definitions and Env are required")
	}
	cfg.LateAfter = cmp.Or(cfg.LateAfter, time.Second)
	cfg.Rounds = cmp.Or(cfg.Rounds, 100)
	cfg.Deaths = min(cmp.Or(cfg.Deaths, 3), maxMarks)
	cfg.Grace = cmp.Or(cfg.Grace, 30*time.Second)
	cfg.Rest = cmp.Or(cfg.Rest, time.Second)
	if cfg.Processes == nil {
		cfg.Processes = nobody{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Wakeups == nil {
		cfg.Wakeups = nobody{}
	}
	if cfg.HeldBack == nil {
		cfg.HeldBack = func() bool { return false }
	}
	n := &Node{cfg: cfg, persistFor: persistTimeout, slots: admission.New(cfg.Limits, min(cfg.LateAfter/2, maxPatience), cfg.Wakeups), quarantine: admission.NewQuarantine(cfg.Wakeups), warm: warm.New(warm.Bytes, cfg.Metrics), owners: map[string]*handle{}, draining: make(chan struct{})}
	n.life, n.end = context.WithCancelCause(context.Background())
	return n, nil
}

// Env is what bursts of this node see of the world.
func (n *Node) Env() engine.Env { return n.cfg.Env() }

// Interrupt makes the node's burst of an instance, if there is one, end at the next
// activity boundary, or in a call that waits for the outside, and look into its mailbox:
// a cancel is there. It is a hint: what runs and what is committed goes by the mailbox. If
// the instance waits for a place, its mailbox is worked without one.
func (n *Node) Interrupt(id string) {
	n.slots.Interrupt(id)
	n.mu.Lock()
	h := n.owners[id]
	n.mu.Unlock()
	if h != nil {
		h.interrupt()
	}
}

// Owned are the instances that this node works at the moment.
func (n *Node) Owned() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.owners)
}

// Drain refuses new work and makes the causes of running bursts durable, so
// that their callers can be answered. It does not wait.
func (n *Node) Drain() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.stopping {
		n.stopping = true
		close(n.draining)
	}
}

// Stop drains, waits for the running bursts until ctx ends, then drops those
// that are left (what is durable of them is taken over by others), and waits
// until every goroutine is gone.
func (n *Node) Stop(ctx context.Context) error {
	n.Drain()
	defer n.end(errStopped)
	done := make(chan struct{})
	go func() {
		n.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	n.end(errStopped)
	<-done
	return ctx.Err()
}

var errStopped = errors.New("the node stopped before the burst ended")

// seen notes that a try for an instance in the mailbox is over.
func (n *Node) seen(id string) {
	n.slots.Seen(id)
	n.quarantine.Seen(id)
}

// do is the one path of every mutating operation: hand the command to the
// owner of this instance, or take the instance and become it.
func (n *Node) do(ctx context.Context, id string, acquire acquireFunc, cmd *workflow.Command, recovered bool, placed func()) (Result, error) {
	if cmd != nil && !ends(cmd.Kind) && n.slots.Waits(id) && !n.Holds(id) {
		return Result{}, admission.ErrCrowded // without asking etcd; what is before it waits too
	}
	for {
		h, w, isNew, err := n.join(ctx, id, cmd)
		if err != nil {
			return Result{}, err
		}
		if isNew {
			o, first, err := h.take(ctx, acquire, cmd)
			if err != nil {
				if ctx.Err() != nil {
					n.leave(h, errLeft) // that is this caller's affair: the others try for themselves
				} else {
					n.leave(h, err)
				}
				return Result{}, err
			}
			o.taken.recovered, o.seat.placed = recovered, placed
			go func() {
				defer n.wg.Done()
				o.run(first)
			}()
		}
		if w == nil {
			if !isNew {
				return Result{}, nil // somebody here is at it, and will look into the mailbox before it leaves
			}
			select {
			case <-h.done:
				return Result{}, h.err
			case <-ctx.Done():
				return Result{}, nil // the mail is durable, and Stop waits for who works on it
			}
		}
		res, err := h.await(ctx, w)
		if errors.Is(err, errLeft) {
			continue
		}
		return res, err
	}
}

// errLeft tells a waiter that its owner ended without touching its command.
var errLeft = errors.New("the owner ended first")

// join finds the owner of an instance, or makes room for a new one, and puts cmd into
// its hands.
func (n *Node) join(ctx context.Context, id string, cmd *workflow.Command) (h *handle, w *waiter, isNew bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if cmd != nil {
		w = newWaiter(*cmd)
		w.cmd.Trace = tracing.Traceparent(ctx)
	}
	if h = n.owners[id]; h != nil {
		joined, open, err := h.hand(w)
		if open {
			return h, joined, false, err
		}
	}
	if n.stopping {
		return nil, nil, false, &workflow.Error{Code: workflow.CodeDraining, Detail: "this node is draining; send the request to another", RetryAfter: retryAfter}
	}
	h = newHandle(n, id)
	if w != nil {
		h.inbox.offer(w)
	}
	n.owners[id] = h
	n.wg.Add(1)
	return h, w, true, nil
}

// leave ends an owner that could not take its instance: everybody who joined
// it gets the same answer. Mail that it was told of is for the next one.
func (n *Node) leave(h *handle, err error) {
	n.forget(h)
	h.close(nil, err)
	if h.inbox.unseen() {
		n.cfg.Wakeups.Hint([]string{h.id}, false)
	}
	n.wg.Done()
}

// forget makes the next command open a new owner.
func (n *Node) forget(h *handle) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.owners[h.id] == h {
		delete(n.owners, h.id)
	}
}
