package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteMermaid writes the picture as a flowchart of Mermaid, which GitHub and
// others draw in Markdown.
func (g *Graph) WriteMermaid(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "flowchart TD\n")
	for i := range g.Nodes {
		n := &g.Nodes[i]
		text := mermaidText(n.caption())
		switch n.Kind {
		case Start, End, Join:
			fmt.Fprintf(b, "  n%d(( ))\n", i)
		case Choice, Loop:
			fmt.Fprintf(b, "  n%d{{\"%s\"}}\n", i, text)
		case State:
			fmt.Fprintf(b, "  n%d([\"%s\"])\n", i, text)
		default:
			fmt.Fprintf(b, "  n%d[\"%s\"]\n", i, text)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		arrow := "-->"
		if e.Taken {
			arrow = "==>"
		}
		if e.Label != "" {
			arrow += `|"` + mermaidText(e.Label) + `"|`
		}
		fmt.Fprintf(b, "  n%d %s n%d\n", e.From, arrow, e.To)
	}
	return b.Flush()
}

// mermaidText escapes what Mermaid or the page around it would read as markup.
func mermaidText(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch r {
		case '"', '#', '<', '>', '&', ';', '`', '\\':
			fmt.Fprintf(&out, "#%d;", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// WriteDOT writes the picture in the language of Graphviz, which lays it out itself.
func (g *Graph) WriteDOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph %s {\n  node [shape=box fontname=monospace fontsize=11]\n  edge [fontname=monospace fontsize=10]\n", dotText(g.Title))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch n.Kind {
		case Start, End, Join:
			fmt.Fprintf(b, "  n%d [shape=point]\n", i)
		case State:
			fmt.Fprintf(b, "  n%d [style=rounded label=%s]\n", i, dotText(n.caption()))
		default:
			fmt.Fprintf(b, "  n%d [label=%s]\n", i, dotText(n.caption()))
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		fmt.Fprintf(b, "  n%d -> n%d", e.From, e.To)
		if e.Label != "" {
			fmt.Fprintf(b, " [label=%s]", dotText(e.Label))
		}
		fmt.Fprint(b, "\n")
	}
	fmt.Fprint(b, "}\n")
	return b.Flush()
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// caption is what a box says, in one line.
func (n *Node) caption() string {
	out := strings.Join(n.lines(), " ")
	if mark := n.badge(); mark != "" {
		out = mark + " " + out
	}
	return out
}
