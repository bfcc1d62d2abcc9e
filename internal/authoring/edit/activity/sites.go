package activity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// Site is where an activity stands.
type Site struct {
	Activity *workflow.Activity
	Parent   *workflow.Activity
	Node     *text.Node // a mapping, a list that is a Sequence, or a bare name
	Key      int        // of a mapping in YAML: the entry that names the type; else -1
	times    int        // how often it is used: more than once through an alias
}

// Sites are the activities of a text, with where they stand.
type Sites struct {
	*text.Doc
	Types workflow.Types
	def   *workflow.Definition
	At    map[*text.Node]*Site
	of    map[*workflow.Activity]*Site
	Order []*Site // as the tree of activities has them
}

// locate ties the activities to the tree, by their places.
func (d *Sites) locate() {
	type at struct {
		start int
		kind  text.Kind
	}
	wanted := map[int]bool{} // few of a text's values are activities
	workflow.Walk(d.def.Root, func(a, _ *workflow.Activity, _ int) bool {
		wanted[d.Offset(a.Place.Line, a.Place.Column)] = true
		return true
	})
	where, keys := map[at]*text.Node{}, map[int]*text.Node{}
	d.Root.Each(func(n *text.Node) {
		if !wanted[n.Start] {
			return
		}
		if k := (at{n.Start, n.Kind}); where[k] == nil || where[k].IsKey {
			where[k] = n
		}
		if n.IsKey {
			keys[n.Start] = n
		}
	})
	workflow.Walk(d.def.Root, func(a, parent *workflow.Activity, _ int) bool {
		start := d.Offset(a.Place.Line, a.Place.Column)
		s := &Site{Activity: a, Parent: parent, Key: -1}
		switch key := keys[start]; {
		case d.JSON:
			s.Node = where[at{start, text.Mapping}]
		case key != nil && d.names(key, a):
			s.Node, s.Key = key.Parent, key.At
		case a.Type == "Elsa.Sequence" && where[at{start, text.List}] != nil:
			s.Node = where[at{start, text.List}]
		default:
			if n := where[at{start, text.Scalar}]; n != nil && !n.IsKey {
				s.Node = n
			}
		}
		if s.Node == nil || written(a) {
			return true
		}
		if old := d.At[s.Node]; old != nil {
			old.times++
			return true
		}
		s.times = 1
		d.At[s.Node], d.of[a] = s, s
		d.Order = append(d.Order, s)
		return true
	})
}

// names tells whether a key names the type of an activity.
func (d *Sites) names(key *text.Node, a *workflow.Activity) bool {
	if key.Text == a.Type || key.Text == "workflow" || a.Ref != nil {
		return true
	}
	t := d.Types.ByShortName(key.Text)
	if t == nil {
		t = d.Types.ByType(key.Text)
	}
	return t != nil && t.Type == a.Type
}

// written tells the activities that a retry or a timeout beside another one is written for.
func written(a *workflow.Activity) bool {
	return a.Type == workflow.RetryType && strings.HasSuffix(a.ID, workflow.RetrySuffix) && a.Ports["body"] != nil && a.Ports["body"].Place == a.Place ||
		strings.HasSuffix(a.ID, workflow.TimeoutSuffix) && len(a.Activities) == 2 && a.Activities[0] != nil && a.Activities[0].Place == a.Place
}

// Find gives the activity with an id.
func (d *Sites) Find(id string, line int) (*Site, error) {
	var found []*Site
	var ids []string
	for _, s := range d.Order {
		ids = append(ids, s.Activity.ID)
		if s.Activity.ID == id && (line == 0 || line == s.Activity.Place.Line) {
			found = append(found, s)
		}
	}
	switch {
	case id == "":
		return nil, text.Bad("the edit does not say which activity it is about")
	case len(found) == 0:
		hint := workflow.DidYouMean(id, ids)
		for _, suffix := range []string{workflow.TimeoutSuffix, workflow.TimeoutSuffix + ".delay", ".onTimeout", workflow.RetrySuffix, ".onGiveUp"} {
			if base, ok := strings.CutSuffix(id, suffix); ok && slices.Contains(ids, base) {
				hint = fmt.Sprintf("; it is written as a key of %s", base)
			}
		}
		return nil, &text.RefusalError{Code: "no-such-activity", At: -1, Detail: fmt.Sprintf("there is no activity %q%s%s", workflow.Shorten(id), atLine(line), hint)}
	case len(found) > 1:
		var at []string
		for _, s := range found {
			at = append(at, fmt.Sprint(s.Activity.Place.Line))
		}
		return nil, text.Refuse(found[1].Node.Start, "%d activities have the id %q, in the lines %s; say which line is meant, or give each an id of its own", len(found), workflow.Shorten(id), strings.Join(at, ", "))
	case found[0].times > 1:
		return nil, text.Refuse(found[0].Node.Start, "%q is written once and used %d times through an alias, so that an edit would change each of them; edit the text", workflow.Shorten(id), found[0].times)
	}
	return found[0], nil
}

func atLine(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" in line %d", line)
}

// Types that hold others in a way of their own.
const (
	SequenceType  = "Elsa.Sequence"
	containerType = "Elsa.Container"
	parallelType  = "Elsa.Parallel"
	forkType      = "Elsa.Fork"
	FlowchartType = "Elsa.Flowchart"
)

// Role is what it means to stand where an activity stands.
type Role int

// What it means.
const (
	Only  Role = iota // the one activity of a branch, or of the definition
	Step              // one of those that run one after the other
	Side              // one of those that run side by side
	Chart             // one of a flowchart
)

// Owner is the activity that a value stands in.
func (d *Sites) Owner(n *text.Node) *Site {
	for n = n.Parent; n != nil; n = n.Parent {
		if s := d.At[n]; s != nil {
			return s
		}
	}
	return nil
}

// Role tells where an activity stands.
func (d *Sites) Role(n *text.Node) Role {
	p, owner := n.Parent, d.Owner(n)
	if p == nil || owner == nil {
		return Only
	}
	typ := owner.Activity.Type
	if p.Kind == text.Mapping {
		if typ == FlowchartType && p != owner.Node {
			return Chart
		}
		return Only
	}
	if owner.Node == p { // the list is the sequence
		return Step
	}
	if g := p.Parent; g != nil && g.Kind == text.Mapping && slices.Contains([]string{"onTimeout", "onGiveUp"}, g.Keys[p.At].Text) {
		return Step
	}
	switch typ {
	case parallelType, forkType:
		return Side
	case FlowchartType:
		return Chart
	}
	return Step
}

// Body is what stands behind the type of an activity in YAML; nil: nothing may.
func (s *Site) Body() *text.Node {
	if s.Key < 0 || s.Node.Kind != text.Mapping {
		return nil
	}
	return s.Node.Vals[s.Key]
}

// Held is the value of a key of an activity, in its body or beside its type; nil: there is none.
func (s *Site) Held(name string) *text.Node {
	if v := s.Body().Val(name); v != nil {
		return v
	}
	return s.Node.Val(name)
}

// SiteOf finds where an activity is written: itself, or what it was written for.
func (d *Sites) SiteOf(a *workflow.Activity) *Site {
	for a != nil {
		if s := d.of[a]; s != nil {
			return s
		}
		switch {
		case written(a) && a.Ports["body"] != nil:
			a = a.Ports["body"]
		case written(a) && len(a.Activities) > 0:
			a = a.Activities[0]
		default:
			return nil
		}
	}
	return nil
}

// Beside is the activity some places further in the same list.
func (d *Sites) Beside(n *text.Node, by int) *Site {
	p := n.Parent
	if p == nil || p.Kind != text.List || n.At+by < 0 || n.At+by >= len(p.Items) {
		return nil
	}
	return d.At[p.Items[n.At+by]]
}
