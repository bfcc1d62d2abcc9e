package engine

import (
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// Node is one activity of a compiled program. It is immutable.
type Node struct {
	id       string // unique in the program: the activity's id, below used definitions a path
	local    string // unique in its definition
	index    int32
	activity *workflow.Activity
	desc     *workflow.Descriptor
	impl     Activity
	resumer  Resumer
	parenter Parent
	admitter Admitter
	undoer   Undoer
	unit     *unit // the definition it belongs to
	inner    *unit // the definition it runs, for definitions used as activities
	parent   *Node
	list     []*Node
	ports    map[string]*Node
	cases    []NodeCase
	states   []NodeState
	inputs   []input
	targets  map[string]target // output name → where it goes
	vars     []variable        // the scope it opens
	gives    []string          // if it has an undo: the variables that take results of it and of what is in it
	data     any
	commit   commitPoints
	quiet    bool // no code that runs with it has an effect outside: not its own, nor what is around it
	aside    bool // its code calls outside, and may do so beside other calls
	stirs    bool // code around it that is not that of a call may have an effect outside when it is told of n
	logs     logging
}

// NodeCase is a compiled case of a Switch, FlowSwitch or SendHttpRequest.
type NodeCase struct {
	Label string
	Node  *Node // nil when the case only names a port
	cond  input
}

// NodeState is a compiled state of a StateMachine.
type NodeState struct {
	Name        string
	Entry, Exit *Node
	Final       bool
	Transitions []NodeTransition
}

// NodeTransition is a compiled transition of a StateMachine.
type NodeTransition struct {
	Name, To        string
	Trigger, Action *Node
	cond            input
}

// variable is a declared variable with its initial value.
type variable struct {
	id, name string
	value    any
	alias    string // type alias, with [] for arrays
	memory   bool   // not kept with the instance
	date     bool   // a date, or a list of dates, of Elsa's JSON
}

// target is where an activity's output goes.
type target struct {
	variable string // by name; "" if it is an output of the definition
	output   string
}

// ID is unique within the program: the activity's id, and below a definition
// that is used as an activity the path to it, such as greet/line.
func (n *Node) ID() string { return n.id }

// LocalID is the activity's id within its own definition.
func (n *Node) LocalID() string { return n.local }

// Type is the activity's type.
func (n *Node) Type() string { return n.desc.Type }

// Name is the activity's name; "" if it has none.
func (n *Node) Name() string { return n.activity.Name }

// Activity is the source of the node; it must not be changed.
func (n *Node) Activity() *workflow.Activity { return n.activity }

// Descriptor describes the node's type; it must not be changed.
func (n *Node) Descriptor() *workflow.Descriptor { return n.desc }

// Definition is the definition that the node belongs to; it must not be changed.
func (n *Node) Definition() *workflow.Definition { return n.unit.def }

// Parent is the node that contains this one; nil for the workflow itself.
func (n *Node) Parent() *Node { return n.parent }

// List is the ordered children.
func (n *Node) List() []*Node { return n.list }

// Port is the named single child; nil if the branch is not filled.
func (n *Node) Port(name string) *Node { return n.ports[name] }

// Cases are the node's cases, in order.
func (n *Node) Cases() []NodeCase { return n.cases }

// States are the states of a StateMachine, in order.
func (n *Node) States() []NodeState { return n.states }

// Data is what the type's [Preparer] stored for the node.
func (n *Node) Data() any { return n.data }

// Contains reports whether other is n or below it.
func (n *Node) Contains(other *Node) bool {
	for ; other != nil; other = other.parent {
		if other == n {
			return true
		}
	}
	return false
}

// Child finds a direct child by its id within the definition; nil if there is
// none.
func (n *Node) Child(localID string) *Node {
	if c := n.unit.byID[localID]; c != nil && c.parent == n {
		return c
	}
	return nil
}

// Given reports whether the author gave the input.
func (n *Node) Given(name string) bool {
	in := n.input(name)
	return in != nil && in.given
}

func (n *Node) input(name string) *input {
	for i := range n.inputs {
		if n.inputs[i].desc.Name == name {
			return &n.inputs[i]
		}
	}
	return nil
}

type input struct {
	desc     workflow.InputDescriptor
	expr     workflow.Expression
	given    bool
	constant bool
	value    any // of a constant or default
	compiled Compiled
	hidden   bool // kept out of the journal
}

// label names the input in incidents, such as "text: JavaScript".
func (in *input) label() string {
	if in.expr.IsZero() {
		return in.desc.Name
	}
	return in.desc.Name + ": " + in.expr.Kind
}

// unit is one definition within a program: the workflow itself, or one use of a
// definition as an activity.
type unit struct {
	def                *workflow.Definition
	node               *Node // the boundary of its scopes
	prefix             string
	byID               map[string]*Node
	byName, bySpelling map[string]*Node // the latter by [workflow.Pascal]: getResultFromMyStep means "My step"
	inputs             []declaredInput
	outputs            []declaredOutput
	labels             []declaredLabel        // of the workflow itself
	keepOutputs        bool                   // some expression may read activity outputs or the last result
	declared           func() map[string]bool // ids and names of variables of any scope
}

type declaredInput struct {
	workflow.Input
	alias  string
	value  any // default, converted
	memory bool
}

type declaredOutput struct {
	name, alias string
	value       input // given if the output has an expression
}

type declaredLabel struct {
	name  string
	value input
}

// Program is a compiled definition version. It is immutable and safe for
// concurrent use.
type Program struct {
	def      *workflow.Definition
	root     *Node // the workflow itself; its one port is the root activity
	nodes    map[string]*Node
	count    int
	triggers []Trigger
	uses     []Use
	evals    map[string]Evaluator
	kinds    map[string]bool // of the expressions in it
	secrets  []SecretUse
	strategy strategy
	responds bool // an activity of it may answer an HTTP request
	starts   bool // an activity of it starts instances
}

// Use is a definition that a program runs as an activity, as it was resolved.
type Use struct {
	DefinitionID string
	Version      int
}

// Definition is what the program was compiled from; it must not be changed.
func (p *Program) Definition() *workflow.Definition { return p.def }

// Triggers lists the places where the definition waits to be started, with
// their hashes.
func (p *Program) Triggers() []Trigger { return append([]Trigger(nil), p.triggers...) }

// Uses lists the definitions that the program runs as activities, each version
// once, in the order in which they were met.
func (p *Program) Uses() []Use { return append([]Use(nil), p.uses...) }

// Nodes lists every activity of the program, those of definitions that it uses
// included, parents before their children.
func (p *Program) Nodes() []*Node {
	out := make([]*Node, 0, len(p.nodes))
	for _, n := range p.nodes {
		if n != p.root {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b *Node) int { return int(a.index - b.index) })
	return out
}

// Node finds a node by its id; nil if there is none.
func (p *Program) Node(id string) *Node { return p.nodes[id] }
