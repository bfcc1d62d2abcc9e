package define

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// versionRoutes look at what was published before, and at what a definition is to those who start it.
func versionRoutes() []serve.Route {
	missing := workflow.CodeDefinitionNotFound
	return []serve.Route{
		{Method: "GET", Path: "/definitions/{id}/versions", Name: "listVersions", Role: auth.Viewer, Tag: "definitions", Kind: serve.Reads,
			Summary: "List the versions of a definition, the newest first", Query: serve.PageParams,
			Answers: map[int]any{200: shape.List[versionView]{}}, Problems: []workflow.Code{missing}, Serve: listVersions},
		{Method: "GET", Path: "/definitions/{id}/interface", Name: "getInterface", Costly: true, Role: auth.Viewer, Tag: "definitions", Kind: serve.Reads,
			Summary: "What a definition takes and gives, and what starts it",
			Query:   []serve.Param{{Name: "version", Type: "integer", Doc: "The published one if absent."}},
			Answers: map[int]any{200: interfaceView{}}, Problems: []workflow.Code{missing, workflow.CodeNotRunnable}, Serve: getInterface},
	}
}

type versionView struct {
	Version   int       `json:"version"`
	Published bool      `json:"published" doc:"It is the published one."`
	Notation  string    `json:"notation" enum:"yaml,json"`
	CreatedAt time.Time `json:"createdAt"`
}

func listVersions(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	before := 0
	if cursor != "" {
		if before, err = strconv.Atoi(cursor); err != nil || before < 1 {
			return serve.Reply{}, serve.Invalid("bad-cursor", "", "the cursor is of no page of this list")
		}
	}
	page, err := c.API.Authoring.Versions(c.Request.Context(), id, before, limit)
	if err != nil {
		return serve.Reply{}, err
	}
	view := shape.List[versionView]{Revision: page.Revision, Items: shape.Each(page.Items, func(v catalog.Version) versionView {
		return versionView{v.Version, v.Published, string(v.Notation), v.CreatedAt.UTC()}
	})}
	if page.More {
		view.NextCursor = shape.Some(strconv.Itoa(page.Items[len(page.Items)-1].Version))
	}
	return serve.Reply{Body: view}, nil
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
	Starts        []shape.Starts `json:"starts" doc:"What starts an instance by itself."`
}

type declaredView struct {
	Name        string          `json:"name"`
	Type        string          `json:"type" doc:"Such as String, Int32, Object."`
	List        bool            `json:"list"`
	Required    bool            `json:"required"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

func getInterface(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	version, err := c.Version("version")
	if err != nil {
		return serve.Reply{}, err
	}
	face, err := c.API.Authoring.Interface(c.Request.Context(), id, version)
	if err != nil {
		return serve.Reply{}, err
	}
	def := face.Definition
	v := interfaceView{
		ID: id, Version: face.Version, Published: face.Head.Published, LatestVersion: face.Head.Latest, Name: shape.Some(def.Name), Description: shape.Some(def.Description),
		Outcomes: def.Outcomes, Inputs: []declaredView{}, Outputs: []declaredView{},
		MoreInputs: def.Options.AdditionalInputs || len(def.Inputs) == 0,
		Starts:     shape.Each(face.Starts, shape.ViewStart),
	}
	if v.Outcomes == nil {
		v.Outcomes = []string{}
	}
	for _, in := range def.Inputs {
		d := declaredView{Name: in.Name, Type: typeOr(in.Type), List: in.IsArray, Required: in.Required, Description: in.Description}
		if in.Default != nil {
			if d.Default, err = json.Marshal(in.Default); err != nil {
				return serve.Reply{}, err
			}
		}
		v.Inputs = append(v.Inputs, d)
	}
	for _, out := range def.Outputs {
		v.Outputs = append(v.Outputs, declaredView{Name: out.Name, Type: typeOr(out.Type), List: out.IsArray, Description: out.Description})
	}
	return serve.Reply{Body: v}, nil
}

func typeOr(t string) string {
	if t == "" {
		return workflow.Object
	}
	return t
}

// overVersion reads the version that a publication or a deletion is about, from If-Match: the ETag of
// the definition, "0" if there was none; nil: any.
func overVersion(c *serve.Call) (*int, error) {
	text := strings.TrimSpace(c.Request.Header.Get("If-Match"))
	if text == "" || text == "*" {
		return nil, nil
	}
	n, err := strconv.Atoi(strings.Trim(text, `"`))
	if err != nil || n < 0 || text != strconv.Quote(strconv.Itoa(n)) {
		if strings.Contains(text, ",") {
			return nil, serve.Invalid("bad-header", "/If-Match", "If-Match has several ETags; give the one of the version that you saw")
		}
		return nil, workflow.Fail(workflow.CodeDefinitionMoved, "If-Match is not an ETag of a definition")
	}
	return &n, nil
}
