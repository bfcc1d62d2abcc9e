package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the picture as a tree of lines, in the order of the definition:
// what is deeper is inside, branches have their names, and ways of a flowchart
// stand behind the box that they leave. width is the longest line in columns; 0
// is as long as it is.
func (g *Graph) WriteText(w io.Writer, width int) error {
	t := &textWriter{b: bufio.NewWriter(w), width: width, g: g, marks: map[string]*Node{}}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.ID != "" {
			t.marks[n.ID] = n
		}
	}
	t.line("", "", g.Title)
	t.children(g.root, "")
	return t.b.Flush()
}

type textWriter struct {
	b     *bufio.Writer
	width int
	g     *Graph
	marks map[string]*Node
}

func (t *textWriter) line(indent, branch, text string) {
	whole := indent + branch + text
	if t.width > 0 {
		whole = clip(whole, t.width)
	}
	fmt.Fprint(t.b, strings.TrimRight(whole, " "))
	fmt.Fprintln(t.b)
}

// row is one line of the tree: a block, or a branch with what it holds.
type row struct {
	text  string
	block *block
	ways  string
}

// children writes what is below a block.
func (t *textWriter) children(k *block, indent string) {
	rows := t.rows(k)
	for i, r := range rows {
		branch, below := "├─ ", "│  "
		if i == len(rows)-1 {
			branch, below = "└─ ", "   "
		}
		t.line(indent, branch, r.text+r.ways)
		if r.block != nil {
			t.children(r.block, indent+below)
		}
	}
}

// rows are the lines directly below a block.
func (t *textWriter) rows(k *block) []row {
	switch k.form {
	case list:
		var out []row
		for _, inside := range k.inner {
			out = append(out, t.row(inside)...)
		}
		return out
	case layers:
		return t.chartRows(k)
	case frame:
		return t.rowsOf(k.inner[0])
	}
	var out []row
	for _, l := range k.lanes {
		switch {
		case l.label == "" && l.block == nil:
		case l.label == "" && k.form != loop:
			out = append(out, t.row(l.block)...)
		case l.block == nil:
			out = append(out, row{text: l.label + ":"})
		default:
			out = append(out, row{text: l.label + ":", block: asList(l.block)})
		}
	}
	return out
}

// rowsOf are the lines for a block: its own, or those of the list that it is.
func (t *textWriter) rowsOf(k *block) []row {
	if k.form == list {
		return t.rows(k)
	}
	return t.row(k)
}

// row is the line of a block, with what it holds below.
func (t *textWriter) row(k *block) []row {
	if k.form == list {
		return []row{{text: "sequence", block: k}}
	}
	return []row{{text: t.title(&k.node), block: k}}
}

// asList puts a block below a line of its own.
func asList(k *block) *block {
	if k.form == list {
		return k
	}
	return &block{form: list, inner: []*block{k}}
}

// chartRows are the activities of a flowchart in the order of their layers, each
// with the ways that leave it.
func (t *textWriter) chartRows(k *block) []row {
	order := byLayer(k)
	var out []row
	for _, i := range order {
		out = append(out, t.rowsOf(k.inner[i])...)
		var ways []string
		for _, w := range k.ways {
			if w.from == i {
				ways = append(ways, strings.TrimSpace(clip(w.label, textCells)+" → "+t.short(k.inner[w.to])))
			}
		}
		if len(ways) > 0 && len(out) > 0 {
			out[len(out)-1].ways = "   " + strings.Join(ways, ", ")
		}
	}
	return out
}

// short is what a way calls the block it leads to.
func (t *textWriter) short(k *block) string {
	n := &k.node
	if k.form == list && len(k.inner) > 0 {
		return t.short(k.inner[0])
	}
	if n.ID != "" {
		return plain(n.ID)
	}
	return n.Type
}

// title is the line of a box.
func (t *textWriter) title(n *Node) string {
	var parts []string
	if at := t.marks[n.ID]; at != nil {
		n = at
	}
	if mark := n.badge(); mark != "" {
		parts = append(parts, mark)
	}
	switch n.Kind {
	case Folded:
		if n.Type != "" {
			parts = append(parts, n.Type)
		}
		parts = append(parts, n.hidden())
	case State:
		parts = append(parts, "state "+n.Type)
	default:
		parts = append(parts, n.Type)
	}
	if n.Name != "" && n.Name != n.Type {
		parts = append(parts, `"`+n.Name+`"`)
	}
	if n.Detail != "" && n.Kind != Folded {
		parts = append(parts, n.Detail)
	}
	if n.Clock != "" {
		parts = append(parts, "("+n.Clock+")")
	}
	if n.Retry != "" {
		parts = append(parts, "(retry "+n.Retry+")")
	}
	if n.ID != "" && n.Kind != Folded && !strings.HasPrefix(n.ID, n.Type) {
		parts = append(parts, "["+plain(n.ID)+"]")
	}
	return strings.Join(parts, " ")
}
