package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// Keyed tells whether the children of the flowchart that gets one stand behind their ids.
func Keyed(c *activity.Change, s *activity.Site, where string) bool {
	n := s.Node
	if where == activity.Into {
		f := &Chart{Change: c, site: s}
		children := f.key("activities")
		return children == nil || children.Kind != text.List
	}
	return n.Parent.Kind == text.Mapping
}

// Insert puts a new activity into a flowchart, and between another one and what that leads to.
func Insert(c *activity.Change, s *activity.Site, where, port string, fr activity.Fresh, p *text.Piece) error {
	owner := s
	if where != activity.Into {
		owner = c.Sites.Owner(s.Node)
	}
	f, err := openChart(c, owner)
	if err != nil {
		return err
	}
	if c.Text.JSON {
		if err := f.settle(s, where, p, fr); err != nil {
			return err
		}
	}
	if err := f.child(s, where, fr.ID, p); err != nil {
		return err
	}
	c.Text.Focus = p.Node
	at := c.Text.Focus
	switch where {
	case activity.After:
		err = f.between(s.Activity.ID, port, fr.ID)
	case activity.Before:
		if port != "" {
			return text.Bad("port is of where: after")
		}
		err = f.ahead(s.Activity.ID, fr.ID)
	case activity.Into:
		if port != "" {
			return text.Bad("port is of where: after")
		}
	default:
		return text.Bad("where is one of before, after and into, not %q", workflow.Shorten(where))
	}
	c.Text.Focus = at
	return err
}

// child puts the new activity among the others.
func (f *Chart) child(s *activity.Site, where, id string, p *text.Piece) error {
	if where != activity.Into {
		g := s.Node.Parent
		at := s.Node.At
		if where == activity.After {
			at++
		}
		if g.Kind == text.List {
			return f.Text.InsertItem(g, at, p)
		}
		return f.keyedChild(g, at, id, p)
	}
	children := f.key("activities")
	if children == nil && f.site.Key >= 0 && f.site.Node.Vals[f.site.Key].Kind == text.List {
		children = f.site.Node.Vals[f.site.Key]
	}
	switch {
	case children == nil:
		return text.Refuse(f.site.Node.Start, "the flowchart has no activities yet; write the first one in the text")
	case children.Kind == text.List:
		return f.Text.InsertItem(children, len(children.Items), p)
	case children.Kind == text.Mapping:
		return f.keyedChild(children, len(children.Keys), id, p)
	}
	return text.Refuse(children.Start, "the activities of the flowchart cannot be added to here; edit the text")
}

// keyedChild puts an activity behind its id.
func (f *Chart) keyedChild(m *text.Node, at int, id string, p *text.Piece) error {
	copied := m.Twin
	copied.Keys = slices.Insert(slices.Clone(copied.Keys), at, text.NewString(id))
	copied.Vals = slices.Insert(slices.Clone(copied.Vals), at, p.Node)
	copied.Adopt()
	name, err := text.Value(id, text.InFlow)
	if err != nil {
		return err
	}
	out, err := p.Text(true, 0)
	if err != nil {
		return err
	}
	if m.Flow {
		f.Text.AddFlow(m, at, name+": "+out)
		return nil
	}
	line := strings.Repeat(" ", f.Text.Indent(m.Keys[0].Start)) + name + ": " + out + f.Text.EOL
	if at == 0 {
		from, _, whole := f.Text.Extent(m, 0)
		if !whole {
			return text.Refuse(from, "there is no line for a new activity here; edit the text")
		}
		f.Text.Put(from, line)
		return nil
	}
	_, to, _ := f.Text.Extent(m, at-1)
	f.Text.LineAt(to, line)
	return nil
}

// between leads each way out of id by port through the new activity.
func (f *Chart) between(id, port, through string) error {
	first := true
	for i := range f.chains {
		k := &f.chains[i]
		for j := range k.ends {
			if !k.leaves(j, id, port) {
				continue
			}
			var err error
			switch {
			case !k.text:
				err = f.point(k, "source", "from", through, usualOut)
			case first:
				err = f.rewrite(k, k.ends[j].end, k.ends[j].end, " -> "+through)
			case j == 0:
				err = f.rewrite(k, k.ends[0].start, k.ends[0].end, through)
			default:
				err = f.split(k, j, through, "")
			}
			if err != nil {
				return err
			}
			first = first && !k.text
			break
		}
	}
	if first {
		return f.add(id, port, through)
	}
	return nil
}

// ahead leads each way to id through the new activity.
func (f *Chart) ahead(id, through string) error {
	led := false
	for i := range f.chains {
		k := &f.chains[i]
		for j, e := range k.ends {
			if j == 0 || e.id != id {
				continue
			}
			if !k.text {
				if err := f.point(k, "target", "to", through, usualIn); err != nil {
					return err
				}
				continue
			}
			var err error
			switch last := j == len(k.ends)-1; {
			case !led:
				err = f.rewrite(k, e.start, e.start, through+" -> ")
				led = true
			case last:
				err = f.rewrite(k, e.start, e.end, through)
			default:
				err = f.two(k, string(f.Text.Src[k.ends[0].start:k.ends[j-1].end])+" -> "+through, string(f.Text.Src[e.start:k.ends[len(k.ends)-1].end]))
			}
			if err != nil {
				return err
			}
			break
		}
	}
	if !led {
		return f.add(through, "", id)
	}
	return nil
}

// point changes one end of a connection that is a mapping.
func (f *Chart) point(k *chain, long, short, id, usual string) error {
	v := endNode(k.node, long, short)
	if v == nil {
		return text.Refuse(k.node.Start, "this connection cannot be read; write it as from -> to")
	}
	ports := []*text.Node{k.node.Val(long + "Port")}
	if short == "from" {
		ports = append(ports, k.node.Val("port"))
	}
	if v.Parent != k.node { // {activity: …, port: …}
		ports = append(ports, v.Parent.Val("port"))
	}
	for _, p := range ports {
		if p != nil && p.Text != usual {
			if err := f.Text.Retext(p, usual); err != nil {
				return err
			}
		}
	}
	return f.Text.Retext(v, id)
}

// settle gives a new activity a place on the canvas of Elsa's designer, if its neighbour has one.
func (f *Chart) settle(s *activity.Site, where string, p *text.Piece, fr activity.Fresh) error {
	x, y, ok := Position(s.Activity)
	if !ok || where == activity.Into {
		return nil
	}
	y += 110
	var row []float64 // what stands beside it
	for _, a := range f.site.Activity.Activities {
		if ax, ay, _ := Position(a); ay < y+90 && y < ay+90 {
			row = append(row, ax)
		}
	}
	slices.Sort(row)
	for _, ax := range row {
		for ax < x+260 && x < ax+260 {
			x += 280
		}
	}
	fields, err := f.Sites.Elsa(fr)
	if err != nil {
		return err
	}
	fields["metadata"] = Designed(x, y)
	p.Text = func(_ bool, column int) (string, error) { return f.Text.JSONText(fields, column) }
	text, err := p.Text(true, 0)
	if err != nil {
		return err
	}
	if p.Node, err = f.Text.Snippet(text); err != nil {
		return err
	}
	return nil
}

// Position is where an activity stands on the canvas of Elsa's designer.
func Position(a *workflow.Activity) (x, y float64, ok bool) {
	designer, _ := a.Metadata["designer"].(map[string]any)
	at, _ := designer["position"].(map[string]any)
	number := func(v any) (float64, bool) {
		switch n := v.(type) {
		case float64:
			return n, true
		case int64:
			return float64(n), true
		}
		return 0, false
	}
	x, okX := number(at["x"])
	y, okY := number(at["y"])
	return x, y, okX && okY
}

// Designed is what Elsa's designer keeps of an activity: its place on the canvas.
func Designed(x, y float64) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"designer":{"position":{"x":%g,"y":%g}}}`, x, y))
}
