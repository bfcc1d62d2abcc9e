package text

import (
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Piece is an activity that is put somewhere: a new one, or one that moves.
type Piece struct {
	Lead []string // comments above it
	Node *Node    // what it is
	// Text writes it behind a column: in a block, or between brackets.
	Text func(flow bool, column int) (string, error)
}

// Without refuses a place that has no lines for the comments above the piece.
func (p *Piece) Without(at int) error {
	if len(p.Lead) == 0 {
		return nil
	}
	return Refuse(at, "the comment %q would have no line of its own here; edit the text", workflow.Shorten(p.Lead[0]))
}

// InsertItem puts a piece into a list.
func (d *Draft) InsertItem(in *Node, at int, p *Piece) error {
	defer func() {
		in.Twin.InsertItem(at, p.Node)
		d.Focus = p.Node
	}()
	if in.Flow || len(in.Items) == 0 {
		return d.insertFlow(in, at, p)
	}
	column := d.Indent(in.Dashes[0])
	item, err := d.Item(p, column)
	if err != nil {
		return err
	}
	if at > 0 {
		_, to, _ := d.Extent(in, at-1)
		d.LineAt(to, item)
		return nil
	}
	from, _, whole := d.Extent(in, 0)
	switch pad := strings.Repeat(" ", column); {
	case whole:
		d.Put(from, item)
	default: // the list begins behind something on its line
		if err := p.Without(from); err != nil {
			return err
		}
		d.Put(from, strings.TrimPrefix(item, pad)+pad)
	}
	return nil
}

// insertFlow puts a piece between brackets. An empty list in a block of YAML becomes lines.
func (d *Draft) insertFlow(in *Node, at int, p *Piece) error {
	if g := in.Parent; !d.JSON && len(in.Items) == 0 && g != nil && g.Kind == Mapping && !g.Flow {
		key := g.Keys[in.At].Start
		column := d.Indent(key) + 2
		item, err := d.Item(p, column)
		if err != nil {
			return err
		}
		d.Cut(g.Colons[in.At], in.End)
		d.LineAt(d.Next(in.End), item)
		return nil
	}
	if err := p.Without(in.Start); err != nil {
		return err
	}
	text, err := p.Text(true, d.FlowColumn(in))
	if err != nil {
		return err
	}
	d.AddFlow(in, at, text)
	return nil
}

// AddFlow puts a text between the brackets of a flow collection.
func (d *Draft) AddFlow(in *Node, at int, text string) {
	spans := in.spans()
	gap := " "
	if d.JSON && len(d.Starts) < 3 {
		gap = ""
	}
	if d.broken(in) {
		gap = d.EOL + strings.Repeat(" ", d.FlowColumn(in))
	}
	switch {
	case len(spans) == 0:
		inner := text
		if d.broken(in) {
			indent, _ := d.Lead(d.Start(in.Start))
			inner = gap + text + d.EOL + strings.Repeat(" ", indent)
		}
		d.Swap(in.Start+1, in.End-1, inner)
	case at == 0:
		d.Put(spans[0][0], text+","+gap)
	default:
		d.Put(spans[at-1][1], ","+gap+text)
	}
}

// cutFlow takes an item or an entry out of a flow collection.
func (d *Draft) cutFlow(in *Node, at int) {
	spans := in.spans()
	last := len(spans) - 1
	hash := func(from, to int) bool { return !d.JSON && strings.Contains(string(d.Src[from:to]), "#") }
	switch {
	case last == 0 && !hash(in.Start+1, spans[0][0]) && !hash(spans[0][1], in.End):
		d.Cut(in.Start+1, in.End-1)
	case at > 0 && !hash(spans[at-1][1], spans[at][0]):
		d.Cut(spans[at-1][1], spans[at][1])
	case at < last && !hash(spans[at][1], spans[at+1][0]):
		d.Cut(spans[at][0], spans[at+1][0])
	default: // comments stand between: only its own text goes, and one comma
		to := spans[at][1]
		if i := strings.IndexByte(string(d.Src[to:in.End]), ','); i >= 0 && at < last {
			to += i + 1
		}
		d.Cut(spans[at][0], to)
	}
}

// Fill puts a list with a piece behind a key that has nothing.
func (d *Draft) Fill(in *Node, at int, p *Piece) error {
	in.Twin.Vals[at].Replace(NewList(p.Node))
	d.Focus = p.Node
	if in.Flow {
		text, err := p.Text(true, d.FlowColumn(in))
		if err != nil {
			return err
		}
		d.Put(in.Colons[at], " ["+text+"]")
		return nil
	}
	column := d.Indent(in.Keys[at].Start) + 2
	item, err := d.Item(p, column)
	if err != nil {
		return err
	}
	d.LineAt(d.Next(in.Colons[at]), item)
	return nil
}

// Item is the lines of a piece as an item of a list whose dashes stand at column, with what leads it.
func (d *Draft) Item(p *Piece, column int) (string, error) {
	pad := strings.Repeat(" ", column)
	text, err := p.Text(false, column+2)
	if err != nil {
		return "", err
	}
	own := ""
	for _, l := range p.Lead {
		own += pad + l + d.EOL
	}
	return own + pad + "- " + text + d.EOL, nil
}

// Emptied leaves an empty list.
func (d *Draft) Emptied(n *Node, drop bool) error {
	g := n.Parent
	empty := &Node{Kind: List, From: n.Twin.From}
	n.Twin.Replace(empty)
	if d.Focus == n.Twin {
		d.Focus = empty
	}
	if g.Flow || n.Flow || !strings.Contains(string(d.Src[g.Colons[n.At]:n.Start]), "\n") {
		if drop {
			d.taken = [2]int{n.Start, n.End}
		}
		d.Swap(n.Start, n.End, "[]")
		return nil
	}
	from := d.Next(g.Colons[n.At])
	_, to, _ := d.Extent(g, n.At)
	if drop {
		d.taken = [2]int{from, to}
	}
	d.Put(g.Colons[n.At], " []")
	d.CutLines(from, to)
	return nil
}

// RemoveItem takes an item of several out of a list.
func (d *Draft) RemoveItem(l *Node, at int, drop bool) error {
	defer func() { l.Twin.RemoveItem(l.Items[at].Twin.At) }()
	if l.Flow {
		if drop {
			d.taken = [2]int{l.Items[at].Start, l.Items[at].End}
		}
		d.cutFlow(l, at)
		return nil
	}
	from, to, whole := d.Extent(l, at)
	if !whole {
		to = l.Dashes[at+1]
	}
	if drop {
		d.taken = [2]int{from, to}
	}
	if whole {
		d.CutLines(from, to)
	} else {
		d.Cut(from, to)
	}
	return nil
}

// Lift takes the text of an activity, to put it elsewhere.
func (d *Draft) Lift(n *Node) (*Piece, error) {
	p := &Piece{Node: n.clone(new(slab))}
	g := n.Parent
	if g == nil {
		return nil, Refuse(n.Start, "this cannot be moved")
	}
	if g.Flow {
		text, from := string(d.Src[n.Start:n.End]), d.Indent(n.Start)
		if indent, _ := d.Lead(d.Start(n.Start)); d.JSON {
			from = indent
		}
		p.Text = func(_ bool, column int) (string, error) { return reindent(text, column-from), nil }
		return p, nil
	}
	from, to, whole := d.Extent(g, n.At)
	if whole {
		begin := d.Start(n.Start)
		if g.Kind == Mapping {
			begin = d.Start(g.Keys[n.At].Start)
		} else if len(g.Dashes) > n.At {
			begin = d.Start(g.Dashes[n.At])
		}
		for at := from; at < begin; at = d.Next(at) {
			_, rest := d.Lead(at)
			p.Lead = append(p.Lead, rest)
		}
	} else if g.Kind == List && n.At+1 < len(g.Dashes) {
		to = g.Dashes[n.At+1]
	}
	text := strings.TrimRight(string(d.Src[n.Start:to]), " \t\r\n")
	if n.End > n.Start+len(text) { // a text that keeps the empty lines behind it
		text = string(d.Src[n.Start:n.End])
	}
	indent := d.Indent(n.Start)
	p.Text = func(flow bool, column int) (string, error) {
		if flow {
			return d.FlowText(n), nil
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
