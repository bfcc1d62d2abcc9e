package runtime

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/endpoint"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/runtime/commands"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/runtime/people"
	"github.com/weft-run/weft/pkg/runtime/repair"
)

// Runtime is the front of a node: its parts, each of which has one job. Make it with [New].
type Runtime struct {
	Inspector *inspect.Inspector  // what is there: instances, journals, the queue, timers, dead letters, tasks, counts
	Starts    *Starter            // new instances
	Events    *Sender             // stimuli, to all that wait for them
	Endpoints *Endpoints          // HTTP requests that definitions wait for
	Bookmarks *Bookmarks          // one place where an instance waits
	Tasks     *Tasks              // which workers outside do
	UserTasks *people.UserTasks   // which people do
	Commands  *commands.Commander // to one instance: cancel, delete, retry, alter, import
	Letters   *repair.DeadLetters // what could not be done, and what waits in the queue
	Jobs      *job.Jobs           // commands to all instances of a filter
	Outbox    *Outbox             // what was accepted and has targets to be found, for the node's upkeep
	Pauses    *Pauser             // of all new work
	Keeper    *answers.Keeper     // of replies to requests that leave no record of their own

	cfg    *front.Config
	intake *intake.Intake
	recent *recent.Events
}

// New checks the configuration.
func New(cfg front.Config) (*Runtime, error) {
	if cfg.Stimuli == nil || cfg.Reader == nil || cfg.Jobs == nil || cfg.Contents == nil || cfg.Claims == nil || cfg.Catalog == nil || cfg.Session == nil || cfg.Client == nil || cfg.Node == nil || cfg.Wakeups == nil || cfg.Age == nil || cfg.QueueTTL == 0 {
		return nil, errors.New("runtime: Stimuli, Reader, Jobs, Contents, Claims, Catalog, Session, Client, Node, Wakeups, Age and QueueTTL are required")
	}
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Runtime{
		Inspector: inspect.New(inspect.Config{Reader: cfg.Reader, Archive: cfg.Archive, Age: cfg.Age, QueueTTL: cfg.QueueTTL, Now: cfg.Now}),
		cfg:       &cfg,
		intake:    intake.New(cfg.Session.Overdue, cfg.Metrics),
		recent:    new(recent.Events),
	}
	waiter := answers.NewWaiter(cfg.Stimuli, cfg.ReplyWait)
	mail := front.NewMailer(r.cfg, waiter)
	r.Starts = &Starter{r.cfg, r.intake, r.Inspector, waiter}
	r.Events = &Sender{r.cfg, r.intake, waiter, r.Starts, mail, r.recent}
	r.Endpoints = &Endpoints{cfg: r.cfg, intake: r.intake, answers: waiter, finder: endpoint.NewFinder(cfg.Stimuli, cfg.Reader), sender: r.Events}
	r.Bookmarks = &Bookmarks{r.cfg, r.intake, waiter, mail}
	r.Tasks = newTasks(r.cfg, r.intake, r.Inspector, r.Bookmarks)
	r.UserTasks = people.New(people.Config{Front: r.cfg, Intake: r.intake, Inspector: r.Inspector, Answers: waiter, Mailer: mail, Bookmarks: forPeople{r.Tasks, r.Bookmarks}})
	r.Commands = commands.New(r.cfg, r.intake, r.Inspector, mail, waiter)
	r.Letters = repair.New(r.cfg, r.intake, r.Inspector, waiter)
	r.Jobs = job.New(r.cfg, r.intake, r.Inspector, waiter, r.Commands)
	r.Outbox = &Outbox{r.cfg, r.Starts, r.recent}
	r.Pauses = &Pauser{r.cfg}
	r.Keeper = answers.NewKeeper(waiter, r.intake.Alarmed)
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

// forPeople is what user tasks need of all tasks.
type forPeople struct {
	*Tasks
	*Bookmarks
}
