package engine

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/engine/flight"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Env is all that a burst may use of the world outside it. The same state,
// command and Env answers give the same result.
type Env struct {
	Now      func() time.Time                                 // required
	Lines    func(text string)                                // where WriteLine writes besides the journal; nil: nowhere
	HTTP     *http.Client                                     // for activities that call out; it guards private addresses; nil: such activities fault
	Files    files.Store                                      // of the instance; nil: files are neither kept nor read
	Head     func(definitionID string) (version int, ok bool) // the published head, for starting children
	Answers  func(definitionID string) bool                   // an instance of its published version may answer an HTTP request, see [Program.Answers]; nil: none does
	Version  func(version int) (*Program, error)              // of the instance's definition, for migrations; nil: there are none
	Link     func(resumelink.Link) (url string, err error)    // makes resume links; nil: there are none
	Secrets  *secrets.Set                                     // what secrets.NAME gives, and what is never kept; nil: there are none
	Present  func() *secrets.Set                              // the secrets as they are now, asked whenever one is read; nil: Secrets
	Log      *slog.Logger                                     // nil: discarded
	LogLines bool                                             // WriteLine makes a record of Log too
	Metrics  *metrics.Metrics                                 // nil: none
	Limits   Limits                                           // zero fields take defaults
	Places   flight.Places                                    // for the calls that are in flight beside each other, of all bursts of a node; nil: any number
	Until    func(*Execution) time.Time                       // in a test whose clock is its own: when the call of an activity comes back, which is made as it begins; nil: calls take the time that they take
	SaveBack bool                                             // what a retry or an alteration brings back is committed before anything of it runs
	Takeover bool                                             // this burst repeats a command another node had begun
	Stopped  Stopped                                          // the call that an interrupt ended before: it is not ended again on a hint; zero: none was
	Secure   func(context.Context) error                      // like Barrier, before an activity that may have an effect outside and after something of the burst was told the time: the commands of the burst, with when they came, must be durable then; nil: they are
	Barrier  func(context.Context) error                      // called before the code of each activity that may have an effect outside ([workflow.Descriptor].NoEffect); with an error that is not called, and Run returns it; nil: nothing is in the way
}

// Limits bound one burst; zero means the default.
type Limits struct {
	Activities int           // activity executions of one command before the burst gives way (default [DefaultBurstActivities], at most [MaxBurstActivities]); see [GivesWay]
	Depth      int           // nesting of contexts (default 200)
	Script     time.Duration // one expression (default 2 s)
	Output     int           // bytes of one expression's result (default 1 MiB)
	Data       int           // bytes that an instance keeps, about, as JSON (default 16 MiB); more is too-large
	Waits      int           // places where an instance waits at once (default [MaxWaits])
	Calls      int           // calls in flight beside each other (default [DefaultCalls]), where the definition does not say
	Wide       int           // from more places than these on, the state is written in the form for many (default 10,000)
}

// Outcome says what a burst did with a command.
type Outcome string

// The outcomes of [Burst.Run].
const (
	Applied     Outcome = "applied"     // it ran; look at the result for how
	NoBookmark  Outcome = "noBookmark"  // the instance runs, and does not (any more) wait there
	NotRunning  Outcome = "notRunning"  // the instance is finished
	NotFaulted  Outcome = "notFaulted"  // the instance runs, and there is nothing to retry
	Undone      Outcome = "undone"      // a retry would make a call again that a branch may have undone since: [Burst.Refusal] says which
	Refused     Outcome = "refused"     // alterations do not fit: [Burst.Refusal] says why, and nothing was changed
	Interrupted Outcome = "interrupted" // Interrupt was called; work is left in the schedule, and a call that it ended is the first of it
	CommitFirst Outcome = "commitFirst" // a commit strategy asks for a commit; then call Run with a continue command
)

// Result is everything a commit has to make durable, since the burst was made
// or since the last call of [Burst.Committed].
type Result struct {
	Instance workflow.Instance   // the header after the burst
	State    []byte              // the engine's state, opaque JSON
	Created  []workflow.Bookmark // to be put; those created and burned within the burst appear nowhere
	Burned   []workflow.Bookmark // to be deleted
	Journal  []workflow.JournalItem
	Children []ChildStart       // instances to start
	Cancel   []string           // children to cancel
	Events   []Sent             // stimuli to send
	Response *workflow.Response // what WriteHttpResponse wrote
	Answers  []Answer           // to callers whose request an earlier command brought
	Contents []files.Content    // that were kept beside the instance

	Variables workflow.VariableChanges // for the journal
	Joined    int                      // saves that are made with a later one (docs/decisions/0007)
}

// ChildStart is an instance to be started by the commit.
type ChildStart struct {
	InstanceID string
	CommandID  string
	Start      workflow.Start
}

// Answer is what the caller of an HTTP endpoint gets whose request an earlier command brought.
type Answer struct {
	Key      string             // of the request
	Response *workflow.Response // nil: none will come
}

// Sent is a stimulus that the instance publishes; ID is stable over repeats.
type Sent struct {
	ID       string
	Stimulus workflow.Stimulus
}

// Trigger is a place where a compiled definition waits to be started.
type Trigger struct {
	ActivityID   string
	ActivityType string
	Name         string // for people
	Hash         string
	Payload      any
	Cron         string             // cron expression (6 fields), for Elsa.Cron
	Every        time.Duration      // for Elsa.Timer
	At           *time.Time         // for Elsa.StartAt
	Route        *workflow.Endpoint // for Elsa.HttpEndpoint
}

// Resolve finds the definition that an activity names (a definition used as an
// activity); false if there is none.
type Resolve func(ref workflow.DefinitionRef) (*workflow.Definition, bool)

// Evaluator compiles the expressions of one or more kinds. Implementations live
// in internal/expression.
type Evaluator interface {
	Kinds() []string
	// Compile checks e at publish time; env tells the names that are in scope.
	Compile(e workflow.Expression) (Compiled, error)
}

// Typed is an [Evaluator] of a language in which the declared types of variables and inputs, as aliases, decide what is meant.
type Typed interface {
	CompileTyped(e workflow.Expression, variable, input func(name string) (alias string, ok bool)) (Compiled, error)
}

// Compiled is a checked expression, safe for concurrent use.
type Compiled interface {
	// Eval returns a JSON-like value (nil, bool, float64, int64, string,
	// []any, map[string]any). It honours ctx and the scope's limits.
	Eval(ctx context.Context, s Scope) (any, error)
}

// Scope is what expressions may see and do while they are evaluated.
type Scope interface {
	Variable(name string) (any, bool) // nearest scope first; by name or id
	SetVariable(name string, v any) error
	Variables() map[string]any   // all visible, for variables.X
	IsDate(variable string) bool // whether it is declared as a date by Elsa's JSON, whose scripts find a Date
	Input(name string) (any, bool)
	Inputs() map[string]any
	ActivityOutput(activity, name string) (any, bool) // of the activity with that id or name, in its last execution; name "" is its first output
	LastResult() any
	InstanceID() string
	DefinitionID() string
	DefinitionVersion() int
	DefinitionVersionID() string // Elsa's id of this version; where it has none, the definition's id with the version behind a colon
	CorrelationID() string
	SetCorrelationID(id string)
	InstanceName() string
	SetInstanceName(name string)
	SetOutcomes(outcomes ...string) // RunJavaScript
	SetOutput(name string, v any)   // a workflow output
	Secret(name string) (string, bool)
	ResumeURL(activity, outcome string, life time.Duration) (string, error) // a link that resumes what waits at an activity
	Now() time.Time                                                         // see [Execution.Now]
	NewID() string                                                          // the same in a repeat of the call with the same key
	Limits() Limits
}
