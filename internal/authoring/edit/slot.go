package edit

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

const (
	sequenceType  = "Elsa.Sequence"
	containerType = "Elsa.Container"
	parallelType  = "Elsa.Parallel"
	forkType      = "Elsa.Fork"
	flowchartType = "Elsa.Flowchart"
)

// role is what it means to stand where an activity stands.
type role int

const (
	only  role = iota // the one activity of a branch, or of the definition
	step              // one of those that run one after the other
	side              // one of those that run side by side
	chart             // one of a flowchart
)

// owner is the activity that a value stands in.
func (d *sites) owner(n *node) *site {
	for n = n.parent; n != nil; n = n.parent {
		if s := d.at[n]; s != nil {
			return s
		}
	}
	return nil
}

// role tells where an activity stands.
func (d *sites) role(n *node) role {
	p, owner := n.parent, d.owner(n)
	if p == nil || owner == nil {
		return only
	}
	typ := owner.activity.Type
	if p.kind == mapping {
		if typ == flowchartType && p != owner.node {
			return chart
		}
		return only
	}
	if owner.node == p { // the list is the sequence
		return step
	}
	if g := p.parent; g != nil && g.kind == mapping && slices.Contains([]string{"onTimeout", "onGiveUp"}, g.keys[p.at].text) {
		return step
	}
	switch typ {
	case parallelType, forkType:
		return side
	case flowchartType:
		return chart
	}
	return step
}

// piece is an activity that is put somewhere: a new one, or one that moves.
type piece struct {
	lead []string // comments above it
	node *node    // what it is
	// text writes it behind a column: in a block, or between brackets.
	text func(flow bool, column int) (string, error)
}

// without refuses a place that has no lines for the comments above the piece.
func (p *piece) without(at int) error {
	if len(p.lead) == 0 {
		return nil
	}
	return refuse(at, "the comment %q would have no line of its own here; edit the text", workflow.Shorten(p.lead[0]))
}

// piece makes one of a new activity.
func (c *Change) piece(f fresh) (*piece, error) {
	p := &piece{}
	if c.text.json {
		fields, err := c.sites.elsa(f)
		if err != nil {
			return nil, err
		}
		p.text = func(_ bool, column int) (string, error) { return c.text.jsonText(fields, column) }
	} else {
		p.text = func(flow bool, column int) (string, error) {
			text, err := c.sites.yaml(f, flow)
			return c.text.indented(text, column), err
		}
	}
	return c.text.readPiece(p)
}

// readPiece makes the tree of a piece of its text.
func (d *doc) readPiece(p *piece) (*piece, error) {
	text, err := p.text(true, 0)
	if err == nil {
		p.node, err = d.snippet(text)
	}
	return p, err
}

// insertItem puts a piece into a list.
func (c *draft) insertItem(in *node, at int, p *piece) error {
	defer func() {
		in.twin.insertItem(at, p.node)
		c.focus = p.node
	}()
	if in.flow || len(in.items) == 0 {
		return c.insertFlow(in, at, p)
	}
	column := c.indent(in.dashes[0])
	item, err := c.item(p, column)
	if err != nil {
		return err
	}
	if at > 0 {
		_, to, _ := c.extent(in, at-1)
		c.lineAt(to, item)
		return nil
	}
	from, _, whole := c.extent(in, 0)
	switch pad := strings.Repeat(" ", column); {
	case whole:
		c.put(from, item)
	default: // the list begins behind something on its line
		if err := p.without(from); err != nil {
			return err
		}
		c.put(from, strings.TrimPrefix(item, pad)+pad)
	}
	return nil
}

// insertFlow puts a piece between brackets. An empty list in a block of YAML becomes lines.
func (c *draft) insertFlow(in *node, at int, p *piece) error {
	if g := in.parent; !c.json && len(in.items) == 0 && g != nil && g.kind == mapping && !g.flow {
		key := g.keys[in.at].start
		column := c.indent(key) + 2
		item, err := c.item(p, column)
		if err != nil {
			return err
		}
		c.cut(g.colons[in.at], in.end)
		c.lineAt(c.next(in.end), item)
		return nil
	}
	if err := p.without(in.start); err != nil {
		return err
	}
	text, err := p.text(true, c.flowColumn(in))
	if err != nil {
		return err
	}
	c.addFlow(in, at, text)
	return nil
}

// broken tells whether what a flow collection holds stands in lines of its own.
func (d *doc) broken(in *node) bool {
	spans := in.spans()
	if len(spans) == 0 {
		return d.json && len(d.starts) > 2
	}
	return strings.Contains(string(d.src[in.start:spans[0][0]]), "\n")
}

// flowColumn is where the lines of what a flow collection holds begin.
func (d *doc) flowColumn(in *node) int {
	spans := in.spans()
	if len(spans) > 0 {
		if d.alone(spans[0][0]) {
			return d.indent(spans[0][0])
		}
		indent, _ := d.lead(d.start(in.start))
		return indent
	}
	indent, _ := d.lead(d.start(in.start))
	return indent + 2
}

// addFlow puts a text between the brackets of a flow collection.
func (c *draft) addFlow(in *node, at int, text string) {
	spans := in.spans()
	gap := " "
	if c.json && len(c.starts) < 3 {
		gap = ""
	}
	if c.broken(in) {
		gap = c.eol + strings.Repeat(" ", c.flowColumn(in))
	}
	switch {
	case len(spans) == 0:
		inner := text
		if c.broken(in) {
			indent, _ := c.lead(c.start(in.start))
			inner = gap + text + c.eol + strings.Repeat(" ", indent)
		}
		c.swap(in.start+1, in.end-1, inner)
	case at == 0:
		c.put(spans[0][0], text+","+gap)
	default:
		c.put(spans[at-1][1], ","+gap+text)
	}
}

// cutFlow takes an item or an entry out of a flow collection.
func (c *draft) cutFlow(in *node, at int) {
	spans := in.spans()
	last := len(spans) - 1
	hash := func(from, to int) bool { return !c.json && strings.Contains(string(c.src[from:to]), "#") }
	switch {
	case last == 0 && !hash(in.start+1, spans[0][0]) && !hash(spans[0][1], in.end):
		c.cut(in.start+1, in.end-1)
	case at > 0 && !hash(spans[at-1][1], spans[at][0]):
		c.cut(spans[at-1][1], spans[at][1])
	case at < last && !hash(spans[at][1], spans[at+1][0]):
		c.cut(spans[at][0], spans[at+1][0])
	default: // comments stand between: only its own text goes, and one comma
		to := spans[at][1]
		if i := strings.IndexByte(string(c.src[to:in.end]), ','); i >= 0 && at < last {
			to += i + 1
		}
		c.cut(spans[at][0], to)
	}
}

// listed makes a list of an activity that stands alone, with a piece before or behind it.
func (c change) listed(s *site, before bool, p *piece) error {
	if c.text.json {
		if err := mayStandElsewhere(c.sites, s); err != nil {
			return err
		}
		return c.encloseJSON(s, map[string]any{"id": c.freeID("sequence"), "sequence": []any{stand}}, p, before)
	}
	n := s.node
	copied := n.twin
	l := &node{kind: list}
	copied.replace(l)
	l.items = []*node{copied, p.node}
	if before {
		l.items = []*node{p.node, copied}
	}
	l.adopt()
	c.text.focus = p.node
	g := n.parent
	if g.flow {
		if err := p.without(n.start); err != nil {
			return err
		}
		text, err := p.text(true, c.text.flowColumn(g)+2)
		if err != nil {
			return err
		}
		if before {
			c.text.put(n.start, "["+text+", ")
			c.text.put(n.end, "]")
		} else {
			c.text.put(n.start, "[")
			c.text.put(n.end, ", "+text+"]")
		}
		return nil
	}
	column, to := c.text.block(n)
	pad := strings.Repeat(" ", column)
	text, err := p.text(false, column+2)
	if err != nil {
		return err
	}
	own := ""
	for _, line := range p.lead {
		own += line + c.text.eol + pad
	}
	head := "- "
	if before {
		head = own + "- " + text + c.text.eol + pad + "- "
	}
	c.text.begin(n, column, head)
	c.text.shift(n.start, to, 2)
	if !before {
		c.text.lineAt(to, pad+own+"- "+text+c.text.eol)
	}
	return nil
}

// block is the column that the lines of an activity in a block have, or get if they begin
// behind a key, and where they end.
func (c *draft) block(n *node) (column, to int) {
	g := n.parent
	_, to, _ = c.extent(g, n.at)
	if g.kind == mapping && !c.alone(n.start) {
		return c.indent(g.keys[n.at].start) + 2, to
	}
	return c.indent(n.start), to
}

// begin puts a text before an activity in a block; one behind a key gets a line of its own.
func (c *draft) begin(n *node, column int, text string) {
	if g := n.parent; g.kind == mapping && !c.alone(n.start) {
		c.swap(g.colons[n.at], n.start, c.eol+strings.Repeat(" ", column)+text)
		return
	}
	c.put(n.start, text)
}
