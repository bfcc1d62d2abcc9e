package workflow

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow/files"
)

// Status is the coarse state of an instance.
type Status string

// SubStatus refines a [Status]: Pending, Executing and Suspended are Running;
// Finished, Cancelled and Faulted are Finished.
type SubStatus string

// The statuses, as they appear in the API.
const (
	StatusRunning  Status = "Running"
	StatusFinished Status = "Finished"

	Pending   SubStatus = "Pending"   // created, its first burst not begun
	Executing SubStatus = "Executing" // in a burst whose cause is durable
	Suspended SubStatus = "Suspended" // waits at bookmarks
	Finished  SubStatus = "Finished"
	Cancelled SubStatus = "Cancelled"
	Faulted   SubStatus = "Faulted"
)

// Status tells which Status s belongs to.
func (s SubStatus) Status() Status {
	switch s {
	case Finished, Cancelled, Faulted:
		return StatusFinished
	}
	return StatusRunning
}

// Known reports whether s is one of them.
func (s SubStatus) Known() bool {
	switch s {
	case Pending, Executing, Suspended, Finished, Cancelled, Faulted:
		return true
	}
	return false
}

// Instance is the header of an instance: what people see of it and what the
// store indexes. The engine's state carries everything else.
type Instance struct {
	ID            string            `json:"instanceId"`
	DefinitionID  string            `json:"definitionId"`
	Version       int               `json:"version"`
	Status        Status            `json:"status"`
	SubStatus     SubStatus         `json:"subStatus"`
	Name          string            `json:"name,omitempty"`
	CorrelationID string            `json:"correlationId,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"` // see [CheckLabels]; it is not changed, but replaced
	Parent        *Parent           `json:"parent,omitempty"`
	CreatedAt     time.Time         `json:"createdAt"`
	UpdatedAt     time.Time         `json:"updatedAt"`
	FinishedAt    *time.Time        `json:"finishedAt,omitempty"`
	Input         map[string]any    `json:"input,omitempty"`
	Output        map[string]any    `json:"output,omitempty"`
	Incidents     []Incident        `json:"incidents,omitempty"`
	Bookmarks     []Bookmark        `json:"bookmarks,omitempty"`

	// MoreWaits is at how many more places it waits, of one that was read for a list, and waits at thousands.
	MoreWaits int `json:"-"`

	// Archived tells that it has left etcd, and was read from the archive.
	Archived bool `json:"-"`

	// Damaged says why the record of a listed instance cannot be read; the other
	// fields then have its id and what the list knows. "": it can be read.
	Damaged string `json:"-"`
}

// Parent is the instance that started this one, and the bookmark at which it
// waits for this one's end ("" if it does not wait).
type Parent struct {
	InstanceID string `json:"instanceId"`
	BookmarkID string `json:"bookmarkId,omitempty"`
}

// Bookmark is a place where an instance waits. Its ID contains the encoded
// instance id (see [BookmarkID]), so that it needs no index.
type Bookmark struct {
	ID           string     `json:"bookmarkId"`
	ActivityID   string     `json:"activityId"`
	ActivityType string     `json:"activityType"`
	Name         string     `json:"name,omitempty"`    // for people, such as the event's name or the task's
	Hash         string     `json:"hash"`              // of the stimulus that resumes it
	Payload      any        `json:"payload,omitempty"` // the hashed stimulus
	ContextID    string     `json:"contextId"`         // the activity execution that waits
	Callback     string     `json:"callback,omitempty"`
	KeepOnResume bool       `json:"keepOnResume,omitempty"` // not burned by a resume (Elsa's AutoBurn=false)
	DueAt        *time.Time `json:"dueAt,omitempty"`        // a timer resumes it then
	CreatedAt    time.Time  `json:"createdAt"`
	Metadata     any        `json:"metadata,omitempty"`
}

// Retry is the attempt that a pause between two attempts ends with.
type Retry struct {
	Activity string // the id of the activity that is tried again
	Attempt  int64  // which one comes, from 2
	Attempts int64  // how many there are at most; 0: as many as there is time for
	Error    string // why the one before failed
}

// Metadata is how a bookmark keeps it.
func (r *Retry) Metadata() map[string]any {
	return map[string]any{"activity": r.Activity, "attempt": r.Attempt, "attempts": r.Attempts, "error": r.Error}
}

// Retry is the attempt that comes when the bookmark is due; nil: it is no pause between
// attempts.
func (b *Bookmark) Retry() *Retry {
	if b.ActivityType != RetryType {
		return nil
	}
	m, _ := b.Metadata.(map[string]any)
	r := &Retry{}
	r.Activity, _ = m["activity"].(string)
	r.Error, _ = m["error"].(string)
	for name, to := range map[string]*int64{"attempt": &r.Attempt, "attempts": &r.Attempts} {
		switch n := m[name].(type) {
		case int64:
			*to = n
		case float64:
			*to = int64(n)
		}
	}
	return r
}

// Child is the instance whose end resumes the bookmark; "": no instance's does.
func (b *Bookmark) Child() string {
	payload, _ := b.Payload.(map[string]any)
	child, _ := payload["childInstanceId"].(string)
	if len(payload) != 1 {
		return "" // another activity's own
	}
	return child
}

// Incident is something that went wrong in an activity of an instance.
type Incident struct {
	ActivityID   string    `json:"activityId,omitempty"`
	ActivityType string    `json:"activityType,omitempty"`
	ContextID    string    `json:"contextId,omitempty"`
	Expression   string    `json:"expression,omitempty"` // the input that failed, such as "text: JavaScript"
	Message      string    `json:"message"`
	Cause        string    `json:"cause,omitempty"`
	Time         time.Time `json:"time"`
	Final        bool      `json:"final,omitempty"` // the instance has failed for good: a retry asks first
}

// Response is what WriteHttpResponse wrote; it is sent after the commit.
type Response struct {
	Status      int               `json:"status"`
	ContentType string            `json:"contentType,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Body        []byte            `json:"body,omitempty"`
	File        *files.Ref        `json:"file,omitempty"` // sent in the place of the body, in ranges if the caller asks for them
}
