package page

import (
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/authoring/graph"
)

// Drawing is a picture in a page, and what it says as a table.
type Drawing struct {
	Picture template.HTML // "": it cannot be drawn
	Rows    []drawnRow
}

// drawnRow is an activity of a picture.
type drawnRow struct {
	ID, Type, Says string
	Link           string
	State          graph.Status
	Since          time.Time
	Count, Line    int
	Folded         int      // activities that it stands for
	Next           []string // what ways lead to, by ids or what is written there
}

// Drawn reads a graph and draws it as a part of a page, in which each activity is a link. One
// that cannot be drawn is no reason to show nothing.
func (v *Visit) Drawn(path string, query url.Values, link func(n *graph.Node) string) (d Drawing, err error) {
	with := url.Values{"format": {"json"}}
	for name, values := range query {
		with[name] = values
	}
	g, err := Get[graph.Graph](v, path, with)
	var p *Problem
	switch {
	case errors.As(err, &p):
		return d, nil
	case err != nil:
		return d, err
	}
	links := map[string]string{}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.ID != "" {
			links[n.ID] = link(n)
		}
	}
	var out strings.Builder
	if err := g.WriteSVG(&out, graph.SVG{Link: func(id string) string { return links[id] }}); err != nil {
		return d, err
	}
	d.Picture = template.HTML(out.String()) // all texts are escaped
	next := g.Next()
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Type != "" || n.Kind == graph.Folded {
			d.Rows = append(d.Rows, rowOf(&g, n, links[n.ID], next[i]))
		}
	}
	slices.SortStableFunc(d.Rows, func(a, b drawnRow) int { return a.Line - b.Line }) // as the text has them
	return d, nil
}

func rowOf(g *graph.Graph, n *graph.Node, link string, next []int) drawnRow {
	row := drawnRow{ID: n.ID, Type: n.Type, Link: link, State: n.Mark.Status, Since: n.Mark.Since, Count: n.Mark.Count, Line: n.Place.Line, Folded: n.Hidden}
	var says []string
	for _, text := range []string{n.Name, n.Detail} {
		if text != "" {
			says = append(says, text)
		}
	}
	if n.Clock != "" {
		says = append(says, "may take "+n.Clock)
	}
	if n.Retry != "" {
		says = append(says, "tried "+n.Retry+" times")
	}
	row.Says = strings.Join(says, ", ")
	for _, to := range next {
		switch other := &g.Nodes[to]; {
		case other.Kind == graph.End:
			row.Next = append(row.Next, "the end")
		case other.ID != "":
			row.Next = append(row.Next, other.ID)
		case other.Type != "":
			row.Next = append(row.Next, other.Type)
		}
	}
	return row
}

// LineOf is the line of the text that an activity begins at; 0: it is not drawn.
func (d Drawing) LineOf(id string) int {
	for i := range d.Rows {
		if d.Rows[i].ID == id {
			return d.Rows[i].Line
		}
	}
	return 0
}
