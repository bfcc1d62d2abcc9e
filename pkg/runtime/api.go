package runtime

import (
	"encoding/json"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Key is a caller's Idempotency-Key: one effect and one answer per Scope and
// Value as long as the store keeps it, 24 hours if nothing else is configured. BodyHash tells a repeat from a reuse.
type Key struct {
	Scope    string // the route, with its path parameters
	Value    string
	BodyHash string

	made bool // here, for a call that came without
}

// StartRequest asks for a new instance.
type StartRequest struct {
	DefinitionID  string
	Version       int    // 0: the published head
	InstanceID    string // "": made
	CorrelationID string
	Name          string
	Input         map[string]any
	Properties    map[string]any
	Key           *Key
	Wait          time.Duration // Execute: wait up to this for the end; 0: the first commit

	again *plan // planned once more, with its ids
	fresh bool  // do not trust what this node knows of the head
}

// StartResult is the instance after its first commit (Accepted false), or as it
// is known to be durable, its first burst still running (Accepted true).
type StartResult struct {
	Instance workflow.Instance
	Accepted bool
	Response *workflow.Response // what WriteHttpResponse wrote in the first burst
}

// TargetOutcome tells what a stimulus did to one instance.
type TargetOutcome struct {
	InstanceID string           `json:"instanceId"`
	Outcome    workflow.Outcome `json:"outcome"` // started, resumed, accepted or refused
	Code       string           `json:"code,omitempty"`
	Detail     string           `json:"-"` // why, for people
}

// SendResult is the answer to a stimulus: outcomes per target, or the id of the
// queue item that waits for a target.
type SendResult struct {
	Outcomes []TargetOutcome
	Queued   string
	Response *workflow.Response
}

// Accepted reports whether anything is durable and not yet applied, so that 202
// is the honest answer.
func (r SendResult) Accepted() bool {
	for _, o := range r.Outcomes {
		if o.Outcome == workflow.OutcomeAccepted {
			return true
		}
	}
	return r.Queued != ""
}

// InstanceFilter selects instances; zero fields do not restrict.
type InstanceFilter struct {
	DefinitionID, CorrelationID string
	Status                      workflow.Status
	SubStatus                   workflow.SubStatus
	Limit                       int    // 1..500, default 50
	Cursor                      string // from the page before
}

// Page is one page of a list; Next is "" at the end.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"nextCursor,omitempty"`
}

// StateExport is an instance as it is exported and imported.
type StateExport struct {
	Sequence int64             `json:"sequence"` // the ETag
	Instance workflow.Instance `json:"instance"`
	State    json.RawMessage   `json:"state"`
}

// QueueItem is a stimulus that waits for a target, or for the gate of its start.
type QueueItem struct {
	ID        string            `json:"id"`
	Stimulus  workflow.Stimulus `json:"stimulus"`
	Gated     string            `json:"gated,omitempty"` // the definition that it starts once nobody holds the gate
	CreatedAt time.Time         `json:"createdAt"`
	ExpiresAt time.Time         `json:"expiresAt"`
	Damaged   bool              `json:"damaged,omitempty"` // its record cannot be read, and this is what its key says
	Damage    string            `json:"damage,omitempty"`  // why
}

// TimerItem is one timer or cron occurrence to come.
type TimerItem struct {
	DueAt        time.Time `json:"dueAt"`
	Kind         string    `json:"kind"` // bookmark, cron, timer, startAt
	InstanceID   string    `json:"instanceId,omitempty"`
	BookmarkID   string    `json:"bookmarkId,omitempty"`
	DefinitionID string    `json:"definitionId,omitempty"`
	ActivityID   string    `json:"activityId,omitempty"`
	Gated        int64     `json:"gated,omitempty"`   // of a schedule: occurrences that started nothing, as an instance held the gate
	GatedAt      time.Time `json:"gatedAt,omitzero"`  // when that happened last
	Damaged      bool      `json:"damaged,omitempty"` // its record cannot be read, and this is what its key says
	Damage       string    `json:"damage,omitempty"`  // why
}

// Task is a RunTask that waits for an outside worker.
type Task struct {
	TaskID     string    `json:"taskId"`
	Name       string    `json:"name"`
	InstanceID string    `json:"instanceId"`
	Payload    any       `json:"payload,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	Damaged    bool      `json:"damaged,omitempty"` // its record cannot be read, and this is what its key says
	Damage     string    `json:"damage,omitempty"`  // why
}

// DeadLetter is work that could not be done, with the reason.
type DeadLetter struct {
	ID         string              `json:"id"`
	Reason     workflow.DeadReason `json:"reason"`
	Detail     string              `json:"detail,omitempty"`
	Stimulus   *workflow.Stimulus  `json:"stimulus,omitempty"`
	Command    *workflow.Command   `json:"command,omitempty"`
	Dropped    *store.Dropped      `json:"dropped,omitempty"` // what was too large to be kept of both
	InstanceID string              `json:"instanceId,omitempty"`
	CreatedAt  time.Time           `json:"createdAt"`
	Damaged    bool                `json:"damaged,omitempty"` // its record cannot be read, and this is what its key says
	Damage     string              `json:"damage,omitempty"`  // why
}
