package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
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

	Warnings []problemItem `json:"warnings,omitempty" doc:"What may be a mistake, with its place. It is in the way of nothing."`
}

type definitionView struct {
	ID            string     `json:"id"`
	Name          *string    `json:"name"`
	Description   *string    `json:"description"`
	Version       int        `json:"version" doc:"The published version, or the latest if none is published."`
	Published     bool       `json:"published"`
	LatestVersion int        `json:"latestVersion"`
	PublishedAt   *time.Time `json:"publishedAt"`
	UpdatedAt     time.Time  `json:"updatedAt"`
	Set           *string    `json:"set" doc:"The set of definitions that it is of, as it was last published with one; null: none."`

	Starts     []startsView `json:"starts,omitempty" doc:"With starts=true: what starts instances of it by itself, of events and endpoints the first 5 each. Absent: none, or it was not asked for."`
	Schedules  bool         `json:"schedules,omitempty" doc:"With starts=true: timers, dates or cron expressions start it; GET /timers has when."`
	MoreStarts bool         `json:"moreStarts,omitempty" doc:"With starts=true: there are others, or may be."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

type publishBody struct {
	Version int `json:"version" doc:"The latest one if absent."`
}

func (a *API) definitionRoutes() []route {
	missing := workflow.CodeDefinitionNotFound
	publishing := []workflow.Code{missing, workflow.CodeDefinitionInvalid, workflow.CodeDefinitionMoved, workflow.CodeRouteTaken, workflow.CodeTooLarge}
	return append([]route{
		{method: "POST", path: "/definitions", name: "publishDefinition", costly: true, role: auth.Designer, tag: "definitions", kind: changes, target: "a definition",
			summary: "Check a definition and publish it; content equal to the published one is no new version",
			ifMatch: "The ETag of the definition that this was made from, \"0\" if there was none: 409 definition-moved if another version is there.",
			query: []param{
				{name: "publish", typ: "boolean", doc: "false keeps it as a draft."},
				{name: "dryRun", typ: "boolean", doc: "Check everything and write nothing."},
				{name: "strict", typ: "boolean", doc: "A warning is an error."},
				{name: "set", typ: "string", doc: "The definition is of this set from now on: a name as ids are. Absent: of the one that it is of."},
			},
			bodyDoc: "Weft's YAML, or Elsa's JSON, also wrapped as {model, publish}. Without a content type it is told by its look.",
			answers: map[int]any{201: publishedView{}, 200: publishedView{}}, problems: publishing, serve: (*call).publish},
		{method: "GET", path: "/definitions", name: "listDefinitions", role: auth.Viewer, tag: "definitions", kind: reads, summary: "List definitions",
			query:   append([]param{{name: "starts", typ: "boolean", doc: "Tell also what starts each of them by itself."}}, pageParams...),
			answers: map[int]any{200: listView[definitionView]{}}, serve: (*call).listDefinitions},
		{method: "GET", path: "/definitions/{id}", name: "getDefinition", role: auth.Viewer, tag: "definitions", kind: reads,
			summary: "The source of a definition: as it was written, or as Accept wants it",
			query:   []param{{name: "version", typ: "integer", doc: "The published one if absent."}},
			answers: map[int]any{200: textOf{"application/yaml", "application/json"}}, problems: []workflow.Code{missing, codeNotAcceptable},
			serve: (*call).getDefinition},
		{method: "POST", path: "/definitions/{id}/publish", name: "publishVersion", costly: true, role: auth.Designer, tag: "definitions", kind: changes,
			summary: "Publish a stored version: a draft, or an older one again", body: publishBody{},
			answers: map[int]any{200: publishedView{}}, problems: publishing, serve: (*call).publishVersion},
		{method: "POST", path: "/definitions/{id}/retract", name: "retractDefinition", role: auth.Designer, tag: "definitions", kind: changes,
			summary: "Take the published version back: nothing starts by it any more",
			answers: map[int]any{200: publishedView{}}, problems: []workflow.Code{missing}, serve: (*call).retract},
		{method: "DELETE", path: "/definitions/{id}", name: "deleteDefinition", role: auth.Designer, tag: "definitions", kind: changes, summary: "Remove a definition",
			ifMatch: "The ETag of the definition that is to go: 409 definition-moved if another version is there.",
			query: []param{{name: "force", typ: "boolean", doc: "Also while instances run; they go on to their end."},
				{name: "set", typ: "string", doc: "Only if it is of this set: 409 definition-moved if not."}},
			answers: map[int]any{204: nil}, problems: []workflow.Code{missing, workflow.CodeDefinitionInUse, workflow.CodeDefinitionMoved}, serve: (*call).deleteDefinition},
		{method: "DELETE", path: "/definitions/{id}/versions/{version}", name: "deleteVersion", role: auth.Designer, tag: "definitions", kind: changes,
			summary: "Remove a version that nothing needs; its source goes an hour later",
			answers: map[int]any{204: nil}, problems: []workflow.Code{missing, workflow.CodeDefinitionInUse, workflow.CodeDefinitionMoved}, serve: (*call).deleteVersion},
	}, append(a.editingRoutes(), a.refreshRoutes()...)...)
}

func (c *call) publish() (reply, error) {
	publish, err := c.flag("publish", true)
	if err != nil {
		return reply{}, err
	}
	dryRun, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	strict, err := c.flag("strict", false)
	if err != nil {
		return reply{}, err
	}
	typ, err := c.notation()
	if err != nil {
		return reply{}, err
	}
	over, err := c.overVersion()
	if err != nil {
		return reply{}, err
	}
	if len(strings.TrimSpace(string(c.body))) == 0 {
		return reply{}, invalid("empty-body", "", "the body has to be a definition")
	}
	if err := c.api.cfg.Runtime.Room(); err != nil && !dryRun {
		return reply{}, err
	}
	res, err := c.api.cfg.Catalog.Publish(c.r.Context(), catalog.PublishRequest{
		Source: c.body, ContentType: typ, Publish: publish, DryRun: dryRun, Strict: strict, Over: over, Set: c.query.Get("set"),
	})
	if err != nil {
		return reply{}, err
	}
	c.about("", res.ID, "version", strconv.Itoa(res.Version))
	answer := viewPublished(res, dryRun)
	if res.Created && !dryRun {
		answer.status = http.StatusCreated
	}
	return answer, nil
}

func viewPublished(res catalog.PublishResult, dryRun bool) reply {
	v := publishedView{ID: res.ID, Version: res.Version, Published: res.Published, Before: res.Before, WasOf: res.WasOf, Revision: res.Revision, Warnings: problemItems(res.Warnings)}
	if dryRun {
		v.Over = &res.Over
	}
	return reply{body: v, location: prefix + "/definitions/" + res.ID}
}

func (c *call) listDefinitions() (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	starts, err := c.flag("starts", false)
	if err != nil {
		return reply{}, err
	}
	items, end, err := c.api.cfg.Catalog.List(c.r.Context(), cursor, limit)
	if err != nil {
		return reply{}, err
	}
	var by map[string]catalog.Started
	if starts && len(items) > 0 {
		if by, err = c.api.authoring.StartedBy(c.r.Context(), items, end.Revision); err != nil {
			return reply{}, err
		}
	}
	return reply{body: list(runtime.Page[catalog.Summary]{Items: items, Next: end.Next, Revision: end.Revision}, func(d catalog.Summary) definitionView {
		v, s := viewDefinition(d), by[d.ID]
		v.Starts, v.Schedules, v.MoreStarts = each(s.Starts, viewStart), s.Schedules, s.More
		return v
	})}, nil
}

func viewDefinition(d catalog.Summary) definitionView {
	v := definitionView{
		ID: d.ID, Name: some(d.Name), Description: some(d.Description), Version: d.Published, Published: d.Published != 0,
		LatestVersion: d.Latest, UpdatedAt: d.UpdatedAt.UTC(), Set: some(d.Set), Damaged: d.Damaged != "", Damage: d.Damaged,
	}
	if !v.Published {
		v.Version = d.Latest
	}
	if !d.PublishedAt.IsZero() {
		v.PublishedAt = someTime(&d.PublishedAt)
	}
	return v
}

func (c *call) getDefinition() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	version, err := c.version()
	if err != nil {
		return reply{}, err
	}
	notation, err := c.accepted()
	if err != nil {
		return reply{}, err
	}
	src, err := c.api.cfg.Catalog.Source(c.r.Context(), id, version, notation)
	if err != nil {
		return reply{}, err
	}
	return reply{raw: src.Content, rawType: src.Notation.ContentType(), etag: `"` + strconv.Itoa(src.Version) + `"`}, nil
}

// version is the query's version of a definition, 0 if it names none.
func (c *request) version() (int, error) { return c.versionIn("version") }

// versionIn is a version that a parameter names, 0 if it is absent.
func (c *request) versionIn(name string) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return 0, nil
	}
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, invalid("bad-version", "", name+" must be a whole number from 1")
	}
	return version, nil
}

// accepted is the notation that the client wants most; "" if it wants any.
func (c *call) accepted() (catalog.Notation, error) {
	header := strings.Join(c.r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return "", nil
	}
	best, found, weight := catalog.Notation(""), false, 0.0
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
		var n catalog.Notation
		switch {
		case isYAML(typ):
			n = catalog.YAML
		case isJSON(typ):
			n = catalog.JSON
		case typ == "*/*", typ == "application/*", typ == "text/*":
		default:
			continue
		}
		if q > weight {
			best, found, weight = n, true, q
		}
	}
	if !found {
		return "", workflow.Fail(codeNotAcceptable, "definitions come as application/yaml or application/json")
	}
	return best, nil
}

func (c *call) publishVersion() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	var b publishBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	if b.Version < 0 {
		return reply{}, invalid("bad-version", "/version", "version must be 1 or more")
	}
	res, err := c.api.cfg.Catalog.PublishVersion(c.r.Context(), id, b.Version)
	if err != nil {
		return reply{}, err
	}
	return viewPublished(res, false), nil
}

func (c *call) retract() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	if err := c.api.cfg.Catalog.Retract(c.r.Context(), id); err != nil {
		return reply{}, err
	}
	d, err := c.api.cfg.Catalog.Latest(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return reply{body: publishedView{ID: id, Version: d.Latest, Published: d.Published != 0}}, nil
}

func (c *call) deleteVersion() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	version, err := strconv.Atoi(c.r.PathValue("version"))
	if err != nil || version < 1 {
		return reply{}, invalid("bad-version", "", "the version in the path must be a whole number from 1")
	}
	return reply{status: http.StatusNoContent}, c.api.cfg.Catalog.DeleteVersion(c.r.Context(), id, version)
}

func (c *call) deleteDefinition() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	force, err := c.flag("force", false)
	if err != nil {
		return reply{}, err
	}
	over, err := c.overVersion()
	if err != nil {
		return reply{}, err
	}
	if c.query.Has("set") {
		if err := workflow.CheckID("the name of a set", c.query.Get("set")); err != nil {
			return reply{}, invalid("bad-parameter", "", err.Error())
		}
	}
	return reply{status: http.StatusNoContent}, catalog.SetsOf(c.api.cfg.Catalog).Delete(c.r.Context(), id, catalog.Deletion{Set: c.query.Get("set"), Over: over, Force: force})
}
