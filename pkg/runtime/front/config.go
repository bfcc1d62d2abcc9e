package front

import (
	"context"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// Config joins the parts of a node. All but the last group are required.
type Config struct {
	Stimuli  *etcdstore.Stimuli
	Reader   *etcdstore.Reader
	Jobs     *etcdstore.Jobs
	Contents *etcdstore.Contents
	Claims   *etcdstore.Claims
	Catalog  *catalog.Catalog
	Session  *cluster.Session
	// Client opens one instance: client.Local on a node that is alone,
	// client.Distributed in a cluster.
	Client  func(id string) client.Client
	Node    *client.Node
	Wakeups client.Wakeups // of the node's upkeep, as those of its client.Node
	// Age tells how old what lies in etcd is, as the node's upkeep knows: callers are
	// told by it when what waits expires.
	Age func() *store.Age
	// QueueTTL is how long a stimulus waits in the queue before it becomes a dead
	// letter. That of the node that does it counts.
	QueueTTL time.Duration
	// Archive has the instances that left etcd; nil: there is none.
	Archive *archive.Archive
	// Purge removes an instance that has ended and has no mail, in a transaction that puts nothing; false: it has not
	// ended, or is not there, or has too long a journal. It is for an etcd that takes no puts. Nil: nothing does.
	Purge func(ctx context.Context, id string) (removed bool, err error)
	// Show gives a text of an instance as operators may see it: by what it hides no job
	// finds one. Nil: as it is.
	Show func(string) string

	ReplyWait time.Duration // how long a call waits for the outcome of a command it made durable; default 1 s
	Log       *slog.Logger
	Metrics   *metrics.Metrics
	Tracer    *tracing.Tracer  // nil: no traces
	Now       func() time.Time // default time.Now
}
