package yaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// owns tells whether a type has an input, a branch or a list of this name.
func owns(d *workflow.Descriptor, name string) bool {
	return d != nil && slices.Contains(ownKeys(d), name)
}

// ownKeys lists what a type may have in or beside its value.
func ownKeys(d *workflow.Descriptor) []string {
	var keys []string
	for _, in := range d.Inputs {
		keys = append(keys, in.Name)
	}
	keys = append(keys, d.Ports...)
	if d.List != "" {
		keys = append(keys, d.List, "variables")
	}
	if d.Cases != "" && !slices.Contains(keys, d.Cases) {
		keys = append(keys, d.Cases)
	}
	switch d.Type {
	case flowchartType:
		keys = append(keys, "start", "connections", "mode")
	case stateMachineType:
		keys = append(keys, "initial", "states")
	}
	return keys
}

// body reads the value of the key that names the type.
func (b *activityBuilder) body(n *yaml.Node) {
	d := b.d
	switch {
	case isNull(n):
	case d == nil:
		b.freeBody(n)
	case n.Kind == yaml.SequenceNode:
		b.listBody(n)
	case n.Kind == yaml.MappingNode && b.standsForBranch(n):
		b.port(d.MainPort, n)
	case n.Kind == yaml.MappingNode && isKind(n) && d.Main != "" && !owns(d, n.Content[0].Value):
		b.main(n)
	case n.Kind == yaml.MappingNode:
		for _, p := range b.r.pairs(n) {
			if !b.own(p) {
				b.r.unknown(p, d.ShortName(), ownKeys(d))
			}
		}
	case d.Main == "":
		b.r.problem("no-main-input", n, "%s does not take a single value%s", d.ShortName(), b.hint())
	default:
		b.main(n)
	}
}

// hint says what a type takes.
func (b *activityBuilder) hint() string {
	keys := ownKeys(b.d)
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
		b.r.problem("no-main-input", n, "%s does not take a list%s", d.ShortName(), b.hint())
	}
}

// standsForBranch tells whether a mapping is an activity that is the main
// branch, rather than a mapping of inputs.
func (b *activityBuilder) standsForBranch(n *yaml.Node) bool {
	if b.d.MainPort == "" {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if owns(b.d, n.Content[i].Value) {
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
			if key := n.Content[i].Value; b.r.lookup(key) != nil || key == workflowKey || isDefinitionName(key) {
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
	b.input(pair{b.d.Main, n, n}, in)
}

// own reads an input, a branch, children or cases, wherever they stand. It
// reports false for a key that the type does not have.
func (b *activityBuilder) own(p pair) bool {
	d := b.d
	if d == nil || !owns(d, p.name) {
		return false
	}
	if in, ok := d.Input(p.name); ok && p.name != d.Cases && !(slices.Contains(d.Ports, p.name) && b.isBranch(p.val)) {
		b.input(p, in)
		return true
	}
	switch {
	case slices.Contains(d.Ports, p.name):
		b.port(p.name, p.val)
	case p.name == d.List:
		b.list(p.val)
	case p.name == d.Cases:
		b.cases(p.val)
	case p.name == "variables":
		b.a.Variables = b.r.variables(p.val)
	case p.name == "start":
		b.start = &p
	case p.name == "connections":
		b.connections = &p
	case p.name == "mode":
		if m := modes[b.r.choice(p, modeNames)]; m != "" {
			setProperty(&b.a.CustomProperties, modeProperty, m)
		}
	case p.name == "initial":
		b.a.Initial = b.r.text(p.val, p.name)
	case p.name == "states":
		b.states(p.val)
	}
	return true
}

// stranger reports a key that is none of the activity's. What stands there is
// still read when it looks like a branch, for the problems in it.
func (b *activityBuilder) stranger(p pair) {
	if b.reported && (p.val.Kind == yaml.SequenceNode || b.r.branches[p.name]) {
		b.port(p.name, p.val)
		return
	}
	if b.d != nil && b.r.lookup(p.name) != nil {
		b.r.problem("two-activity-types", p.key, "an activity has one type, and this one is %s already; begin a new item with - for %s", b.d.ShortName(), p.name)
		return
	}
	where, known := b.a.Type, slices.Clone(commonNames)
	if b.d != nil {
		where, known = b.d.ShortName(), append(known, ownKeys(b.d)...)
		if workflow.Nearest(p.name, known) == "" && otherKeys[p.name] == "" {
			known = ownKeys(b.d) // those that are listed
		}
	}
	b.r.unknown(p, where, known)
}

func (b *activityBuilder) input(p pair, in workflow.InputDescriptor) {
	if _, twice := b.a.Inputs[in.Name]; twice {
		b.r.problem("duplicate-key", p.key, "the input %s is given twice", in.Name)
		return
	}
	e := b.r.expression(p.val, in)
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
		b.r.problem("duplicate-key", n, "the branch %s is given twice", name)
		return
	}
	child := b.r.activity(n, branch(b.prefix, name))
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
		b.r.problem("duplicate-key", n, "the activities of %s are given twice", b.d.ShortName())
		return
	}
	switch {
	case isNull(n):
		b.a.Activities = []*workflow.Activity{}
	case n.Kind == yaml.SequenceNode:
		b.a.Activities = b.r.children(n, b.prefix)
		b.rememberChildren()
	case n.Kind == yaml.MappingNode && b.d.Type == flowchartType:
		b.a.Activities = []*workflow.Activity{}
		for _, p := range b.r.pairs(n) {
			if isNull(p.val) {
				b.r.shape(p.val, "the activity "+p.name, "a mapping that names its type")
			} else if a := b.r.activity(p.val, idScope{id: p.name, key: true}); a != nil {
				b.a.Activities = append(b.a.Activities, a)
			}
		}
		b.rememberChildren()
	default:
		b.r.shape(n, b.d.List, "a list of activities")
	}
}
