package workflow

import (
	"encoding/json"
	"strconv"
)

// Definition is a workflow as its author wrote it. Published definitions are
// immutable; each publication is one numbered version of the same id.
type Definition struct {
	ID          string // client-chosen or derived; matches [A-Za-z0-9._:-]{1,128}
	VersionID   string // Elsa's "id": names one version; kept for round trips and for references to it
	Version     int    // 1..; 0 before it was published
	Name        string
	Description string
	Inputs      []Input
	Outputs     []Output
	Variables   []Variable
	Outcomes    []string // ports when used as an activity; none means Done

	// Labels are what an instance is found by, evaluated when it starts; not of a
	// definition that is used as an activity.
	Labels map[string]Expression

	Options Options
	Root    *Activity

	CustomProperties map[string]any
	// Extra holds fields that the notation allows and Weft does not know, by
	// their JSON name, so that an export keeps them.
	Extra map[string]json.RawMessage
	Place Place
}

// Options steer how instances of a definition are started and run.
type Options struct {
	ActivationStrategy string // "" or Always, Singleton, CorrelatedSingleton, Correlation
	IncidentStrategy   string // "" or Fault, ContinueWithIncidents
	CommitStrategy     string // "" (burst end), WorkflowExecuting, WorkflowExecuted, ActivityExecuting, ActivityExecuted, either of them Strict, Periodic
	CommitInterval     string // for Periodic: a duration
	Calls              string // calls of an instance in flight beside each other: turns, or at most how many; "": 16
	UsableAsActivity   bool
	AutoUpdate         bool   // consuming workflows pick up a republished child
	AdditionalInputs   bool   // a start may bring inputs that are not declared
	CatchUp            string // missed cron and timer occurrences: "" or skip, one, all
	LogPersistence     string // "" (inherit = include), Include, Exclude
	Extra              map[string]json.RawMessage
}

// CallsAtOnce is how many calls of an instance may be in flight beside each other: 1 for turns, 0 if it is not said; false: that is
// neither turns nor a number above 0.
func (o *Options) CallsAtOnce() (n int, ok bool) {
	switch o.Calls {
	case "":
		return 0, true
	case "turns":
		return 1, true
	}
	n, err := strconv.Atoi(o.Calls)
	return n, err == nil && n > 0
}

// Input declares a named value that a start may pass.
type Input struct {
	Name, Type, Description string // Type is an alias such as String, Int32, Object; "" means Object
	IsArray                 bool
	Required                bool
	Default                 any
	StorageDriver           string // "" means kept with the instance; "Memory" is lost at the end of a burst
	Extra                   map[string]json.RawMessage
	Place                   Place
}

// Output declares a named result. Value, if set, is evaluated when the instance
// finishes; otherwise SetOutput or an activity's output writes it.
type Output struct {
	Name, Type, Description string
	IsArray                 bool
	Value                   *Expression
	Extra                   map[string]json.RawMessage
}

// Variable is a named, scoped slot of an instance. Outputs refer to it by ID or
// by Name; expressions by Name.
type Variable struct {
	ID, Name, Type string
	IsArray        bool
	Value          any    // the initial value
	StorageDriver  string // as for Input
	Extra          map[string]json.RawMessage
	Place          Place
}

// Activity is one node of a definition's tree. Which of the branches an
// activity reads is told by its type's descriptor in the engine's registry.
type Activity struct {
	ID       string
	Type     string // such as Elsa.WriteLine; a definition used as an activity has the definition's PascalCase name
	Version  int    // of the activity type; 0 means newest
	Name     string
	CanStart bool // also a trigger: a matching stimulus starts an instance here

	Inputs  map[string]Expression // by camelCase name, such as text
	Outputs map[string]string     // output name → ID or Name of the variable or workflow output that takes it

	Activities  []*Activity          // ordered children: Sequence, Parallel, Fork (its branches), Flowchart, Container
	Ports       map[string]*Activity // named single children: then, else, body, default, onTimeout, …
	Cases       []Case               // Switch, FlowSwitch, SendHttpRequest
	Connections []Connection         // Flowchart
	Start       string               // Flowchart: the id of the first activity; "" lets the engine choose
	Variables   []Variable           // the scope that this container opens
	States      []State              // StateMachine
	Initial     string               // StateMachine: the initial state's name

	Ref *DefinitionRef // set where Type names a definition that is used as an activity

	MergeMode      string // token-based flowcharts: "" or None, Stream, Merge, Converge, Cascade, Race
	CommitStrategy string // "" (the workflow's), Always, Never, Executing, Executed
	LogPersistence string // "" (inherit), Include, Exclude

	CustomProperties map[string]any
	Metadata         map[string]any
	Extra            map[string]json.RawMessage
	Place            Place
}

// TakesTurns tells whether calls of the activity are one after the other although they stand beside each other: those of Elsa's JSON are,
// unless they run asynchronously.
func (a *Activity) TakesTurns() bool {
	async, _ := a.CustomProperties["runAsynchronously"].(bool)
	var bare bool
	_ = json.Unmarshal(a.Extra["runAsynchronously"], &bare) // what is no JSON says nothing
	return a.Place.Pointer != "" && !async && !bare
}

// UndoPort is the branch that any activity may have, of each type: what undoes it once it is done.
const UndoPort = "undo"

// DefinitionRef names the definition that an activity runs. VersionID is tried
// first, then ID with Version, then ID's published head.
type DefinitionRef struct {
	ID, VersionID string
	Version       int
	Extra         map[string]json.RawMessage
}

// Case is one branch of a Switch (with Activity), a FlowSwitch (its Label is a
// port) or a SendHttpRequest (its Label is a status code).
type Case struct {
	Label     string
	Condition Expression
	Activity  *Activity
	Extra     map[string]json.RawMessage
	Place     Place
}

// Connection joins an outcome of one flowchart activity to another activity.
// An empty SourcePort means Done.
type Connection struct {
	Source, SourcePort string
	Target, TargetPort string
	Extra              map[string]json.RawMessage
	Place              Place
}

// State and Transition are the parts of a StateMachine.
type State struct {
	Name        string
	Entry, Exit *Activity
	Transitions []Transition
	Final       bool
	Extra       map[string]json.RawMessage
	Place       Place
}

// Transition leaves a state when its Trigger completes and Condition holds.
type Transition struct {
	Name, To  string
	Trigger   *Activity
	Condition Expression
	Action    *Activity
	Extra     map[string]json.RawMessage
	Place     Place
}

// Kinds of expressions. CSharp and Python are known by name so that they can be
// refused with their place.
const (
	Literal    = "Literal"    // Value is a scalar, or text converted to the wanted type
	Object     = "Object"     // Value is JSON text, or a decoded JSON value
	VariableOf = "Variable"   // Value is the variable's ID or Name (string)
	InputOf    = "Input"      // Value is the input's name (string)
	JavaScript = "JavaScript" // Value is the source (string)
	Liquid     = "Liquid"     // Value is the template (string)
	Expr       = "Expr"       // Value is a JSON-like tree whose strings may hold ${{ }}; a string that is one ${{ }} keeps the result's type
	CSharp     = "CSharp"
	Python     = "Python"
)

// Expression is the source of an input's value. The zero Expression means
// "not given": the activity's default holds.
type Expression struct {
	Kind  string
	Value any
	Type  string // the declared type alias; "" means the activity decides
	// Memory is Elsa's memoryReference id, kept for round trips.
	Memory string
	Extra  map[string]json.RawMessage
	Place  Place
}

// IsZero reports whether no expression was given.
func (e Expression) IsZero() bool { return e.Kind == "" }

// Lit makes a literal expression.
func Lit(v any) Expression { return Expression{Kind: Literal, Value: v} }

// Tmpl makes an Expr expression from text with ${{ }} parts, or from a tree of
// maps, slices and such texts.
func Tmpl(v any) Expression { return Expression{Kind: Expr, Value: v} }

// JS makes a JavaScript expression.
func JS(source string) Expression { return Expression{Kind: JavaScript, Value: source} }

// Walk calls visit for a and every activity below it, parents first, in a fixed
// order, until visit returns false for a subtree. It is iterative over depth,
// so that hostile nesting cannot exhaust the stack; depth starts at 0.
func Walk(root *Activity, visit func(a *Activity, parent *Activity, depth int) bool) {
	type item struct {
		a, parent *Activity
		depth     int
	}
	stack := []item{{root, nil, 0}}
	for len(stack) > 0 {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if it.a == nil || !visit(it.a, it.parent, it.depth) {
			continue
		}
		kids := it.a.Children()
		for i := len(kids) - 1; i >= 0; i-- {
			stack = append(stack, item{kids[i], it.a, it.depth + 1})
		}
	}
}

// Children returns every direct child in a fixed order: activities, ports by
// name, cases, states. The slice is the caller's.
func (a *Activity) Children() []*Activity {
	kids := append([]*Activity(nil), a.Activities...)
	for _, name := range sortedKeys(a.Ports) {
		kids = append(kids, a.Ports[name])
	}
	for _, c := range a.Cases {
		kids = append(kids, c.Activity)
	}
	for _, s := range a.States {
		kids = append(kids, s.Entry, s.Exit)
		for _, t := range s.Transitions {
			kids = append(kids, t.Trigger, t.Action)
		}
	}
	out := kids[:0]
	for _, k := range kids {
		if k != nil {
			out = append(out, k)
		}
	}
	return out
}

// DeclaredVariables are the ids and names of the variables within the root, of any scope.
func (d *Definition) DeclaredVariables() map[string]bool {
	out := map[string]bool{}
	Walk(d.Root, func(a, _ *Activity, _ int) bool {
		for _, v := range a.Variables {
			out[v.ID], out[v.Name] = true, true
		}
		return true
	})
	return out
}
