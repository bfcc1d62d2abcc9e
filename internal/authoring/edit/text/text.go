package text

import (
	"bytes"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// MappingAt is the mapping that begins at a place; nil: none does.
func (d *Doc) MappingAt(at workflow.Place) (found *Node) {
	start := d.Offset(at.Line, at.Column)
	d.Root.Each(func(n *Node) {
		if n.Start == start && n.Kind == Mapping && found == nil {
			found = n
		}
	})
	return found
}

// Doc is a text with its tree.
type Doc struct {
	Lines
	BOM  []byte
	JSON bool
	EOL  string
	Root *Node
}

// Whole is the text with its byte order mark.
func (d *Doc) Whole() []byte { return slices.Concat(d.BOM, d.Src) }

// Snippet reads what was written as a tree.
func (d *Doc) Snippet(text string) (*Node, error) {
	tree := parseYAML
	if d.JSON {
		tree = ReadJSON
	}
	n, err := tree([]byte(text))
	if err != nil {
		return nil, Bad("this cannot be written: %v", err)
	}
	return n, nil
}

// comment is one of a source.
type comment struct {
	at   int
	text string
}

// comments finds what is no value and no sign of YAML's.
func (d *Doc) comments() []comment {
	if d.JSON || bytes.IndexByte(d.Src, '#') < 0 {
		return nil
	}
	var texts [][2]int
	d.Root.Each(func(n *Node) {
		if (n.Kind == Scalar || n.Kind == Alias) && n.Written() {
			texts = append(texts, [2]int{n.Start, n.End})
		}
	})
	slices.SortFunc(texts, func(a, b [2]int) int { return a[0] - b[0] })
	var found []comment
	next := 0
	for at := 0; at < len(d.Src); at++ {
		for next < len(texts) && texts[next][1] <= at {
			next++
		}
		if next < len(texts) && at >= texts[next][0] {
			at = texts[next][1] - 1
			continue
		}
		if d.Src[at] == '#' && (at == 0 || bytes.IndexByte([]byte(" \t\r\n"), d.Src[at-1]) >= 0) {
			end := d.stop(at)
			found = append(found, comment{at, strings.TrimRight(string(d.Src[at:end]), " \t")})
			at = max(at, end-1)
		}
	}
	return found
}

// The extent of what stands in a block: whole lines, with the comments that belong to it.

// tail is where the line begins behind a block that ends at an offset: comments that are
// indented deeper than its column belong to it.
func (d *Doc) tail(end, column int) int {
	to := d.Next(end)
	for at := to; at < len(d.Src); at = d.Next(at) {
		indent, rest := d.Lead(at)
		if strings.TrimSpace(rest) == "" {
			continue
		}
		if rest[0] != '#' || indent <= column {
			break
		}
		to = d.Next(at)
	}
	return to
}

// above is where the comments begin that stand right above a line, at its column.
func (d *Doc) above(start, column, floor int) int {
	for start > floor {
		line := d.Start(start - 1)
		indent, rest := d.Lead(line)
		if line < floor || rest == "" || rest[0] != '#' || indent != column {
			break
		}
		start = line
	}
	return start
}

// Extent is the part of the source that an item of a block list, or an entry of a block mapping,
// takes: from is the beginning of a line unless something stands before it there.
func (d *Doc) Extent(in *Node, at int) (from, to int, whole bool) {
	var begin, end, floor int
	if in.Kind == List {
		begin, end = in.Dashes[at], max(in.Items[at].End, in.Dashes[at]+1)
		if at > 0 {
			floor = d.Next(max(in.Items[at-1].End, in.Dashes[at-1]+1))
		}
	} else {
		begin, end = in.Keys[at].Start, max(in.Vals[at].End, in.Colons[at])
		if at > 0 {
			floor = d.Next(max(in.Vals[at-1].End, in.Colons[at-1]))
		}
	}
	column := d.Indent(begin)
	to = d.tail(end, column)
	if !d.alone(begin) {
		return begin, to, false
	}
	return d.above(d.Start(begin), column, floor), to, true
}

// Indented puts a text of several lines behind a column: each but the first gets as many spaces.
func (d *Doc) Indented(text string, column int) string {
	return strings.ReplaceAll(text, "\n", d.EOL+strings.Repeat(" ", column))
}

// ReadPiece makes the tree of a piece of its text.
func (d *Doc) ReadPiece(p *Piece) (*Piece, error) {
	text, err := p.Text(true, 0)
	if err == nil {
		p.Node, err = d.Snippet(text)
	}
	return p, err
}

// broken tells whether what a flow collection holds stands in lines of its own.
func (d *Doc) broken(in *Node) bool {
	spans := in.spans()
	if len(spans) == 0 {
		return d.JSON && len(d.Starts) > 2
	}
	return strings.Contains(string(d.Src[in.Start:spans[0][0]]), "\n")
}

// FlowColumn is where the lines of what a flow collection holds begin.
func (d *Doc) FlowColumn(in *Node) int {
	spans := in.spans()
	if len(spans) > 0 {
		if d.alone(spans[0][0]) {
			return d.Indent(spans[0][0])
		}
		indent, _ := d.Lead(d.Start(in.Start))
		return indent
	}
	indent, _ := d.Lead(d.Start(in.Start))
	return indent + 2
}
