package api

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/internal/authoring/suggest"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

// Routes are all of this package, for a node whose program has these types of activities.
func Routes(types workflow.Types) ([]serve.Route, error) {
	book, err := suggest.New(types)
	if err != nil {
		return nil, err
	}
	return slices.Concat(editingRoutes(book), graphRoutes(), tryingRoutes()), nil
}

// editingRoutes are for who writes definitions: they look at what is not published.
func editingRoutes(book *suggest.Book) []serve.Route {
	source := "Weft's YAML, or Elsa's JSON. Without a content type it is told by its look."
	return []serve.Route{
		{Method: "POST", Path: "/definitions/check", Name: "checkDefinition", Costly: true, Role: auth.Designer, Tag: "definitions", Kind: serve.Reads,
			Summary: "Find the mistakes of a definition while it is written; 200 also with mistakes, and nothing is written", BodyDoc: source,
			Query:   []serve.Param{{Name: "picture", Type: "boolean", Doc: "With a picture of what can be read, as format=svg-part of the graph."}},
			Answers: map[int]any{200: checkedView{}}, Serve: checkDefinition},
		{Method: "POST", Path: "/definitions/suggest", Name: "suggest", Role: auth.Designer, Tag: "definitions", Kind: serve.Reads,
			Summary: "What may stand at a place of a definition in YAML, and what stands there", BodyDoc: "Weft's YAML, also half-written.",
			Query:   []serve.Param{{Name: "line", Type: "integer", Doc: "From 1."}, {Name: "column", Type: "integer", Doc: "In characters, from 1."}},
			Answers: map[int]any{200: suggestedView{}}, Serve: func(c *serve.Call) (serve.Reply, error) { return suggestions(c, book) }},
		{Method: "POST", Path: "/definitions/edit", Name: "editDefinition", Costly: true, Role: auth.Designer, Tag: "definitions", Kind: serve.Reads,
			Summary: "Change the text of a definition as its picture is pointed at: comments and all else stay; nothing is stored", Body: sourceEditBody{},
			Answers: map[int]any{200: sourceEditedView{}}, Serve: editDefinition},
	}
}

type checkedView struct {
	ID       string              `json:"id" doc:"Empty if it cannot be told."`
	Version  int                 `json:"version" doc:"It would have if it were published; 0: it cannot be as it is."`
	Problems []serve.ProblemItem `json:"problems" doc:"Errors, and warnings, which are in the way of nothing."`
	Picture  string              `json:"picture,omitempty" doc:"SVG without a style sheet, of what can be read."`
}

func checkDefinition(c *serve.Call) (serve.Reply, error) {
	wanted, err := c.Flag("picture", false)
	if err != nil {
		return serve.Reply{}, err
	}
	typ, err := c.Notation()
	if err != nil {
		return serve.Reply{}, err
	}
	look, err := c.API.Authoring.Look(c.Request.Context(), c.Body, typ)
	if err != nil {
		return serve.Reply{}, err
	}
	v := checkedView{Version: look.Version, Problems: serve.ProblemItems(look.Problems)}
	if v.Problems == nil {
		v.Problems = []serve.ProblemItem{}
	}
	if def := look.Definition; def != nil {
		v.ID = def.ID
		if wanted && def.Root != nil {
			var out bytes.Buffer
			if err := graph.New(def, graph.Options{Types: c.API.Config.Catalog.Types()}).WriteSVG(&out, graph.SVG{}); err != nil {
				return serve.Reply{}, err
			}
			v.Picture = out.String()
		}
	}
	return serve.Reply{Body: v}, nil
}

type suggestedView struct {
	From  int              `json:"from" doc:"The column at which begins what an item takes the place of."`
	Items []suggestionView `json:"items"`
	Word  string           `json:"word,omitempty" doc:"What stands at the place, if it is known."`
	Doc   string           `json:"doc,omitempty" doc:"About the word."`
}

type suggestionView struct {
	Label  string `json:"label"`
	Kind   string `json:"kind" enum:"type,key,value,variable,function,outcome"`
	Detail string `json:"detail,omitempty"`
	Doc    string `json:"doc,omitempty"`
	Insert string `json:"insert" doc:"What is written."`
}

func suggestions(c *serve.Call, book *suggest.Book) (serve.Reply, error) {
	at := [2]int{}
	for i, name := range []string{"line", "column"} {
		n, err := strconv.Atoi(c.Query.Get(name))
		if err != nil || n < 1 {
			return serve.Reply{}, serve.Invalid("bad-parameter", "", name+" must be a whole number from 1")
		}
		at[i] = n
	}
	found := suggest.Answer{From: at[1]}
	if len(c.Body) <= workflow.MaxSource && !elsajson.Looks(c.Body) { // of another notation it tells nothing
		found = book.At(string(c.Body), at[0], at[1])
	}
	return serve.Reply{Body: suggestedView{From: found.From, Word: found.Word, Doc: found.Doc, Items: shape.Each(found.Items, func(it suggest.Item) suggestionView {
		return suggestionView{Label: it.Label, Kind: it.Kind, Detail: it.Detail, Doc: it.Doc, Insert: it.Insert}
	})}}, nil
}
