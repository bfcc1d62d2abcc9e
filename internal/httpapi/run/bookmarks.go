package run

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// bookmarkRoutes say what waits.
func bookmarkRoutes() []serve.Route {
	return []serve.Route{{Method: "GET", Path: "/bookmarks", Name: "listBookmarks", Role: auth.Viewer, Tag: "stimuli", Kind: serve.Reads,
		Summary: "Places where instances wait, by what they wait for",
		Query: append([]serve.Param{
			{Name: "event", Type: "string", Doc: "Only those that wait for this event: these alone are read."},
			{Name: "definitionId", Type: "string", Doc: "Only of instances of this definition: these alone are read, the newest first."},
			{Name: "correlationId", Type: "string", Doc: "Only of instances with this correlation id."},
			{Name: "activityType", Type: "string", Doc: "Only of this type, such as Elsa.RunTask: all that waits is looked through, or all of the definition."},
			{Name: "name", Type: "string", Doc: "Only with this name, of an event, a task or an endpoint: all that waits is looked through, or all of the definition."},
		}, serve.PageParams...),
		Answers: map[int]any{200: bookmarksView{}}, Serve: listBookmarks}}
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

func listBookmarks(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	f := runtime.BookmarkFilter{
		Event: c.Query.Get("event"), DefinitionID: c.Query.Get("definitionId"), CorrelationID: c.Query.Get("correlationId"), Type: c.Query.Get("activityType"), Name: c.Query.Get("name"),
	}
	if err := serve.CheckNames([2]string{"event", f.Event}, [2]string{"correlationId", f.CorrelationID}, [2]string{"activityType", f.Type}, [2]string{"name", f.Name}); err != nil {
		return serve.Reply{}, err
	}
	if f.DefinitionID != "" {
		if err := workflow.CheckID("definitionId", f.DefinitionID); err != nil {
			return serve.Reply{}, serve.Invalid("bad-id", "/definitionId", err.Error())
		}
	}
	if f.Event != "" && (f.Type != "" || f.Name != "") {
		return serve.Reply{}, serve.Invalid("said-twice", "/event", "event is a type and a name: leave out activityType and name, or it")
	}
	page, err := c.API.Config.Runtime.Inspector.Bookmarks(c.Request.Context(), f, cursor, limit)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: bookmarksView{Looked: page.Looked, Revision: page.Revision, NextCursor: shape.Some(page.Next), Items: shape.Each(page.Items, func(b runtime.AwaitingBookmark) awaitingView {
		return awaitingView{b.ID, b.InstanceID, shape.Some(b.Type), shape.Some(b.Name), shape.Some(b.CorrelationID), shape.KnownTime(b.Created), b.Damaged != "", b.Damaged}
	})}}, nil
}
