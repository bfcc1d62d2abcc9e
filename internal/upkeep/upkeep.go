package upkeep

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime"
)

// Config joins the parts of a node. All but the last group are required.
type Config struct {
	Runtime *runtime.Runtime // what was accepted earlier is delivered through it
	Store   *etcdstore.Upkeep
	Reader  *etcdstore.Reader
	Catalog *catalog.Catalog
	Session *cluster.Session
	// Client opens one instance: client.Local on a node that is alone,
	// client.Distributed in a cluster.
	Client  func(id string) client.Client
	Node    *client.Node
	Wakeups *Wakeups // what commits and calls of this node wake
	Age     *Age
	Locks   *cluster.Locks // nil on a node that is alone

	Retention Retention // zero: everything is kept
	// EtcdQuota is etcd's quota in bytes, for an etcd that does not tell; default
	// 2 GiB, etcd's own.
	EtcdQuota int64
	// Defragment gives back to the disk what etcd has allocated and does not use. It
	// is given where this node runs etcd itself: then it also compacts it, and
	// disarms its alarm, when there is no space. Nil: etcd is others'.
	Defragment func() error
	Opening    int // instances with mail that are taken and read at once; default 64
	Log        *slog.Logger
	Metrics    *metrics.Metrics
	Tracer     *tracing.Tracer  // nil: no traces
	Now        func() time.Time // default time.Now
	// AgeEvery is how often the age of the cluster goes on; default a sixteenth of the
	// runtime's QueueTTL, at least 1 s, at most 10 s.
	AgeEvery time.Duration
	// Rest is how long a worker rests at most that looks behind hints and watches, and
	// found nothing; default 5 s.
	Rest time.Duration
	// Skew tells how far this node's clock is off the others'; default is the
	// measure of the session.
	Skew func() time.Duration
}

// Upkeep is the work that a node does by itself. Make it with [New], keep
// [Upkeep.Run] running.
type Upkeep struct {
	cfg    Config
	intake *intake.Intake
	clock  clockState
	aside  aside // what this node's program cannot run
}

// New checks the configuration. It starts nothing.
func New(cfg Config) (*Upkeep, error) {
	if cfg.Runtime == nil || cfg.Store == nil || cfg.Reader == nil || cfg.Catalog == nil || cfg.Session == nil || cfg.Client == nil || cfg.Node == nil || cfg.Wakeups == nil || cfg.Age == nil {
		return nil, errors.New("upkeep: Runtime, Store, Reader, Catalog, Session, Client, Node, Wakeups and Age are required")
	}
	cfg.Retention.Grace = cmp.Or(cfg.Retention.Grace, recordLife)
	cfg.EtcdQuota = cmp.Or(cfg.EtcdQuota, 2<<30)
	cfg.Opening = cmp.Or(cfg.Opening, 64)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.AgeEvery = cmp.Or(cfg.AgeEvery, min(max(cfg.Runtime.QueueTTL()/16, time.Second), ageEvery))
	cfg.Rest = cmp.Or(cfg.Rest, defaultRest)
	if cfg.Skew == nil {
		cfg.Skew = cfg.Session.ClockSkew
	}
	return &Upkeep{cfg: cfg, intake: cfg.Runtime.Intake()}, nil
}

// Run keeps the workers going until ctx ends, and waits for them.
func (r *Upkeep) Run(ctx context.Context) error {
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
func (r *Upkeep) loop(ctx context.Context, what string, every time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	return r.pacedLoop(ctx, what, func() time.Duration { return every }, wake, step)
}

// pacedLoop is loop with a period that is asked for after each step.
func (r *Upkeep) pacedLoop(ctx context.Context, what string, every func() time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	timer := time.NewTimer(pace.Jitter(every()))
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
		timer.Reset(pace.Jitter(every()))
	}
}

// rest is how long a sweep rests that comes behind hints of this node and found
// nothing: only what another node left that died is not hinted, and that is seen
// before the lease of the dead one ends.
func (r *Upkeep) rest(least time.Duration) time.Duration {
	ttl := cluster.MinTTL
	if e := r.cfg.Session.Epoch(); e != nil {
		ttl = e.TTL
	}
	return restOf(ttl, least, r.cfg.Rest)
}

const defaultRest = 5 * time.Second

func restOf(ttl, least, most time.Duration) time.Duration { return max(least, min(ttl/2, most)) }

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
