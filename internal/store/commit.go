package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Fence is the proof of ownership that a commit compares: the lock's key, the
// prefix below which every claimant of the lock has its key, and the key's
// create revision.
type Fence struct {
	Key, Prefix string
	Revision    int64
}

// Record is one instance as it is kept.
type Record struct {
	Header workflow.Instance `json:"header"`
	State  json.RawMessage   `json:"state,omitempty"` // the engine's; empty before the first burst's end
	Seq    int64             `json:"seq"`             // of the last commit; 0: created, nothing ran yet
	Gate   *Gate             `json:"gate,omitempty"`  // held while the instance runs

	// Contents: files lie beside the instance, and go with it. The store fills it in.
	Contents bool `json:"contents,omitempty"`

	// The oldest entry that is left of the journal (0: the first) and about how
	// large the journal is. A commit fills them in.
	JournalFrom  int64 `json:"journalFrom,omitempty"`
	JournalBytes int64 `json:"journalBytes,omitempty"`

	// Parts are what of a large instance lies in keys of their own, as it was read or written: what is
	// written over it has to know. The store fills them in.
	Parts []Part `json:"parts,omitempty"`
	Apart bool   `json:"-"` // it was read without its parts: it lacks input, output and state, and must not be written
	Text  []byte `json:"-"` // of one that an owner read so: what its key says, as JSON

	// Cut tells how the parts were cut; 0: as of an instance that does not wait at many places. Of one that does, where it
	// waits lies in parts too, but for the first places, and Waits says at how many it does.
	Cut   int `json:"cut,omitempty"`
	Waits int `json:"waits,omitempty"`

	Unwritten *Unwritten `json:"unwritten,omitempty"` // nil: the index says what the header says

	Modified int64 `json:"-"` // its key's mod revision
}

// Part is a piece of the JSON of a record that has a key of its own.
type Part struct {
	At    int    `json:"at"`    // where it belongs, in what is left of the record's JSON
	Gap   int    `json:"gap"`   // bytes that stand there in its place
	ID    string `json:"id"`    // a hash of its text
	Bytes int    `json:"bytes"` // of its text
	Kept  int64  `json:"kept"`  // bytes that it takes in the store
}

// Unwritten is what a commit decided and left to be written behind it, as it changes more
// bookmarks than one transaction takes. Until it is written nothing else happens to the
// instance: who owns it next writes it first, and ~continue in its mailbox says that there is
// something to write. All of it may be written again from the beginning at any time before
// the next commit.
type Unwritten struct {
	Gone   []workflow.Bookmark `json:"gone,omitempty"`   // their keys are to be deleted; only what keys are made of, or all, as the header had it
	Made   []Span              `json:"made,omitempty"`   // bookmarks of the header whose keys are to be put
	Moved  bool                `json:"moved,omitempty"`  // those of the header that are not made now are still under Was
	Was    string              `json:"was,omitempty"`    // the correlation before the commit
	Trace  string              `json:"trace,omitempty"`  // of the timers of those that are made
	At     time.Time           `json:"at,omitzero"`      // of the commit
	Delete bool                `json:"delete,omitempty"` // the instance is deleted then: it has ended, and only its keys are left

	More bool `json:"-"` // Gone has more of them, in parts that were not read

	// GoneApart is Gone, of an instance that was read without its parts: all places of it. They stay in their parts.
	GoneApart *List `json:"-"`
}

// Span is a part of a list: from its first place to before its end.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Mail is a command in an instance's mailbox, with the create revision of its
// key.
type Mail struct {
	Command    workflow.Command
	Created    int64
	Modified   int64 // when it was read from the mailbox; 0: not known
	Unreadable error // this program cannot read all of the command: of it the id is known only, and it is left alone
}

// Loaded is what a burst begins with, read at one revision.
type Loaded struct {
	Record   *Record // nil: there is no such instance
	Mail     []Mail  // oldest first
	More     bool    // the mailbox holds more than was read
	Answer   *Answer // of the caller's key that was asked for; nil: none
	Head     int64   // mod revision of the definition head that was asked for; 0: absent
	Locked   bool    // somebody has the lock that was asked for
	Deleted  int64   // revision at which an instance of this id was deleted, or left for the archive, if that was asked for; 0: not in the life of records
	Revision int64
	Bytes    int // of the record and the mail, as JSON
}

// Answer is the record of a caller's Idempotency-Key.
type Answer struct {
	BodyHash string             `json:"bodyHash"`
	Targets  []Effect           `json:"targets,omitempty"`
	Queued   string             `json:"queued,omitempty"` // id of the queue item; with targets: what it met since
	Instance *workflow.Instance `json:"instance,omitempty"`
	Response *workflow.Response `json:"response,omitempty"`
	Open     bool               `json:"open,omitempty"`  // the workflow may write one with a later commit
	Job      string             `json:"job,omitempty"`   // id of the job that was made
	Guard    *workflow.Guard    `json:"guard,omitempty"` // of the HTTP endpoint that gave it: who may have it; taken from the key when it is kept

	// For the receipt, taken from the key when it is kept.
	Request string    `json:"request,omitempty"`
	Caller  string    `json:"caller,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Dead is the dead letter that what was queued became, for who asks when that is gone, too.
	Dead string `json:"dead,omitempty"`
	// Slot is where in the queue Queued lies: the hash of the stimulus and its slice.
	Slot string `json:"slot,omitempty"`

	// Of a request that leaves no record of its own: the write with which it began, and its reply; nil: it is under way,
	// or its node died.
	Began string `json:"began,omitempty"`
	Reply *Reply `json:"reply,omitempty"`
}

// Reply is what such a request was answered with.
type Reply struct {
	Status   int               `json:"status"`
	Type     string            `json:"type,omitempty"` // of the body
	Body     []byte            `json:"body,omitempty"`
	Location string            `json:"location,omitempty"`
	ETag     string            `json:"etag,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
}

// LaterAnswer is what the caller of an HTTP endpoint gets after the commit that took the request.
type LaterAnswer struct {
	Key      string             // of the request
	Response *workflow.Response // nil: none will come
}

// Effect is what a command did: its record tells the sender.
type Effect struct {
	InstanceID string           `json:"instanceId,omitempty"`
	Outcome    workflow.Outcome `json:"outcome"`
	Code       string           `json:"code,omitempty"`
	Detail     string           `json:"detail,omitempty"`  // why it was refused, for people
	Misfits    []Misfit         `json:"misfits,omitempty"` // each thing for which an alteration was refused
	Command    string           `json:"command,omitempty"` // of an accepted one: whose record will tell what became of it
	Seq        int64            `json:"seq,omitempty"`     // of the commit that consumed it; 0: none did
	Dead       string           `json:"dead,omitempty"`    // id of the dead letter that it became
	// Interrupted is the activity whose call a cancel ended; "": none is known.
	Interrupted string `json:"interrupted,omitempty"`
}

// Misfit is one thing for which an alteration was refused, and the place in the request
// that asks for it.
type Misfit struct {
	Code    string `json:"code"`
	Detail  string `json:"detail"`
	Pointer string `json:"pointer,omitempty"`
}

// Consumed is a command that a commit takes out of the world.
type Consumed struct {
	Command workflow.Command
	Created int64 // of its mailbox key; 0: it was in hand only
	Effect  Effect
	Answer  *Answer // for Command.Key; nil: none is recorded
	Drop    bool    // leave no record
}

// Child is an instance that a commit creates, with its start command.
type Child struct {
	ID      string
	Command workflow.Command // of kind start
	Gate    *Gate
}

// Gate admits one running instance per key (activation strategies).
type Gate struct {
	Definition  string `json:"definition,omitempty"`  // "": any definition
	Correlation string `json:"correlation,omitempty"` // "": any correlation
}

// GatedError refuses a commit that would take a gate for an instance that comes back, or has another
// definition, version or correlation by it: another one holds the gate, or held it a moment before. A late
// copy of that commit may take it yet, until another one is in its place, see [Commit.Instead].
type GatedError struct {
	Gate   Gate
	Holder string // "": the gate is free again
	Commit string // the id of what was refused

	Limit, Activity string // of an import that would bring a place of a limit: of which, and the activity that had it
}

func (e *GatedError) Error() string {
	if e.Limit != "" {
		return fmt.Sprintf("activity %s had a place of limit %s, and a place cannot be imported: export the instance when it has none, or let the activity run again there first", e.Activity, e.Limit)
	}
	what := "one instance of definition " + e.Gate.Definition + " may run at a time"
	switch {
	case e.Gate.Definition == "":
		what = fmt.Sprintf("one instance with the correlation %q may run at a time", e.Gate.Correlation)
	case e.Gate.Correlation != "":
		what = fmt.Sprintf("one instance of definition %s with the correlation %q may run at a time", e.Gate.Definition, e.Gate.Correlation)
	}
	if e.Holder == "" {
		return what + ", and another one has just ended: do it again"
	}
	return what + ", and " + e.Holder + " runs: wait for its end, or cancel it"
}

// GateOf tells which gate a start has to pass by an activation strategy; nil for none.
func GateOf(strategy string, st *workflow.Start) *Gate {
	switch strategy {
	case "Singleton":
		return &Gate{Definition: st.DefinitionID}
	case "CorrelatedSingleton":
		return &Gate{Definition: st.DefinitionID, Correlation: st.CorrelationID}
	case "Correlation":
		return &Gate{Correlation: st.CorrelationID}
	}
	return nil
}

// Outgoing is a command for another instance; it is dropped if that one is
// gone.
type Outgoing struct {
	InstanceID string
	Command    workflow.Command
}

// Send is a stimulus whose targets are not resolved yet.
type Send struct {
	ID        string               `json:"id"`
	Stimulus  workflow.Stimulus    `json:"stimulus"`
	Targets   []Target             `json:"targets,omitempty"` // a fixed list; how many of it are done is kept apart
	Key       *workflow.CommandKey `json:"key,omitempty"`
	CreatedAt time.Time            `json:"createdAt"`
	Trace     string               `json:"trace,omitempty"` // W3C traceparent of who sent it
	Created   int64                `json:"-"`
	Modified  int64                `json:"-"`
	Counted   int64                `json:"-"` // mod revision of how many targets are done; 0: none
}

// Target is one place that a stimulus met.
type Target struct {
	Bookmark *BookmarkRef `json:"bookmark,omitempty"`
	Trigger  *TriggerRef  `json:"trigger,omitempty"`
}

// BookmarkRef is a bookmark as it was found.
type BookmarkRef struct {
	ID            string `json:"id"`
	InstanceID    string `json:"instanceId"`
	Hash          string `json:"hash"`
	CorrelationID string `json:"correlationId,omitempty"`
	Created       int64  `json:"created"`
	Moved         int64  `json:"-"` // mod revision of its instance, if the look read that; else 0
	Unindexed     bool   `json:"-"` // the index may not say so yet: it stands while its instance is as it was read
}

// TriggerRef is a trigger as it was found.
type TriggerRef struct {
	Hash         string `json:"hash"`
	DefinitionID string `json:"definitionId"`
	Version      int    `json:"version"`
	ActivityID   string `json:"activityId"`
	Activation   string `json:"activation,omitempty"`
	Modified     int64  `json:"modified"`
}

// QueueItem is a stimulus that matched nothing yet, or whose start waits behind a
// held gate.
type QueueItem struct {
	ID        string               `json:"id"`
	Stimulus  workflow.Stimulus    `json:"stimulus"`
	Hash      string               `json:"hash"`
	Key       *workflow.CommandKey `json:"key,omitempty"`
	CreatedAt time.Time            `json:"createdAt"`
	Trace     string               `json:"trace,omitempty"` // W3C traceparent of who sent it
	Held      *HeldStart           `json:"held,omitempty"`  // it met a trigger, whose gate is held
	Created   int64                `json:"-"`
	At        string               `json:"-"` // its key
	Alone     int64                `json:"-"` // the revision at which it was the only one in its slice; 0: not known

	Unreadable error `json:"-"` // this program cannot read all of it, and leaves it
}

// HeldStart is a start that an accepted stimulus means and that waits until
// nobody holds its gate.
type HeldStart struct {
	Event   string     `json:"event"` // the id that the stimulus was resolved under: the start's ids derive from it
	Trigger TriggerRef `json:"trigger"`
	Gate    Gate       `json:"gate"`
}

// DeadLetter is work that could not be done.
type DeadLetter struct {
	ID         string              `json:"id"`
	Reason     workflow.DeadReason `json:"reason"`
	Detail     string              `json:"detail,omitempty"`
	Stimulus   *workflow.Stimulus  `json:"stimulus,omitempty"`
	Targets    []Target            `json:"targets,omitempty"` // the stimulus is for these only; none: for whom it meets when it is sent again
	Command    *workflow.Command   `json:"command,omitempty"`
	Dropped    *Dropped            `json:"dropped,omitempty"` // what was too large to be kept of both
	InstanceID string              `json:"instanceId,omitempty"`
	CreatedAt  time.Time           `json:"createdAt"`
	Created    int64               `json:"-"`
	Damaged    string              `json:"-"` // why it cannot be read, and only its id is known; "": it can
}

// Dropped tells what a dead letter was about that is too large for one.
type Dropped struct {
	Bytes  int64  `json:"bytes"`  // as JSON, with the rest
	SHA256 string `json:"sha256"` // of that
}

// Commit is everything that one burst makes durable, in one transaction.
type Commit struct {
	ID    string // the commit id, written to the journal: proof when the answer is lost
	Fence *Fence // nil: local coordination, guarded by the revision only
	// Unlocked stands in for the fence where nobody has the lock: in the first commit of an
	// instance whose id this node made and has shown to nobody, and in one that resumes an
	// instance which nobody works.
	Unlocked *Unlocked
	// Ahead are the keys of parts that were written before the commit, and hang on AheadLease until it takes them. The store
	// fills them in.
	Ahead      map[string]bool
	AheadLease int64
	// Instead is the id of the commit that was refused for a gate, of which this is the refusal; "": of none.
	Instead string
	Before  *Record // as loaded; nil: the instance must not exist
	After   Record  // Seq is Before's + 1
	Delete  bool    // remove the instance instead of writing After
	At      time.Time
	Trace   string // W3C traceparent of the burst, for the timers it sets; "": not traced

	Node      string // of this commit, for the journal
	Takeover  bool   // it repeats a command that another process had begun, or had left
	Joined    int    // saves that the burst made with a later one, for the metrics
	Journal   []workflow.JournalItem
	Variables workflow.VariableChanges
	Created   []workflow.Bookmark
	Burned    []workflow.Bookmark
	Consumed  []Consumed
	Children  []Child
	Outgoing  []Outgoing
	Answers   []LaterAnswer
	Sends     []Send
	Requeue   []QueueItem
	Dead      []DeadLetter
	Contents  []files.Content   // files that the burst kept beside the instance
	Continue  *workflow.Command // left in the own mailbox: the burst goes on

	// Release asks to free the lock in the same transaction if no mail is newer
	// than SeenMail and no queue item waits for a created bookmark.
	Release  bool
	SeenMail int64

	// Takes is the place of a limit that the commit may take; nil: it takes none. TakesDecided: that was decided, once for all copies.
	Takes        *PlaceGuess
	TakesDecided bool

	// Form is how After is written, decided when the commit is first sent, so that a copy writes the same:
	// 0: not decided.
	Form Form
}

// Files are those that lie beside the instance since this commit: what its burst kept, and what came with its commands.
func (c *Commit) Files() []files.Content {
	list := c.Contents
	for i := range c.Consumed {
		list = append(list[:len(list):len(list)], c.Consumed[i].Command.Contents...)
	}
	return list
}

// Form is how the record of an instance is written.
type Form int

// The forms.
const (
	Undecided Form = iota
	Whole          // in one key: nodes of before may work it
	InParts        // what is large in it in keys of their own
)

// Unlocked guards a commit without a lock: it compares that the node's session lives, so
// that its own past is locked out. Nobody else can have the id of an instance that is
// new. Of one that exists, the commit compares that nobody holds the lock: such a
// commit consumes no mail, deletes nothing, and its burst does not go on.
type Unlocked struct {
	Key        string // the node's record, which is on the lease of its session
	Lease      int64  // that lease
	Definition string // whose head must be as it was when the version was taken from it
	Head       int64  // 0: the version was given

	Prefix string   // below which the claimants of the lock have their keys; for an instance that exists
	Lock   *LockKey // is put with the first commit, as the burst goes on; nil: the instance is free afterwards
}

// LockKey is the key by which a commit takes its instance's lock, if nobody has one below
// the prefix.
type LockKey struct {
	Key, Prefix, Value string
	Lease              int64
}

// Committed is the result of an applied commit.
type Committed struct {
	Released bool         // false with Kept nil: look for queued stimuli, then release
	Modified int64        // the instance's new mod revision; 0 after a delete
	Resolved bool         // it had been applied by an attempt whose answer was lost
	Unseen   bool         // mail or queued stimuli may have come that nobody has looked for
	Waits    bool         // the lock is free, or another's, and there is mail: ~continue without a lock (a queued stimulus waits for it, or the burst goes on), and what came beside a release
	Locked   int64        // create revision of the lock key that it put; 0: it put none
	Size     int          // bytes of the transaction, about
	Lines    []limit.Line // at which somebody may be given a place of a limit since
	Kept     *Kept        // set when Release was asked for and refused, and when the burst goes on (Continue)
}

// Kept is what there is to do under a lock that was not released.
type Kept struct {
	Mail     []Mail
	More     bool // the mailbox holds more
	Queue    []QueueItem
	Unread   bool // the queue was not read, or not all of it: look
	Revision int64
}

// Errors that decide what a committer does next.
var (
	// ErrFenced: the lock is gone or another's; drop everything.
	ErrFenced = errors.New("fenced: the lock is no longer mine")
	// ErrStale: the definition was published again since its version was taken.
	ErrStale = errors.New("stale: the definition's head has moved")
	// ErrBreach: something that the lock protects moved without it.
	ErrBreach = errors.New("breach: the instance moved under the lock")
	// ErrOvertaken: the commit was to refuse what an earlier one would have done, and a late copy of
	// that one was applied before.
	ErrOvertaken = errors.New("overtaken: a late copy of the commit that was refused has been applied")
	// ErrConflict: something that the lock does not protect moved (a key record,
	// a gate, a head); the burst's result is dropped.
	ErrConflict = errors.New("conflict")
	// ErrHeld: of a commit without the lock. Somebody held the lock, and the commit is void:
	// no copy of it will be applied.
	ErrHeld = errors.New("held: another has the lock")
)
