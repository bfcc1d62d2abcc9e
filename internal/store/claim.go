package store

import "time"

// TaskClaim is a worker's claim of a task as it is kept, until the task is done, given back, or the lease has ended.
type TaskClaim struct {
	ID      string        `json:"id"` // random; proof when the answer is lost
	Worker  string        `json:"worker"`
	Node    string        `json:"node,omitempty"` // that gave it
	Since   time.Time     `json:"since"`
	Until   time.Time     `json:"until"` // the end of the lease, by the clock of the node that wrote it
	Lease   time.Duration `json:"lease"` // by how much a heartbeat extends it
	Attempt int           `json:"attempt"`

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
}

// TaskLease is the entry of a claim among those whose leases end. A heartbeat leaves it where it is: who finds it in
// its time asks the claim.
type TaskLease struct {
	Task    string    `json:"task"` // the id of its bookmark
	Name    string    `json:"name,omitempty"`
	Created time.Time `json:"created"`
	Claim   string    `json:"claim"` // the claim's ID
}
