package graph

import "github.com/weft-run/weft/pkg/workflow"

// DefaultLimit is how many boxes a picture has at most, unless [Options] say
// otherwise: more are folded.
const DefaultLimit = 300

// Options say how a definition is drawn. The zero value draws it whole, up to
// [DefaultLimit] boxes, with what is known of the activities without their types.
type Options struct {
	// Types tell main inputs and the order of branches.
	Types workflow.Types
	// Limit is the most boxes; 0 is DefaultLimit. What an activity holds is folded,
	// the deepest first, and then the middle of long lists. One flowchart is never folded in part.
	Limit int
	// Open names activities that are drawn beyond any limit, with all that holds
	// them: where an instance waits. nil: none.
	Open func(id string) bool
}

// Graph is a definition laid out. Units are those of SVG at its natural size: a
// line of text is 16 high.
type Graph struct {
	Title         string
	Width, Height float64
	Nodes         []Node
	Edges         []Edge

	root *block
}

// Kind says what a node stands for.
type Kind int

// The kinds of nodes.
const (
	Box    Kind = iota // an activity
	Choice             // an activity of whose branches some run
	Loop               // an activity that repeats its body
	Frame              // an activity drawn around what it holds
	State              // a state of a state machine; it has no id
	Folded             // activities that are not drawn; it has the id of the one that holds them, or none
	Join               // where ways come together; it has no id
	Start              // where the definition begins; it has no id
	End                // where it ends; it has no id
)

// Node is one thing drawn. X and Y are its upper left corner.
type Node struct {
	Kind       Kind
	ID         string // the activity's
	Type       string // as YAML spells it, such as writeLine; the name of a state
	Name       string // what its author called it; ""
	Detail     string // its main input in short; ""
	Clock      string // the time it may take, such as 48h; ""
	ClockID    string // the activity that waits for that time
	Retry      string // how often it is tried, such as 5; ""
	Hidden     int    // of a folded one: how many activities
	Place      workflow.Place
	X, Y, W, H float64

	Mark    Mark
	Clocked Mark // what became of the wait for Clock
	Change  Change
}

// Point is a place in the picture.
type Point struct{ X, Y float64 }

// Edge is a way from one node to another, by their positions in [Graph.Nodes].
type Edge struct {
	From, To int
	Port     string // the outcome or branch that takes this way; "" for the only one
	Label    string // what is written beside it
	Points   []Point
	Back     bool // leads to where it came from
	LabelAt  Point
	Taken    bool // an instance went this way
}
