package run

import (
	"cmp"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
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

func found[T any](page runtime.InstancePage, f find.Filter, view func(workflow.Instance) T) serve.Reply {
	return serve.Reply{Body: foundView[T]{
		Items: shape.Each(page.Items, view), NextCursor: shape.Some(page.Next), Revision: page.Revision, Looked: page.Looked, Query: f.String(), Now: page.Now,
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

	Archived bool `json:"archived,omitempty" doc:"It has left etcd, and the archive told it. See docs/operations/archive.md."`

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

func listRoute() serve.Route {
	times := func(name, what string) []serve.Param {
		return []serve.Param{
			{Name: name + "After", Type: "string", Doc: what + " later than this: RFC 3339, or how long ago, such as 2h."},
			{Name: name + "Before", Type: "string", Doc: what + " earlier than this."},
		}
	}
	query := []serve.Param{
		{Name: "q", Type: "string", Doc: "The filter as one line, such as status:faulted def:order created<2h; docs/api.md has the words. It goes together with other parameters."},
		{Name: "definitionId", Type: "string"}, {Name: "version", Type: "integer", Doc: "Of the definition, which has to be named too."},
		{Name: "correlationId", Type: "string"}, {Name: "parent", Type: "string", Doc: "Id of the instance that started them."},
		{Name: "name", Type: "string", Doc: "Of the instance, all of it."},
		{Name: "label.<name>", Type: "string", Doc: "Those with this label; several may be given."},
		{Name: "status", Type: "string", Values: []string{"Running", "Finished"}},
		{Name: "subStatus", Type: "string", Values: []string{"Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted"}},
		{Name: "waitsFor", Type: "string", Doc: "A kind of wait and perhaps its name, such as event/approved, task/pack, timer, child, http or Elsa.Event."},
		{Name: "hasIncidents", Type: "boolean"},
		{Name: "incident", Type: "string", Doc: "A part of the message or the cause of an incident, in letters of any case."},
		{Name: "view", Type: "string", Doc: "summary: small rows; full if absent.", Values: []string{"summary", "full"}},
		{Name: "sort", Type: "string", Doc: "created, the oldest first; -created, the newest first, if absent.", Values: []string{"-created", "created"}},
	}
	query = append(query, times("created", "Made")...)
	query = append(query, times("updated", "Changed last")...)
	query = append(query, times("finished", "Ended")...)
	return serve.Route{
		Method: "GET", Path: "/instances", Name: "listInstances", Role: auth.Viewer, Tag: "instances", Kind: serve.Reads, Summary: "List instances, the newest first, or the oldest",
		Query: append(query, serve.PageParams...), Answers: map[int]any{200: schema.OneOf{foundView[shape.Instance]{}, foundView[summaryView]{}}}, Serve: listInstances,
	}
}

func listInstances(c *serve.Call) (serve.Reply, error) {
	f, err := filterOf(c)
	if err != nil {
		return serve.Reply{}, err
	}
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	summary := c.Query.Get("view") == "summary"
	page, err := c.API.Config.Runtime.Inspector.Instances(c.Request.Context(), f, runtime.Paging{Limit: limit, Cursor: cursor, Show: shown(c), Whole: !summary})
	if err != nil {
		return serve.Reply{}, err
	}
	if summary {
		return found(page, f, viewSummary), nil
	}
	return found(page, f, shape.ViewInstance), nil
}

// filterOf reads the parameters of a filter and its line, which hold together.
func filterOf(c *serve.Call) (find.Filter, error) {
	f, err := find.FromParams(c.Query)
	if err != nil {
		return f, err
	}
	line, err := find.Parse(c.Query.Get("q"), "/q")
	if err != nil {
		return f, err
	}
	both, twice := f.And(line)
	if len(twice) > 0 {
		return f, serve.Invalid("said-twice", "/q", "a parameter says something else than "+strings.Join(twice, ", ")+" in q, and no instance is both")
	}
	return both, nil
}

// shown gives texts as [serve.API.Encode] lets this caller see them.
func shown(c *serve.Call) func(string) string { return shownTo(c.API, c.API.OnlyLooks(c.Request)) }

// shownTo gives texts as who only looks may see them, or an operator. It keeps nothing of a
// request: who looks at a list keeps it for all who do, however long.
func shownTo(a *serve.API, onlyLooks bool) func(string) string {
	return func(text string) string {
		if onlyLooks {
			text = resumelink.Hide(text)
		}
		if a.Config.Secrets != nil {
			text = a.Config.Secrets().Redact(text)
		}
		return text
	}
}

func viewSummary(in workflow.Instance) summaryView {
	v := summaryView{
		InstanceID: in.ID, DefinitionID: in.DefinitionID, Version: in.Version, Name: shape.Some(in.Name), Status: in.Status, SubStatus: in.SubStatus,
		CorrelationID: shape.Some(in.CorrelationID), Labels: shape.ViewLabels(in.Labels), ParentInstanceID: shape.ParentOf(in),
		CreatedAt: in.CreatedAt.UTC(), UpdatedAt: in.UpdatedAt.UTC(), FinishedAt: shape.SomeTime(in.FinishedAt),
		Incidents: len(in.Incidents), Waits: len(in.Bookmarks) + in.MoreWaits, Archived: in.Archived, Damaged: in.Damaged != "", Damage: in.Damaged,
		WaitsFor: shape.Each(in.Bookmarks[:min(len(in.Bookmarks), mostWaits)], viewWait),
	}
	if n := len(in.Incidents); n > 0 {
		v.Incident = shape.Some(live.ShortIncident(in.Incidents[n-1].Message))
	}
	return v
}

func viewWait(b workflow.Bookmark) waitView {
	w := find.KindOf(&b)
	return waitView{Kind: w.Kind, Name: shape.Some(cmp.Or(w.Name, b.Name)), Since: b.CreatedAt.UTC(), DueAt: shape.SomeTime(b.DueAt)}
}
