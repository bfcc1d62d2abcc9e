package store

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// JobState says how far a job is.
type JobState string

// The states of jobs.
const (
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobCancelled JobState = "cancelled"
)

// JobGone stands among what became of instances for those that are deleted.
const JobGone = "Gone"

// Job gives one command to each instance of a filter. Nodes work it in pages; its record
// says how far it is, so that another node goes on where one has died.
type Job struct {
	ID        string               `json:"id"`
	Kind      workflow.CommandKind `json:"kind"` // of the command: alter, cancel or delete
	Alter     *workflow.Alter      `json:"alter,omitempty"`
	Filter    string               `json:"filter,omitempty"` // which instances, as the line of a find.Filter without durations; "": all
	By        string               `json:"by,omitempty"`
	BodyHash  string               `json:"bodyHash,omitempty"` // of the request that made it, if that had a key
	State     JobState             `json:"state"`
	CreatedAt time.Time            `json:"createdAt"`
	UpdatedAt time.Time            `json:"updatedAt"`
	EndedAt   *time.Time           `json:"endedAt,omitempty"`
	Node      string               `json:"node,omitempty"`   // that wrote it last
	Write     string               `json:"write"`            // a random id of the last write: proof when its answer is lost
	Cursor    string               `json:"cursor,omitempty"` // what comes after it was not looked at
	Page      []string             `json:"page,omitempty"`   // ids of the instances that are being given the command
	Next      string               `json:"next,omitempty"`   // the cursor behind them; "": they are the last
	// Late is when the page was written, if nobody went on with it for so long, or until the
	// job was cancelled: each of its instances is looked for before it is given the command.
	Late time.Time `json:"late,omitzero"`
	// LateAt is the revision at which that page was written: commands of it came later. 0: that is
	// not known, as an older program found it late.
	LateAt int64 `json:"lateAt,omitempty"`

	Done     int64        `json:"done,omitempty"`     // instances that took the command
	Accepted int64        `json:"accepted,omitempty"` // in whose mailboxes it was left
	Refused  int64        `json:"refused,omitempty"`
	Unknown  int64        `json:"unknown,omitempty"` // given the command by a node that died too long ago to know more
	Refusals []JobRefusal `json:"refusals,omitempty"`

	// RefusedBy counts refusals by their code. Became counts those that took the command by what came of
	// them: their sub-status when they were looked at, or [JobGone]. Moving are those that were at work
	// then, and are looked at again with a later page; 100 at most. Older programs keep none of these.
	RefusedBy map[string]int64 `json:"refusedBy,omitempty"`
	Became    map[string]int64 `json:"became,omitempty"`
	Moving    []string         `json:"moving,omitempty"`

	Key      *workflow.CommandKey `json:"-"` // of the request that makes it; nil: it had none
	Created  int64                `json:"-"`
	Modified int64                `json:"-"`
	Damaged  string               `json:"-"` // why it cannot be read; "": it can
}

// Open tells that a node has to work it: it runs, or it was cancelled and what became of
// its page is not noted yet.
func (j *Job) Open() bool { return j.State == JobRunning || len(j.Page) > 0 }

// FindLate notes that its page is late, unless that is noted. A revision that its record cannot have
// had is one of another etcd, from which it was copied, and means nothing.
func (j *Job) FindLate() {
	switch {
	case j.Late.IsZero():
		j.Late, j.LateAt = j.UpdatedAt, j.Modified
	case j.LateAt < j.Created || j.LateAt >= j.Modified:
		j.LateAt = 0
	}
}

// JobRefusal is an instance that refused the command of a job.
type JobRefusal struct {
	InstanceID string `json:"instanceId"`
	Code       string `json:"code"`
	Detail     string `json:"detail,omitempty"`
}
