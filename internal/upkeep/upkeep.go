package upkeep

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/internal/upkeep/giving"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime"
)

// Config joins the parts of a node. All but the last group are required.
type Config struct {
	Runtime  *runtime.Runtime // what was accepted earlier is delivered through it
	Store    *etcdstore.Upkeep
	Reader   *etcdstore.Reader
	Jobs     *etcdstore.Jobs
	Contents *etcdstore.Contents
	Limits   *etcdstore.Limits
	Catalog  *catalog.Catalog
	Session  *cluster.Session
	// Client opens one instance: client.Local on a node that is alone,
	// client.Distributed in a cluster.
	Client  func(id string) client.Client
	Node    *client.Node
	Wakeups *Wakeups // what commits and calls of this node wake
	Age     *Age
	Locks   *cluster.Locks // nil on a node that is alone

	Retention retention.Limits // zero: everything is kept
	Archive   *archive.Archive // where finished instances go; nil: nowhere
	// EtcdQuota is etcd's quota in bytes, for an etcd that does not tell; default
	// 2 GiB, etcd's own.
	EtcdQuota int64
	// Disk tells how full the disk of an embedded etcd is, and keeps room on it; nil: there is none.
	Disk func() (disk.Space, error)
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
	// BalanceEvery is how often the balance is put while it changes; default 10 s.
	BalanceEvery time.Duration
	// Rest is how long a worker rests at most that looks behind hints and watches, and
	// found nothing; default 5 s.
	Rest time.Duration
	// CensusEvery is how often one node counts the instances of definitions; default 30 s.
	CensusEvery time.Duration
	// JobRests is after how long without a write of a job another node works it than the one that
	// is preferred for it; default 30 s.
	JobRests time.Duration
	// Skew tells how far this node's clock is off the others'; default is the
	// measure of the session.
	Skew func() time.Duration
}

// Upkeep is the work that a node does by itself: a type for each job. Make it with [New],
// Keep [Upkeep.Run] running.
type Upkeep struct {
	mailboxes *mailboxes
	outbox    *outbox
	timers    *timers
	queue     *queue
	gates     *gatekeeper
	giver     *giving.Giver
	expiry    *expiry
	aging     *aging
	balance   *balancing
	space     *spaceWatch
	retention *retention.Retention
	control   *control
	jobs      *jobs
	census    *census
}

// New checks the configuration. It starts nothing.
func New(cfg Config) (*Upkeep, error) {
	if cfg.Runtime == nil || cfg.Store == nil || cfg.Reader == nil || cfg.Jobs == nil || cfg.Contents == nil || cfg.Limits == nil || cfg.Catalog == nil || cfg.Session == nil || cfg.Client == nil || cfg.Node == nil || cfg.Wakeups == nil || cfg.Age == nil {
		return nil, errors.New("upkeep: Runtime, Store, Reader, Jobs, Contents, Limits, Catalog, Session, Client, Node, Wakeups and Age are required")
	}
	cfg.EtcdQuota = cmp.Or(cfg.EtcdQuota, 2<<30)
	cfg.Opening = cmp.Or(cfg.Opening, 64)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.AgeEvery = cmp.Or(cfg.AgeEvery, min(max(cfg.Runtime.QueueTTL()/16, time.Second), ageEvery))
	cfg.CensusEvery = cmp.Or(cfg.CensusEvery, censusEvery)
	cfg.JobRests = cmp.Or(cfg.JobRests, jobRests)
	cfg.BalanceEvery = cmp.Or(cfg.BalanceEvery, balanceEvery)
	cfg.Rest = cmp.Or(cfg.Rest, defaultRest)
	if cfg.Skew == nil {
		cfg.Skew = cfg.Session.ClockSkew
	}
	w := worker{cfg: &cfg, intake: cfg.Runtime.Intake()}
	cfg.Limits.Clock = func() (time.Time, bool) {
		skew := cfg.Skew()
		return cfg.Now().UTC(), cfg.Session.ClockCompared() && skew <= maxSkew && skew >= -maxSkew
	}
	return &Upkeep{
		mailboxes: &mailboxes{worker: w}, outbox: &outbox{w}, timers: &timers{worker: w}, queue: &queue{w}, gates: &gatekeeper{w},
		expiry: &expiry{w}, aging: &aging{w}, balance: &balancing{w}, space: &spaceWatch{w}, control: &control{w}, jobs: &jobs{w}, census: &census{worker: w},
		giver: &giving.Giver{Store: cfg.Limits, Told: cfg.Wakeups.Told, Session: cfg.Session, Intake: w.intake, Hint: cfg.Wakeups.Hint, Log: cfg.Log, Metrics: cfg.Metrics, Now: cfg.Now},
		retention: retention.New(retention.Config{
			Limits: cfg.Retention, Store: cfg.Store, Catalog: cfg.Catalog, Session: cfg.Session, Locks: cfg.Locks, Intake: w.intake, Archive: cfg.Archive, Age: cfg.Age.Now, Now: cfg.Now, Log: cfg.Log, Metrics: cfg.Metrics,
		}),
	}, nil
}

// Run keeps the workers going until ctx ends, and waits for them.
func (u *Upkeep) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, work := range append([]func(context.Context) error{
		u.mailboxes.workMailboxes, u.mailboxes.sweepMailboxes, u.outbox.resolveSends,
		u.timers.fireTimers, u.timers.endLeases, u.timers.fireSchedules, u.timers.placeTimers,
		u.queue.workQueue, u.queue.dropMarks, u.gates.workGates, u.giver.Run,
		u.aging.keepAge, u.balance.keepBalance, u.expiry.expireQueue, u.expiry.expireRecords, u.expiry.sweepFiles,
		u.space.watchSpace, u.control.watchControl, u.jobs.workJobs, u.jobs.purgeJobs, u.census.takeCensus, u.queue.cfg.Store.Follow, u.queue.cfg.Runtime.Tasks.Watch,
	}, u.retention.Works()...) {
		g.Go(func() error { return work(ctx) })
	}
	return g.Wait()
}
