package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/hot"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// State is in one word where an instance is.
type State string

// The states.
const (
	Running  State = "running"  // a node works it
	Queued   State = "queued"   // it has work, and nobody runs it yet
	Waiting  State = "waiting"  // for an event, a time, a task, a child
	Finished State = "finished" // also cancelled
	Faulted  State = "faulted"  // it may be retried
	Stuck    State = "stuck"    // nothing that is known will move it
	Damaged  State = "damaged"  // its record cannot be read
)

// Explanation says why an instance is where it is.
type Explanation struct {
	Instance workflow.Instance // of a damaged one the id only
	State    State
	Cause    Cause    // of it, in one word
	Summary  string   // one sentence
	Reasons  []Reason // the first is the one that the summary tells
	Next     []string // what a person can do, the most likely first; none: nothing need be done

	Owner      *Claim        // nil: nobody runs it
	Waiters    []Claim       // for its lock, in their order
	Doing      *engine.Doing // the activity that the owner is in; nil: none, or the owner could not be asked
	Mail       []Mail        // oldest first
	MailLeft   int64         // how many more there are
	Commit     *Commit       // the last one; nil: none yet
	NearMisses []NearMiss
	Incidents  []Incident // the newest first, those that are open before others
	Gate       *Gate      // that it holds, or that its start waits behind; nil: none
	History    *History   // the newest of it; nil: there is none
	aside      []Reason   // that are not waited for

	ReasonsLeft, IncidentsLeft int // how many more there are

	Revision int64     // of etcd
	At       time.Time // by the clock of the node that answers
}

// Cause says in one word why an instance is where it is: that of the first reason, or of
// what keeps this reason from coming about.
type Cause string

// The causes. What is waited for, and nothing is known to be wrong with it:
const (
	CauseEvent    Cause = "event"
	CauseTimer    Cause = "timer"
	CauseRetry    Cause = "retry" // the pause before another attempt
	CauseChild    Cause = "child"
	CauseTask     Cause = "task"
	CauseEndpoint Cause = "endpoint"
	CauseLimit    Cause = "limit"    // a place of one
	CauseStimulus Cause = "stimulus" // of an activity of an embedder's
)

// What came, and did not meet it:
const (
	CauseCorrelation Cause = "other-correlation"
	CauseAddress     Cause = "other-instance"
	CauseSpelling    Cause = "other-name"
	CauseDeadLetter  Cause = "dead-letter"
	CauseElsewhere   Cause = "went-elsewhere" // it met others, before this one waited
)

// What is wrong:
const (
	CauseFaultedChild Cause = "faulted-child"
	CauseLostChild    Cause = "lost-child" // it is gone, or cannot be read
	CauseLate         Cause = "late-timer"
	CauseClock        Cause = "clock"
	CausePause        Cause = "paused"
	CauseSpace        Cause = "full" // etcd is
	CauseGate         Cause = "gate" // it does not start while another one runs
	CauseDrain        Cause = "drain"
	CauseFault        Cause = "fault"
	CauseDamage       Cause = "damaged"
)

// What it is at:
const (
	CauseActivity Cause = "activity" // it is in one
	CauseRunning  Cause = "running"  // it is in none at the moment
	CauseLock     Cause = "lock"     // who holds its lock does nothing with it, or does not answer
	CauseGone     Cause = "gone"     // so is who holds its lock
	CauseMail     Cause = "mail"     // it has work that no node has taken yet
	CauseEnd      Cause = "ended"
	CauseNothing  Cause = "nothing" // it waits for nothing
)

// Reason is one cause of the state.
type Reason struct {
	Kind   string // such as lock, event, timer: the API lists them
	Text   string
	Since  time.Time // zero: not known
	Until  time.Time // when it ends by itself; zero: it does not
	Key    string    // in etcd, of what shows it; "": no key does
	Object string    // the id of what it is about: a bookmark, a child, a node, a command; ""
}

// Claim is a node that has the lock or waits for it.
type Claim struct {
	Node     string
	Since    time.Time // by its clock; zero: not known
	Fence    int64     // create revision of its key
	Gone     bool      // no live node has that session: its lock ends with it
	Draining bool
	Self     bool // it is the node that answers
}

// Mail is a command that waits to be run.
type Mail struct {
	ID, Kind, Bookmark string
	CreatedAt          time.Time
	Attempts           int // how often nodes took it over and did not finish
	Unreadable         bool
}

// Gate is that of an activation strategy: one instance runs at a time.
type Gate struct {
	DefinitionID  string // "": any definition
	CorrelationID string // "": any
	Holder        string // the instance that runs; "": none
	Behind        int64  // starts that wait until it has ended
	Item          string // the queue item that waits to start this instance; "": it is there
}

// Commit is the newest commit of the instance.
type Commit struct {
	Sequence, Fence int64
	Node            string    // that made it; "": not known
	At              time.Time // zero: not known
}

// Incident is one that the instance remembers.
type Incident struct {
	workflow.Incident
	Open bool // what failed is still faulted: nobody has made it run again
}

// NearMiss is a stimulus that is nearly what the instance waits for.
type NearMiss struct {
	Kind          Cause  // of the second group, or of the first where it is about to be taken
	Where         string // queue, dead-letter; sent: it came lately, as a node remembers
	ID            string // of the queue item, or the dead letter; of what was sent, as a queue item has it
	Bookmark      string // that it nearly met
	Name          string // of its event, "": it is no event
	CorrelationID string
	InstanceID    string // it is addressed to another one
	CreatedAt     time.Time
	Text          string
	likely        bool // it was meant for this instance
}

// Config is what an [Explainer] asks. All but Now are required.
type Config struct {
	Reader   *etcdstore.Reader
	Stimuli  *etcdstore.Stimuli // asked, never told
	Session  *cluster.Session
	Intake   *intake.Intake     // what this node takes up
	Recent   *recent.Events     // that this node sent
	Node     *client.Node       // what this node runs
	Now      func() time.Time   // default [time.Now]
	Limits   *etcdstore.Limits  // asked where instances stand in line; nil: it is not told
	Archived *inspect.Inspector // asked for instances that are not in etcd
	// Retry tells why a retry of an instance would be refused; "" if it would not. Nil: nobody is asked.
	Retry func(ctx context.Context, id string) string
}

// Explainer explains instances. Make it with [New].
type Explainer struct{ cfg Config }

// New checks the configuration.
func New(cfg Config) (*Explainer, error) {
	if cfg.Reader == nil || cfg.Stimuli == nil || cfg.Session == nil || cfg.Intake == nil || cfg.Recent == nil || cfg.Node == nil {
		return nil, errors.New("explain: Reader, Stimuli, Session, Intake, Recent and Node are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Explainer{cfg}, nil
}

// Near misses are looked for in so many queue items and dead letters.
const mostLooked = 200

// Of the history that an explanation has: how many commits are looked at, and how many
// periods and refusals are told.
const (
	recentCommits = 100
	recentPeriods = 10
)

// Instance explains one instance. What other nodes know of it is asked there. Errors are
// those of the API: [workflow.CodeInstanceNotFound], [workflow.CodeUnavailable].
func (x *Explainer) Instance(ctx context.Context, id string, peers Peers) (*Explanation, error) {
	f := facts{now: x.cfg.Now().UTC(), members: x.cfg.Session.Members(), self: x.cfg.Session.NodeID(), skews: x.cfg.Session.ClockSkews(),
		heldBack: x.cfg.Intake.HeldBack(), full: x.cfg.Intake.Level() >= intake.Full, roomAdvice: x.cfg.Intake.Fullness().Advice}
	if own, ok := x.cfg.Node.Running(id); ok {
		f.running = &own
	}
	var err error
	if f.Situation, err = x.cfg.Reader.Situation(ctx, id); err != nil {
		return nil, etcdstore.ReadFailed("state of instance "+id, err)
	}
	if f.Record == nil && f.Damage == nil && f.Gate == nil {
		none := workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
		if err := x.archived(ctx, id, &f, none); err != nil {
			return nil, err
		}
		return judge(id, &f), nil
	}
	if f.claims, err = x.cfg.Session.Locks().Claims(ctx, cluster.InstanceLock(id), f.Revision); err != nil {
		return nil, etcdstore.ReadFailed("state of instance "+id, err)
	}
	if err := x.asideOf(ctx, id, &f, peers); err != nil {
		return nil, etcdstore.ReadFailed("state of instance "+id, err)
	}
	if r := f.Record; x.cfg.Retry != nil && r != nil && r.Header.SubStatus == workflow.Faulted {
		f.noRetry = x.cfg.Retry(ctx, id)
	}
	return judge(id, &f), nil
}

// archived is of an instance that left etcd; none says that there is no such instance.
func (x *Explainer) archived(ctx context.Context, id string, f *facts, none error) error {
	if x.cfg.Archived == nil {
		return none
	}
	in, err := x.cfg.Archived.Instance(ctx, id)
	if err != nil {
		return err
	}
	f.Record = &store.Record{Header: in}
	f.noRetry = "it has left etcd; to run it again export it, which the archive answers, and import what comes"
	return nil
}

// asideOf reads what is not part of the instance, and asks the other nodes, all at once and
// each once.
func (x *Explainer) asideOf(ctx context.Context, id string, f *facts, peers Peers) error {
	var all sync.WaitGroup
	var lost, failed error
	var told []told
	q := Question{Instance: id}
	suspended := f.Record != nil && f.Record.Header.SubStatus == workflow.Suspended
	if suspended {
		q.Names = eventNames(f.Record.Header.Bookmarks)
	}
	all.Go(func() { told = ask(ctx, f.toAsk(), q, peers) })
	if f.Record != nil {
		all.Go(func() { f.history, lost = x.periods(ctx, id, f.Revision, recentCommits) })
	}
	if suspended {
		var err error
		f.tasks, err = x.cfg.Reader.TaskStates(ctx, f.Record.Header.Bookmarks)
		var bad error
		f.lines, bad = x.lines(ctx, f.Record.Header.Bookmarks)
		failed = errors.Join(err, bad, x.nearly(ctx, f), x.faultedChildren(ctx, id, f))
	}
	all.Wait()
	if err := errors.Join(lost, failed); err != nil {
		return err
	}
	f.takeRunning(told)
	if f.history != nil {
		x.refusals(f.history, id, told)
	}
	if !suspended {
		return nil
	}
	f.recent = x.lately(q.Names, told)
	err := x.whereabouts(ctx, f)
	slices.SortStableFunc(f.sent, func(a, b sent) int { return b.at.Compare(a.at) })
	return err
}

// toAsk are the other nodes that may know something. Any may remember a refusal, or an event,
// and work an instance without its lock for a moment. Of one without a record only the
// holder of its lock knows anything.
func (f *facts) toAsk() []cluster.Node {
	var out []cluster.Node
	for _, n := range f.members {
		if n.ID != f.self && (f.Record != nil || len(f.claims) > 0 && n.LeaseID == strconv.FormatInt(int64(f.claims[0].Lease), 16)) {
			out = append(out, n)
		}
	}
	return out
}

// takeRunning finds out who works the instance: the node that has its lock, or else any, as
// no key tells who works without it.
func (f *facts) takeRunning(all []told) {
	if len(f.claims) > 0 && f.claims[0].NodeID != f.self {
		f.running = nil // what this node does is only waiting for the lock
		if n := f.member(f.claims[0]); n != nil {
			for i := range all {
				if all[i].node == n.ID {
					f.running, f.unasked = all[i].Running, all[i].err
				}
			}
		}
		return
	}
	if len(f.claims) > 0 || f.running != nil || f.Record == nil || f.Record.Header.Status == workflow.StatusFinished {
		return
	}
	for i := range all {
		if r := all[i].Running; r != nil && r.Doing != nil && f.by == "" {
			f.running, f.by = r, all[i].node
		}
	}
}

// Of the children of an instance, so many of the newest are looked at for faulted ones.
const childrenLooked = 200

// faultedChildren are those that will not do what their parent may wait for.
func (x *Explainer) faultedChildren(ctx context.Context, id string, f *facts) error {
	page, err := x.cfg.Reader.Instances(ctx, etcdstore.InstanceQuery{Filter: find.Filter{Parent: id, SubStatus: workflow.Faulted}, Limit: mostKids, Most: childrenLooked})
	if err == nil {
		f.kids = page.Items
	}
	return err
}

// Bursts are what this node works at the moment: one instance, or all (""), those first
// whose activity has run for the longest.
func (x *Explainer) Bursts(id string) []client.Running {
	if id == "" {
		return x.cfg.Node.Bursts()
	}
	if r, ok := x.cfg.Node.Running(id); ok {
		return []client.Running{r}
	}
	return nil
}

// Owned is how many instances this node works at the moment.
func (x *Explainer) Owned() int { return x.cfg.Node.Owned() }

// Hottest are the instances that this node committed most often of late; see [client.Node.Hottest].
func (x *Explainer) Hottest(most int) []hot.Instance { return x.cfg.Node.Hottest(most) }

// Refusals are the commits of this node that a fence refused, the newest first: of one
// instance, or of all ("").
func (x *Explainer) Refusals(id string) []client.Refusal { return x.cfg.Node.Refusals(id) }

// nearly reads what came lately of the queue and of the dead letters.
func (x *Explainer) nearly(ctx context.Context, f *facts) error {
	queue, err := x.cfg.Reader.NewestQueueItems(ctx, mostLooked)
	if err != nil {
		return err
	}
	for i := range queue {
		if queue[i].Unreadable == nil && queue[i].Held == nil {
			f.take(sent{where: "queue", id: queue[i].ID, stimulus: &queue[i].Stimulus, at: queue[i].CreatedAt})
		}
	}
	dead, err := x.cfg.Reader.NewestDeadLetters(ctx, mostLooked)
	if err != nil {
		return err
	}
	for i := range dead {
		d := &dead[i]
		if d.Damaged != "" || d.Stimulus == nil && (d.Command == nil || d.Command.Stimulus == nil) {
			continue
		}
		f.take(sent{where: "dead-letter", id: d.ID, stimulus: stimulusOf(d), at: d.CreatedAt, reason: d.Reason, instance: d.InstanceID})
	}
	return nil
}

func (f *facts) take(s sent) {
	s.hash, _ = workflow.Hash(s.stimulus.ActivityType, s.stimulus.Payload) // what was stored has one
	f.sent = append(f.sent, s)
}

func stimulusOf(d *store.DeadLetter) *workflow.Stimulus {
	if d.Stimulus != nil {
		return d.Stimulus
	}
	return d.Command.Stimulus
}
