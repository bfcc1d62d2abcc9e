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
	InstanceID string
	Outcome    workflow.Outcome // started, resumed, accepted or refused
	Code       string
	Detail     string // why, for people
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
	Version                     int
	Parent                      string            // the instance that started it
	Labels                      map[string]string // all of them
	Status                      workflow.Status
	SubStatus                   workflow.SubStatus
	Limit                       int    // 1..500, default 50
	Cursor                      string // from the page before
}

// Page is one page of a list; Next is "" at the end.
type Page[T any] struct {
	Items []T
	Next  string
}

// StateExport is an instance as it is exported and imported.
type StateExport struct {
	Sequence int64             `json:"sequence"` // the ETag
	Instance workflow.Instance `json:"instance"`
	State    json.RawMessage   `json:"state"`
}

// QueueItem is a stimulus that waits for a target, or for the gate of its start.
type QueueItem struct {
	ID        string
	Stimulus  workflow.Stimulus
	Gated     string // the definition that it starts once nobody holds the gate
	CreatedAt time.Time
	ExpiresAt time.Time
	Damaged   bool   // its record cannot be read, and this is what its key says
	Damage    string // why
}

// TimerItem is one timer or cron occurrence to come.
type TimerItem struct {
	DueAt        time.Time
	Kind         string // bookmark, cron, timer, startAt
	InstanceID   string
	BookmarkID   string
	DefinitionID string
	ActivityID   string
	Gated        int64     // of a schedule: occurrences that started nothing, as an instance held the gate
	GatedAt      time.Time // when that happened last
	Damaged      bool      // its record cannot be read, and this is what its key says
	Damage       string    // why
}

// Task is a RunTask that waits for an outside worker.
type Task struct {
	TaskID     string
	Name       string
	InstanceID string
	Payload    any
	CreatedAt  time.Time
	Damaged    bool   // its record cannot be read, and this is what its key says
	Damage     string // why
}

// DeadLetter is work that could not be done, with the reason.
type DeadLetter struct {
	ID         string
	Reason     workflow.DeadReason
	Detail     string
	Stimulus   *workflow.Stimulus
	Command    *workflow.Command
	Dropped    *store.Dropped // what was too large to be kept of both
	InstanceID string
	CreatedAt  time.Time
	Damaged    bool   // its record cannot be read, and this is what its key says
	Damage     string // why
}
