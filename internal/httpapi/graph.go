package httpapi

import (
	"bytes"
	"io"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/graph"
	"github.com/weft-run/weft/pkg/workflow"
)

// pictures are the formats of a graph, the default one first.
var pictures = []struct {
	name, contentType string
	write             func(*graph.Graph, io.Writer) error
}{
	{"svg", "image/svg+xml", func(g *graph.Graph, w io.Writer) error { return g.WriteSVG(w, graph.SVG{Alone: true}) }},
	{"svg-part", "image/svg+xml", func(g *graph.Graph, w io.Writer) error { return g.WriteSVG(w, graph.SVG{}) }},
	{"text", "text/plain; charset=utf-8", func(g *graph.Graph, w io.Writer) error { return g.WriteText(w, 0) }},
	{"mermaid", "text/vnd.mermaid; charset=utf-8", (*graph.Graph).WriteMermaid},
	{"dot", "text/vnd.graphviz; charset=utf-8", (*graph.Graph).WriteDOT},
	{"json", "application/json", (*graph.Graph).WriteJSON},
}

// graphRoutes draw definitions, and what instances did with them.
func (a *API) graphRoutes() []route {
	formats := make([]string, 0, len(pictures))
	var answer textOf
	for _, p := range pictures {
		formats = append(formats, p.name)
		answer = append(answer, strings.TrimSuffix(p.contentType, "; charset=utf-8"))
	}
	format := param{name: "format", typ: "string", doc: "svg if absent. svg-part is without the style sheet, for a page that has one. json says what is drawn and where.", values: formats}
	return []route{
		{method: "GET", path: "/definitions/{id}/graph", name: "drawDefinition", costly: true, role: auth.Viewer, tag: "definitions", kind: reads,
			summary: "A picture of a definition: its activities, and the ways between them",
			query: []param{{name: "version", typ: "integer", doc: "The published one if absent."},
				{name: "against", typ: "integer", doc: "Another version: what is not in it, or differs, is marked."}, format},
			answers: map[int]any{200: answer}, problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeNotRunnable}, serve: drawDefinition},
		{method: "GET", path: "/instances/{id}/graph", name: "drawInstance", costly: true, role: auth.Viewer, tag: "instances", kind: reads,
			summary: "A picture of an instance: its definition with what ran, runs, waits and faulted, and the ways that were taken",
			query:   []param{format},
			answers: map[int]any{200: answer}, problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeDefinitionNotFound, workflow.CodeNotRunnable}, serve: drawInstance},
	}
}

func drawDefinition(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	version, err := c.version()
	if err != nil {
		return reply{}, err
	}
	against, err := c.versionIn("against")
	if err != nil {
		return reply{}, err
	}
	return picture(c, id, version, against, nil)
}

func drawInstance(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	in, err := c.api.cfg.Runtime.Instance(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	marks, err := c.api.cfg.Runtime.Marks(c.r.Context(), &in)
	if err != nil {
		return reply{}, err
	}
	return picture(c, in.DefinitionID, in.Version, 0, marks)
}

// picture draws a version of a definition, with what differs from another one, if that is
// not 0, or with the marks of an instance, if there are any: then what runs, waits or faulted
// is drawn, however large the picture becomes.
func picture(c *call, id string, version, against int, marks map[string]graph.Mark) (reply, error) {
	format := pictures[0]
	for _, p := range pictures {
		if p.name == c.query.Get("format") {
			format = p
		}
	}
	def, err := c.api.cfg.Catalog.Definition(c.r.Context(), id, version)
	if err != nil {
		return reply{}, err
	}
	var changes map[string]graph.Change
	if against != 0 {
		if changes, err = changesAgainst(c, id, def, against); err != nil {
			return reply{}, err
		}
	}
	g := graph.New(def, graph.Options{Types: c.api.cfg.Catalog.Types(), Open: func(id string) bool {
		switch marks[id].Status {
		case graph.Running, graph.Waiting, graph.Faulted:
			return true
		}
		return changes[id] != graph.Same
	}})
	g.Apply(marks)
	g.Compare(changes)
	var out bytes.Buffer
	if err := format.write(g, &out); err != nil {
		return reply{}, err
	}
	answer := reply{raw: out.Bytes(), rawType: format.contentType}
	if format.name == "svg" { // opened by its address it has its own style, and nothing in it runs
		answer.headers = map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"}
	}
	return answer, nil
}

// changesAgainst compares a version with another one, which may be older or newer.
func changesAgainst(c *call, id string, def *workflow.Definition, against int) (map[string]graph.Change, error) {
	other, err := c.api.cfg.Catalog.Definition(c.r.Context(), id, against)
	if err != nil {
		return nil, err
	}
	lone := graph.Added
	if def.Version < against {
		lone = graph.Removed
	}
	return graph.Changes(def, other, lone), nil
}
