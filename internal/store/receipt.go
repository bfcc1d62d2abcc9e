package store

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Receipts are the requests that came with one Idempotency-Key: each route and each caller may
// have one.
type Receipts struct {
	Of       []Receipt
	More     bool          // there are others
	Revision int64         // of etcd, at which all of this was so
	Kept     time.Duration // how long the record of a key is kept
}

// Receipt is what became of a request that came with an Idempotency-Key.
type Receipt struct {
	Request, Caller string    // "": not known; of the caller also: nobody was asked
	At              time.Time // when it came; zero: not known
	Modified        int64     // revision of its record
	Status          int       // of the HTTP response that the workflow wrote, or of the reply that is kept; 0: none
	UnderWay        bool      // it began, and no reply to it is kept
	Fates           []Fate    // of each target; one without an instance of what has met none
	Unlisted        int       // how many targets more there are
	Job             *Job      // that was made of it; only its id: it is not there any more, or cannot be read; nil: none was
	Damage          string    // why the record cannot be read; "": it can
}

// Fate is what became of a request at one of the instances that it is for.
type Fate struct {
	State      FateState
	InstanceID string // "": it has met none yet
	Command    string
	Outcome    workflow.Outcome // "": none yet
	Code       string           // why it was refused
	Detail     string           // the same, for people; or what is not known
	Item       string           // the stimulus in the queue or in the outbox
	Letter     string           // the dead letter
	LetterGone bool             // which was replayed, deleted or let go by retention since
	Commit     *FateCommit      // that took it up; nil: none, or it is not known any more
	Absent     bool             // it is unknown, as nobody gave it to the instance: neither is it in the mailbox, nor did a commit take it up
}

// FateCommit is the journal entry in which a request took effect.
type FateCommit struct {
	Seq, Fence int64
	Node       string
	At         time.Time
}

// FateState says where a request is.
type FateState string

// The states.
const (
	FateApplied  FateState = "applied"
	FateRefused  FateState = "refused"     // without effect
	FateMailbox  FateState = "mailbox"     // accepted, its instance has not taken it up yet
	FateSending  FateState = "sending"     // accepted, on its way to the instance
	FateQueued   FateState = "queued"      // nothing waits for it yet, or its start waits behind a gate
	FateRequeued FateState = "requeued"    // its place was gone: it went on under another id
	FateDead     FateState = "dead-letter" // it could not be done
	FateDropped  FateState = "dropped"     // somebody deleted it
	FateUnknown  FateState = "unknown"     // nothing that is kept says what became of it
)

// Open tells whether something may still come of it.
func (f *Fate) Open() bool {
	switch f.State {
	case FateMailbox, FateSending, FateQueued, FateRequeued:
		return true
	}
	return false
}
