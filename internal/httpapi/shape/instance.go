package shape

import (
	"maps"
	"time"

	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// Dispatched names an instance that something was accepted for.
type Dispatched struct {
	InstanceID string `json:"instanceId"`
}

// The shapes of the outward contract. They are apart from the domain's types on
// purpose: those may change, these may not. Every field is always there, null
// where there is nothing to say, unless the contract says that it is optional.

// Instance is an instance, whole.
type Instance struct {
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
	Incidents        []Incident         `json:"incidents"`
	Bookmarks        []Bookmark         `json:"bookmarks"`

	MoreBookmarks int `json:"moreBookmarks,omitempty" doc:"In the answer to a command for an instance that waits at thousands of places: at how many more than are listed. GET lists all."`

	Interrupted string `json:"interrupted,omitempty" doc:"In the answer to a cancel: the activity whose call to the outside it ended. Absent: none was under way, or it is not known yet."`
	NotYet      string `json:"notYet,omitempty" doc:"In the 202 of a cancel: what the instance is at, and whether that was told to end. Absent: it is not known."`

	Archived bool `json:"archived,omitempty" doc:"It has left etcd, and the archive told it. See docs/operations/archive.md."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

// Incident is what went wrong in an instance.
type Incident struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Expression   string    `json:"expression,omitempty" doc:"The input that failed, with its language."`
	Message      string    `json:"message"`
	Cause        string    `json:"cause,omitempty"`
	Time         time.Time `json:"time"`
	Final        bool      `json:"final,omitempty" doc:"The definition says that the instance has failed for good: a retry is refused unless it says again."`
}

// Bookmark is a place where an instance waits.
type Bookmark struct {
	BookmarkID   string     `json:"bookmarkId"`
	ActivityID   string     `json:"activityId"`
	ActivityType string     `json:"activityType"`
	Name         *string    `json:"name"`
	DueAt        *time.Time `json:"dueAt,omitempty" doc:"When a timer resumes it."`
	Retry        *Retry     `json:"retry,omitempty" doc:"It is a pause between two attempts."`

	ChildInstanceID string `json:"childInstanceId,omitempty" doc:"The instance whose end resumes it."`
}

// Retry is a pause between two attempts.
type Retry struct {
	ActivityID string `json:"activityId" doc:"The activity that is tried again."`
	Attempt    int64  `json:"attempt" doc:"Which attempt comes when it is due, from 2."`
	Attempts   int64  `json:"attempts" doc:"How many there are at most; 0: as many as there is time for."`
	Error      string `json:"error" doc:"Why the one before failed."`
}

// QueueItem is a stimulus that waits for a target.
type QueueItem struct {
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

// TimerItem is a timer or an occurrence to come.
type TimerItem struct {
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

// Task is what waits for a worker outside.
type Task struct {
	TaskID     string    `json:"taskId"`
	Name       string    `json:"name"`
	InstanceID string    `json:"instanceId"`
	Payload    any       `json:"payload,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`

	Worker   string     `json:"worker,omitempty" doc:"Who has it; absent: it is free."`
	Since    *time.Time `json:"since,omitempty" doc:"Since when."`
	Until    *time.Time `json:"until,omitempty" doc:"The end of the lease; a heartbeat extends it."`
	Heard    *time.Time `json:"heard,omitempty" doc:"When the worker's last heartbeat was."`
	Progress *float64   `json:"progress,omitempty" doc:"Percent, as the worker said."`
	Text     string     `json:"text,omitempty" doc:"What the worker said."`
	Attempts int        `json:"attempts,omitempty" doc:"How often it was claimed and not given back; the present claim is one."`
	LastWhy  string     `json:"lastWhy,omitempty" doc:"Why the attempt before ended."`
	LastOf   string     `json:"lastWorker,omitempty" doc:"Of a free one: who had it last."`

	Damaged bool   `json:"damaged,omitempty"`
	Damage  string `json:"damage,omitempty"`
}

// Claimed are the tasks that a worker has got.
type Claimed struct {
	Items []ClaimedTask `json:"items"`
}

// ClaimedTask is one of them.
type ClaimedTask struct {
	TaskID       string    `json:"taskId"`
	Name         string    `json:"name"`
	InstanceID   string    `json:"instanceId"`
	DefinitionID string    `json:"definitionId"`
	Payload      any       `json:"payload,omitempty"`
	CreatedAt    time.Time `json:"createdAt"`
	Claim        string    `json:"claim" doc:"Names this claim in heartbeat, complete, fail and release."`
	Attempt      int       `json:"attempt" doc:"From 1."`
	Retried      bool      `json:"retried,omitempty" doc:"The activity has a retry, which counts the attempts: leave it to that whether another one follows a failure."`
	LeaseUntil   time.Time `json:"leaseUntil" doc:"Then another worker gets it, unless a heartbeat came before."`
}

// Heard is the answer to a heartbeat.
type Heard struct {
	Stop       bool       `json:"stop" doc:"Nobody waits for the task any more: what the worker does is in vain."`
	Reason     string     `json:"reason,omitempty" doc:"Why."`
	LeaseUntil *time.Time `json:"leaseUntil,omitempty"`
}

// TaskFailed is what became of a task whose worker did not complete it.
type TaskFailed struct {
	TaskID string `json:"taskId"`
	Free   bool   `json:"free" doc:"Another worker may claim it; if not, its activity has the failure: its retry makes another task of it, or it has faulted."`
}

// DeadLetter is work that could not be done.
type DeadLetter struct {
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

// Some is s, or null where there is none.
func Some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// SomeTime is t in UTC, or null where there is none.
func SomeTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func viewRetry(r *workflow.Retry) *Retry {
	if r == nil {
		return nil
	}
	return &Retry{r.Activity, r.Attempt, r.Attempts, r.Error}
}

// ViewInstance shows an instance.
func ViewInstance(in workflow.Instance) Instance {
	v := Instance{
		InstanceID: in.ID, DefinitionID: in.DefinitionID, Version: in.Version, Status: in.Status, SubStatus: in.SubStatus,
		Name: Some(in.Name), CorrelationID: Some(in.CorrelationID), Labels: ViewLabels(in.Labels), ParentInstanceID: ParentOf(in),
		CreatedAt: in.CreatedAt.UTC(), UpdatedAt: in.UpdatedAt.UTC(), FinishedAt: SomeTime(in.FinishedAt),
		Input: Object(in.Input), Output: Object(in.Output),
		Incidents: Each(in.Incidents, func(i workflow.Incident) Incident {
			return Incident{i.ActivityID, i.ActivityType, i.Expression, i.Message, i.Cause, i.Time.UTC(), i.Final}
		}),
		Bookmarks: Each(in.Bookmarks, func(b workflow.Bookmark) Bookmark {
			return Bookmark{b.ID, b.ActivityID, b.ActivityType, Some(b.Name), SomeTime(b.DueAt), viewRetry(b.Retry()), b.Child()}
		}),
	}
	v.MoreBookmarks, v.Archived = in.MoreWaits, in.Archived
	v.Damaged, v.Damage = in.Damaged != "", in.Damaged
	return v
}

// ViewLabels is never null.
func ViewLabels(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// ParentOf is the id of the instance that started it, or null.
func ParentOf(in workflow.Instance) *string {
	if in.Parent == nil {
		return nil
	}
	return Some(in.Parent.InstanceID)
}

// Object is m, never null.
func Object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// KnownTime is t, or null where it is not known.
func KnownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return SomeTime(&t)
}

// ViewQueueItem shows a stimulus of the queue.
func ViewQueueItem(q runtime.QueueItem) QueueItem {
	return QueueItem{
		ID: q.ID, ActivityType: q.Stimulus.ActivityType, Stimulus: q.Stimulus.Payload,
		CorrelationID: Some(q.Stimulus.CorrelationID), InstanceID: Some(q.Stimulus.InstanceID),
		Name: q.Stimulus.EventName(), Gated: q.Gated,
		CreatedAt: q.CreatedAt.UTC(), ExpiresAt: q.ExpiresAt.UTC(), Damaged: q.Damaged, Damage: q.Damage,
	}
}

// ViewTimerItem shows a timer or an occurrence.
func ViewTimerItem(t runtime.TimerItem) TimerItem {
	return TimerItem{
		DueAt: t.DueAt, Kind: t.Kind, InstanceID: t.InstanceID, BookmarkID: t.BookmarkID, DefinitionID: t.DefinitionID, ActivityID: t.ActivityID,
		Gated: t.Gated, GatedAt: t.GatedAt, Then: t.Then, Damaged: t.Damaged, Damage: t.Damage,
	}
}

// ViewTask shows a task.
func ViewTask(t runtime.Task) Task {
	v := Task{TaskID: t.TaskID, Name: t.Name, InstanceID: t.InstanceID, Payload: t.Payload, CreatedAt: t.CreatedAt, Damaged: t.Damaged, Damage: t.Damage}
	if c := t.Claim; c != nil {
		v.Worker, v.Since, v.Until, v.Attempts = c.Worker, &c.Since, &c.Until, c.Attempt
		v.Progress, v.Text, v.LastWhy = c.Progress, c.Text, c.Last
		if !c.Heard.IsZero() {
			v.Heard = &c.Heard
		}
	} else {
		v.Attempts, v.LastWhy, v.LastOf = t.Past.Attempts, t.Past.Why, t.Past.Worker
	}
	return v
}

// ViewClaimed shows what a worker has got.
func ViewClaimed(got []runtime.ClaimedTask) Claimed {
	v := Claimed{Items: make([]ClaimedTask, len(got))}
	for i := range got {
		t := &got[i]
		v.Items[i] = ClaimedTask{TaskID: t.TaskID, Name: t.Name, InstanceID: t.InstanceID, DefinitionID: t.DefinitionID, Payload: t.Payload, CreatedAt: t.CreatedAt,
			Claim: t.Claim, Attempt: t.Attempt, Retried: t.Retried, LeaseUntil: t.LeaseUntil}
	}
	return v
}

// ViewHeard shows the answer to a heartbeat.
func ViewHeard(h runtime.TaskHeard) Heard {
	if h.Stop != "" {
		return Heard{Stop: true, Reason: h.Stop}
	}
	return Heard{LeaseUntil: &h.LeaseUntil}
}

// ViewDeadLetter shows a dead letter.
func ViewDeadLetter(d runtime.DeadLetter) DeadLetter {
	v := DeadLetter{ID: d.ID, Reason: d.Reason, Detail: d.Detail, InstanceID: Some(d.InstanceID), CreatedAt: d.CreatedAt.UTC(), Damaged: d.Damaged, Damage: d.Damage}
	if d.Damaged {
		v.Reason = "damaged"
	}
	if d.Stimulus != nil {
		v.ActivityType, v.Stimulus = d.Stimulus.ActivityType, d.Stimulus.Payload
		v.Name, v.CorrelationID = d.Stimulus.EventName(), Some(d.Stimulus.CorrelationID)
	}
	if d.Command != nil {
		v.Command = string(d.Command.Kind)
	}
	if d.Dropped != nil {
		v.DroppedBytes, v.DroppedSHA256 = d.Dropped.Bytes, d.Dropped.SHA256
	}
	return v
}

// InstancePath is where an instance is looked at.
func InstancePath(id string) string { return serve.Prefix + "/instances/" + id }
