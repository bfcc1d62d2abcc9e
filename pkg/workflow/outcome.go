package workflow

// Outcome says what a command did to an instance. Records keep it and the HTTP API
// shows the first four, so the words are a stored format and a contract.
type Outcome string

// The outcomes of commands.
const (
	OutcomeStarted  Outcome = "started"
	OutcomeResumed  Outcome = "resumed"
	OutcomeAccepted Outcome = "accepted" // durable, not yet applied
	OutcomeRefused  Outcome = "refused"

	OutcomeApplied  Outcome = "applied"  // a cancel, delete, retry or import
	OutcomeRequeued Outcome = "requeued" // its bookmark was gone; it went back to be resolved
	OutcomeDropped  Outcome = "dropped"  // without effect, and nobody waits for an answer
	OutcomeGone     Outcome = "gone"     // never kept: the bookmark was gone, and nothing was done
)

// DeadReason is why work became a dead letter. Records keep it, the HTTP API shows
// it and a metric counts by it.
type DeadReason string

// The reasons of dead letters.
const (
	DeadExpired          DeadReason = "expired"            // queued, and nothing claimed it in time
	DeadGated            DeadReason = "gated"              // it waited for its start, and the gate was held all the time
	DeadInstanceFinished DeadReason = "instance-finished"  // for an instance that has ended
	DeadInstanceGone     DeadReason = "instance-not-found" // for an instance that is gone
	DeadPoison           DeadReason = "poison"             // it was taken over too often
	DeadTooLarge         DeadReason = "too-large"          // its commit passes the limits of etcd
	DeadUnrunnable       DeadReason = "unrunnable"         // what it is to run on is gone: a deleted definition's body
	DeadChildRefused     DeadReason = "child-refused"      // a dispatched child whose gate was held, or whose id was taken
)

// DeadReasons are all of them.
func DeadReasons() []DeadReason {
	return []DeadReason{DeadExpired, DeadGated, DeadInstanceFinished, DeadInstanceGone, DeadPoison, DeadTooLarge, DeadUnrunnable, DeadChildRefused}
}
