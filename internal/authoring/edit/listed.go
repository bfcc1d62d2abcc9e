package edit

import (
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
)

// listed makes a list of an activity that stands alone, with a piece before or behind it.
func (c change) listed(s *activity.Site, before bool, p *text.Piece) error {
	if c.Text.JSON {
		if err := mayStandElsewhere(c.Sites, s); err != nil {
			return err
		}
		return c.encloseJSON(s, map[string]any{"id": c.FreeID("sequence"), "sequence": []any{stand}}, p, before)
	}
	n := s.Node
	copied := n.Twin
	l := &text.Node{Kind: text.List}
	copied.Replace(l)
	l.Items = []*text.Node{copied, p.Node}
	if before {
		l.Items = []*text.Node{p.Node, copied}
	}
	l.Adopt()
	c.Text.Focus = p.Node
	g := n.Parent
	if g.Flow {
		if err := p.Without(n.Start); err != nil {
			return err
		}
		text, err := p.Text(true, c.Text.FlowColumn(g)+2)
		if err != nil {
			return err
		}
		if before {
			c.Text.Put(n.Start, "["+text+", ")
			c.Text.Put(n.End, "]")
		} else {
			c.Text.Put(n.Start, "[")
			c.Text.Put(n.End, ", "+text+"]")
		}
		return nil
	}
	column, to := c.Text.Block(n)
	pad := strings.Repeat(" ", column)
	text, err := p.Text(false, column+2)
	if err != nil {
		return err
	}
	own := ""
	for _, line := range p.Lead {
		own += line + c.Text.EOL + pad
	}
	head := "- "
	if before {
		head = own + "- " + text + c.Text.EOL + pad + "- "
	}
	c.Text.Begin(n, column, head)
	c.Text.Shift(n.Start, to, 2)
	if !before {
		c.Text.LineAt(to, pad+own+"- "+text+c.Text.EOL)
	}
	return nil
}
