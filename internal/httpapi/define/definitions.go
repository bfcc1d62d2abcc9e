package define

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

type publishedView struct {
	ID        string `json:"id"`
	Version   int    `json:"version"`
	Published bool   `json:"published" doc:"Whether this version is the published one."`
	Before    int    `json:"before" doc:"The version that was published before; 0: none."`
	Over      *int   `json:"over,omitempty" doc:"Of a dry run: the version that is there, for If-Match of the publication; 0: none. Absent otherwise."`
	WasOf     string `json:"wasOf,omitempty" doc:"The set that it was of before. Absent: none."`
	Revision  int64  `json:"revision,omitempty" doc:"Of etcd: a node whose catalogRevision has reached it serves this version. Absent of a dry run."`

	Warnings []serve.ProblemItem `json:"warnings,omitempty" doc:"What may be a mistake, with its place. It is in the way of nothing."`
}

type publishBody struct {
	Version int `json:"version" doc:"The latest one if absent."`
}

func definitionRoutes() []serve.Route {
	missing := workflow.CodeDefinitionNotFound
	publishing := []workflow.Code{missing, workflow.CodeDefinitionInvalid, workflow.CodeDefinitionMoved, workflow.CodeRouteTaken, workflow.CodeTooLarge}
	return append([]serve.Route{
		{Method: "POST", Path: "/definitions", Name: "publishDefinition", Costly: true, Role: auth.Designer, Tag: "definitions", Kind: serve.Changes, Target: "a definition",
			Summary: "Check a definition and publish it; content equal to the published one is no new version",
			IfMatch: "The ETag of the definition that this was made from, \"0\" if there was none: 409 definition-moved if another version is there.",
			Query: []serve.Param{
				{Name: "publish", Type: "boolean", Doc: "false keeps it as a draft."},
				{Name: "dryRun", Type: "boolean", Doc: "Check everything and write nothing."},
				{Name: "strict", Type: "boolean", Doc: "A warning is an error."},
				{Name: "set", Type: "string", Doc: "The definition is of this set from now on: a name as ids are. Absent: of the one that it is of."},
				{Name: "file", Type: "string", Doc: "The name of the file that it is in: without its ending the id of a definition that says none."},
				{Name: "beside", Type: "string", Doc: "Ids of definitions that are published with this one, with commas between them: that one of them is not there yet is no mistake."},
			},
			BodyDoc: "Weft's YAML, or Elsa's JSON, also wrapped as {model, publish}. Without a content type it is told by its look.",
			Answers: map[int]any{201: publishedView{}, 200: publishedView{}}, Problems: publishing, Serve: publishDefinition},
		{Method: "GET", Path: "/definitions", Name: "listDefinitions", Role: auth.Viewer, Tag: "definitions", Kind: serve.Reads, Summary: "List definitions",
			Query:   append([]serve.Param{{Name: "starts", Type: "boolean", Doc: "Tell also what starts each of them by itself."}}, serve.PageParams...),
			Answers: map[int]any{200: shape.List[shape.Definition]{}}, Serve: listDefinitions},
		{Method: "GET", Path: "/definitions/{id}", Name: "getDefinition", Tagged: true, Role: auth.Viewer, Tag: "definitions", Kind: serve.Reads,
			Summary: "The source of a definition: as it was written, or as Accept wants it",
			Query:   []serve.Param{{Name: "version", Type: "integer", Doc: "The published one if absent."}},
			Answers: map[int]any{200: serve.TextOf{"application/yaml", "application/json"}}, Problems: []workflow.Code{missing, serve.CodeNotAcceptable},
			Serve: getDefinition},
		{Method: "POST", Path: "/definitions/{id}/publish", Name: "publishVersion", Costly: true, Role: auth.Designer, Tag: "definitions", Kind: serve.Changes,
			Summary: "Publish a stored version: a draft, or an older one again", Body: publishBody{},
			Answers: map[int]any{200: publishedView{}}, Problems: publishing, Serve: publishVersion},
		{Method: "POST", Path: "/definitions/{id}/retract", Name: "retractDefinition", Role: auth.Designer, Tag: "definitions", Kind: serve.Changes,
			Summary: "Take the published version back: nothing starts by it any more",
			Answers: map[int]any{200: publishedView{}}, Problems: []workflow.Code{missing}, Serve: retractDefinition},
		{Method: "DELETE", Path: "/definitions/{id}", Name: "deleteDefinition", Role: auth.Designer, Tag: "definitions", Kind: serve.Changes, Summary: "Remove a definition",
			IfMatch: "The ETag of the definition that is to go: 409 definition-moved if another version is there.",
			Query: []serve.Param{{Name: "force", Type: "boolean", Doc: "Also while instances run; they go on to their end."},
				{Name: "set", Type: "string", Doc: "Only if it is of this set: 409 definition-moved if not."}},
			Answers: map[int]any{204: nil}, Problems: []workflow.Code{missing, workflow.CodeDefinitionInUse, workflow.CodeDefinitionMoved}, Serve: deleteDefinition},
		{Method: "DELETE", Path: "/definitions/{id}/versions/{version}", Name: "deleteVersion", Role: auth.Designer, Tag: "definitions", Kind: serve.Changes,
			Summary: "Remove a version that nothing needs; its source goes an hour later",
			Answers: map[int]any{204: nil}, Problems: []workflow.Code{missing, workflow.CodeDefinitionInUse, workflow.CodeDefinitionMoved}, Serve: deleteVersion},
	}, append(versionRoutes(), refreshRoutes()...)...)
}

func publishDefinition(c *serve.Call) (serve.Reply, error) {
	publish, err := c.Flag("publish", true)
	if err != nil {
		return serve.Reply{}, err
	}
	dryRun, err := c.DryRun()
	if err != nil {
		return serve.Reply{}, err
	}
	strict, err := c.Flag("strict", false)
	if err != nil {
		return serve.Reply{}, err
	}
	typ, err := c.Notation()
	if err != nil {
		return serve.Reply{}, err
	}
	over, err := overVersion(c)
	if err != nil {
		return serve.Reply{}, err
	}
	if len(strings.TrimSpace(string(c.Body))) == 0 {
		return serve.Reply{}, serve.Invalid("empty-body", "", "the body has to be a definition")
	}
	if err := c.API.Config.Runtime.Room(); err != nil && !dryRun {
		return serve.Reply{}, err
	}
	res, err := c.API.Config.Catalog.Publish(c.Request.Context(), catalog.PublishRequest{
		Source: c.Body, ContentType: typ, Publish: publish, DryRun: dryRun, Strict: strict, Over: over, Set: c.Query.Get("set"),
		File: c.Query.Get("file"), With: strings.FieldsFunc(c.Query.Get("beside"), func(r rune) bool { return r == ',' }),
	})
	if err != nil {
		return serve.Reply{}, err
	}
	c.About("", res.ID, "version", strconv.Itoa(res.Version))
	answer := viewPublished(res, dryRun)
	if res.Created && !dryRun {
		answer.Status = http.StatusCreated
	}
	return answer, nil
}

func viewPublished(res catalog.PublishResult, dryRun bool) serve.Reply {
	v := publishedView{ID: res.ID, Version: res.Version, Published: res.Published, Before: res.Before, WasOf: res.WasOf, Revision: res.Revision, Warnings: serve.ProblemItems(res.Warnings)}
	if dryRun {
		v.Over = &res.Over
	}
	return serve.Reply{Body: v, Location: serve.Prefix + "/definitions/" + res.ID}
}

func listDefinitions(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	starts, err := c.Flag("starts", false)
	if err != nil {
		return serve.Reply{}, err
	}
	items, end, err := c.API.Config.Catalog.List(c.Request.Context(), cursor, limit)
	if err != nil {
		return serve.Reply{}, err
	}
	var by map[string]catalog.Started
	if starts && len(items) > 0 {
		if by, err = c.API.Authoring.StartedBy(c.Request.Context(), items, end.Revision); err != nil {
			return serve.Reply{}, err
		}
	}
	return serve.Reply{Body: shape.ListOf(runtime.Page[catalog.Summary]{Items: items, Next: end.Next, Revision: end.Revision}, func(d catalog.Summary) shape.Definition {
		v, s := shape.ViewDefinition(d), by[d.ID]
		v.Starts, v.Schedules, v.MoreStarts = shape.Each(s.Starts, shape.ViewStart), s.Schedules, s.More
		return v
	})}, nil
}

func getDefinition(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	version, err := c.Version("version")
	if err != nil {
		return serve.Reply{}, err
	}
	notation, err := acceptedNotation(c)
	if err != nil {
		return serve.Reply{}, err
	}
	src, err := c.API.Config.Catalog.Source(c.Request.Context(), id, version, notation)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Raw: src.Content, RawType: src.Notation.ContentType(), ETag: `"` + strconv.Itoa(src.Version) + `"`}, nil
}

// acceptedNotation is the notation that the client wants most; "" if it wants any.
func acceptedNotation(c *serve.Call) (notation.Notation, error) {
	header := strings.Join(c.Request.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return "", nil
	}
	best, found, weight := notation.Notation(""), false, 0.0
	for _, part := range strings.Split(header, ",") {
		typ, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		var n notation.Notation
		switch {
		case wire.IsYAML(typ):
			n = notation.YAML
		case wire.IsJSON(typ):
			n = notation.JSON
		case typ == "*/*", typ == "application/*", typ == "text/*":
		default:
			continue
		}
		if q > weight {
			best, found, weight = n, true, q
		}
	}
	if !found {
		return "", workflow.Fail(serve.CodeNotAcceptable, "definitions come as application/yaml or application/json")
	}
	return best, nil
}

func publishVersion(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	var b publishBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	if b.Version < 0 {
		return serve.Reply{}, serve.Invalid("bad-version", "/version", "version must be 1 or more")
	}
	res, err := c.API.Config.Catalog.PublishVersion(c.Request.Context(), id, b.Version)
	if err != nil {
		return serve.Reply{}, err
	}
	return viewPublished(res, false), nil
}

func retractDefinition(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	if err := c.API.Config.Catalog.Retract(c.Request.Context(), id); err != nil {
		return serve.Reply{}, err
	}
	d, err := c.API.Config.Catalog.Latest(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: publishedView{ID: id, Version: d.Latest, Published: d.Published != 0}}, nil
}

func deleteVersion(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	version, err := strconv.Atoi(c.Request.PathValue("version"))
	if err != nil || version < 1 {
		return serve.Reply{}, serve.Invalid("bad-version", "", "the version in the path must be a whole number from 1")
	}
	return serve.Reply{Status: http.StatusNoContent}, c.API.Config.Catalog.DeleteVersion(c.Request.Context(), id, version)
}

func deleteDefinition(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	force, err := c.Flag("force", false)
	if err != nil {
		return serve.Reply{}, err
	}
	over, err := overVersion(c)
	if err != nil {
		return serve.Reply{}, err
	}
	if c.Query.Has("set") {
		if err := workflow.CheckID("the name of a set", c.Query.Get("set")); err != nil {
			return serve.Reply{}, serve.Invalid("bad-parameter", "", err.Error())
		}
	}
	return serve.Reply{Status: http.StatusNoContent}, catalog.SetsOf(c.API.Config.Catalog).Delete(c.Request.Context(), id, catalog.Deletion{Set: c.Query.Get("set"), Over: over, Force: force})
}
