package edit

import (
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// move puts an activity elsewhere, with the comments above it and in it.
func (c change) move(s *activity.Site, e Edit) error {
	n := s.Node
	if c.Sites.Role(n) == activity.Chart {
		return text.Refuse(n.Start, "in a flowchart the connections tell the order; connect %q otherwise", workflow.Shorten(s.Activity.ID))
	}
	where := e.Where
	var to *activity.Site
	switch where {
	case "":
		where = After
		fallthrough
	case Before, After, Into:
		var err error
		if to, err = c.Sites.Find(e.To, 0); err != nil {
			return err
		}
	case Up, Down:
		if e.To != "" {
			return text.Bad("%s names no other activity", where)
		}
		by := 1
		if where == Up {
			by = -1
		}
		near := c.Sites.Beside(n, by)
		if near == nil {
			return text.Refuse(n.Start, "nothing stands %s %q in its list", map[string]string{Up: "above", Down: "below"}[where], workflow.Shorten(s.Activity.ID))
		}
		return c.carry(s, near, map[string]string{Up: Before, Down: After}[where], "")
	default:
		return text.Bad("where is one of %s, not %q", strings.Join(Wheres, ", "), workflow.Shorten(where))
	}
	return c.carry(s, to, where, e.Branch)
}

func (c change) carry(s, to *activity.Site, where, branch string) error {
	n := s.Node
	switch {
	case to == s:
		return text.Bad("an activity cannot be put beside or into itself")
	case to.Node.Within(n):
		return text.Refuse(to.Node.Start, "%q stands in %q, which is to be moved there", workflow.Shorten(to.Activity.ID), workflow.Shorten(s.Activity.ID))
	case where == Into && to.Activity.Type == activity.FlowchartType && branch == "", where != Into && c.Sites.Role(to.Node) == activity.Chart:
		return text.Refuse(to.Node.Start, "in a flowchart the connections tell the order; insert and connect there")
	}
	p, err := c.Text.Lift(n)
	if err != nil {
		return err
	}
	if g := n.Parent; g == to.Node.Parent && g.Kind == text.List && c.Sites.Role(n) != activity.Step { // branches side by side: their order changes, and no more
		at := to.Node.At
		if where == After {
			at++
		}
		err = c.Text.InsertItem(g, at, p)
	} else {
		err = c.place(to, where, branch, p)
	}
	if err != nil {
		return err
	}
	at := c.Text.Focus
	if err := c.remove(n, false); err != nil {
		return err
	}
	c.Text.Focus = at
	return nil
}
