package engine

import (
	"context"

	"github.com/weft-run/weft/pkg/workflow"
)

// Activity is the code of an activity type. One value serves every node and
// every burst at the same time, so it has no state of its own; what an
// execution must remember goes into its scratch ([Scratch]).
//
// Execute runs once per execution. It schedules children, creates bookmarks or
// does its work. When it returns nil and the execution has no children, no
// scheduled work and no bookmarks, the execution completes with the outcomes
// given to [Execution.SetOutcomes] (default Done); an activity that waits needs
// nothing more. An error is an incident. It must return when ctx ends, which it also
// does when the instance is cancelled and the activity may have an effect outside: with an
// error it did not do its work then, and who goes on calls it again with the same key;
// without one it did.
type Activity interface {
	Execute(ctx context.Context, x *Execution) error
}

// Resumer is implemented by activities that create bookmarks and want to know
// how they were resumed. Without it a resume just completes the execution.
type Resumer interface {
	Resume(ctx context.Context, x *Execution, r Resume) error
}

// Resume is what a resumed execution is told.
type Resume struct {
	Bookmark workflow.Bookmark // zero when the execution continues after [Execution.Yield]
	Callback string            // as given when the bookmark was created
	Input    map[string]any    // what the resume brought; a descriptor may say which names it may have
}

// Parent is implemented by activities that schedule children and act when one
// completes. Without it the execution completes when no child is left.
type Parent interface {
	ChildCompleted(ctx context.Context, x *Execution, done Completed) error
}

// Admitter is implemented by activities whose children may be too late when their turn comes. Admits is
// asked before a child begins: with a callback it does not begin, and Resume is called with that instead. It
// changes nothing.
type Admitter interface {
	Admits(x *Execution, child *Node) (callback string)
}

// Completed tells a parent about a child that completed.
type Completed struct {
	Node     *Node
	ID       string // the child's execution id
	Tag      string // as given to [Execution.Schedule]
	Outcomes []string

	key  string // its idempotency key
	told int64  // the time that it was told last; 0: none
	led  *led   // what led to it
}

// Rewinder is implemented by activities one of whose children can be run again, or out
// of turn, when an operator wants it. Rewind schedules the child, with what belongs to
// it, and takes back what came after it. An error says why it cannot be.
type Rewinder interface {
	Rewind(ctx context.Context, x *Execution, child *Node) error
}

// Migrator is implemented by activities whose memory ([Scratch]) or tags refer to places
// in their node: Migrate makes them fit another version of it, which is the node of x
// by then. An error says why they cannot.
type Migrator interface {
	Migrate(x *Execution, m Migration) error
}

// Migration is what a [Migrator] goes by.
type Migration struct {
	Old *Node                 // of x, before
	To  func(old *Node) *Node // an activity of the version before, in the new one; nil: it is not there

	Named func(id string) *Node // an activity of the version before; nil: it had none of that id
}

// SignalHandler is implemented by activities that act on signals from their
// descendants. It returns true to stop the signal.
type SignalHandler interface {
	Signal(ctx context.Context, x *Execution, s Signal) (handled bool, err error)
}

// Signal travels from an execution through its ancestors.
type Signal struct {
	Name     string     // SignalBreak, SignalComplete, SignalFault or an activity's own
	Sender   *Execution // where it began
	Child    *Execution // the child of the receiver that it came through
	Outcomes []string   // of SignalComplete
	Err      error      // of SignalFault and SignalFinal
}

// The engine's own signals.
const (
	SignalBreak    = "Break"    // leave the nearest loop
	SignalComplete = "Complete" // complete the nearest composite, and Sender
	SignalFault    = "Fault"    // Sender faulted; a handler that returns true must have replaced or cancelled it
	SignalFinal    = "Final"    // the same, and the instance has failed for good: nothing tries again
)

// Preparer is implemented by activities that check their nodes or precompute
// something for them when a definition is compiled.
type Preparer interface {
	Prepare(p *Preparation)
}

// Triggerer is implemented by activities that can start instances. Triggers is
// called at compile time, with constant inputs only.
type Triggerer interface {
	Triggers(p *Preparation) []Trigger
}
