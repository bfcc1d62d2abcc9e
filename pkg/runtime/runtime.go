package runtime

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/endpoint"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/recent"
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
	Jobs    *etcdstore.Jobs
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
	// Show gives a text of an instance as operators may see it: by what it hides no job
	// finds one. Nil: as it is.
	Show func(string) string

	ReplyWait time.Duration // how long a call waits for the outcome of a command it made durable; default 1 s
	Log       *slog.Logger
	Metrics   *metrics.Metrics
	Tracer    *tracing.Tracer  // nil: no traces
	Now       func() time.Time // default time.Now
}

// Runtime is the front of a node. Each of its parts has one job, and is known to callers
// by its methods. Make it with [New].
type Runtime struct {
	*inspect.Inspector // Instance, WaitInstance, Instances, Journal, Export, Queue, Timers, DeadLetters, Tasks, Bookmarks, Receipts, Counts, Lineage
	*starter           // Execute, Dispatch
	*sender            // Send
	*endpoints         // FindEndpoint, Endpoint
	*bookmarks         // ResumeBookmark, AnswerBookmark, CompleteTask
	*commander         // Cancel, Delete, Retry, RetryFaulted, Alter, PreviewAlter, Import
	*deadLetters       // ReplayDeadLetter, DeleteDeadLetter, those of many, and of queue items
	*jobs              // CreateJob, PreviewJob, Jobs, ReadJob, CancelJob, ForgetJob; WorkJob, for the node's upkeep
	*outbox            // Resolve, for the node's upkeep
	*pauser            // Pause, Unpause

	cfg    *Config
	intake *intake.Intake
	recent *recent.Events
}

// New checks the configuration.
func New(cfg Config) (*Runtime, error) {
	if cfg.Stimuli == nil || cfg.Reader == nil || cfg.Jobs == nil || cfg.Catalog == nil || cfg.Session == nil || cfg.Client == nil || cfg.Node == nil || cfg.Hint == nil || cfg.Age == nil || cfg.QueueTTL == 0 {
		return nil, errors.New("runtime: Stimuli, Reader, Jobs, Catalog, Session, Client, Node, Hint, Age and QueueTTL are required")
	}
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Runtime{
		Inspector: inspect.New(inspect.Config{Reader: cfg.Reader, Age: cfg.Age, QueueTTL: cfg.QueueTTL, Now: cfg.Now}),
		cfg:       &cfg,
		intake:    intake.New(cfg.Session.Overdue, cfg.Metrics),
		recent:    new(recent.Events),
	}
	waiter := answers.NewWaiter(cfg.Stimuli, cfg.ReplyWait)
	mail := &mailer{r.cfg, waiter}
	r.starter = &starter{r.cfg, r.intake, r.Inspector, waiter}
	r.sender = &sender{r.cfg, r.intake, waiter, r.starter, mail, r.recent}
	r.endpoints = &endpoints{cfg: r.cfg, intake: r.intake, answers: waiter, finder: endpoint.NewFinder(cfg.Stimuli, cfg.Reader), sender: r.sender}
	r.bookmarks = &bookmarks{r.cfg, r.intake, waiter, mail}
	r.commander = &commander{r.cfg, r.intake, r.Inspector, mail, waiter}
	r.deadLetters = &deadLetters{r.cfg, r.intake, waiter, r.Inspector}
	r.jobs = &jobs{r.cfg, r.intake, r.Inspector, waiter, r.commander}
	r.outbox = &outbox{r.cfg, r.starter, r.recent}
	r.pauser = &pauser{r.cfg}
	return r, nil
}

// QueueTTL is how long a stimulus waits in the queue, for the node's upkeep.
func (r *Runtime) QueueTTL() time.Duration { return r.cfg.QueueTTL }

// Room is the error for a caller who brings something new when etcd is nearly
// full.
func (r *Runtime) Room() error { return r.intake.Room(intake.Starts) }

// Drain makes this node take up no more work; what runs goes on.
func (r *Runtime) Drain() { r.intake.Drain() }

// Intake is what this node may take up, for its upkeep.
func (r *Runtime) Intake() *intake.Intake { return r.intake }

// Recent are the events that this node sent lately.
func (r *Runtime) Recent() *recent.Events { return r.recent }
