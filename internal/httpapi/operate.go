package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// operateRoutes show what the cluster is doing, and stop and go.
func (a *API) operateRoutes() []route {
	return []route{
		{method: "GET", path: "/locks", name: "listLocks", role: auth.Viewer, tag: "cluster", kind: reads, summary: "Locks that are held, with who waits",
			query:   append([]param{{name: "scope", typ: "string", doc: "Only locks of this kind.", values: lockScopes}}, pageParams...),
			answers: map[int]any{200: locksView{}}, serve: (*call).locks},
		{method: "GET", path: "/timers", name: "listTimers", role: auth.Viewer, tag: "cluster", kind: reads, summary: "Timers and cron occurrences to come, the soonest first",
			query:   append([]param{{name: "kind", typ: "string", doc: "Only timers of instances, or only the next occurrence of each schedule.", values: []string{string(inspect.UpcomingTimers), string(inspect.UpcomingSchedules)}}}, pageParams...),
			answers: map[int]any{200: listView[timerItemView]{}}, serve: (*call).timers},
		{method: "POST", path: "/pause", name: "pause", role: auth.Admin, tag: "cluster", kind: changes, reserved: true, target: "the cluster",
			summary: "Stop new work on all nodes: starts, events, timers and the queue; work that runs goes on",
			answers: map[int]any{200: pausedView{}}, serve: func(c *call) (reply, error) { return c.pause(true) }},
		{method: "POST", path: "/unpause", name: "unpause", role: auth.Admin, tag: "cluster", kind: changes, reserved: true, target: "the cluster", summary: "Go on after a pause",
			answers: map[int]any{200: pausedView{}}, serve: func(c *call) (reply, error) { return c.pause(false) }},
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
	return lockView{Name: i.Name, Scope: string(i.Scope), Holder: some(i.Holder.NodeID), Fence: i.Holder.Fence.Revision, Since: knownTime(i.Holder.Since),
		Waiters: each(i.Waiters, func(h cluster.Holder) waiterView {
			return waiterView{some(h.NodeID), knownTime(h.Since), h.Fence.Revision}
		})}
}

func (c *call) locks() (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	page, err := c.api.cfg.Session.Locks().List(c.r.Context(), cluster.Scope(c.query.Get("scope")), limit, cursor)
	if errors.Is(err, cluster.ErrBadCursor) {
		return reply{}, invalid("bad-cursor", "", "the cursor is not one of this list")
	}
	if err != nil {
		return reply{}, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "etcd does not answer", Err: err}
	}
	return reply{body: locksView{each(page.Locks, viewLock), some(page.Next), page.Revision}}, nil
}

func (c *call) timers() (reply, error) {
	return paged(c, func(ctx context.Context, cursor string, limit int) (runtime.Page[runtime.TimerItem], error) {
		return c.api.cfg.Runtime.Upcoming(ctx, inspect.Upcoming(c.query.Get("kind")), cursor, limit)
	}, viewTimerItem)
}

// paged serves a list that has no filters.
func paged[T, V any](c *call, read func(ctx context.Context, cursor string, limit int) (runtime.Page[T], error), view func(T) V) (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	page, err := read(c.r.Context(), cursor, limit)
	if err != nil {
		return reply{}, err
	}
	return reply{body: list(page, view)}, nil
}

func (c *call) pause(paused bool) (reply, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	do := c.api.cfg.Runtime.Unpause
	if paused {
		do = c.api.cfg.Runtime.Pause
	}
	return reply{body: pausedView{paused}}, do(c.r.Context())
}
