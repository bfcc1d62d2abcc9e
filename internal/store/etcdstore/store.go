package etcdstore

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
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

	Width lookup.Width // zero fields take defaults
}

// Store is what one cluster keeps in etcd, in parts. A caller is given the part that
// it needs, and no other. All are safe for concurrent use and own no goroutine.
type Store struct {
	conn        *lookup.Conn
	Definitions *definitions.Definitions
	Instances   *Instances
	Stimuli     *Stimuli
	Upkeep      *Upkeep
	Reader      *Reader
	Jobs        *jobs.Jobs
	Webhooks    *webhooks.Webhooks
	SignOuts    *signouts.SignOuts
	Claims      *claims.Claims
	Contents    *contents.Contents
}

// Instances keeps instances for the node that works them. It is for pkg/client, and
// nothing else commits: see [Instances.Commit].
type Instances struct {
	conn        *lookup.Conn
	keepEntries int64 // of a journal; 0: all
}

// Stimuli brings stimuli and commands to whom they are for: it finds what they match,
// puts them into mailboxes, the outbox and the queue, creates instances, and takes
// dead letters up again. It is for pkg/runtime.
type Stimuli struct{ conn *lookup.Conn }

// Upkeep does what has to be done without anybody's call: it fires what is due, lets
// go what is old or too much, and checks and repairs what there is.
type Upkeep struct {
	*balanceCounter
	conn      *lookup.Conn
	keepKeys  time.Duration // records of callers' keys
	scheduled Scheduled     // nil: it is not known here
}

// Reader reads what people ask for. It writes nothing.
type Reader struct {
	*listReader
	*traceReader
	*balanceView
}

// listReader reads instances, and lists what there is.
type listReader struct {
	conn    *lookup.Conn
	known   knownLists // of instances
	began   beginnings // of those lists
	tasksTo beginnings // of names of which many tasks wait: the millisecond up to which the first page went
}

func newLists(c *lookup.Conn) *listReader { return &listReader{conn: c} }

// traceReader reads what became of one thing: of a request, of a command, of an instance.
type traceReader struct {
	conn     *lookup.Conn
	keepKeys time.Duration // records of callers' keys
}

func newTrace(c *lookup.Conn, keepKeys time.Duration) *traceReader { return &traceReader{c, keepKeys} }

// balanceView reads the balance.
type balanceView struct{ conn *lookup.Conn }

func newView(c *lookup.Conn) *balanceView { return &balanceView{c} }

// balanceCounter counts it.
type balanceCounter struct{ conn *lookup.Conn }

func newCounter(c *lookup.Conn) *balanceCounter { return &balanceCounter{c} }

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
	keep := max(recordTTL, cmp.Or(cfg.KeepKeys, keyTTL))
	s := &Store{conn: c, Definitions: definitions.New(c), Instances: &Instances{conn: c}, Stimuli: &Stimuli{c}, Reader: &Reader{newLists(c), newTrace(c, keep), newView(c)}, Jobs: jobs.New(c.Conn), Webhooks: webhooks.New(c.Conn), SignOuts: signouts.New(c.Conn), Contents: contents.New(c.Conn), Claims: claimsOf(c),
		Upkeep: &Upkeep{balanceCounter: newCounter(c), conn: c, keepKeys: keep}}
	if cfg.KeepJournal > 0 {
		// A commit whose answer was lost is found by its entry, however many came
		// after it while its sender waited.
		s.Instances.keepEntries = max(minJournal, cfg.KeepJournal)
	}
	return s, nil
}

const minJournal = 100
