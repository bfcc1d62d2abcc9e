package runtime

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/keylock"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// Config joins the parts of a node. All but the last group are required.
type Config struct {
	Stimuli *etcdstore.Stimuli
	Upkeep  *etcdstore.Upkeep
	Reader  *etcdstore.Reader
	Catalog *catalog.Catalog
	Session *cluster.Session
	// Client opens one instance: client.Local on a node that is alone,
	// client.Distributed in a cluster.
	Client func(id string) client.Client
	Node   *client.Node
	// Work are the instances that commits of this node wake; make it with
	// [NewWork] and hand its Hint to the client.Node.
	Work *Work

	// QueueTTL is how long a stimulus waits in the queue before it becomes a dead
	// letter. That of the node that does it counts.
	QueueTTL time.Duration

	Locks *cluster.Locks // nil on a node that is alone

	Retention Retention // zero: everything is kept
	// EtcdQuota is etcd's quota in bytes, for an etcd that does not tell; default
	// 2 GiB, etcd's own.
	EtcdQuota int64
	// Defragment gives back to the disk what etcd has allocated and does not use. It
	// is given where this node runs etcd itself: then it also compacts it, and
	// disarms its alarm, when there is no space. Nil: etcd is others'.
	Defragment func() error

	ReplyWait time.Duration // how long a call waits for the outcome of a command it made durable; default 1 s
	Opening   int           // instances with mail that are taken and read at once; default 64
	Log       *slog.Logger
	Metrics   *metrics.Metrics
	Tracer    *tracing.Tracer  // nil: no traces
	Now       func() time.Time // default time.Now
	// Elapsed is a monotonic clock, by which the age of the cluster goes on every
	// AgeEvery (default a sixteenth of QueueTTL, at least 1 s, at most 10 s). Default: the process's; others are for tests.
	Elapsed  func() time.Duration
	AgeEvery time.Duration
	// Skew tells how far this node's clock is off the others'; default is the
	// measure of the session.
	Skew func() time.Duration
}

// Runtime is the front of a node. Make it with [New], keep [Runtime.Run] running.
type Runtime struct {
	cfg    Config
	paused pauseFlag
	space  fill
	turns  keylock.Table // of requests for the same endpoint of the same instance
	clock  clockState
	aged   atomic.Pointer[seenAge] // nil: not seen yet
	aside  aside                   // what this node's program cannot run
}

// New checks the configuration. It starts nothing.
func New(cfg Config) (*Runtime, error) {
	if cfg.Stimuli == nil || cfg.Upkeep == nil || cfg.Reader == nil || cfg.Catalog == nil || cfg.Session == nil || cfg.Client == nil || cfg.Node == nil || cfg.Work == nil || cfg.QueueTTL == 0 {
		return nil, errors.New("runtime: Stimuli, Upkeep, Reader, Catalog, Session, Client, Node, Work and QueueTTL are required")
	}
	cfg.Retention.Grace = cmp.Or(cfg.Retention.Grace, recordLife)
	cfg.EtcdQuota = cmp.Or(cfg.EtcdQuota, 2<<30)
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, time.Second)
	cfg.Opening = cmp.Or(cfg.Opening, 64)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.AgeEvery = cmp.Or(cfg.AgeEvery, min(max(cfg.QueueTTL/16, time.Second), ageEvery))
	if cfg.Elapsed == nil {
		cfg.Elapsed = func() time.Duration { return time.Since(processStart) }
	}
	if cfg.Skew == nil {
		cfg.Skew = cfg.Session.ClockSkew
	}
	return &Runtime{cfg: cfg}, nil
}

// Run keeps the workers going until ctx ends, and waits for them.
func (r *Runtime) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.workMailboxes(ctx) })
	g.Go(func() error { return r.sweepMailboxes(ctx) })
	g.Go(func() error { return r.resolveSends(ctx) })
	g.Go(func() error { return r.fireTimers(ctx) })
	g.Go(func() error { return r.fireSchedules(ctx) })
	g.Go(func() error { return r.workQueue(ctx) })
	g.Go(func() error { return r.expireQueue(ctx) })
	g.Go(func() error { return r.workGates(ctx) })
	g.Go(func() error { return r.dropMarks(ctx) })
	g.Go(func() error { return r.keepAge(ctx) })
	g.Go(func() error { return r.expireRecords(ctx) })
	g.Go(func() error { return r.watchSpace(ctx) })
	g.Go(func() error { return r.purgeFinished(ctx) })
	g.Go(func() error { return r.purgeDead(ctx) })
	g.Go(func() error { return r.purgeKeys(ctx) })
	g.Go(func() error { return r.purgeVersions(ctx) })
	g.Go(func() error { return r.watchControl(ctx) })
	return g.Wait()
}

// loop runs step at every tick of about every (with jitter) and at every wake,
// until ctx ends. An error is logged and the loop goes on: nothing that a step
// meets may end a worker. A step that asks for more runs again at once.
func (r *Runtime) loop(ctx context.Context, what string, every time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	timer := time.NewTimer(pace.Jitter(every))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-wake:
		}
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = step(ctx); err != nil {
				if ctx.Err() == nil {
					r.cfg.Log.WarnContext(ctx, "worker step failed; it is tried again", "worker", what, "error", err)
				}
				break
			}
		}
		timer.Reset(pace.Jitter(every))
	}
}

// sendsAtOnce is how many stimuli a worker has under way at a time: enough that
// their writes share proposals.
const sendsAtOnce = 64

// sideBySide does each of n, at most limit at a time, and joins the errors: one
// that fails never holds up the others.
func sideBySide(limit, n int, do func(i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = group.Wait()
	return errors.Join(errs...)
}
