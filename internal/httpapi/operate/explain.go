package operate

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// explainRoutes say why things are as they are.
func explainRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/instances/{id}/explain", Name: "explainInstance", Costly: true, Role: auth.Viewer, Tag: "instances", Kind: serve.Reads,
			Summary: "Why an instance is where it is: who runs it, what it waits for, what nearly met it, what to do",
			Answers: map[int]any{200: explanationView{}}, Problems: []workflow.Code{workflow.CodeInstanceNotFound}, Serve: explainInstance},
		{Method: "GET", Path: "/instances/{id}/owners", Name: "listOwners", Costly: true, Role: auth.Viewer, Tag: "instances", Kind: serve.Reads,
			Summary: "Which node made which commits of an instance, who took over from whom, and what a fence refused",
			Answers: map[int]any{200: ownersView{}}, Problems: []workflow.Code{workflow.CodeInstanceNotFound}, Serve: owners},
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
	Doing      *peers.Doing    `json:"doing" doc:"The activity that the owner is in; null: none at the moment, or it could not be asked."`
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
	Final        bool      `json:"final,omitempty" doc:"The definition says that the instance has failed for good: a retry is refused unless it says again."`
	Open         bool      `json:"open" doc:"What failed is still faulted; false: it ran again since, or was skipped or cancelled."`
}

type reasonView struct {
	Kind   string     `json:"kind" enum:"lock,activity,mail,cancel,event,timer,retry,child,task,endpoint,stimulus,paused,full,clock,drain,gate,incident,undoing,unwritten,none,damaged"`
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

func viewClaim(c explain.Claim) claimView {
	return claimView{c.Node, shape.KnownTime(c.Since), c.Fence, c.Gone, c.Draining, c.Self}
}

func viewExplanation(x *explain.Explanation) explanationView {
	v := explanationView{
		InstanceID: x.Instance.ID, State: x.State, Cause: x.Cause, Summary: x.Summary, Next: append([]string{}, x.Next...),
		Reasons: shape.Each(x.Reasons, func(r explain.Reason) reasonView {
			return reasonView{r.Kind, r.Text, shape.KnownTime(r.Since), shape.KnownTime(r.Until), shape.Some(r.Key), shape.Some(r.Object)}
		}),
		Waiters: shape.Each(x.Waiters, viewClaim), Doing: peers.ViewDoing(x.Doing), MailLeft: x.MailLeft,
		Mail: shape.Each(x.Mail, func(m explain.Mail) mailView {
			return mailView{m.ID, m.Kind, shape.Some(m.Bookmark), shape.KnownTime(m.CreatedAt), m.Attempts, m.Unreadable}
		}),
		NearMisses: shape.Each(x.NearMisses, func(m explain.NearMiss) nearMissView {
			return nearMissView{m.Kind, m.Where, m.ID, shape.Some(m.Bookmark), shape.Some(m.Name), shape.Some(m.CorrelationID), shape.Some(m.InstanceID), shape.KnownTime(m.CreatedAt), m.Text}
		}),
		Incidents: shape.Each(x.Incidents, func(i explain.Incident) openView {
			return openView{i.ActivityID, i.ActivityType, i.Message, i.Time.UTC(), i.Final, i.Open}
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
		v.Gate = &gateView{shape.Some(g.DefinitionID), shape.Some(g.CorrelationID), shape.Some(g.Holder), g.Behind, shape.Some(g.Item)}
	}
	if c := x.Commit; c != nil {
		v.LastCommit = &lastCommitView{c.Sequence, shape.Some(c.Node), c.Fence, shape.KnownTime(c.At)}
	}
	return v
}

func explainInstance(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	x, err := c.API.Config.Explainer.Instance(c.Request.Context(), id, peers.Of(c))
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewExplanation(x)}, nil
}
