package api

import (
	"bytes"
	"io"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/internal/httpapi/serve"
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
func graphRoutes() []serve.Route {
	formats := make([]string, 0, len(pictures))
	var answer serve.TextOf
	for _, p := range pictures {
		formats = append(formats, p.name)
		answer = append(answer, strings.TrimSuffix(p.contentType, "; charset=utf-8"))
	}
	format := serve.Param{Name: "format", Type: "string", Doc: "svg if absent. svg-part is without the style sheet, for a page that has one. json says what is drawn and where.", Values: formats}
	return []serve.Route{
		{Method: "GET", Path: "/definitions/{id}/graph", Name: "drawDefinition", Costly: true, Role: auth.Viewer, Tag: "definitions", Kind: serve.Reads,
			Summary: "A picture of a definition: its activities, and the ways between them",
			Query: []serve.Param{{Name: "version", Type: "integer", Doc: "The published one if absent."},
				{Name: "against", Type: "integer", Doc: "Another version: what is not in it, or differs, is marked."}, format},
			Answers: map[int]any{200: answer}, Problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeNotRunnable}, Serve: drawDefinition},
		{Method: "GET", Path: "/instances/{id}/graph", Name: "drawInstance", Costly: true, Role: auth.Viewer, Tag: "instances", Kind: serve.Reads,
			Summary: "A picture of an instance: its definition with what ran, runs, waits and faulted, and the ways that were taken",
			Query:   []serve.Param{format},
			Answers: map[int]any{200: answer}, Problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeDefinitionNotFound, workflow.CodeNotRunnable}, Serve: drawInstance},
	}
}

func drawDefinition(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	version, err := c.Version("version")
	if err != nil {
		return serve.Reply{}, err
	}
	against, err := c.Version("against")
	if err != nil {
		return serve.Reply{}, err
	}
	return picture(c, id, version, against, nil)
}

func drawInstance(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	in, err := c.API.Config.Runtime.Inspector.Instance(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	marks, err := marksOf(c.Request.Context(), c.API.Config.Runtime.Inspector, &in)
	if err != nil {
		return serve.Reply{}, err
	}
	return picture(c, in.DefinitionID, in.Version, 0, marks)
}

// picture draws a version of a definition, with what differs from another one, if that is
// not 0, or with the marks of an instance, if there are any: then what runs, waits or faulted
// is drawn, however large the picture becomes.
func picture(c *serve.Call, id string, version, against int, marks map[string]graph.Mark) (serve.Reply, error) {
	format := pictures[0]
	for _, p := range pictures {
		if p.name == c.Query.Get("format") {
			format = p
		}
	}
	def, err := c.API.Config.Catalog.Definition(c.Request.Context(), id, version)
	if err != nil {
		return serve.Reply{}, err
	}
	var changes map[string]graph.Change
	if against != 0 {
		if changes, err = changesAgainst(c, id, def, against); err != nil {
			return serve.Reply{}, err
		}
	}
	g := graph.New(def, graph.Options{Types: c.API.Config.Catalog.Types(), Open: func(id string) bool {
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
		return serve.Reply{}, err
	}
	answer := serve.Reply{Raw: out.Bytes(), RawType: format.contentType}
	if format.name == "svg" { // opened by its address it has its own style, and nothing in it runs
		answer.Headers = map[string]string{"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"}
	}
	return answer, nil
}

// changesAgainst compares a version with another one, which may be older or newer.
func changesAgainst(c *serve.Call, id string, def *workflow.Definition, against int) (map[string]graph.Change, error) {
	other, err := c.API.Config.Catalog.Definition(c.Request.Context(), id, against)
	if err != nil {
		return nil, err
	}
	lone := graph.Added
	if def.Version < against {
		lone = graph.Removed
	}
	return graph.Changes(def, other, lone), nil
}
