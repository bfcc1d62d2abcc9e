package httpapi

import (
	"maps"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// The shapes of the outward contract. They are apart from the domain's types on
// purpose: those may change, these may not. Every field is always there, null
// where there is nothing to say, unless the contract says that it is optional.

type instanceView struct {
	InstanceID       string             `json:"instanceId"`
	DefinitionID     string             `json:"definitionId"`
	Version          int                `json:"version"`
	Status           workflow.Status    `json:"status" enum:"Running,Finished," doc:"Empty only of a damaged instance."`
	SubStatus        workflow.SubStatus `json:"subStatus" enum:"Pending,Executing,Suspended,Finished,Cancelled,Faulted,"`
	Name             *string            `json:"name"`
	CorrelationID    *string            `json:"correlationId"`
	Labels           map[string]string  `json:"labels" doc:"By which it is found; none: {}."`
	ParentInstanceID *string            `json:"parentInstanceId"`
	CreatedAt        time.Time          `json:"createdAt"`
	UpdatedAt        time.Time          `json:"updatedAt"`
	FinishedAt       *time.Time         `json:"finishedAt"`
	Input            map[string]any     `json:"input"`
	Output           map[string]any     `json:"output"`
	Incidents        []incidentView     `json:"incidents"`
	Bookmarks        []bookmarkView     `json:"bookmarks"`

	Interrupted string `json:"interrupted,omitempty" doc:"In the answer to a cancel: the activity whose call to the outside it ended. Absent: none was under way, or it is not known yet."`
	NotYet      string `json:"notYet,omitempty" doc:"In the 202 of a cancel: what the instance is at, and whether that was told to end. Absent: it is not known."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

type incidentView struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Expression   string    `json:"expression,omitempty" doc:"The input that failed, with its language."`
	Message      string    `json:"message"`
	Cause        string    `json:"cause,omitempty"`
	Time         time.Time `json:"time"`
}

type bookmarkView struct {
	BookmarkID   string     `json:"bookmarkId"`
	ActivityID   string     `json:"activityId"`
	ActivityType string     `json:"activityType"`
	Name         *string    `json:"name"`
	DueAt        *time.Time `json:"dueAt,omitempty" doc:"When a timer resumes it."`
	Retry        *retryView `json:"retry,omitempty" doc:"It is a pause between two attempts."`

	ChildInstanceID string `json:"childInstanceId,omitempty" doc:"The instance whose end resumes it."`
}

type retryView struct {
	ActivityID string `json:"activityId" doc:"The activity that is tried again."`
	Attempt    int64  `json:"attempt" doc:"Which attempt comes when it is due, from 2."`
	Attempts   int64  `json:"attempts" doc:"How many there are at most; 0: as many as there is time for."`
	Error      string `json:"error" doc:"Why the one before failed."`
}

type outcomeView struct {
	InstanceID string           `json:"instanceId"`
	Outcome    workflow.Outcome `json:"outcome" enum:"started,resumed,accepted,refused"`
	Code       string           `json:"code,omitempty" doc:"Why it was refused."`
}

type sentView struct {
	Outcomes []outcomeView `json:"outcomes"`
}

type queuedView struct {
	Queued string `json:"queued" doc:"Id of the item in the bookmark queue."`
}

type queueItemView struct {
	ID            string    `json:"id"`
	ActivityType  string    `json:"activityType"`
	Stimulus      any       `json:"stimulus" doc:"The hashed part, such as the event's name."`
	CorrelationID *string   `json:"correlationId"`
	InstanceID    *string   `json:"instanceId" doc:"The instance that it is for, if only one."`
	Name          string    `json:"name,omitempty" doc:"Of the event."`
	Gated         string    `json:"gated,omitempty" doc:"The definition that it starts once no other instance runs."`
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

type timerItemView struct {
	DueAt        time.Time `json:"dueAt"`
	Kind         string    `json:"kind"`
	InstanceID   string    `json:"instanceId,omitempty"`
	BookmarkID   string    `json:"bookmarkId,omitempty"`
	DefinitionID string    `json:"definitionId,omitempty"`
	ActivityID   string    `json:"activityId,omitempty"`
	Gated        int64     `json:"gated,omitempty"`
	GatedAt      time.Time `json:"gatedAt,omitzero"`

	Then []time.Time `json:"then,omitempty" doc:"Of a schedule: the occurrences behind that one, 4 at most."`

	Damaged bool   `json:"damaged,omitempty"`
	Damage  string `json:"damage,omitempty"`
}

type taskView struct {
	TaskID     string    `json:"taskId"`
	Name       string    `json:"name"`
	InstanceID string    `json:"instanceId"`
	Payload    any       `json:"payload,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`

	Damaged bool   `json:"damaged,omitempty"`
	Damage  string `json:"damage,omitempty"`
}

type deadLetterView struct {
	ID            string              `json:"id"`
	Reason        workflow.DeadReason `json:"reason"`
	Detail        string              `json:"detail,omitempty"`
	InstanceID    *string             `json:"instanceId"`
	ActivityType  string              `json:"activityType,omitempty"`
	Stimulus      any                 `json:"stimulus,omitempty"`
	Name          string              `json:"name,omitempty" doc:"Of the event."`
	CorrelationID *string             `json:"correlationId" doc:"That the stimulus came with."`
	Command       string              `json:"command,omitempty" doc:"Kind of the command, if it was one."`
	CreatedAt     time.Time           `json:"createdAt"`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`

	DroppedBytes  int64  `json:"droppedBytes,omitempty" doc:"What it brought was too large to be kept: the size of the whole as JSON. It cannot be replayed."`
	DroppedSHA256 string `json:"droppedSha256,omitempty" doc:"The SHA-256 of that, in hexadecimal."`
}

// listView is one page.
type listView[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor" doc:"Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one."`
	Revision   int64   `json:"revision" doc:"Of etcd: all of the page is as it was then."`
}

// list maps a page, item by item.
func list[T, V any](page runtime.Page[T], view func(T) V) listView[V] {
	return listView[V]{Items: each(page.Items, view), NextCursor: some(page.Next), Revision: page.Revision}
}

// each maps a list; it is never null.
func each[T, V any](items []T, view func(T) V) []V {
	out := make([]V, 0, len(items))
	for _, item := range items {
		out = append(out, view(item))
	}
	return out
}

// some is s, or null where there is none.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func someTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func viewRetry(r *workflow.Retry) *retryView {
	if r == nil {
		return nil
	}
	return &retryView{r.Activity, r.Attempt, r.Attempts, r.Error}
}

func viewInstance(in workflow.Instance) instanceView {
	v := instanceView{
		InstanceID: in.ID, DefinitionID: in.DefinitionID, Version: in.Version, Status: in.Status, SubStatus: in.SubStatus,
		Name: some(in.Name), CorrelationID: some(in.CorrelationID), Labels: viewLabels(in.Labels), ParentInstanceID: parentOf(in),
		CreatedAt: in.CreatedAt.UTC(), UpdatedAt: in.UpdatedAt.UTC(), FinishedAt: someTime(in.FinishedAt),
		Input: object(in.Input), Output: object(in.Output),
		Incidents: each(in.Incidents, func(i workflow.Incident) incidentView {
			return incidentView{i.ActivityID, i.ActivityType, i.Expression, i.Message, i.Cause, i.Time.UTC()}
		}),
		Bookmarks: each(in.Bookmarks, func(b workflow.Bookmark) bookmarkView {
			return bookmarkView{b.ID, b.ActivityID, b.ActivityType, some(b.Name), someTime(b.DueAt), viewRetry(b.Retry()), b.Child()}
		}),
	}
	v.Damaged, v.Damage = in.Damaged != "", in.Damaged
	return v
}

// viewLabels is never null.
func viewLabels(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

func parentOf(in workflow.Instance) *string {
	if in.Parent == nil {
		return nil
	}
	return some(in.Parent.InstanceID)
}

func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// knownTime is t, or null where it is not known.
func knownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return someTime(&t)
}

func viewQueueItem(q runtime.QueueItem) queueItemView {
	return queueItemView{
		ID: q.ID, ActivityType: q.Stimulus.ActivityType, Stimulus: q.Stimulus.Payload,
		CorrelationID: some(q.Stimulus.CorrelationID), InstanceID: some(q.Stimulus.InstanceID),
		Name: q.Stimulus.EventName(), Gated: q.Gated,
		CreatedAt: q.CreatedAt.UTC(), ExpiresAt: q.ExpiresAt.UTC(), Damaged: q.Damaged, Damage: q.Damage,
	}
}

func viewTimerItem(t runtime.TimerItem) timerItemView {
	return timerItemView{
		DueAt: t.DueAt, Kind: t.Kind, InstanceID: t.InstanceID, BookmarkID: t.BookmarkID, DefinitionID: t.DefinitionID, ActivityID: t.ActivityID,
		Gated: t.Gated, GatedAt: t.GatedAt, Then: t.Then, Damaged: t.Damaged, Damage: t.Damage,
	}
}

func viewTask(t runtime.Task) taskView {
	return taskView{TaskID: t.TaskID, Name: t.Name, InstanceID: t.InstanceID, Payload: t.Payload, CreatedAt: t.CreatedAt, Damaged: t.Damaged, Damage: t.Damage}
}

func viewDeadLetter(d runtime.DeadLetter) deadLetterView {
	v := deadLetterView{ID: d.ID, Reason: d.Reason, Detail: d.Detail, InstanceID: some(d.InstanceID), CreatedAt: d.CreatedAt.UTC(), Damaged: d.Damaged, Damage: d.Damage}
	if d.Damaged {
		v.Reason = "damaged"
	}
	if d.Stimulus != nil {
		v.ActivityType, v.Stimulus = d.Stimulus.ActivityType, d.Stimulus.Payload
		v.Name, v.CorrelationID = d.Stimulus.EventName(), some(d.Stimulus.CorrelationID)
	}
	if d.Command != nil {
		v.Command = string(d.Command.Kind)
	}
	if d.Dropped != nil {
		v.DroppedBytes, v.DroppedSHA256 = d.Dropped.Bytes, d.Dropped.SHA256
	}
	return v
}

// viewSent is the answer to a stimulus: 200, or 202 when something is durable
// and not yet applied.
func (c *call) viewSent(res runtime.SendResult) reply {
	answer := reply{}
	if res.Accepted() {
		answer.status = 202
	}
	if res.Queued != "" && len(res.Outcomes) == 0 {
		answer.body, answer.location = queuedView{res.Queued}, prefix+"/queue"
		return answer
	}
	view := sentView{Outcomes: make([]outcomeView, 0, len(res.Outcomes))}
	for _, o := range res.Outcomes {
		view.Outcomes = append(view.Outcomes, outcomeView{o.InstanceID, o.Outcome, o.Code})
		if o.Outcome == workflow.OutcomeAccepted && answer.location == "" {
			answer.location = instancePath(o.InstanceID)
		}
	}
	answer.body = view
	return answer
}

func instancePath(id string) string { return prefix + "/instances/" + id }
