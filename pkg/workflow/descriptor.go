package workflow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Descriptor tells what an activity type looks like: what the notations read
// and write, what the compiler checks and what editors offer. It is plain data;
// the engine's registry joins it with the code that runs it.
type Descriptor struct {
	Type        string // such as Elsa.WriteLine or acme.Ship
	Description string
	Example     string // in YAML, one item of a list that shows it at work; "": there is none
	Main        string // the input that a scalar stands for in YAML; "" if there is none
	MainPort    string // the branch that a list or activity stands for in YAML; "" if there is none
	Inputs      []InputDescriptor
	Outputs     []OutputDescriptor // the first is the one that YAML's result takes
	Ports       []string           // names of single-child branches, camelCase: then, else, body
	List        string             // JSON name of the ordered children: activities, branches; "" if there are none
	Cases       string             // JSON name of the cases: cases, expectedStatusCodes; "" if there are none
	CaseBodies  bool               // cases carry an activity (Switch) rather than naming a port (FlowSwitch)
	Outcomes    []string           // fixed outcomes; none means Done
	AnyOutcome  bool               // outcomes are known only at run time (FlowSwitch, FlowFork, RunJavaScript)
	Trigger     bool               // may start instances (canStartWorkflow)
	Terminal    bool               // completes the sequence or flowchart that it stands in
	Resume      []string           // the names of what a resume of its bookmarks brings (Resume.Input); none if it takes nothing; nil: not said, anything goes
	Container   bool               // only schedules its children (Sequence): after its own step there is nothing new to save
	Gives       []OutputDescriptor // variables that its branches see beside those that are declared (CurrentValue of a loop)
	Responds    bool               // it may answer the caller of an HTTP endpoint, who then waits for it
	Asks        string             // what its code calls outside, in Execute: [AsksHTTP], [AsksMail], [AsksDatabase], [AsksOther]; what it does within engine.Outside may go on beside the calls of others. "": nothing, or it is not said
	NoEffect    bool               // its code has no effect outside: all that it does is in the commit, so that it may run in vain, and on two nodes at once; false: it may have one
}

// What activities call outside ([Descriptor].Asks).
const (
	AsksHTTP     = "http" // a service, by requests that have the Idempotency-Key in a header and fail when there is no answer
	AsksMail     = "mail"
	AsksDatabase = "database"
	AsksOther    = "other" // what an activity of one's own calls
)

// InputDescriptor describes one input.
type InputDescriptor struct {
	Name        string // camelCase
	Type        string // String, Boolean, Int32, Int64, Double, TimeSpan, DateTimeOffset, Object, String[], Object[], Variable, or an alias Weft treats as Object
	Description string
	Default     any
	Required    bool
	Null        bool     // required, and may be null
	Options     []string // allowed literals, if closed
	Usual       []string // literals that are expected, if others are possible: a check warns of them
	Raw         bool     // not evaluated before the activity runs (conditions of loops, cases)
	Sensitive   bool     // never reaches the journal, such as an Authorization header
	Positive    bool     // a TimeSpan that is longer than 0
}

// OutputDescriptor describes one output.
type OutputDescriptor struct {
	Name, Type, Description string
	Sensitive               bool     // never reaches the journal, and a variable that takes it is hidden
	Fields                  []string // of an output that is always an object: what it has, none if that is known only then; nil: not said
}

// Input returns the descriptor of the named input, compared without regard to
// case.
func (d *Descriptor) Input(name string) (InputDescriptor, bool) {
	for _, in := range d.Inputs {
		if strings.EqualFold(in.Name, name) {
			return in, true
		}
	}
	return InputDescriptor{}, false
}

// ShortName is the type as YAML spells it: camelCase and without Elsa. for the
// built-in ones (writeLine), unchanged for others.
func (d *Descriptor) ShortName() string {
	if rest, ok := strings.CutPrefix(d.Type, "Elsa."); ok {
		return LowerFirst(rest)
	}
	return d.Type
}

// Types finds descriptors for the notations. Both methods return nil for
// unknown names.
type Types interface {
	ByType(typ string) *Descriptor       // Elsa.WriteLine
	ByShortName(name string) *Descriptor // writeLine
	All() []*Descriptor                  // sorted by Type
}

// LowerFirst and UpperFirst change the case of the first letter.
func LowerFirst(s string) string { return mapFirst(s, unicode.ToLower) }

// UpperFirst is the opposite of [LowerFirst].
func UpperFirst(s string) string { return mapFirst(s, unicode.ToUpper) }

// Pascal is a name as Elsa spells it within a function's name: order_id and
// "order id" become OrderId.
func Pascal(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("_-. ", r) }) {
		b.WriteString(UpperFirst(part))
	}
	return b.String()
}

func mapFirst(s string, f func(rune) rune) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(f(r)) + s[n:]
}
