package store

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Situation is what stands in etcd about one instance. All but Children was read at
// one revision.
type Situation struct {
	Revision int64
	Record   *Record      // nil: there is no such instance, or it cannot be read
	Damage   error        // why it cannot be read
	Mail     []Mail       // oldest first, as many as a burst takes
	MailLeft int64        // how many more there are
	Cancel   string       // the command that is to interrupt a burst; "": none
	Paused   bool         // the cluster takes no new work
	Commit   *LastCommit  // the newest that the journal has; nil: none
	Queued   []QueuedFor  // for what the instance waits for, and not for it
	Children []ChildState // that bookmarks wait for
	Gate     *GateState   // that the instance holds, or that its start waits behind; nil: none
	Keys     SituationKeys
}

// SituationKeys are where in etcd it was read.
type SituationKeys struct{ Instance, Mailbox, Cancel, Pause string }

// LastCommit is the newest commit of an instance.
type LastCommit struct {
	Seq, Fence int64
	Node       string    // that made it; "": not known
	At         time.Time // when it was made; zero: not known
}

// QueuedFor is what the key of a queue item says: whom it is for.
type QueuedFor struct {
	ID                        string
	Hash                      string // of its stimulus
	CorrelationID, InstanceID string
}

// GateState is an activation gate that an instance holds, or that keeps it from starting: then
// there is no such instance yet.
type GateState struct {
	Gate
	Holder string // the instance that holds it; "": nobody
	Behind int64  // starts that wait until it is free
	Key    string // in etcd

	Start *QueueItem // what waits to start the instance; nil: it is there
}

// ChildState is an instance that another one waits for.
type ChildState struct {
	ID     string
	Header *workflow.Instance // nil: it is gone, or cannot be read
	Untold bool               // it has ended, or is gone, and nothing will tell the other one
}

// SentStimulus is a stimulus that was sent, by the id under which it was.
type SentStimulus struct {
	ID       string
	Stimulus workflow.Stimulus
}

// Whereabouts is where a stimulus is now that met nothing when it was sent. Zero: it was taken since, or
// deleted.
type Whereabouts struct {
	Queued bool
	Letter string // id of the dead letter that it became; "": none
}
