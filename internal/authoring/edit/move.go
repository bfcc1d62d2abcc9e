package edit

import (
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// move puts an activity elsewhere, with the comments above it and in it.
func (c change) move(s *site, e Edit) error {
	n := s.node
	if c.sites.role(n) == chart {
		return refuse(n.start, "in a flowchart the connections tell the order; connect %q otherwise", workflow.Shorten(s.activity.ID))
	}
	where := e.Where
	var to *site
	switch where {
	case "":
		where = After
		fallthrough
	case Before, After, Into:
		var err error
		if to, err = c.sites.find(e.To, 0); err != nil {
			return err
		}
	case Up, Down:
		if e.To != "" {
			return bad("%s names no other activity", where)
		}
		by := 1
		if where == Up {
			by = -1
		}
		near := c.sites.beside(n, by)
		if near == nil {
			return refuse(n.start, "nothing stands %s %q in its list", map[string]string{Up: "above", Down: "below"}[where], workflow.Shorten(s.activity.ID))
		}
		return c.carry(s, near, map[string]string{Up: Before, Down: After}[where], "")
	default:
		return bad("where is one of %s, not %q", strings.Join(Wheres, ", "), workflow.Shorten(where))
	}
	return c.carry(s, to, where, e.Branch)
}

// beside is the activity some places further in the same list.
func (d *sites) beside(n *node, by int) *site {
	p := n.parent
	if p == nil || p.kind != list || n.at+by < 0 || n.at+by >= len(p.items) {
		return nil
	}
	return d.at[p.items[n.at+by]]
}

func (c change) carry(s, to *site, where, branch string) error {
	n := s.node
	switch {
	case to == s:
		return bad("an activity cannot be put beside or into itself")
	case to.node.within(n):
		return refuse(to.node.start, "%q stands in %q, which is to be moved there", workflow.Shorten(to.activity.ID), workflow.Shorten(s.activity.ID))
	case where == Into && to.activity.Type == flowchartType && branch == "", where != Into && c.sites.role(to.node) == chart:
		return refuse(to.node.start, "in a flowchart the connections tell the order; insert and connect there")
	}
	p, err := c.text.lift(n)
	if err != nil {
		return err
	}
	if g := n.parent; g == to.node.parent && g.kind == list && c.sites.role(n) != step { // branches side by side: their order changes, and no more
		at := to.node.at
		if where == After {
			at++
		}
		err = c.text.insertItem(g, at, p)
	} else {
		err = c.place(to, where, branch, p)
	}
	if err != nil {
		return err
	}
	at := c.text.focus
	if err := c.remove(n, false); err != nil {
		return err
	}
	c.text.focus = at
	return nil
}

// lift takes the text of an activity, to put it elsewhere.
func (c *draft) lift(n *node) (*piece, error) {
	p := &piece{node: n.clone(new(slab))}
	g := n.parent
	if g == nil {
		return nil, refuse(n.start, "this cannot be moved")
	}
	if g.flow {
		text, from := string(c.src[n.start:n.end]), c.indent(n.start)
		if indent, _ := c.lead(c.start(n.start)); c.json {
			from = indent
		}
		p.text = func(_ bool, column int) (string, error) { return reindent(text, column-from), nil }
		return p, nil
	}
	from, to, whole := c.extent(g, n.at)
	if whole {
		begin := c.start(n.start)
		if g.kind == mapping {
			begin = c.start(g.keys[n.at].start)
		} else if len(g.dashes) > n.at {
			begin = c.start(g.dashes[n.at])
		}
		for at := from; at < begin; at = c.next(at) {
			_, rest := c.lead(at)
			p.lead = append(p.lead, rest)
		}
	} else if g.kind == list && n.at+1 < len(g.dashes) {
		to = g.dashes[n.at+1]
	}
	text := strings.TrimRight(string(c.src[n.start:to]), " \t\r\n")
	if n.end > n.start+len(text) { // a text that keeps the empty lines behind it
		text = string(c.src[n.start:n.end])
	}
	indent := c.indent(n.start)
	p.text = func(flow bool, column int) (string, error) {
		if flow {
			return c.flowText(n), nil
		}
		return reindent(text, column-indent), nil
	}
	return p, nil
}

// reindent moves all lines of a text but the first by some columns.
func reindent(text string, by int) string {
	rows := strings.Split(text, "\n")
	for i, row := range rows[1:] {
		rest := strings.TrimLeft(row, " ")
		if strings.TrimSpace(rest) == "" && len(row) == len(rest) {
			continue
		}
		rows[i+1] = strings.Repeat(" ", max(len(row)-len(rest)+by, 0)) + rest
	}
	return strings.Join(rows, "\n")
}

// flowText writes a tree between brackets, in one line.
func (d *doc) flowText(n *node) string {
	var b strings.Builder
	d.writeFlow(&b, n)
	return b.String()
}

func (d *doc) writeFlow(b *strings.Builder, n *node) {
	switch n.kind {
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			d.writeFlow(b, item)
		}
		b.WriteByte(']')
		return
	case mapping:
		b.WriteByte('{')
		for i, k := range n.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			d.writeFlow(b, k)
			b.WriteString(": ")
			d.writeFlow(b, n.vals[i])
		}
		b.WriteByte('}')
		return
	}
	if n.kind == scalar && n.tag == "!!str" {
		if out, err := value(n.text, inFlow); err == nil {
			b.WriteString(out)
			return
		}
	}
	if !n.written() {
		b.WriteString("null")
		return
	}
	b.Write(d.src[n.start:n.end])
}
