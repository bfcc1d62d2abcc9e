package workflow

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow/files"
)

// CommandKind says what an instance has to do.
type CommandKind string

// The kinds of commands.
const (
	CommandStart    CommandKind = "start"    // run the first burst
	CommandResume   CommandKind = "resume"   // continue at a bookmark
	CommandChildEnd CommandKind = "childEnd" // a waited-for child ended; resumes a bookmark, dropped if it is gone
	CommandCancel   CommandKind = "cancel"
	CommandDelete   CommandKind = "delete"
	CommandRetry    CommandKind = "retry"    // run a faulted instance again from its faulted activity
	CommandImport   CommandKind = "import"   // replace the state
	CommandAlter    CommandKind = "alter"    // change it as an operator wants
	CommandContinue CommandKind = "continue" // go on after a commit that did not end the burst
)

// Known reports whether this program knows the kind; a newer one may have more.
func (k CommandKind) Known() bool {
	switch k {
	case CommandStart, CommandResume, CommandChildEnd, CommandCancel, CommandDelete, CommandRetry, CommandImport, CommandAlter, CommandContinue:
		return true
	}
	return false
}

// ContinueID is the id of the one command that commits which do not end a burst
// leave in the instance's own mailbox.
const ContinueID = "~continue"

// Command is something one instance has to do. It keeps its ID for life,
// through mailbox, queue, retry and takeover, so a repeated burst derives the
// same ids from it.
type Command struct {
	ID        string          `json:"id"`
	Kind      CommandKind     `json:"kind"`
	CreatedAt time.Time       `json:"createdAt"`
	Attempts  int             `json:"attempts,omitempty"` // takeovers so far
	Replays   int             `json:"replays,omitempty"`  // how often it was sent again from its dead letter
	Begun     []Begun         `json:"begun,omitempty"`    // by whom, the last takeovers that nobody took back
	Start     *Start          `json:"start,omitempty"`
	Bookmark  string          `json:"bookmark,omitempty"` // resume, childEnd
	Input     map[string]any  `json:"input,omitempty"`    // resume, childEnd
	Stimulus  *Stimulus       `json:"stimulus,omitempty"` // what resumed it; lets a command whose bookmark is gone go back to the queue
	State     []byte          `json:"state,omitempty"`    // import: the encoded state
	IfSeq     int64           `json:"ifSeq,omitempty"`    // import: refused unless the instance is at this sequence number (0: any)
	Alter     *Alter          `json:"alter,omitempty"`
	Key       *CommandKey     `json:"key,omitempty"`      // the caller's Idempotency-Key, whose answer the commit records
	Several   bool            `json:"several,omitempty"`  // its stimulus had several targets; if the bookmark is gone it is requeued for this instance only
	Due       *time.Time      `json:"due,omitempty"`      // when it was due, of what time has sent
	Timer     bool            `json:"timer,omitempty"`    // a due timer sent it; dropped if its bookmark is gone
	Trace     string          `json:"trace,omitempty"`    // W3C traceparent of who sent it; absent unless the sender traces
	Contents  []files.Content `json:"contents,omitempty"` // files that lie beside the instance for it
	Claim     *TaskClaim      `json:"-"`                  // of the task that it completes, until it is durable; nil: it was sent without one
}

// TaskClaim names a worker's claim of a task: of it the name, and when it came to be.
type TaskClaim struct {
	ID, Name, Worker string
	Form             string    // the digest of the form of its result; "": none
	Created, Until   time.Time // the rank of the task, and the end of the lease as it was given
	Since            time.Time // when it began; zero: a program of before did not say
	Attempt          int       // from 1; 0: likewise
	Revision         int64     // at which the claim was put
	DoneBy           time.Time // when the task is to be done; zero: there is no limit
	Retried          bool      // the task's activity has a retry: see [TaskTerms]
}

// Begun is one process that took a command over, began to run it, and has neither
// committed it nor given it back. If such a process is gone, it may have died of the
// command.
type Begun struct {
	Process string    `json:"process"` // one start of a node; see the node's record
	Node    string    `json:"node,omitempty"`
	At      time.Time `json:"at"`
	Age     int64     `json:"age,omitempty"` // of the cluster at that time, in milliseconds, as far as the process knew it
}

// CommandKey names the record of a caller's Idempotency-Key and the hash of the
// body that came with it.
type CommandKey struct {
	Name     string    `json:"name"`
	BodyHash string    `json:"bodyHash"`
	Guard    *Guard    `json:"guard,omitempty"`   // of the HTTP endpoint that the call is for; nil: it is for none
	Request  string    `json:"request,omitempty"` // method and path, for the receipt
	Caller   string    `json:"caller,omitempty"`  // who sent it; "": nobody was asked
	At       time.Time `json:"at,omitzero"`       // when it came

	// AnswerBy is until when the caller of an HTTP endpoint waits for what the workflow writes; zero: nobody does.
	// Kept: a repeat finds what is written later.
	AnswerBy time.Time `json:"answerBy,omitzero"`
	Kept     bool      `json:"kept,omitempty"`
}

// MaxEndpointWait is how long the caller of an HTTP endpoint is kept waiting at most.
const MaxEndpointWait = 5 * time.Minute

// Guard is who may call an HTTP endpoint; everybody, if it is zero.
type Guard struct {
	Authorize bool   `json:"authorize,omitempty"` // only authenticated callers
	Policy    string `json:"policy,omitempty"`    // what they must satisfy
}

// DepthProperty is the property of an instance, and the name in what an event brings, that has how many
// instances started each other before it. It travels among the properties and the input, which programs of
// before hand on.
const DepthProperty = "Weft:Depth"

// CallersProperty is the property of an instance that has the callers of HTTP endpoints who wait for what it
// writes, or for what an instance writes that it started and waits for. There, and empty: they had their answer,
// or went.
const CallersProperty = "Weft:Callers"

// StartsInstances tells whether activities of a type start instances, and wait for them if told so.
func StartsInstances(activityType string) bool {
	switch activityType {
	case "Elsa.ExecuteWorkflow", "Elsa.DispatchWorkflow", "Elsa.BulkDispatchWorkflows":
		return true
	}
	return false
}

// Start is everything a new instance begins with.
type Start struct {
	DefinitionID  string            `json:"definitionId"`
	Head          int64             `json:"-"` // mod revision of the definition's head that Version was taken from; 0: not to be checked
	Free          int64             `json:"-"` // revision at which no instance had its id, nor was one archived before; 0: not to be checked
	Version       int               `json:"version"`
	Input         map[string]any    `json:"input,omitempty"`
	Name          string            `json:"name,omitempty"`
	CorrelationID string            `json:"correlationId,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"` // beside those of the definition; see [CheckLabels]
	Properties    map[string]any    `json:"properties,omitempty"`
	Parent        *Parent           `json:"parent,omitempty"`
	Trigger       string            `json:"trigger,omitempty"`      // the activity id that the stimulus met
	TriggerInput  map[string]any    `json:"triggerInput,omitempty"` // what the stimulus brought
}
