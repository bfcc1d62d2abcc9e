package yaml

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// Types that the notation itself knows.
const (
	sequenceType     = "Elsa.Sequence"
	flowchartType    = "Elsa.Flowchart"
	stateMachineType = "Elsa.StateMachine"
	forkType         = "Elsa.Fork"
	delayType        = "Elsa.Delay"
)

// workflowKey names an activity that runs a definition, or, beside a type's
// name, which definition that is.
const workflowKey = "workflow"

// Keys of a retry, beside the activity that has it.
const (
	retryKey  = "retry"
	giveUpKey = "onGiveUp" // also the branch of the policy
)

// activityBuilder is an activity while its keys are read.
type activityBuilder struct {
	r        *reader
	a        *workflow.Activity
	d        *workflow.Descriptor // nil for definitions used as activities and for unknown types
	ps       []pair
	prefix   string // of the ids of its children
	reported bool   // that there is no such type
	// Keys that are read when the children are known, or the activity is complete.
	connections, start         *pair
	onTimeout, retry, onGiveUp *pair
	timeout                    workflow.Expression
	childIDs                   map[string]string // flowchart: what the text calls a child → its id, which is that of a Fork for a timed one
	longest                    int               // length of the longest of them
}

// activity reads an activity, or a list of them as a Sequence; nil for nothing.
func (r *reader) activity(n *yaml.Node, at idScope) *workflow.Activity {
	if r.full {
		return nil
	}
	if r.activities++; r.activities > workflow.MaxActivities {
		r.full = true
		r.report.TooManyActivities(r.place(n))
		return nil
	}
	switch {
	case isNull(n):
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

func (r *reader) sequence(n *yaml.Node, at idScope) *workflow.Activity {
	a := &workflow.Activity{Type: sequenceType, ID: at.listID(), Place: r.place(n)}
	a.Activities = r.children(n, at.prefix(a.ID))
	return a
}

// children reads the items of a list of activities.
func (r *reader) children(n *yaml.Node, prefix string) []*workflow.Activity {
	out := []*workflow.Activity{}
	seen := map[string]int{}
	for _, c := range n.Content {
		if isNull(c) {
			r.shape(c, "an activity", "a mapping that names its type")
			continue
		}
		if a := r.activity(c, idScope{path: prefix, seen: seen}); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// lookup gives the type of this name, short or whole; nil if there is none.
func lookup(types workflow.Types, name string) *workflow.Descriptor {
	if d := types.ByShortName(name); d != nil {
		return d
	}
	return types.ByType(name)
}

func (r *reader) lookup(name string) *workflow.Descriptor { return lookup(r.types, name) }

// mapped reads an activity from a mapping.
func (r *reader) mapped(n *yaml.Node, at idScope) *workflow.Activity {
	b := &activityBuilder{r: r, ps: r.pairs(n)}
	key := b.typeKey(n)
	if key == nil {
		return nil
	}
	b.a = &workflow.Activity{Place: r.place(key.key)}
	b.name(*key)
	if r.orders != nil {
		r.order(n, b.keyOrder(key))
	}
	derived := at.id
	if short := idBase(b.a.Type); derived == "" {
		derived = at.next(short)
	}
	b.a.ID = derived
	for _, p := range b.ps {
		if p.name == "id" {
			if b.a.ID = r.text(p.val, "id"); b.a.ID == "" {
				b.a.ID = derived
			} else if at.key && b.a.ID != at.id {
				r.problem("two-ids", p.val, "the key %s is already the id of this activity", at.id)
				b.a.ID = at.id
			}
		}
	}
	b.prefix = at.prefix(b.a.ID)
	if b.a.Ref == nil || key.name != workflowKey {
		b.body(key.val)
	}
	for _, p := range b.ps {
		if p.key != key.key && !b.common(p) && !b.own(p) {
			b.stranger(p)
		}
	}
	b.connect()
	return b.wrapRetry(b.wrapTimeout())
}

// typeKey finds the key that names the type.
func (b *activityBuilder) typeKey(n *yaml.Node) *pair {
	var typed, free []*pair
	var ref *pair
	for i := range b.ps {
		p := &b.ps[i]
		switch {
		case p.name == workflowKey:
			ref = p
		case slices.Contains(commonNames, p.name):
		case b.r.lookup(p.name) != nil:
			typed = append(typed, p)
		default:
			free = append(free, p)
		}
	}
	if len(typed) > 0 {
		best := typed[0]
		for _, p := range typed {
			if d := b.r.lookup(p.name); !slices.ContainsFunc(typed, func(o *pair) bool { return o != p && !owns(d, o.name) }) {
				best = p
				break
			}
		}
		return best
	}
	// A capital without a dot is the name of a definition.
	for _, p := range free {
		if isDefinitionName(p.name) {
			return p
		}
	}
	if ref != nil {
		return ref
	}
	for _, p := range free {
		if !b.r.branches[p.name] {
			return p
		}
	}
	if len(free) > 0 {
		return free[0]
	}
	b.r.problem("missing-activity-type", n, "this activity has no type; one key must name it, such as writeLine: hello")
	return nil
}

// isDefinitionName tells whether a name can be that of a definition used as an
// activity: the designer gives those PascalCase names.
func isDefinitionName(name string) bool {
	c, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(c) && !strings.Contains(name, ".")
}

// name sets the type, and what definition it names.
func (b *activityBuilder) name(key pair) {
	b.d = b.r.lookup(key.name)
	switch {
	case b.d != nil:
		b.a.Type = b.d.Type
	case key.name == workflowKey:
		b.ref(key.val)
	default:
		b.a.Type = key.name
		names := b.typeNames()
		for _, p := range b.ps {
			if p.name == workflowKey && !isNull(p.val) {
				b.named(p.val)
				return
			}
		}
		if isDefinitionName(key.name) && !strings.EqualFold(workflow.Nearest(key.name, names), key.name) {
			return // the compiler looks for a definition of that name
		}
		b.reported = true
		b.r.problem("unknown-activity-type", key.key, "there is no activity type %q%s", workflow.Shorten(key.name), b.meant(key.name, names))
	}
}

// meant says which type a name was probably meant for.
func (b *activityBuilder) meant(name string, names []string) string {
	switch {
	case b.r.branches[name]:
		return "; " + name + " is a branch: it stands beside the type that has it, without a - of its own"
	case slices.Contains([]string{"mail", "email", "sendmail", "sendemail", "smtp"}, strings.ToLower(name)):
		return "; no activity sends mail itself: sendHttpRequest calls a service that does, and runTask gives it to a worker"
	case strings.EqualFold(name, "try"):
		return "; what may fail has retry and onGiveUp beside it"
	case b.r.lookup(typeMeant(name)) != nil:
		return " (did you mean " + typeMeant(name) + "?)"
	case strings.Contains(name, "."):
		names = nil
		for _, d := range b.r.types.All() {
			names = append(names, d.Type)
		}
	}
	return workflow.DidYouMean(name, names)
}

func (b *activityBuilder) typeNames() []string {
	names := []string{workflowKey}
	for _, d := range b.r.types.All() {
		names = append(names, d.ShortName())
	}
	return names
}
