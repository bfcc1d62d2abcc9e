package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/suggest"
	"github.com/weft-run/weft/pkg/graph"
	"github.com/weft-run/weft/pkg/workflow"
)

// editingRoutes are for who writes definitions: they look at what is not published, and at
// what was published before.
func (a *API) editingRoutes() []route {
	missing := workflow.CodeDefinitionNotFound
	source := "Weft's YAML, or Elsa's JSON. Without a content type it is told by its look."
	return []route{
		{method: "POST", path: "/definitions/check", name: "checkDefinition", costly: true, role: auth.Designer, tag: "definitions", kind: reads,
			summary: "Find the mistakes of a definition while it is written; 200 also with mistakes, and nothing is written", bodyDoc: source,
			query:   []param{{name: "picture", typ: "boolean", doc: "With a picture of what can be read, as format=svg-part of the graph."}},
			answers: map[int]any{200: checkedView{}}, serve: checkDefinition},
		{method: "POST", path: "/definitions/suggest", name: "suggest", role: auth.Designer, tag: "definitions", kind: reads,
			summary: "What may stand at a place of a definition in YAML, and what stands there", bodyDoc: "Weft's YAML, also half-written.",
			query:   []param{{name: "line", typ: "integer", doc: "From 1."}, {name: "column", typ: "integer", doc: "In characters, from 1."}},
			answers: map[int]any{200: suggestedView{}}, serve: suggestions},
		{method: "POST", path: "/definitions/edit", name: "editDefinition", costly: true, role: auth.Designer, tag: "definitions", kind: reads,
			summary: "Change the text of a definition as its picture is pointed at: comments and all else stay; nothing is stored", body: sourceEditBody{},
			answers: map[int]any{200: sourceEditedView{}}, serve: editDefinition},
		{method: "GET", path: "/definitions/{id}/versions", name: "listVersions", role: auth.Viewer, tag: "definitions", kind: reads,
			summary: "List the versions of a definition, the newest first", query: pageParams,
			answers: map[int]any{200: listView[versionView]{}}, problems: []workflow.Code{missing}, serve: listVersions},
		{method: "GET", path: "/definitions/{id}/interface", name: "getInterface", costly: true, role: auth.Viewer, tag: "definitions", kind: reads,
			summary: "What a definition takes and gives, and what starts it",
			query:   []param{{name: "version", typ: "integer", doc: "The published one if absent."}},
			answers: map[int]any{200: interfaceView{}}, problems: []workflow.Code{missing, workflow.CodeNotRunnable}, serve: getInterface},
		tryingRoute(),
	}
}

type checkedView struct {
	ID       string        `json:"id" doc:"Empty if it cannot be told."`
	Version  int           `json:"version" doc:"It would have if it were published; 0: it cannot be as it is."`
	Problems []problemItem `json:"problems" doc:"Errors, and warnings, which are in the way of nothing."`
	Picture  string        `json:"picture,omitempty" doc:"SVG without a style sheet, of what can be read."`
}

func checkDefinition(c *call) (reply, error) {
	wanted, err := c.flag("picture", false)
	if err != nil {
		return reply{}, err
	}
	typ, err := c.notation()
	if err != nil {
		return reply{}, err
	}
	look, err := c.api.authoring.Look(c.r.Context(), c.body, typ)
	if err != nil {
		return reply{}, err
	}
	v := checkedView{Version: look.Version, Problems: problemItems(look.Problems)}
	if v.Problems == nil {
		v.Problems = []problemItem{}
	}
	if def := look.Definition; def != nil {
		v.ID = def.ID
		if wanted && def.Root != nil {
			var out bytes.Buffer
			if err := graph.New(def, graph.Options{Types: c.api.cfg.Catalog.Types()}).WriteSVG(&out, graph.SVG{}); err != nil {
				return reply{}, err
			}
			v.Picture = out.String()
		}
	}
	return reply{body: v}, nil
}

// notation is the content type that a definition is sent with; "": it is told by its look.
func (c *request) notation() (string, error) {
	typ := c.mediaType()
	switch {
	case typ == formType, typ == "text/plain":
		return "", nil
	case typ == "", isJSON(typ), isYAML(typ):
		return typ, nil
	}
	return "", workflow.Fail(codeMediaType, "the body is "+shorten(typ)+"; send application/yaml or application/json")
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

func suggestions(c *call) (reply, error) {
	at := [2]int{}
	for i, name := range []string{"line", "column"} {
		n, err := strconv.Atoi(c.query.Get(name))
		if err != nil || n < 1 {
			return reply{}, invalid("bad-parameter", "", name+" must be a whole number from 1")
		}
		at[i] = n
	}
	found := c.api.authoring.Suggest(c.body, at[0], at[1])
	return reply{body: suggestedView{From: found.From, Word: found.Word, Doc: found.Doc, Items: each(found.Items, func(it suggest.Item) suggestionView {
		return suggestionView{Label: it.Label, Kind: it.Kind, Detail: it.Detail, Doc: it.Doc, Insert: it.Insert}
	})}}, nil
}

type versionView struct {
	Version   int       `json:"version"`
	Published bool      `json:"published" doc:"It is the published one."`
	Notation  string    `json:"notation" enum:"yaml,json"`
	CreatedAt time.Time `json:"createdAt"`
}

func listVersions(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	before := 0
	if cursor != "" {
		if before, err = strconv.Atoi(cursor); err != nil || before < 1 {
			return reply{}, invalid("bad-cursor", "", "the cursor is of no page of this list")
		}
	}
	page, err := c.api.authoring.Versions(c.r.Context(), id, before, limit)
	if err != nil {
		return reply{}, err
	}
	view := listView[versionView]{Revision: page.Revision, Items: each(page.Items, func(v catalog.Version) versionView {
		return versionView{v.Version, v.Published, string(v.Notation), v.CreatedAt.UTC()}
	})}
	if page.More {
		view.NextCursor = some(strconv.Itoa(page.Items[len(page.Items)-1].Version))
	}
	return reply{body: view}, nil
}

type interfaceView struct {
	ID            string         `json:"id"`
	Version       int            `json:"version"`
	Published     int            `json:"published" doc:"The published version; 0: none."`
	LatestVersion int            `json:"latestVersion"`
	Name          *string        `json:"name"`
	Description   *string        `json:"description"`
	Inputs        []declaredView `json:"inputs"`
	Outputs       []declaredView `json:"outputs"`
	Outcomes      []string       `json:"outcomes" doc:"None: Done."`
	MoreInputs    bool           `json:"moreInputs" doc:"A start may bring inputs that are not declared."`
	Starts        []startsView   `json:"starts" doc:"What starts an instance by itself."`
}

type declaredView struct {
	Name        string          `json:"name"`
	Type        string          `json:"type" doc:"Such as String, Int32, Object."`
	List        bool            `json:"list"`
	Required    bool            `json:"required"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

type startsView struct {
	ActivityID   string `json:"activityId"`
	ActivityType string `json:"activityType"`
	When         string `json:"when" doc:"The name of an event, a schedule, or a method and a path."`
}

func viewStart(s catalog.Start) startsView { return startsView{s.ActivityID, s.ActivityType, s.When} }

func getInterface(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	version, err := c.version()
	if err != nil {
		return reply{}, err
	}
	face, err := c.api.authoring.Interface(c.r.Context(), id, version)
	if err != nil {
		return reply{}, err
	}
	def := face.Definition
	v := interfaceView{
		ID: id, Version: face.Version, Published: face.Head.Published, LatestVersion: face.Head.Latest, Name: some(def.Name), Description: some(def.Description),
		Outcomes: def.Outcomes, Inputs: []declaredView{}, Outputs: []declaredView{},
		MoreInputs: def.Options.AdditionalInputs || len(def.Inputs) == 0,
		Starts:     each(face.Starts, viewStart),
	}
	if v.Outcomes == nil {
		v.Outcomes = []string{}
	}
	for _, in := range def.Inputs {
		d := declaredView{Name: in.Name, Type: typeOr(in.Type), List: in.IsArray, Required: in.Required, Description: in.Description}
		if in.Default != nil {
			if d.Default, err = json.Marshal(in.Default); err != nil {
				return reply{}, err
			}
		}
		v.Inputs = append(v.Inputs, d)
	}
	for _, out := range def.Outputs {
		v.Outputs = append(v.Outputs, declaredView{Name: out.Name, Type: typeOr(out.Type), List: out.IsArray, Description: out.Description})
	}
	return reply{body: v}, nil
}

func typeOr(t string) string {
	if t == "" {
		return workflow.Object
	}
	return t
}

// overVersion reads the version that a publication or a deletion is about, from If-Match: the ETag of
// the definition, "0" if there was none; nil: any.
func (c *request) overVersion() (*int, error) {
	text := strings.TrimSpace(c.r.Header.Get("If-Match"))
	if text == "" || text == "*" {
		return nil, nil
	}
	n, err := strconv.Atoi(strings.Trim(text, `"`))
	if err != nil || n < 0 || text != strconv.Quote(strconv.Itoa(n)) {
		return nil, workflow.Fail(workflow.CodeDefinitionMoved, "If-Match is not an ETag of a definition")
	}
	return &n, nil
}
