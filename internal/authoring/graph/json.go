package graph

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/weft-run/weft/pkg/workflow"
)

// WriteJSON writes what is drawn and where, for programs that draw it themselves, or tell it in
// another way. [Graph] reads it back.
func (g *Graph) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(g)
}

// MarshalText is the kind's name, which is that of its class in SVG.
func (k Kind) MarshalText() ([]byte, error) { return []byte(classes[k]), nil }

// UnmarshalText reads a name. One that a newer program wrote is a plain box.
func (k *Kind) UnmarshalText(name []byte) error {
	*k = Box
	for kind, class := range classes {
		if class == string(name) {
			*k = kind
		}
	}
	return nil
}

// placed is a node with its place in the text.
type placed struct {
	*drawn

	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

type drawn Node

// MarshalJSON writes the place as a line and a column.
func (n *Node) MarshalJSON() ([]byte, error) {
	return json.Marshal(placed{(*drawn)(n), n.Place.Line, n.Place.Column})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Node) UnmarshalJSON(raw []byte) error {
	p := placed{drawn: (*drawn)(n)}
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("read a node of a picture: %w", err)
	}
	n.Place = workflow.Place{Line: p.Line, Column: p.Column}
	return nil
}

// Next gives, for each node, those that a way leads to from it, by their positions: what stands
// behind a join, and behind others without an id, is behind what leads there.
func (g *Graph) Next() [][]int {
	out := make([][]int, len(g.Nodes))
	for i := range g.Edges {
		out[g.Edges[i].From] = append(out[g.Edges[i].From], g.Edges[i].To)
	}
	next := make([][]int, len(g.Nodes))
	for i := range g.Nodes {
		seen := map[int]bool{}
		for todo := out[i]; len(todo) > 0; {
			to := todo[0]
			todo = todo[1:]
			if seen[to] {
				continue
			}
			seen[to] = true
			if kind := g.Nodes[to].Kind; kind == Join || kind == Start {
				todo = append(todo[:len(todo):len(todo)], out[to]...)
			} else {
				next[i] = append(next[i], to)
			}
		}
	}
	return next
}
