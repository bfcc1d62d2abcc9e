package shape

import (
	"encoding/json"
	"time"
)

// Version is a version of a definition.
type Version struct {
	Version   int
	Published bool
	Notation  string
	CreatedAt time.Time
}

// Starts is an activity that starts instances, and when it does.
type Starts struct{ ActivityID, ActivityType, When string }

// Summary is an instance as a row of a list.
type Summary struct {
	InstanceID, DefinitionID, Status, SubStatus string
	Version, Incidents, Waits                   int
	Incident                                    *string // the message of the last one
	Name, CorrelationID, ParentInstanceID       *string
	Labels                                      map[string]string
	CreatedAt, UpdatedAt                        time.Time
	FinishedAt                                  *time.Time
	WaitsFor                                    []wait
	Damaged                                     bool
	Damage                                      string
}

// wait is what an instance waits for, in a row of a list.
type wait struct {
	Kind  string
	Name  *string
	Since time.Time
	DueAt *time.Time
}

// Instance is an instance, whole.
type Instance struct {
	InstanceID, DefinitionID, Status, SubStatus string
	Version                                     int
	Name, CorrelationID, ParentInstanceID       *string
	Labels                                      map[string]string
	CreatedAt, UpdatedAt                        time.Time
	FinishedAt                                  *time.Time
	Input, Output                               json.RawMessage
	Incidents                                   []Incident
	Bookmarks                                   []Bookmark
	Damaged, Archived                           bool
	Damage                                      string
}

// Incident is what went wrong in an instance.
type Incident struct {
	ActivityID, ActivityType, Expression, Message, Cause string
	Time                                                 time.Time
	Final                                                bool
}

// ForGood tells whether the instance has failed for good, as its definition says: no retry offers itself.
func (in Instance) ForGood() bool {
	n := len(in.Incidents)
	return in.SubStatus == "Faulted" && n > 0 && in.Incidents[n-1].Final
}

// Bookmark is a place where an instance waits.
type Bookmark struct {
	BookmarkID, ActivityID, ActivityType string
	Name                                 *string
	DueAt                                *time.Time
	ChildInstanceID                      string
	Retry                                *struct {
		ActivityID        string
		Attempt, Attempts int64
		Error             string
	}
}

// Explanation says why an instance is where it is.
type Explanation struct {
	State, Summary string
	Reasons        []struct {
		Kind, Text   string
		Since, Until *time.Time
		Object       *string
	}
	ReasonsLeft int // at how many more places it waits

	Next       []string
	Owner      *claim
	Waiters    []claim
	Mail       []mail
	MailLeft   int64
	LastCommit *struct {
		Sequence, Fence int64
		At              *time.Time
	}
	NearMisses []struct {
		Where, ID, Text                 string
		Name, CorrelationID, InstanceID *string
		CreatedAt                       *time.Time
	}
	Doing *struct {
		ActivityID, ActivityType string
		Since                    time.Time
		Attempt                  *int
	}
	Gate *struct {
		DefinitionID, CorrelationID, Holder *string
		Behind                              int64
		Item                                *string // that waits to start the instance; nil: it is there
	}
	History  *history
	Revision int64
}

// Unborn tells whether the instance is not there yet: its start waits.
func (e *Explanation) Unborn() bool { return e.Gate != nil && e.Gate.Item != nil }

// history is which nodes had an instance.
type history struct {
	Periods []struct {
		NodeID                          *string
		From, To, FirstFence, LastFence int64
		Began, Ended                    *time.Time
		GapSeconds                      float64
		Takeover                        bool
	}
	Refusals []struct {
		NodeID  string
		Refusal struct {
			Sequence, Fence int64
			Commands        []string
			At              time.Time
		}
	}
	Unasked []string
	Before  int64
}

// Lineage is an instance with those that started it, and those that it started.
type Lineage struct {
	Items []struct {
		Depth                             int
		InstanceID, SubStatus             string
		DefinitionID, Name, CorrelationID *string
		Version                           *int
		Children                          int64
		AwaitedAt                         *string
		CreatedAt                         *time.Time
		Gone                              bool
	}
	Whole    bool
	Revision int64
}

// Job is a change of many instances, with how far it is.
type Job struct {
	ID, Kind, State, Query           string
	By, Reason, Node                 *string
	CreatedAt, UpdatedAt             time.Time
	EndedAt                          *time.Time
	Done, Accepted, Refused, Unknown int64
	Refusals                         []refusal
	Report                           string
	Damaged                          bool
	Damage                           string
}

// refusal is why one of many was not changed.
type refusal struct{ InstanceID, Code, Detail string }

// claim is a node that has an instance, or waits for it.
type claim struct {
	NodeID               string
	Since                *time.Time
	Fence                int64
	Gone, Draining, Self bool
}

// mail is a command that waits in the mailbox of an instance.
type mail struct {
	ID, Kind   string
	CreatedAt  *time.Time
	Attempts   int
	Unreadable bool
}

// Journal is a part of the journal of an instance.
type Journal struct {
	Items                      []JournalItem
	Commits                    []Commit
	NextCursor, PreviousCursor *string
	ItemsBefore, ItemsBehind   int
	First, Last, Revision      int64
}

// JournalItem is one line of a journal.
type JournalItem struct {
	Sequence, Commit, Execution, Parent   int64
	Time                                  time.Time
	ActivityID, ActivityType, Event, Text string
	Data                                  json.RawMessage
}

// Commit is a commit of the journal, with the node that made it.
type Commit struct {
	Commit, Fence int64
	Node          *string
	Began, Ended  *time.Time
	Commands      []string
}

// Variables are those of an instance after a commit.
type Variables struct {
	At        int64
	Variables []Variable
	Complete  bool
	First     int64
	Last      int64
	Revision  int64
}

// Variable is a variable of an instance after a commit, and what set it.
type Variable struct {
	Execution       int64
	ActivityID      *string
	Name            string
	Value           json.RawMessage
	Clipped, Hidden bool
	ByActivityID    *string
	Commit          int64
	Time            *time.Time
	Node            *string
}

// None tells whether a variable is known to have no value.
func (v Variable) None() bool {
	return !v.Hidden && (len(v.Value) == 0 || string(v.Value) == "null")
}

// Definition is one of the list of definitions.
type Definition struct {
	ID                     string
	Name, Description      *string
	Version, LatestVersion int
	Published              bool
	PublishedAt            *time.Time
	UpdatedAt              time.Time
	Starts                 []Starts
	Schedules, MoreStarts  bool
	Damaged                bool
	Damage                 string
}

// QueueItem is a stimulus that waits for somebody who takes it.
type QueueItem struct {
	ID, ActivityType, Name, Gated string
	Stimulus                      json.RawMessage
	CorrelationID, InstanceID     *string
	CreatedAt, ExpiresAt          time.Time
	Damaged                       bool
	Damage                        string
}

// DeadLetter is a stimulus that nothing takes any more.
type DeadLetter struct {
	ID, Reason, Detail, ActivityType, Name, Command string
	Stimulus                                        json.RawMessage
	InstanceID, CorrelationID                       *string
	CreatedAt                                       time.Time
	DroppedBytes                                    int64
	Damaged                                         bool
	Damage                                          string
}

// Task is one that a worker or a person is to complete. Who has it has a name, and who had it last otherwise.
type Task struct {
	TaskID, Name, InstanceID          string
	Payload                           json.RawMessage
	CreatedAt                         time.Time
	Worker, Text, LastWorker, LastWhy string
	Since, Until                      *time.Time
	Progress                          *float64
	Attempts                          int64
	Damaged                           bool
	Damage                            string
}

// Node is a node, as the cluster knows it.
type Node struct {
	NodeID, Address, Version, Coordination string
	Epoch, CatalogRevision                 int64
	StartedAt                              time.Time
	SeenAt                                 *time.Time
	Draining, Paused, Self                 bool
	ClockSkewSeconds, LateSeconds          *float64
}

// Lock is a lock, who has it and who waits for it.
type Lock struct {
	Name, Scope string
	Holder      *string
	Waiters     []struct {
		NodeID *string
		Since  *time.Time
	}
	Fence int64
	Since *time.Time
}

// ResultView is what an action answered.
type ResultView struct {
	Back     string
	Accepted bool // durable, and not yet applied
	Checked  bool // nothing was done: it was only looked at

	// Of a job, or of one that is only tried.
	State, Kind, Query    string
	Matching, Tried, Fits int
	More                  bool
	Refusals              []refusal

	Outcomes   []struct{ InstanceID, Outcome, Code string }
	Queued     any    // the id of an item, or whether an event would be queued
	InstanceID string // that was started
	SubStatus  string // it came to, if it was waited for
	Output     json.RawMessage
	ID         string // of what was published
	Version    int
	Published  *bool
	Before     int   // the version that was published before
	Revision   int64 // at which this one was

	Resumes []struct {
		InstanceID    string
		CorrelationID *string
	}
	Starts []struct {
		DefinitionID string
		Version      int
		Holder       *string // the instance that keeps it from starting
	}
	Refused          *struct{ Code, Detail string } // why it would be refused
	Resumed, Started int
	Others           []struct {
		InstanceID    string
		CorrelationID *string
	}
	Recent []sent
}

// sent is an event that a node remembers.
type sent struct {
	NodeID, Name              string
	CorrelationID, InstanceID *string
	At                        time.Time
	Met                       int
	First                     *string
}
