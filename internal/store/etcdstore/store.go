package etcdstore

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/contents"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
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

	Width Width // zero fields take defaults
}

// Width says what of instances that wait at many places is written otherwise than of others. Tests turn it down.
type Width struct {
	Ops     int // keys of the index that one transaction changes at most (default 2,500)
	PageOps int // operations of a page of the index, about: what comes in between, of this instance's neighbours, waits for it (default 2,000)
	Places  int // at more than so many the record says where it waits in parts (default 5,000)
	Stays   int // and goes on to, at less than half as many, while the state has more bytes than these (default 1 MiB)
	Part    int // bytes of such a part, at least; on average it has four times as many (default 16 KiB)
	Ahead   int // bytes of new parts, above which they are written before their commit (default 1 MiB)
	Listed  int // the first places, which stay in the record (default 100)
}

func (w Width) withDefaults() Width {
	return Width{cmp.Or(w.Ops, db.MaxOps), cmp.Or(w.PageOps, 2000), cmp.Or(w.Places, 5000), cmp.Or(w.Stays, 1<<20), cmp.Or(w.Part, 16<<10), cmp.Or(w.Ahead, 1<<20), cmp.Or(w.Listed, 100)}
}

// Store is what one cluster keeps in etcd, in parts. A caller is given the part that
// it needs, and no other. All are safe for concurrent use and own no goroutine.
type Store struct {
	conn        *conn
	Definitions *Definitions
	Instances   *Instances
	Stimuli     *Stimuli
	Upkeep      *Upkeep
	Reader      *Reader
	Jobs        *jobs.Jobs
	Webhooks    *Webhooks
	SignOuts    *signouts.SignOuts
	Contents    *contents.Contents
}

// Definitions keeps workflow definitions, their versions, and the triggers, routes and
// schedules of what is published. It is for the catalog.
type Definitions struct{ conn *conn }

// Instances keeps instances for the node that works them. It is for pkg/client, and
// nothing else commits: see [Instances.Commit].
type Instances struct {
	conn        *conn
	keepEntries int64 // of a journal; 0: all
}

// Stimuli brings stimuli and commands to whom they are for: it finds what they match,
// puts them into mailboxes, the outbox and the queue, creates instances, and takes
// dead letters up again. It is for pkg/runtime.
type Stimuli struct{ conn *conn }

// Upkeep does what has to be done without anybody's call: it fires what is due, lets
// go what is old or too much, and checks and repairs what there is.
type Upkeep struct {
	conn      *conn
	keepKeys  time.Duration // records of callers' keys
	scheduled Scheduled     // nil: it is not known here
}

// Reader reads what people ask for. It writes nothing.
type Reader struct {
	conn     *conn
	known    knownLists    // of instances
	began    beginnings    // of those lists
	tasksTo  beginnings    // of names of which many tasks wait: the millisecond up to which the first page went
	keepKeys time.Duration // records of callers' keys
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
	c := &conn{Conn: &record.Conn{Conn: l, Keys: record.KeysBelow(cfg.Root)}, partsKnown: cfg.PartsKnown, width: cfg.Width.withDefaults()}
	if c.partsKnown == nil {
		c.partsKnown = func(int) bool { return true }
	}
	c.waiting, c.queued = newFollower(c, c.Keys.Root+"bookmark/", false), newFollower(c, c.Keys.Queues(), true)
	c.sending, c.boxes = newFollower(c, c.Keys.Sends(), true), newFollower(c, c.Keys.Mailboxes(), true)
	keep := max(recordTTL, cmp.Or(cfg.KeepKeys, keyTTL))
	s := &Store{conn: c, Definitions: &Definitions{c}, Instances: &Instances{conn: c}, Stimuli: &Stimuli{c}, Reader: &Reader{conn: c, keepKeys: keep}, Jobs: jobs.New(c.Conn), Webhooks: &Webhooks{c}, SignOuts: signouts.New(c.Conn), Contents: contents.New(c.Conn),
		Upkeep: &Upkeep{conn: c, keepKeys: keep}}
	if cfg.KeepJournal > 0 {
		// A commit whose answer was lost is found by its entry, however many came
		// after it while its sender waited.
		s.Instances.keepEntries = max(minJournal, cfg.KeepJournal)
	}
	return s, nil
}

const minJournal = 100
