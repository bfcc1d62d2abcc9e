package httpapi

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// bookmarkRoutes say what waits.
func (a *API) bookmarkRoutes() []route {
	return []route{{method: "GET", path: "/bookmarks", name: "listBookmarks", role: auth.Viewer, tag: "stimuli", kind: reads,
		summary: "Places where instances wait, by what they wait for",
		query: append([]param{
			{name: "event", typ: "string", doc: "Only those that wait for this event: these alone are read."},
			{name: "definitionId", typ: "string", doc: "Only of instances of this definition: these alone are read, the newest first."},
			{name: "correlationId", typ: "string", doc: "Only of instances with this correlation id."},
			{name: "activityType", typ: "string", doc: "Only of this type, such as Elsa.RunTask: all that waits is looked through, or all of the definition."},
			{name: "name", typ: "string", doc: "Only with this name, of an event, a task or an endpoint: all that waits is looked through, or all of the definition."},
		}, pageParams...),
		answers: map[int]any{200: bookmarksView{}}, serve: listBookmarks}}
}

type bookmarksView struct {
	Items      []awaitingView `json:"items"`
	NextCursor *string        `json:"nextCursor" doc:"Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one."`
	Looked     int            `json:"looked" doc:"How many were looked at for the page; at about 20,000 it ends."`
	Revision   int64          `json:"revision" doc:"Of etcd: all of the page is as it was then."`
}

type awaitingView struct {
	BookmarkID    string     `json:"bookmarkId" doc:"Empty where the record of the instance cannot be read."`
	InstanceID    string     `json:"instanceId"`
	ActivityType  *string    `json:"activityType"`
	Name          *string    `json:"name"`
	CorrelationID *string    `json:"correlationId"`
	Since         *time.Time `json:"since"`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

func listBookmarks(c *call) (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	f := runtime.BookmarkFilter{
		Event: c.query.Get("event"), DefinitionID: c.query.Get("definitionId"), CorrelationID: c.query.Get("correlationId"), Type: c.query.Get("activityType"), Name: c.query.Get("name"),
	}
	if err := checkNames([2]string{"event", f.Event}, [2]string{"correlationId", f.CorrelationID}, [2]string{"activityType", f.Type}, [2]string{"name", f.Name}); err != nil {
		return reply{}, err
	}
	if f.DefinitionID != "" {
		if err := workflow.CheckID("definitionId", f.DefinitionID); err != nil {
			return reply{}, invalid("bad-id", "/definitionId", err.Error())
		}
	}
	if f.Event != "" && (f.Type != "" || f.Name != "") {
		return reply{}, invalid("said-twice", "/event", "event is a type and a name: leave out activityType and name, or it")
	}
	page, err := c.api.cfg.Runtime.Bookmarks(c.r.Context(), f, cursor, limit)
	if err != nil {
		return reply{}, err
	}
	return reply{body: bookmarksView{Looked: page.Looked, Revision: page.Revision, NextCursor: some(page.Next), Items: each(page.Items, func(b runtime.AwaitingBookmark) awaitingView {
		return awaitingView{b.ID, b.InstanceID, some(b.Type), some(b.Name), some(b.CorrelationID), knownTime(b.Created), b.Damaged != "", b.Damaged}
	})}}, nil
}
