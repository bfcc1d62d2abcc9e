package httpapi

import (
	"cmp"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/pkg/workflow"
)

// explainRoutes say why things are as they are.
func (a *API) explainRoutes() []route {
	return []route{
		{method: "GET", path: "/instances/{id}/explain", name: "explainInstance", costly: true, role: auth.Viewer, tag: "instances", kind: reads,
			summary: "Why an instance is where it is: who runs it, what it waits for, what nearly met it, what to do",
			answers: map[int]any{200: explanationView{}}, problems: []workflow.Code{workflow.CodeInstanceNotFound}, serve: explainInstance},
		{method: "GET", path: "/instances/{id}/owners", name: "listOwners", costly: true, role: auth.Viewer, tag: "instances", kind: reads,
			summary: "Which node made which commits of an instance, who took over from whom, and what a fence refused",
			answers: map[int]any{200: ownersView{}}, problems: []workflow.Code{workflow.CodeInstanceNotFound}, serve: owners},
		{method: "GET", path: "/events/{name}", name: "explainEvent", costly: true, role: auth.Viewer, tag: "stimuli", kind: reads,
			summary: "Who waits for an event: what it would do if it were sent now",
			query: []param{{name: "correlationId", typ: "string"}, {name: "instanceId", typ: "string"},
				{name: "dryRun", typ: "boolean", doc: "It is one in any case; false is refused."}},
			answers: map[int]any{200: effectView{}}, serve: explainEvent},
	}
}

type explanationView struct {
	InstanceID string        `json:"instanceId"`
	State      explain.State `json:"state" enum:"running,queued,waiting,finished,faulted,stuck,damaged" doc:"stuck: nothing that is known will move it."`
	Cause      explain.Cause `json:"cause" enum:"event,timer,retry,child,task,endpoint,stimulus,other-correlation,other-instance,other-name,dead-letter,went-elsewhere,faulted-child,lost-child,late-timer,clock,paused,full,drain,gate,fault,damaged,activity,running,lock,gone,mail,ended,nothing" doc:"Why, in one word: that of the first reason, or of what keeps it from coming about."`
	Summary    string        `json:"summary" doc:"One sentence, for people."`
	Reasons    []reasonView  `json:"reasons" doc:"The first is the one that the summary begins with."`
	Next       []string      `json:"next" doc:"What a person can do, the most likely first. Paths are below /api/v1."`

	Owner      *claimView      `json:"owner" doc:"The node that has the instance's lock; null: nobody runs it."`
	Waiters    []claimView     `json:"waiters" doc:"Nodes that want its lock, in the order in which they get it."`
	Doing      *doingView      `json:"doing" doc:"The activity that the owner is in; null: none at the moment, or it could not be asked."`
	Mail       []mailView      `json:"mail" doc:"Commands that wait to be run, the oldest first; 50 at most."`
	MailLeft   int64           `json:"mailLeft" doc:"How many more there are."`
	LastCommit *lastCommitView `json:"lastCommit"`
	Gate       *gateView       `json:"gate" doc:"Of its activation strategy, which lets one instance run at a time: it holds it, or its start waits until it is free."`
	NearMisses []nearMissView  `json:"nearMisses" doc:"Stimuli that are nearly what it waits for, 10 at most, those first that were likely meant for it: of the newest 200 of the queue and of the dead letters, and of the events that nodes remember of the last hour; up to 5 that met others."`
	Incidents  []openView      `json:"incidents" doc:"The newest 5, those first that are open."`

	IncidentsLeft int `json:"incidentsLeft" doc:"How many more there are."`
	ReasonsLeft   int `json:"reasonsLeft" doc:"At how many more places it waits: reasons has 100 of them."`

	History *historyView `json:"history" doc:"Who made its last 100 commits: the last 10 rows, and the last 10 refusals. GET /instances/{id}/owners has more."`

	Revision int64     `json:"revision" doc:"Of etcd, at which record, mailbox, lock and reasons were read."`
	At       time.Time `json:"at" doc:"By the clock of the node that answers."`
}

// openView is an incident, and whether it still is one.
type openView struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Message      string    `json:"message"`
	Time         time.Time `json:"time"`
	Open         bool      `json:"open" doc:"What failed is still faulted; false: it ran again since, or was skipped or cancelled."`
}

type reasonView struct {
	Kind   string     `json:"kind" enum:"lock,activity,mail,cancel,event,timer,retry,child,task,endpoint,stimulus,paused,full,clock,drain,gate,incident,none,damaged"`
	Text   string     `json:"text"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until" doc:"When it ends by itself; null: it does not."`
	Key    *string    `json:"key" doc:"The key in etcd that shows it."`
	Object *string    `json:"object" doc:"Id of what it is about: a bookmark, a child, a node, a command."`
}

type claimView struct {
	NodeID   string     `json:"nodeId"`
	Since    *time.Time `json:"since" doc:"By its own clock."`
	Fence    int64      `json:"fence" doc:"Create revision of its key in etcd; 0: it works without the lock."`
	Gone     bool       `json:"gone" doc:"No live node has that session: the lock ends with it."`
	Draining bool       `json:"draining"`
	Self     bool       `json:"self" doc:"Whether it is the node that answers."`
}

type mailView struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind" doc:"start, resume, childEnd, cancel, delete, retry, import, continue, or that of a newer program."`
	BookmarkID *string    `json:"bookmarkId"`
	CreatedAt  *time.Time `json:"createdAt"`
	Attempts   int        `json:"attempts" doc:"How often nodes took it over and did not finish."`
	Unreadable bool       `json:"unreadable" doc:"The program of the node that answers cannot read it."`
}

type gateView struct {
	DefinitionID  *string `json:"definitionId" doc:"One instance of it runs; null: of any definition."`
	CorrelationID *string `json:"correlationId" doc:"One instance with it runs; null: with any, or none."`
	Holder        *string `json:"holder" doc:"The instance that runs."`
	Behind        int64   `json:"behind" doc:"Starts that wait until it has ended."`
	Item          *string `json:"item" doc:"The queue item that waits to start this instance; null: the instance is there."`
}

type lastCommitView struct {
	Sequence int64      `json:"sequence"`
	NodeID   *string    `json:"nodeId" doc:"That made it."`
	Fence    int64      `json:"fence" doc:"Of the lock that it was made under; 0: none."`
	At       *time.Time `json:"at"`
}

type nearMissView struct {
	Kind          explain.Cause `json:"kind" enum:"other-correlation,other-instance,other-name,dead-letter,went-elsewhere,mail" doc:"mail: it is about to be taken; went-elsewhere: it met others, before this one waited."`
	Where         string        `json:"where" enum:"queue,dead-letter,sent" doc:"sent: a node remembers that it sent it."`
	ID            string        `json:"id"`
	BookmarkID    *string       `json:"bookmarkId" doc:"That it nearly met."`
	Name          *string       `json:"name" doc:"Of its event."`
	CorrelationID *string       `json:"correlationId"`
	InstanceID    *string       `json:"instanceId" doc:"The one that it is for."`
	CreatedAt     *time.Time    `json:"createdAt"`
	Text          string        `json:"text" doc:"Why it did not meet it."`
}

type effectView struct {
	Resumes []placeView     `json:"resumes" doc:"Instances that it would resume; 100 at most."`
	Starts  []triggerView   `json:"starts" doc:"Definitions that it would start, unless an instance holds the gate of the activation strategy (holder); 100 at most."`
	Resumed int             `json:"resumed" doc:"How many it would resume in all."`
	Started int             `json:"started" doc:"How many it would start in all, also those whose gate is held."`
	Queued  bool            `json:"queued" doc:"It meets nothing, and would wait in the queue."`
	More    bool            `json:"more" doc:"It meets more than 10,000, and would be refused."`
	Refused *refusedView    `json:"refused" doc:"Why it would be refused if it were sent now: its instance is not there, has ended or is damaged, the cluster is paused, etcd is too full, it meets too many, or it meets one definition only, and the gate of that is held. Null: it would be taken."`
	Others  []placeView     `json:"others" doc:"Where it meets nothing: instances that wait for the same with another correlation; 10 at most."`
	Recent  []sentEventView `json:"recent" doc:"Events of this name, or nearly so, of the last hour that nodes remember, the newest first; 10 at most. No node remembers more than 10,000, and none what was before its start."`

	Revision int64 `json:"revision" doc:"Of etcd, at which this was so."`
}

type refusedView struct {
	Code   workflow.Code `json:"code"`
	Detail string        `json:"detail"`
}

type placeView struct {
	InstanceID    string  `json:"instanceId"`
	BookmarkID    string  `json:"bookmarkId"`
	CorrelationID *string `json:"correlationId"`
}

// sentEventView is an event that a node sent.
type sentEventView struct {
	NodeID        string    `json:"nodeId"`
	ID            string    `json:"id" doc:"Of its queue item, if it had one."`
	Name          string    `json:"name"`
	CorrelationID *string   `json:"correlationId"`
	InstanceID    *string   `json:"instanceId" doc:"That it was addressed to."`
	At            time.Time `json:"at" doc:"By the clock of the node."`
	Met           int       `json:"met" doc:"How many instances it resumed or started; 0: it went into the queue."`
	First         *string   `json:"first" doc:"One of them; null: none, or it is not known."`
}

func viewSent(s explain.Sent) sentEventView {
	return sentEventView{s.Node, s.ID, s.Name, some(s.CorrelationID), some(s.InstanceID), s.At.UTC(), s.Met, some(s.First)}
}

type triggerView struct {
	DefinitionID string  `json:"definitionId"`
	Version      int     `json:"version"`
	ActivityID   string  `json:"activityId"`
	Activation   *string `json:"activation" doc:"Its activation strategy."`
	Holder       *string `json:"holder" doc:"The instance that runs and holds the gate of that strategy: the start waits until it has ended, or is refused if it is all that the event meets. Null: it starts."`
}

func viewPlace(p explain.Place) placeView {
	return placeView{p.InstanceID, p.BookmarkID, some(p.CorrelationID)}
}

func viewEffect(e *explain.Effect) effectView {
	v := effectView{
		Resumes: each(e.Resumes, viewPlace), Resumed: e.Resumed, Started: e.Started, Queued: e.Queued, More: e.More, Others: each(e.Others, viewPlace), Recent: each(e.Recent, viewSent), Revision: e.Revision,
		Starts: each(e.Starts, func(t explain.Trigger) triggerView {
			return triggerView{t.DefinitionID, t.Version, t.ActivityID, some(t.Activation), some(t.Holder)}
		}),
	}
	if e.Refused != nil {
		v.Refused = &refusedView{e.Refused.Code, e.Refused.Detail}
	}
	return v
}

// explainEvent says what an event would do; its payload changes nothing about that.
func explainEvent(c *call) (reply, error) {
	if dryRun, err := c.flag("dryRun", true); err != nil || !dryRun {
		return reply{}, cmp.Or[error](err, invalid("bad-parameter", "/dryRun", "GET tells what an event would do and sends none; POST does"))
	}
	name := c.r.PathValue("name")
	if err := checkEventName(name); err != nil {
		return reply{}, err
	}
	b := eventBody{CorrelationID: c.query.Get("correlationId"), InstanceID: c.query.Get("instanceId")}
	return c.effectOf(b.stimulus(name))
}

// effectOf answers what a stimulus would do, in the place of sending it.
func (c *call) effectOf(s workflow.Stimulus) (reply, error) {
	if err := checkAddress(s); err != nil {
		return reply{}, err
	}
	e, err := c.api.cfg.Explainer.Event(c.r.Context(), s, peersOf(c))
	if err != nil {
		return reply{}, err
	}
	return reply{body: viewEffect(e)}, nil
}

func viewClaim(c explain.Claim) claimView {
	return claimView{c.Node, knownTime(c.Since), c.Fence, c.Gone, c.Draining, c.Self}
}

func viewExplanation(x *explain.Explanation) explanationView {
	v := explanationView{
		InstanceID: x.Instance.ID, State: x.State, Cause: x.Cause, Summary: x.Summary, Next: append([]string{}, x.Next...),
		Reasons: each(x.Reasons, func(r explain.Reason) reasonView {
			return reasonView{r.Kind, r.Text, knownTime(r.Since), knownTime(r.Until), some(r.Key), some(r.Object)}
		}),
		Waiters: each(x.Waiters, viewClaim), Doing: viewDoing(x.Doing), MailLeft: x.MailLeft,
		Mail: each(x.Mail, func(m explain.Mail) mailView {
			return mailView{m.ID, m.Kind, some(m.Bookmark), knownTime(m.CreatedAt), m.Attempts, m.Unreadable}
		}),
		NearMisses: each(x.NearMisses, func(m explain.NearMiss) nearMissView {
			return nearMissView{m.Kind, m.Where, m.ID, some(m.Bookmark), some(m.Name), some(m.CorrelationID), some(m.InstanceID), knownTime(m.CreatedAt), m.Text}
		}),
		Incidents: each(x.Incidents, func(i explain.Incident) openView {
			return openView{i.ActivityID, i.ActivityType, i.Message, i.Time.UTC(), i.Open}
		}),
		IncidentsLeft: x.IncidentsLeft, ReasonsLeft: x.ReasonsLeft, Revision: x.Revision, At: x.At,
	}
	if x.History != nil {
		h := viewHistory(x.History)
		v.History = &h
	}
	if x.Owner != nil {
		owner := viewClaim(*x.Owner)
		v.Owner = &owner
	}
	if g := x.Gate; g != nil {
		v.Gate = &gateView{some(g.DefinitionID), some(g.CorrelationID), some(g.Holder), g.Behind, some(g.Item)}
	}
	if c := x.Commit; c != nil {
		v.LastCommit = &lastCommitView{c.Sequence, some(c.Node), c.Fence, knownTime(c.At)}
	}
	return v
}

func explainInstance(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	x, err := c.api.cfg.Explainer.Instance(c.r.Context(), id, peersOf(c))
	if err != nil {
		return reply{}, err
	}
	return reply{body: viewExplanation(x)}, nil
}
