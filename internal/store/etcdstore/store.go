package etcdstore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/balance"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/health"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/places"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/trace"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/store/etcdstore/webhooks"
	"github.com/weft-run/weft/pkg/metrics"
)

// Config says where a store keeps its keys.
type Config struct {
	Client  *clientv3.Client // required; dialled with MaxUnaryRetries 1 (etcd note 23)
	Root    string           // required; such as /weft/default/
	Log     *slog.Logger     // nil: discarded
	Metrics *metrics.Metrics // nil: none
	Timeout time.Duration    // of one request; default 5 s

	// KeepJournal is about how many entries an instance's journal keeps, the newest
	// ones; at least 100. 0: all.
	KeepJournal int64
	// KeepKeys is how long the answer to a caller's Idempotency-Key is kept; default
	// 24 h, at least 10 min, the life of our own records.
	KeepKeys time.Duration

	// PartsKnown reports whether all live nodes read records of this form; until then they are written in one from before.
	// Nil: they do.
	PartsKnown func(form int) bool

	// Archived is where children are looked for that ended and are not in etcd any more, when their parent is imported; nil: nowhere.
	Archived lookup.Archived

	Width lookup.Width // zero fields take defaults
}

// Store is what one cluster keeps in etcd, in parts. A caller is given the part that
// it needs, and no other. All are safe for concurrent use and own no goroutine.
type Store struct {
	conn        *lookup.Conn
	Definitions *definitions.Definitions
	Instances   *commits.Instances
	Stimuli     *stimuli.Stimuli
	Upkeep      *Upkeep
	Reader      *Reader
	Jobs        *jobs.Jobs
	Webhooks    *webhooks.Webhooks
	SignOuts    *signouts.SignOuts
	Claims      *claims.Claims
	Contents    *contents.Contents
	Limits      *places.Places
}

// Upkeep does what has to be done without anybody's call: it fires what is due, lets
// go what is old or too much, and checks and repairs what there is.
type Upkeep struct {
	*upkeep.Upkeep
	*balance.Counter
	*fsck.Checker
}

// Reader reads what people ask for. It writes nothing.
type Reader struct {
	*lists.Lists
	*trace.Trace
	*balance.View
}

// New makes a store; it does not touch etcd.
func New(cfg Config) (*Store, error) {
	if cfg.Client == nil || cfg.Root == "" {
		return nil, errors.New("etcdstore: Client and Root are required")
	}
	l := &db.Conn{Client: cfg.Client, Log: cfg.Log, Metrics: cfg.Metrics, Timeout: cmp.Or(cfg.Timeout, 5*time.Second)}
	if l.Log == nil {
		l.Log = slog.New(slog.DiscardHandler)
	}
	c := lookup.New(&record.Conn{Conn: l, Keys: record.KeysBelow(cfg.Root)}, cfg.Width, cfg.PartsKnown)
	c.Archived = cfg.Archived
	keep := max(record.RecordTTL, cmp.Or(cfg.KeepKeys, record.KeyTTL))
	var entries int64
	if cfg.KeepJournal > 0 {
		// A commit whose answer was lost is found by its entry, however many came
		// after it while its sender waited.
		entries = max(minJournal, cfg.KeepJournal)
	}
	given := places.New(c.Conn)
	return &Store{conn: c, Limits: given, Definitions: definitions.New(c), Instances: commits.New(c, given, entries), Stimuli: stimuli.New(c), Reader: &Reader{lists.New(c), trace.New(c, keep), balance.NewView(c)}, Jobs: jobs.New(c.Conn), Webhooks: webhooks.New(c.Conn), SignOuts: signouts.New(c.Conn), Contents: contents.New(c.Conn), Claims: c.WorkerClaims(),
		Upkeep: &Upkeep{upkeep.New(c, keep), balance.NewCounter(c), fsck.New(c)}}, nil
}

// Health measures a round trip, and asks each member of etcd how it is. It ends within 2 s.
func (s *Store) Health(ctx context.Context) Health {
	return health.Ask(ctx, s.conn.Client, s.conn.Keys.Format())
}

const minJournal = 100
