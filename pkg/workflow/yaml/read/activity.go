package read

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// activityBuilder is an activity while its keys are read.
type activityBuilder struct {
	r        *reader
	a        *workflow.Activity
	d        *workflow.Descriptor // nil for definitions used as activities and for unknown types
	ps       []tree.Pair
	prefix   string // of the ids of its children
	reported bool   // that there is no such type
	// Keys that are read when the children are known, or the activity is complete.
	connections, start         *tree.Pair
	onTimeout, retry, onGiveUp *tree.Pair
	undo                       *tree.Pair
	timeout                    workflow.Expression
	childIDs                   map[string]string // flowchart: what the text calls a child → its id, which is that of a Fork for a timed one
	longest                    int               // length of the longest of them
}

// activity reads an activity, or a list of them as a Sequence; nil for nothing.
func (r *reader) activity(n *yaml.Node, at notation.Scope) *workflow.Activity {
	if r.Full {
		return nil
	}
	if r.activities++; r.activities > workflow.MaxActivities {
		r.Full = true
		r.Report.TooManyActivities(r.Place(n))
		return nil
	}
	switch {
	case tree.IsNull(n):
		return nil
	case n.Kind == yaml.SequenceNode:
		return r.sequence(n, at)
	case n.Kind == yaml.MappingNode:
		return r.mapped(n, at)
	}
	// A bare name, such as break, is an activity without inputs.
	return r.mapped(&yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column,
		Content: []*yaml.Node{n, {Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}}}, at)
}

func (r *reader) sequence(n *yaml.Node, at notation.Scope) *workflow.Activity {
	a := &workflow.Activity{Type: notation.SequenceType, ID: at.ListID(), Place: r.Place(n)}
	a.Activities = r.children(n, at.Prefix(a.ID))
	return a
}

// children reads the items of a list of activities.
func (r *reader) children(n *yaml.Node, prefix string) []*workflow.Activity {
	out := []*workflow.Activity{}
	seen := map[string]int{}
	for _, c := range n.Content {
		if tree.IsNull(c) {
			r.Shape(c, "an activity", "a mapping that names its type")
			continue
		}
		if a := r.activity(c, notation.Scope{Path: prefix, Seen: seen}); a != nil {
			out = append(out, a)
		}
	}
	return out
}

func (r *reader) lookup(name string) *workflow.Descriptor { return notation.Lookup(r.types, name) }

// mapped reads an activity from a mapping.
func (r *reader) mapped(n *yaml.Node, at notation.Scope) *workflow.Activity {
	b := &activityBuilder{r: r, ps: r.Pairs(n)}
	key := b.typeKey(n)
	if key == nil {
		return nil
	}
	b.a = &workflow.Activity{Place: r.Place(key.Key)}
	b.name(*key)
	if r.orders != nil {
		r.order(n, b.keyOrder(key))
	}
	derived := at.ID
	if short := notation.IDBase(b.a.Type); derived == "" {
		derived = at.Next(short)
	}
	b.a.ID = derived
	for _, p := range b.ps {
		if p.Name == "id" {
			if b.a.ID = r.Text(p.Value, "id"); b.a.ID == "" {
				b.a.ID = derived
			} else if at.Key && b.a.ID != at.ID {
				r.Problem("two-ids", p.Value, "the key %s is already the id of this activity", at.ID)
				b.a.ID = at.ID
			}
		}
	}
	b.prefix = at.Prefix(b.a.ID)
	if b.a.Ref == nil || key.Name != notation.WorkflowKey {
		b.body(key.Value)
	}
	for _, p := range b.ps {
		if p.Key != key.Key && !b.common(p) && !b.own(p) {
			b.stranger(p)
		}
	}
	b.connect()
	if b.undo != nil {
		b.port(b.undo.Name, b.undo.Value)
	}
	return b.wrapRetry(b.wrapTimeout())
}

// typeKey finds the key that names the type.
func (b *activityBuilder) typeKey(n *yaml.Node) *tree.Pair {
	var typed, free []*tree.Pair
	var ref *tree.Pair
	for i := range b.ps {
		p := &b.ps[i]
		switch {
		case p.Name == notation.WorkflowKey:
			ref = p
		case slices.Contains(notation.CommonNames, p.Name):
		case b.r.lookup(p.Name) != nil:
			typed = append(typed, p)
		default:
			free = append(free, p)
		}
	}
	if len(typed) > 0 {
		best := typed[0]
		for _, p := range typed {
			if d := b.r.lookup(p.Name); !slices.ContainsFunc(typed, func(o *tree.Pair) bool { return o != p && !notation.Owns(d, o.Name) }) {
				best = p
				break
			}
		}
		return best
	}
	// A capital without a dot is the name of a definition.
	for _, p := range free {
		if notation.IsDefinitionName(p.Name) {
			return p
		}
	}
	if ref != nil {
		return ref
	}
	for _, p := range free {
		if !b.r.branches[p.Name] {
			return p
		}
	}
	if len(free) > 0 {
		return free[0]
	}
	b.r.Problem("missing-activity-type", n, "this activity has no type; one key must name it, such as writeLine: hello")
	return nil
}

// name sets the type, and what definition it names.
func (b *activityBuilder) name(key tree.Pair) {
	b.d = b.r.lookup(key.Name)
	switch {
	case b.d != nil:
		b.a.Type = b.d.Type
	case key.Name == notation.WorkflowKey:
		b.ref(key.Value)
	default:
		b.a.Type = key.Name
		names := b.typeNames()
		for _, p := range b.ps {
			if p.Name == notation.WorkflowKey && !tree.IsNull(p.Value) {
				b.named(p.Value)
				return
			}
		}
		if notation.IsDefinitionName(key.Name) && !strings.EqualFold(workflow.Nearest(key.Name, names), key.Name) {
			return // the compiler looks for a definition of that name
		}
		b.reported = true
		b.r.Problem("unknown-activity-type", key.Key, "there is no activity type %q%s", workflow.Shorten(key.Name), b.meant(key.Name, names))
	}
}

// meant says which type a name was probably meant for.
func (b *activityBuilder) meant(name string, names []string) string {
	switch {
	case b.r.branches[name]:
		return "; " + name + " is a branch: it stands beside the type that has it, without a - of its own"
	case slices.Contains([]string{"mail", "email", "sendmail", "smtp"}, strings.ToLower(name)):
		return " (did you mean sendEmail?)"
	case strings.EqualFold(name, "try"):
		return "; what may fail has retry and onGiveUp beside it"
	case b.r.lookup(notation.TypeMeant(name)) != nil:
		return " (did you mean " + notation.TypeMeant(name) + "?)"
	case strings.Contains(name, "."):
		names = nil
		for _, d := range b.r.types.All() {
			names = append(names, d.Type)
		}
	}
	return workflow.DidYouMean(name, names)
}

func (b *activityBuilder) typeNames() []string {
	names := []string{notation.WorkflowKey}
	for _, d := range b.r.types.All() {
		names = append(names, d.ShortName())
	}
	return names
}
