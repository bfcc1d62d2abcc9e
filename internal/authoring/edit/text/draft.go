package text

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// Draft is what an edit does to a text, and what its tree becomes.
type Draft struct {
	*Doc
	Want    *Node // the tree that the edit means
	Splices []Splice
	taken   [2]int // the part of the text that goes with its comments
	Focus   *Node  // of the tree that is wanted
}

// NewDraft begins to change a text.
func NewDraft(d *Doc) *Draft {
	t := &Draft{Doc: d, Want: d.Root.clone(new(slab))}
	t.Want.Each(func(n *Node) { n.From.Twin = n })
	return t
}

// Splice puts a text in the place of a part of the source.
type Splice struct {
	From, To int
	Text     string
}

// Spliced makes the text after splices.
func Spliced(src []byte, all []Splice) ([]byte, error) {
	if len(all) == 0 {
		return nil, Bad("the edit changes nothing")
	}
	slices.SortStableFunc(all, func(a, b Splice) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return min(a.To-a.From, 1) - min(b.To-b.From, 1) // what is only put in goes before what is replaced
	})
	var out bytes.Buffer
	at := 0
	for _, s := range all {
		if s.From < at || s.To < s.From || s.To > len(src) {
			return nil, errors.New("the text around here cannot be edited in one step; edit the text")
		}
		out.Write(src[at:s.From])
		out.WriteString(s.Text)
		at = s.To
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}

// Put puts a text in at an offset.
func (d *Draft) Put(at int, text string) { d.Splices = append(d.Splices, Splice{at, at, text}) }

// Cut takes a part of the source away.
func (d *Draft) Cut(from, to int) {
	if from < to {
		d.Splices = append(d.Splices, Splice{from, to, ""})
	}
}

// Swap puts a text in the place of a part of the source.
func (d *Draft) Swap(from, to int, text string) {
	d.Splices = append(d.Splices, Splice{from, to, text})
}

// Shift moves the lines that begin behind from, and before to, by some columns.
func (d *Draft) Shift(from, to, by int) {
	for at := d.Next(from); at < to && at < len(d.Src); at = d.Next(at) {
		has, rest := d.Lead(at)
		switch {
		case rest == "" && has == 0:
		case by > 0:
			d.Put(at, strings.Repeat(" ", by))
		default:
			d.Cut(at, at+min(has, -by))
		}
	}
}

// Dropped finds a comment that the text after the change does not have; -1: it has all, but for
// those that go with what is taken.
func (d *Draft) Dropped(next *Doc) (int, string) {
	has := map[string]int{}
	for _, k := range next.comments() {
		has[k.text]++
	}
	for _, k := range d.comments() {
		if k.at >= d.taken[0] && k.at < d.taken[1] {
			continue
		}
		if has[k.text]--; has[k.text] < 0 {
			return k.at, k.text
		}
	}
	return -1, ""
}

// LineAt puts lines at the beginning of a line, also behind a last line without an end.
func (d *Draft) LineAt(at int, text string) {
	if at == len(d.Src) && at > 0 && d.Src[at-1] != '\n' {
		d.Put(at, d.EOL+strings.TrimSuffix(text, d.EOL))
		return
	}
	d.Put(at, text)
}

// CutLines takes whole lines away, also the last one without an end: then the one before has
// none, unless it is the end of what a text says.
func (d *Draft) CutLines(from, to int) {
	if to == len(d.Src) && to > 0 && d.Src[to-1] != '\n' && from > 0 {
		stop, says := d.stop(d.Start(from-1)), false
		d.Root.Each(func(n *Node) {
			says = says || n.Kind == Scalar && n.End == stop && strings.HasSuffix(n.Text, "\n")
		})
		if !says {
			from = stop
		}
	}
	d.Cut(from, to)
}

// Block is the column that the lines of an activity in a block have, or get if they begin
// behind a key, and where they end.
func (d *Draft) Block(n *Node) (column, to int) {
	g := n.Parent
	_, to, _ = d.Extent(g, n.At)
	if g.Kind == Mapping && !d.alone(n.Start) {
		return d.Indent(g.Keys[n.At].Start) + 2, to
	}
	return d.Indent(n.Start), to
}

// Begin puts a text before an activity in a block; one behind a key gets a line of its own.
func (d *Draft) Begin(n *Node, column int, text string) {
	if g := n.Parent; g.Kind == Mapping && !d.alone(n.Start) {
		d.Swap(g.Colons[n.At], n.Start, d.EOL+strings.Repeat(" ", column)+text)
		return
	}
	d.Put(n.Start, text)
}
