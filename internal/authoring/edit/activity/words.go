package activity

// What may be done with an activity, and with a part of one.
const (
	Insert = "insert" // a new one
	Delete = "delete" // it, with all that is in it
	Move   = "move"   // it, with all that is in it
	Set    = "set"    // one of its values
)

// Where an activity goes.
const (
	Before = "before" // the other one
	After  = "after"  // the other one; in a flowchart also between it and what it leads to
	Into   = "into"   // a branch of the other one, as its last
	Up     = "up"     // before the one above it; only to move
	Down   = "down"   // after the one below it; only to move
)
