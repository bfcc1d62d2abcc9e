package store

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// TaskClaim is a worker's claim of a task as it is kept, until the task is done, given back, or the lease has ended.
type TaskClaim struct {
	ID      string        `json:"id"` // random; proof when the answer is lost
	Worker  string        `json:"worker"`
	Node    string        `json:"node,omitempty"` // that gave it
	Since   time.Time     `json:"since"`
	Until   time.Time     `json:"until"` // the end of the lease, by the clock of the node that wrote it
	Lease   time.Duration `json:"lease"` // by how much a heartbeat extends it
	Attempt int           `json:"attempt"`
	Retried bool          `json:"retried,omitempty"` // the task's activity has a retry: the end of the lease is a failure of it
	DoneBy  time.Time     `json:"doneBy,omitzero"`   // when the task is to be done; zero: there is no limit
	Last    string        `json:"last,omitempty"`    // why the attempt before ended, for people

	// Of whose turns it takes: see [TaskPast].
	Definition string `json:"definition,omitempty"`
	FairBy     string `json:"fairBy,omitempty"`

	// What the worker said with its last heartbeat.
	Heard    time.Time `json:"heard,omitzero"`
	Progress *float64  `json:"progress,omitempty"` // percent
	Text     string    `json:"text,omitempty"`

	Revision int64 `json:"-"` // its key's create revision: of which claim it is
	Modified int64 `json:"-"`
}

// TaskPast is what a task that is free again says of its attempts so far.
type TaskPast struct {
	Attempts int       `json:"attempts,omitempty"` // that failed, or whose lease ended
	Worker   string    `json:"worker,omitempty"`   // who had it last
	Ended    time.Time `json:"ended,omitzero"`     // then
	Why      string    `json:"why,omitempty"`      // for people
	Claim    string    `json:"claim,omitempty"`    // the ID of the claim that ended
	Retried  bool      `json:"retried,omitempty"`  // the task's activity has a retry

	ClaimBy    time.Time     `json:"claimBy,omitzero"`     // until then it is to be claimed; zero: there is no limit, or it was
	DoneWithin time.Duration `json:"doneWithin,omitempty"` // from its first claim
	DoneBy     time.Time     `json:"doneBy,omitzero"`      // of one that was claimed

	// It takes turns with tasks of other definitions, and of the same one with those of other values; "": a program of
	// before did not say.
	Definition string `json:"definition,omitempty"` // of its instance
	FairBy     string `json:"fairBy,omitempty"`
}

// PastOf is what a task of a definition begins with.
func PastOf(b *workflow.Bookmark, definition string) TaskPast {
	t := task.Of(b)
	return TaskPast{Attempts: max(int(t.Attempt)-1, 0), Why: t.Failed, Retried: t.Retried(), ClaimBy: task.ClaimBy(b), DoneWithin: t.DoneWithin, Definition: definition, FairBy: t.FairBy}
}

// Past is what a task says that is free again after a claim; failed: the attempt counts.
func (c *TaskClaim) Past(failed bool, ended time.Time, why string) TaskPast {
	p := TaskPast{Attempts: c.Attempt, Worker: c.Worker, Ended: ended, Why: why, Claim: c.ID, Retried: c.Retried, DoneBy: c.DoneBy, Definition: c.Definition, FairBy: c.FairBy}
	if !failed {
		p.Attempts--
	}
	return p
}

// TaskLimit is a time in which something is to happen to a task.
type TaskLimit string

// The limits of tasks.
const (
	LimitClaim TaskLimit = "claim" // it is to be claimed
	LimitDone  TaskLimit = "done"  // it is to be done, from its first claim on
)

// TaskLease is the entry of a claim among those whose leases end, or of a limit of a task. A heartbeat leaves it where it
// is: who finds it in its time asks the claim.
type TaskLease struct {
	Task    string    `json:"task"` // the id of its bookmark
	Name    string    `json:"name,omitempty"`
	Created time.Time `json:"created"` // its rank, as its key has it
	Claim   string    `json:"claim"`   // the claim's ID; "": it is of a limit

	Limit  TaskLimit     `json:"limit,omitempty"`  // that ends then, of the task
	Within time.Duration `json:"within,omitempty"` // how long that was
}
