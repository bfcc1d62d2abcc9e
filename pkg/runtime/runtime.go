package runtime

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/keylock"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// Config joins the parts of a node. All but the last group are required.
type Config struct {
	Stimuli *etcdstore.Stimuli
	Reader  *etcdstore.Reader
	Catalog *catalog.Catalog
	Session *cluster.Session
	// Client opens one instance: client.Local on a node that is alone,
	// client.Distributed in a cluster.
	Client func(id string) client.Client
	Node   *client.Node
	// Hint tells the node's upkeep that these instances have mail, and whether there
	// are new send records. It never blocks, as that of a client.Node.
	Hint func(instances []string, sent bool)
	// Age tells how old what lies in etcd is, as the node's upkeep knows: callers are
	// told by it when what waits expires.
	Age func() *store.Age
	// QueueTTL is how long a stimulus waits in the queue before it becomes a dead
	// letter. That of the node that does it counts.
	QueueTTL time.Duration

	ReplyWait time.Duration // how long a call waits for the outcome of a command it made durable; default 1 s
	Log       *slog.Logger
	Metrics   *metrics.Metrics
	Tracer    *tracing.Tracer  // nil: no traces
	Now       func() time.Time // default time.Now
}

// Runtime is the front of a node. Make it with [New].
type Runtime struct {
	cfg    Config
	intake Intake
	turns  keylock.Table // of requests for the same endpoint of the same instance
}

// New checks the configuration.
func New(cfg Config) (*Runtime, error) {
	if cfg.Stimuli == nil || cfg.Reader == nil || cfg.Catalog == nil || cfg.Session == nil || cfg.Client == nil || cfg.Node == nil || cfg.Hint == nil || cfg.Age == nil || cfg.QueueTTL == 0 {
		return nil, errors.New("runtime: Stimuli, Reader, Catalog, Session, Client, Node, Hint, Age and QueueTTL are required")
	}
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Runtime{cfg: cfg}, nil
}

// QueueTTL is how long a stimulus waits in the queue, for the node's upkeep.
func (r *Runtime) QueueTTL() time.Duration { return r.cfg.QueueTTL }
