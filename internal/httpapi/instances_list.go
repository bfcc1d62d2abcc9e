package httpapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// foundView is a page of instances.
type foundView[T any] struct {
	Items      []T       `json:"items"`
	NextCursor *string   `json:"nextCursor" doc:"Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one."`
	Revision   int64     `json:"revision" doc:"Of etcd: all of the page is as it was then."`
	Looked     int       `json:"looked" doc:"How many instances were looked at for the page; at 20,000 it ends."`
	Query      string    `json:"query" doc:"The filter as one line, as q takes it."`
	Now        time.Time `json:"now" doc:"What durations in the filter count from, on every page of the list."`
}

func found[T any](page runtime.InstancePage, f find.Filter, view func(workflow.Instance) T) reply {
	return reply{body: foundView[T]{
		Items: each(page.Items, view), NextCursor: some(page.Next), Revision: page.Revision, Looked: page.Looked, Query: f.String(), Now: page.Now,
	}}
}

// summaryView is an instance as a row of a list.
type summaryView struct {
	InstanceID       string             `json:"instanceId"`
	DefinitionID     string             `json:"definitionId"`
	Version          int                `json:"version"`
	Name             *string            `json:"name"`
	Status           workflow.Status    `json:"status" enum:"Running,Finished," doc:"Empty only of a damaged instance."`
	SubStatus        workflow.SubStatus `json:"subStatus" enum:"Pending,Executing,Suspended,Finished,Cancelled,Faulted,"`
	CorrelationID    *string            `json:"correlationId"`
	Labels           map[string]string  `json:"labels"`
	ParentInstanceID *string            `json:"parentInstanceId"`
	CreatedAt        time.Time          `json:"createdAt"`
	UpdatedAt        time.Time          `json:"updatedAt"`
	FinishedAt       *time.Time         `json:"finishedAt"`
	Incidents        int                `json:"incidents" doc:"How many it has."`
	Incident         *string            `json:"incident" doc:"The message of the last of them, 200 characters at most; null: it has none."`
	Waits            int                `json:"waits" doc:"At how many bookmarks it waits."`
	WaitsFor         []waitView         `json:"waitsFor" doc:"The first 5 of them."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

// waitView is what an instance waits for.
type waitView struct {
	Kind  string     `json:"kind" doc:"event, task, timer, child, http, or the type of the activity."`
	Name  *string    `json:"name" doc:"Of the event or the task; the method and the path; the instance id of the child."`
	Since time.Time  `json:"since"`
	DueAt *time.Time `json:"dueAt" doc:"When a timer resumes it."`
}

// mostWaits is how many waits of an instance its row shows.
const mostWaits = 5

func (a *API) listRoute() route {
	times := func(name, what string) []param {
		return []param{
			{name: name + "After", typ: "string", doc: what + " later than this: RFC 3339, or how long ago, such as 2h."},
			{name: name + "Before", typ: "string", doc: what + " earlier than this."},
		}
	}
	query := []param{
		{name: "q", typ: "string", doc: "The filter as one line, such as status:faulted def:order created<2h; docs/api.md has the words. It goes together with other parameters."},
		{name: "definitionId", typ: "string"}, {name: "version", typ: "integer", doc: "Of the definition, which has to be named too."},
		{name: "correlationId", typ: "string"}, {name: "parent", typ: "string", doc: "Id of the instance that started them."},
		{name: "name", typ: "string", doc: "Of the instance, all of it."},
		{name: "label.<name>", typ: "string", doc: "Those with this label; several may be given."},
		{name: "status", typ: "string", values: []string{"Running", "Finished"}},
		{name: "subStatus", typ: "string", values: []string{"Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted"}},
		{name: "waitsFor", typ: "string", doc: "A kind of wait and perhaps its name, such as event/approved, task/pack, timer, child, http or Elsa.Event."},
		{name: "hasIncidents", typ: "boolean"},
		{name: "incident", typ: "string", doc: "A part of the message or the cause of an incident, in letters of any case."},
		{name: "view", typ: "string", doc: "summary: small rows; full if absent.", values: []string{"summary", "full"}},
		{name: "sort", typ: "string", doc: "created, the oldest first; -created, the newest first, if absent.", values: []string{"-created", "created"}},
	}
	query = append(query, times("created", "Made")...)
	query = append(query, times("updated", "Changed last")...)
	query = append(query, times("finished", "Ended")...)
	return route{
		method: "GET", path: "/instances", name: "listInstances", role: auth.Viewer, tag: "instances", kind: reads, summary: "List instances, the newest first, or the oldest",
		query: append(query, pageParams...), answers: map[int]any{200: oneOf{foundView[instanceView]{}, foundView[summaryView]{}}}, serve: (*call).listInstances,
	}
}

func (c *call) listInstances() (reply, error) {
	f, err := c.filter()
	if err != nil {
		return reply{}, err
	}
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	summary := c.query.Get("view") == "summary"
	page, err := c.api.cfg.Runtime.Instances(c.r.Context(), f, runtime.Paging{Limit: limit, Cursor: cursor, Show: c.shown(), Whole: !summary})
	if err != nil {
		return reply{}, err
	}
	if summary {
		return found(page, f, viewSummary), nil
	}
	return found(page, f, viewInstance), nil
}

// filter reads the parameters of a filter and its line, which hold together. Of one that is given
// twice nobody knows which was meant.
func (c *request) filter() (find.Filter, error) {
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		if n := len(c.query[name]); n > 1 {
			return find.Filter{}, invalid("bad-parameter", "/"+shorten(name), fmt.Sprintf("%s is given %d times; give it one value", shorten(name), n))
		}
	}
	f, err := find.FromParams(c.query)
	if err != nil {
		return f, err
	}
	line, err := find.Parse(c.query.Get("q"), "/q")
	if err != nil {
		return f, err
	}
	both, twice := f.And(line)
	if len(twice) > 0 {
		return f, invalid("said-twice", "/q", "a parameter says something else than "+strings.Join(twice, ", ")+" in q, and no instance is both")
	}
	return both, nil
}

// shown gives texts as [API.encode] lets this caller see them.
func (c *request) shown() func(string) string { return shownTo(c.api, c.api.onlyLooks(c.r)) }

// shownTo gives texts as who only looks may see them, or an operator. It keeps nothing of a
// request: who looks at a list keeps it for all who do, however long.
func shownTo(a *API, onlyLooks bool) func(string) string {
	return func(text string) string {
		if onlyLooks {
			text = workflow.HideLinks(text)
		}
		if a.cfg.Secrets != nil {
			text = a.cfg.Secrets().Redact(text)
		}
		return text
	}
}

func viewSummary(in workflow.Instance) summaryView {
	v := summaryView{
		InstanceID: in.ID, DefinitionID: in.DefinitionID, Version: in.Version, Name: some(in.Name), Status: in.Status, SubStatus: in.SubStatus,
		CorrelationID: some(in.CorrelationID), Labels: viewLabels(in.Labels), ParentInstanceID: parentOf(in),
		CreatedAt: in.CreatedAt.UTC(), UpdatedAt: in.UpdatedAt.UTC(), FinishedAt: someTime(in.FinishedAt),
		Incidents: len(in.Incidents), Waits: len(in.Bookmarks), Damaged: in.Damaged != "", Damage: in.Damaged,
		WaitsFor: each(in.Bookmarks[:min(len(in.Bookmarks), mostWaits)], viewWait),
	}
	if n := len(in.Incidents); n > 0 {
		v.Incident = some(live.ShortIncident(in.Incidents[n-1].Message))
	}
	return v
}

func viewWait(b workflow.Bookmark) waitView {
	w := find.KindOf(&b)
	return waitView{Kind: w.Kind, Name: some(cmp.Or(w.Name, b.Name)), Since: b.CreatedAt.UTC(), DueAt: someTime(b.DueAt)}
}
