package shape

import (
	"time"

	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/workflow"
)

// Effect is what a stimulus would do.
type Effect struct {
	Resumes []Place     `json:"resumes" doc:"Instances that it would resume; 100 at most."`
	Starts  []Trigger   `json:"starts" doc:"Definitions that it would start, unless an instance holds the gate of the activation strategy (holder); 100 at most."`
	Resumed int         `json:"resumed" doc:"How many it would resume in all."`
	Started int         `json:"started" doc:"How many it would start in all, also those whose gate is held."`
	Queued  bool        `json:"queued" doc:"It meets nothing, and would wait in the queue."`
	More    bool        `json:"more" doc:"It meets more than 10,000, and would be refused."`
	Refused *Refused    `json:"refused" doc:"Why it would be refused if it were sent now: its instance is not there, has ended or is damaged, the cluster is paused, etcd is too full, it meets too many, or it meets one definition only, and the gate of that is held. Null: it would be taken."`
	Others  []Place     `json:"others" doc:"Where it meets nothing: instances that wait for the same with another correlation; 10 at most."`
	Recent  []SentEvent `json:"recent" doc:"Events of this name, or nearly so, of the last hour that nodes remember, the newest first; 10 at most. No node remembers more than 10,000, and none what was before its start."`

	Revision int64 `json:"revision" doc:"Of etcd, at which this was so."`
}

// Refused is why it would be refused.
type Refused struct {
	Code   workflow.Code `json:"code"`
	Detail string        `json:"detail"`
}

// Place is where an instance waits.
type Place struct {
	InstanceID    string  `json:"instanceId"`
	BookmarkID    string  `json:"bookmarkId"`
	CorrelationID *string `json:"correlationId"`
}

// SentEvent is an event that a node sent.
type SentEvent struct {
	NodeID        string    `json:"nodeId"`
	ID            string    `json:"id" doc:"Of its queue item, if it had one."`
	Name          string    `json:"name"`
	CorrelationID *string   `json:"correlationId"`
	InstanceID    *string   `json:"instanceId" doc:"That it was addressed to."`
	At            time.Time `json:"at" doc:"By the clock of the node."`
	Met           int       `json:"met" doc:"How many instances it resumed or started; 0: it went into the queue."`
	First         *string   `json:"first" doc:"One of them; null: none, or it is not known."`
}

// ViewSentEvent shows an event that a node sent.
func ViewSentEvent(s explain.Sent) SentEvent {
	return SentEvent{s.Node, s.ID, s.Name, Some(s.CorrelationID), Some(s.InstanceID), s.At.UTC(), s.Met, Some(s.First)}
}

// Trigger is what a stimulus would start.
type Trigger struct {
	DefinitionID string  `json:"definitionId"`
	Version      int     `json:"version"`
	ActivityID   string  `json:"activityId"`
	Activation   *string `json:"activation" doc:"Its activation strategy."`
	Holder       *string `json:"holder" doc:"The instance that runs and holds the gate of that strategy: the start waits until it has ended, or is refused if it is all that the event meets. Null: it starts."`
}

func viewPlace(p explain.Place) Place {
	return Place{p.InstanceID, p.BookmarkID, Some(p.CorrelationID)}
}

// ViewEffect shows what a stimulus would do.
func ViewEffect(e *explain.Effect) Effect {
	v := Effect{
		Resumes: Each(e.Resumes, viewPlace), Resumed: e.Resumed, Started: e.Started, Queued: e.Queued, More: e.More, Others: Each(e.Others, viewPlace), Recent: Each(e.Recent, ViewSentEvent), Revision: e.Revision,
		Starts: Each(e.Starts, func(t explain.Trigger) Trigger {
			return Trigger{t.DefinitionID, t.Version, t.ActivityID, Some(t.Activation), Some(t.Holder)}
		}),
	}
	if e.Refused != nil {
		v.Refused = &Refused{e.Refused.Code, e.Refused.Detail}
	}
	return v
}

// Event is the event that a node showed so.
func (v SentEvent) Event() recent.Event {
	return recent.Event{ID: v.ID, Name: v.Name, CorrelationID: orEmpty(v.CorrelationID), InstanceID: orEmpty(v.InstanceID), At: v.At, Met: v.Met, First: orEmpty(v.First)}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
