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
	Title  string  `json:"title"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Nodes  []Node  `json:"nodes"`
	Edges  []Edge  `json:"edges"`

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
	Kind    Kind           `json:"kind"`
	ID      string         `json:"id,omitempty"`      // the activity's
	Type    string         `json:"type,omitempty"`    // as YAML spells it, such as writeLine; the name of a state
	Name    string         `json:"name,omitempty"`    // what its author called it; ""
	Detail  string         `json:"detail,omitempty"`  // its main input in short; ""
	Clock   string         `json:"clock,omitempty"`   // the time it may take, such as 48h; ""
	ClockID string         `json:"clockId,omitempty"` // the activity that waits for that time
	Retry   string         `json:"retry,omitempty"`   // how often it is tried, such as 5; ""
	Hidden  int            `json:"hidden,omitempty"`  // of a folded one: how many activities
	Place   workflow.Place `json:"-"`
	X       float64        `json:"x"`
	Y       float64        `json:"y"`
	W       float64        `json:"w"`
	H       float64        `json:"h"`

	Mark    Mark   `json:"mark,omitzero"`
	Clocked Mark   `json:"clocked,omitzero"` // what became of the wait for Clock
	Change  Change `json:"change,omitempty"`
}

// Point is a place in the picture.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Edge is a way from one node to another, by their positions in [Graph.Nodes].
type Edge struct {
	From    int     `json:"from"`
	To      int     `json:"to"`
	Port    string  `json:"port,omitempty"`  // the outcome or branch that takes this way; "" for the only one
	Label   string  `json:"label,omitempty"` // what is written beside it
	Points  []Point `json:"points"`
	Back    bool    `json:"back,omitempty"` // leads to where it came from
	LabelAt Point   `json:"labelAt,omitzero"`
	Taken   bool    `json:"taken,omitempty"` // an instance went this way
}
