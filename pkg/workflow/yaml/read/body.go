package read

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// body reads the value of the key that names the type.
func (b *activityBuilder) body(n *yaml.Node) {
	d := b.d
	switch {
	case tree.IsNull(n):
	case d == nil:
		b.freeBody(n)
	case n.Kind == yaml.SequenceNode:
		b.listBody(n)
	case n.Kind == yaml.MappingNode && b.standsForBranch(n):
		b.port(d.MainPort, n)
	case n.Kind == yaml.MappingNode && notation.IsKind(n) && d.Main != "" && !notation.Owns(d, n.Content[0].Value):
		b.main(n)
	case n.Kind == yaml.MappingNode:
		for _, p := range b.r.Pairs(n) {
			if !b.own(p) {
				b.r.Unknown(p, d.ShortName(), notation.OwnKeys(d))
			}
		}
	case d.Main == "":
		b.r.Problem("no-main-input", n, "%s does not take a single value%s", d.ShortName(), b.hint())
	default:
		b.main(n)
	}
}

// hint says what a type takes.
func (b *activityBuilder) hint() string {
	keys := notation.OwnKeys(b.d)
	if len(keys) == 0 {
		return "; leave the value empty"
	}
	return "; it has " + strings.Join(keys, ", ")
}

// listBody reads a list: the children, the cases, the main branch or the main
// input.
func (b *activityBuilder) listBody(n *yaml.Node) {
	d := b.d
	switch {
	case d.List != "":
		b.list(n)
	case d.Cases != "" && d.Main == "":
		b.cases(n)
	case d.MainPort != "" && (d.Main == "" || b.allActivities(n)):
		b.port(d.MainPort, n)
	case d.Main != "":
		b.main(n)
	default:
		b.r.Problem("no-main-input", n, "%s does not take a list%s", d.ShortName(), b.hint())
	}
}

// standsForBranch tells whether a mapping is an activity that is the main
// branch, rather than a mapping of inputs.
func (b *activityBuilder) standsForBranch(n *yaml.Node) bool {
	if b.d.MainPort == "" {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if notation.Owns(b.d, n.Content[i].Value) {
			return false
		}
	}
	return b.isBranch(n)
}

// isBranch tells an activity from a value, for SendHttpRequest, whose timeout is
// an input and a branch.
func (b *activityBuilder) isBranch(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.SequenceNode:
		return true
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; b.r.lookup(key) != nil || key == notation.WorkflowKey || notation.IsDefinitionName(key) {
				return true
			}
		}
	}
	return false
}

func (b *activityBuilder) allActivities(n *yaml.Node) bool {
	for _, c := range n.Content {
		if c.Kind != yaml.MappingNode || !slices.ContainsFunc(c.Content, func(k *yaml.Node) bool { return b.r.lookup(k.Value) != nil }) {
			return false
		}
	}
	return true
}

func (b *activityBuilder) main(n *yaml.Node) {
	in, _ := b.d.Input(b.d.Main)
	b.input(tree.Pair{Name: b.d.Main, Key: n, Value: n}, in)
}

// own reads an input, a branch, children or cases, wherever they stand. It
// reports false for a key that the type does not have.
func (b *activityBuilder) own(p tree.Pair) bool {
	d := b.d
	if d == nil || !notation.Owns(d, p.Name) {
		return false
	}
	if in, ok := d.Input(p.Name); ok && p.Name != d.Cases && !(slices.Contains(d.Ports, p.Name) && b.isBranch(p.Value)) {
		b.input(p, in)
		return true
	}
	switch {
	case slices.Contains(d.Ports, p.Name):
		b.port(p.Name, p.Value)
	case p.Name == d.List:
		b.list(p.Value)
	case p.Name == d.Cases:
		b.cases(p.Value)
	case p.Name == "variables":
		b.a.Variables = b.r.variables(p.Value)
	case p.Name == "start":
		b.start = &p
	case p.Name == "connections":
		b.connections = &p
	case p.Name == "mode":
		if m := notation.Modes[b.r.Choice(p, notation.ModeNames)]; m != "" {
			setProperty(&b.a.CustomProperties, notation.ModeProperty, m)
		}
	case p.Name == "initial":
		b.a.Initial = b.r.Text(p.Value, p.Name)
	case p.Name == "states":
		b.states(p.Value)
	}
	return true
}

// stranger reports a key that is none of the activity's. What stands there is
// still read when it looks like a branch, for the problems in it.
func (b *activityBuilder) stranger(p tree.Pair) {
	if b.reported && (p.Value.Kind == yaml.SequenceNode || b.r.branches[p.Name]) {
		b.port(p.Name, p.Value)
		return
	}
	if b.d != nil && b.r.lookup(p.Name) != nil {
		b.r.Problem("two-activity-types", p.Key, "an activity has one type, and this one is %s already; begin a new item with - for %s", b.d.ShortName(), p.Name)
		return
	}
	where, known := b.a.Type, slices.Clone(notation.CommonNames)
	if b.d != nil {
		where, known = b.d.ShortName(), append(known, notation.OwnKeys(b.d)...)
		if workflow.Nearest(p.Name, known) == "" && notation.OtherKeys[p.Name] == "" {
			known = notation.OwnKeys(b.d) // those that are listed
		}
	}
	b.r.Unknown(p, where, known)
}

func (b *activityBuilder) input(p tree.Pair, in workflow.InputDescriptor) {
	if _, twice := b.a.Inputs[in.Name]; twice {
		b.r.Problem("duplicate-key", p.Key, "the input %s is given twice", in.Name)
		return
	}
	e := b.r.expression(p.Value, in)
	if e.IsZero() {
		return
	}
	if b.a.Inputs == nil {
		b.a.Inputs = map[string]workflow.Expression{}
	}
	b.a.Inputs[in.Name] = e
}

func (b *activityBuilder) port(name string, n *yaml.Node) {
	if b.a.Ports[name] != nil {
		b.r.Problem("duplicate-key", n, "the branch %s is given twice", name)
		return
	}
	child := b.r.activity(n, notation.Branch(b.prefix, name))
	if child == nil {
		return
	}
	if b.a.Ports == nil {
		b.a.Ports = map[string]*workflow.Activity{}
	}
	b.a.Ports[name] = child
}

// list reads the children: a list, or, in a flowchart, a mapping from ids.
func (b *activityBuilder) list(n *yaml.Node) {
	if b.a.Activities != nil {
		b.r.Problem("duplicate-key", n, "the activities of %s are given twice", b.d.ShortName())
		return
	}
	switch {
	case tree.IsNull(n):
		b.a.Activities = []*workflow.Activity{}
	case n.Kind == yaml.SequenceNode:
		b.a.Activities = b.r.children(n, b.prefix)
		b.rememberChildren()
	case n.Kind == yaml.MappingNode && b.d.Type == notation.FlowchartType:
		b.a.Activities = []*workflow.Activity{}
		for _, p := range b.r.Pairs(n) {
			if tree.IsNull(p.Value) {
				b.r.Shape(p.Value, "the activity "+p.Name, "a mapping that names its type")
			} else if a := b.r.activity(p.Value, notation.Scope{ID: p.Name, Key: true}); a != nil {
				b.a.Activities = append(b.a.Activities, a)
			}
		}
		b.rememberChildren()
	default:
		b.r.Shape(n, b.d.List, "a list of activities")
	}
}
