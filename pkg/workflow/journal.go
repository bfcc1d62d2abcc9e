package workflow

import (
	"time"
)

// JournalEntry is what one commit of an instance did.
type JournalEntry struct {
	Sequence int64    // of the commit, from 1 within the instance
	Commit   string   // its id
	Node     string   // that made it; "": not known
	Fence    int64    // create revision of the lock's key that it was made under; 0: without a lock
	Takeover bool     // it repeated a command that another process had begun, or had left
	Commands []string // ids of those that it consumed

	Began     time.Time // of its first item; without items as Ended
	Ended     time.Time // when it was sent
	Items     []JournalItem
	Variables VariableChanges
}

// DamagedEvent is the event of the one item of an entry that cannot be read.
const DamagedEvent = "Damaged"

// JournalItem is one line of what a burst did. Times are kept to the microsecond.
type JournalItem struct {
	Sequence     int64     `json:"sequence"` // from 1 within the instance
	Time         time.Time `json:"time"`
	Burst        string    `json:"burst"`               // the id of the command that was being processed
	Execution    int64     `json:"execution,omitempty"` // of the activity: the Sequence of its first item
	Parent       int64     `json:"parent,omitempty"`    // the execution that scheduled it; 0: the workflow
	ActivityID   string    `json:"activityId,omitempty"`
	ActivityType string    `json:"activityType,omitempty"`
	Event        string    `json:"event"` // Started, Completed, Suspended, Resumed, Faulted, Canceled, WriteLine, …
	Text         string    `json:"text,omitempty"`
	Data         any       `json:"data,omitempty"`
}

// VariableChanges is how a commit changed the variables that are kept with the
// instance: those of the scopes that are open at the commit, as they are then. What
// was not set and is null is not among them.
type VariableChanges struct {
	Reset bool    // an import replaced all: none of before is left
	Gone  []int64 // the executions whose scopes were open at the commit before, and ended; 0: the workflow
	Set   []VariableChange
	Left  int // how many more were set than are told
}

// VariableChange is a variable that was set.
type VariableChange struct {
	Execution int64 // whose scope has it; 0: the workflow's
	Name      string
	Value     any
	By        int64 // the execution that set it last; 0: it began with this value
	Clipped   bool  // Value is the beginning of its text
	Hidden    bool  // Value is not told: what set it keeps its inputs or outputs out of the journal
}
