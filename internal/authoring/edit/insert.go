package edit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/flow"
	"github.com/weft-run/weft/internal/authoring/edit/part"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// insert puts a new activity beside or into another one.
func (c change) insert(s *activity.Site, e Edit) error {
	where := cmp.Or(e.Where, After)
	f := activity.Fresh{Type: e.Type, ID: e.ID, Inputs: e.Inputs}
	if e.Type == "" {
		return text.Bad("the edit does not say which type of activity it inserts")
	}
	inChart := where == Into && s.Activity.Type == activity.FlowchartType && e.Branch == "" || where != Into && c.Sites.Role(s.Node) == activity.Chart
	if f.ID == "" && (inChart || c.Text.JSON) {
		f.ID = c.FreeID(e.Type)
	}
	c.Given = append(c.Given, f.ID)
	keyed := inChart && !c.Text.JSON && flow.Keyed(c.Change, s, where)
	own := f
	if keyed {
		own.ID = "" // the key is the id
	}
	p, err := c.Piece(own)
	if err != nil {
		return err
	}
	if keyed {
		if _, err := c.Sites.Check(f); err != nil {
			return err
		}
	}
	if inChart {
		return flow.Insert(c.Change, s, where, e.Port, f, p)
	}
	if e.Port != "" {
		return text.Bad("port is for flowcharts, and %q stands in none", workflow.Shorten(e.Activity))
	}
	return c.place(s, where, e.Branch, p)
}

// place puts a piece before, behind or into an activity that stands in no flowchart.
func (c change) place(s *activity.Site, where, branch string, p *text.Piece) error {
	n := s.Node
	switch where {
	case Into:
		return c.into(s, branch, p)
	case Before, After:
	default:
		return text.Bad("where is one of %s, not %q", strings.Join(Wheres, ", "), workflow.Shorten(where))
	}
	if branch != "" {
		return text.Bad("a branch is only of where: into")
	}
	switch c.Sites.Role(n) {
	case activity.Step:
		at := n.At
		if where == After {
			at++
		}
		return c.Text.InsertItem(n.Parent, at, p)
	case activity.Chart:
		return text.Refuse(n.Start, "in a flowchart the connections tell the order; insert and connect there")
	}
	if l := c.several(s); l != nil {
		at := 0
		if where == After {
			at = len(l.Items)
		}
		return c.Text.InsertItem(l, at, p)
	}
	return c.listed(s, where == Before, p)
}

// several is the list of a branch that holds several activities already; nil: it is another one.
func (c change) several(s *activity.Site) *text.Node {
	n := s.Node
	if c.Text.JSON && s.Activity.Type == activity.SequenceType {
		n = n.Val("activities")
	}
	if n != nil && n.Kind == text.List {
		return n
	}
	return nil
}

// into puts a piece into an activity, as the last of a branch or of its children.
func (c change) into(s *activity.Site, branch string, p *text.Piece) error {
	a, n := s.Activity, s.Node
	if n.Kind == text.List {
		if branch != "" {
			return text.Bad("a list has no branches")
		}
		return c.Text.InsertItem(n, len(n.Items), p)
	}
	t := c.Sites.Types.ByType(a.Type)
	branch = usualBranch(t, branch)
	if at := caseOf(t, branch); at > 0 {
		return c.intoCase(s, at, p)
	}
	late := branch == "onTimeout" && n.Entry("timeout") >= 0 || branch == "onGiveUp" && n.Entry("retry") >= 0
	if !late && !hasBranch(t, branch) {
		name := a.Type
		var known []string
		if t != nil {
			name, known = t.ShortName(), t.Ports
		}
		return text.Refuse(n.Start, "%s has no branch %q%s", name, workflow.Shorten(branch), workflow.DidYouMean(branch, known))
	}
	if !late && t.List == branch {
		return c.intoList(s, branch, p)
	}
	if child := a.Ports[branch]; child != nil && !late {
		if inner := c.Sites.SiteOf(child); inner != nil {
			return c.place(inner, After, "", p)
		}
	}
	if v := n.Val(branch); v != nil {
		if v.Kind == text.List {
			return c.Text.InsertItem(v, len(v.Items), p)
		}
		if v.Written() {
			if inner := c.Sites.At[v]; inner != nil {
				return c.listed(inner, false, p)
			}
			return text.Refuse(v.Start, "what stands in %s cannot be added to here; edit the text", workflow.Shorten(branch))
		}
		return c.Text.Fill(n, v.At, p)
	}
	return c.newBranch(s, branch, p)
}

// intoCase puts a piece into a case, as its last.
func (c change) intoCase(s *activity.Site, number int, p *text.Piece) error {
	inner, err := part.IntoCase(c.Change, s, number, p)
	if err != nil || inner == nil {
		return err
	}
	return c.place(inner, After, "", p)
}

// caseOf is the number of the case that a branch such as case1 means; 0: it means none.
func caseOf(t *workflow.Descriptor, branch string) int {
	number, ok := strings.CutPrefix(branch, CasePart)
	at, err := strconv.Atoi(number)
	if !ok || err != nil || t == nil || !t.CaseBodies {
		return 0
	}
	return at
}

// usualBranch is the branch that is meant where none is named.
func usualBranch(t *workflow.Descriptor, branch string) string {
	if branch != "" || t == nil {
		return branch
	}
	if branch = cmp.Or(t.List, t.MainPort); branch == "" && len(t.Ports) > 0 {
		branch = t.Ports[0]
	}
	return branch
}

func hasBranch(t *workflow.Descriptor, branch string) bool {
	return t != nil && branch != "" && (branch == t.List || slices.Contains(t.Ports, branch))
}

// intoList puts a piece behind the children of a container.
func (c change) intoList(s *activity.Site, name string, p *text.Piece) error {
	n := s.Node
	v := n.Val(name)
	if v == nil && s.Key >= 0 {
		if v = n.Vals[s.Key]; v.Kind == text.Mapping {
			v = v.Val(name)
		}
	}
	switch {
	case v == nil:
		return c.newBranch(s, name, p)
	case v.Kind == text.List:
		return c.Text.InsertItem(v, len(v.Items), p)
	case v.IsNull() && !v.Written() && v.Parent.Kind == text.Mapping && !v.Parent.Flow:
		return c.Text.Fill(v.Parent, v.At, p)
	}
	return text.Refuse(v.Start, "the activities stand here in a way that cannot be added to; edit the text")
}

// newBranch gives an activity a branch with a piece in it.
func (c change) newBranch(s *activity.Site, branch string, p *text.Piece) error {
	n := s.Node
	if n.Kind != text.Mapping {
		return text.Refuse(n.Start, "%q is written as a bare name; write a mapping to give it a branch", workflow.Shorten(n.Text))
	}
	return c.Text.NewKey(n, branch, p, c.Text.JSON && branch != c.Sites.Types.ByType(s.Activity.Type).List)
}

// delete takes an activity away, with all that is in it.
func (c change) delete(s *activity.Site) error {
	n := s.Node
	if c.Sites.Role(n) == activity.Chart {
		if err := flow.Unchain(c.Change, s); err != nil {
			return err
		}
	}
	c.Text.Focus = n.Parent.Twin
	if o := c.Sites.Owner(n); o != nil {
		c.Text.Focus = o.Node.Twin
	}
	return c.remove(n, true)
}

// branchKeys are keys that may go with what stands behind them.
var branchKeys = []string{"onTimeout", "onGiveUp", "then", "do", "entry", "exit", "on", "activity", "action", "trigger"}

// remove takes a value of the place where an activity stands away. drop tells that the comments in it go too.
func (c change) remove(n *text.Node, drop bool) error {
	g := n.Parent
	if g == nil {
		return text.Refuse(n.Start, "this cannot be deleted")
	}
	if g.Kind == text.List {
		if len(g.Items) > 1 || c.Text.JSON {
			return c.Text.RemoveItem(g, n.At, drop)
		}
		return c.removeLast(g, drop)
	}
	owner := c.Sites.At[g]
	key := g.Keys[n.At].Text
	port := slices.Contains(branchKeys, key)
	if owner != nil {
		if t := c.Sites.Types.ByType(owner.Activity.Type); t != nil && slices.Contains(t.Ports, key) {
			port = true
		}
	}
	if o := c.Sites.Owner(n); o != nil && o.Activity.Type == activity.FlowchartType && g != o.Node {
		port = true // a child by its id
	}
	if port && !(owner != nil && n.At == owner.Key) {
		return c.Text.RemoveEntry(g, n.At, drop)
	}
	if c.Text.JSON {
		return text.Refuse(n.Start, "this place has to hold an activity; put another one in its place in the text")
	}
	return c.Text.Emptied(n, drop)
}

// removeLast takes away a list with its only item: with its key, if that is a branch.
func (c change) removeLast(l *text.Node, drop bool) error {
	g := l.Parent
	if g == nil {
		return text.Refuse(l.Start, "this cannot be deleted")
	}
	if g.Kind == text.List {
		return c.remove(l, drop)
	}
	key := g.Keys[l.At].Text
	owner := c.Sites.At[g]
	if owner != nil && l.At != owner.Key {
		if t := c.Sites.Types.ByType(owner.Activity.Type); slices.Contains(branchKeys, key) || t != nil && slices.Contains(t.Ports, key) {
			return c.Text.RemoveEntry(g, l.At, drop)
		}
	}
	return c.Text.Emptied(l, drop)
}
