package operate

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// clusterRoutes show what the cluster is doing, and stop and go.
func clusterRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/locks", Name: "listLocks", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "Locks that are held, with who waits",
			Query:   append([]serve.Param{{Name: "scope", Type: "string", Doc: "Only locks of this kind.", Values: lockScopes}}, serve.PageParams...),
			Answers: map[int]any{200: locksView{}}, Serve: listLocks},
		{Method: "GET", Path: "/timers", Name: "listTimers", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "Timers and cron occurrences to come, the soonest first",
			Query:   append([]serve.Param{{Name: "kind", Type: "string", Doc: "Only timers of instances, or only the next occurrence of each schedule.", Values: []string{string(inspect.UpcomingTimers), string(inspect.UpcomingSchedules)}}}, serve.PageParams...),
			Answers: map[int]any{200: shape.List[shape.TimerItem]{}}, Serve: listTimers},
		{Method: "POST", Path: "/pause", Name: "pause", Role: auth.Admin, Tag: "cluster", Kind: serve.Changes, Reserved: true, Target: "the cluster",
			Summary: "Stop new work on all nodes: starts, events, timers and the queue; work that runs goes on",
			Answers: map[int]any{200: pausedView{}}, Serve: func(c *serve.Call) (serve.Reply, error) { return setPaused(c, true) }},
		{Method: "POST", Path: "/unpause", Name: "unpause", Role: auth.Admin, Tag: "cluster", Kind: serve.Changes, Reserved: true, Target: "the cluster", Summary: "Go on after a pause",
			Answers: map[int]any{200: pausedView{}}, Serve: func(c *serve.Call) (serve.Reply, error) { return setPaused(c, false) }},
	}
}

type pausedView struct {
	Paused bool `json:"paused"`
}

// locksView is one page of locks.
type locksView struct {
	Items      []lockView `json:"items"`
	NextCursor *string    `json:"nextCursor" doc:"Pass it as cursor for the next page; null at the end."`
	Revision   int64      `json:"revision" doc:"Of etcd, at which they were so."`
}

type lockView struct {
	Name    string       `json:"name"`
	Scope   string       `json:"scope"`
	Holder  *string      `json:"holder" doc:"Id of the node."`
	Waiters []waiterView `json:"waiters" doc:"Nodes that want it, in the order in which they get it."`
	Fence   int64        `json:"fence" doc:"Create revision of the lock's key in etcd."`
	Since   *time.Time   `json:"since" doc:"When the holder asked for it, by its clock; null if not known."`
}

type waiterView struct {
	NodeID *string    `json:"nodeId"`
	Since  *time.Time `json:"since" doc:"When it asked for the lock, by its clock; null if not known."`
	Fence  int64      `json:"fence" doc:"Create revision of its key in etcd: the fence that it will have."`
}

var lockScopes = []string{
	string(cluster.ScopeInstance), string(cluster.ScopeRefresh), string(cluster.ScopeReload),
	string(cluster.ScopeQueue), string(cluster.ScopeTimer), string(cluster.ScopeMailbox),
}

func viewLock(i cluster.Info) lockView {
	return lockView{Name: i.Name, Scope: string(i.Scope), Holder: shape.Some(i.Holder.NodeID), Fence: i.Holder.Fence.Revision, Since: shape.KnownTime(i.Holder.Since),
		Waiters: shape.Each(i.Waiters, func(h cluster.Holder) waiterView {
			return waiterView{shape.Some(h.NodeID), shape.KnownTime(h.Since), h.Fence.Revision}
		})}
}

func listLocks(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	page, err := c.API.Config.Session.Locks().List(c.Request.Context(), cluster.Scope(c.Query.Get("scope")), limit, cursor)
	if errors.Is(err, cluster.ErrBadCursor) {
		return serve.Reply{}, serve.Invalid("bad-cursor", "", "the cursor is not one of this list")
	}
	if err != nil {
		return serve.Reply{}, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "etcd does not answer", Err: err}
	}
	return serve.Reply{Body: locksView{shape.Each(page.Locks, viewLock), shape.Some(page.Next), page.Revision}}, nil
}

func listTimers(c *serve.Call) (serve.Reply, error) {
	return paged(c, func(ctx context.Context, cursor string, limit int) (runtime.Page[runtime.TimerItem], error) {
		return c.API.Config.Runtime.Inspector.Upcoming(ctx, inspect.Upcoming(c.Query.Get("kind")), cursor, limit)
	}, shape.ViewTimerItem)
}

// paged serves a list that has no filters.
func paged[T, V any](c *serve.Call, read func(ctx context.Context, cursor string, limit int) (runtime.Page[T], error), view func(T) V) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	page, err := read(c.Request.Context(), cursor, limit)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: shape.ListOf(page, view)}, nil
}

func setPaused(c *serve.Call, paused bool) (serve.Reply, error) {
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	do := c.API.Config.Runtime.Pauses.Unpause
	if paused {
		do = c.API.Config.Runtime.Pauses.Pause
	}
	return serve.Reply{Body: pausedView{paused}}, do(c.Request.Context())
}
