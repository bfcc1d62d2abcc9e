package operate

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/limits"
	"github.com/weft-run/weft/pkg/workflow"
)

// limitRoutes say how many may have a place at once, and who has one.
func limitRoutes(cfg *serve.Config) []serve.Route {
	if cfg.Limits == nil {
		return nil
	}
	none := []workflow.Code{workflow.CodeLimitNotFound}
	return []serve.Route{
		{Method: "GET", Path: "/limits", Name: "listLimits", Role: auth.Viewer, Tag: "limits", Kind: serve.Reads, Costly: true, Summary: "All limits, and those that somebody waits for, with how they stand",
			Answers: map[int]any{200: limitsView{}}, Serve: listLimits},
		{Method: "GET", Path: "/limits/{name}", Name: "getLimit", Role: auth.Viewer, Tag: "limits", Kind: serve.Reads, Costly: true, Summary: "One limit, and how it stands for each key",
			Answers: map[int]any{200: limitView{}}, Problems: none, Serve: getLimit},
		{Method: "PUT", Path: "/limits/{name}", Name: "putLimit", Role: auth.Operator, Tag: "limits", Kind: serve.Changes, Summary: "Set how many may have a place of a limit at once, of each key",
			Body: limitBody{}, Answers: map[int]any{200: limitView{}, 201: limitView{}}, Problems: []workflow.Code{workflow.CodeBusy}, Serve: putLimit},
		{Method: "DELETE", Path: "/limits/{name}", Name: "deleteLimit", Role: auth.Operator, Tag: "limits", Kind: serve.Changes, Summary: "Forget a limit: who has a place keeps it, who waits goes on waiting",
			Answers: map[int]any{204: nil}, Problems: none, Serve: deleteLimit},
		{Method: "GET", Path: "/limits/{name}/taken", Name: "listPlacesTaken", Role: auth.Viewer, Tag: "limits", Kind: serve.Reads, Costly: true, Summary: "Who has places of a limit, by key",
			Query: serve.PageParams, Answers: map[int]any{200: limitPlacesView{}}, Serve: func(c *serve.Call) (serve.Reply, error) { return listPlaces(c, c.API.Config.Limits.Taken) }},
		{Method: "GET", Path: "/limits/{name}/waiting", Name: "listPlacesWaiting", Role: auth.Viewer, Tag: "limits", Kind: serve.Reads, Costly: true, Summary: "Who waits for places of a limit: of each key in the order in which they are given one",
			Query: serve.PageParams, Answers: map[int]any{200: limitPlacesView{}}, Serve: func(c *serve.Call) (serve.Reply, error) { return listPlaces(c, c.API.Config.Limits.Waiting) }},
	}
}

type limitBody struct {
	Most *int64 `json:"most" doc:"How many may have a place of one key at once, from 0 (nobody is given one) to 10,000. Who has a place keeps it, also if they are more by now."`
}

type limitsView struct {
	Items []limitView `json:"items"`
}

type limitView struct {
	Name    string         `json:"name"`
	Most    *int64         `json:"most" doc:"How many may have a place of one key at once; null: the limit is not set, and who waits for it waits until it is."`
	Taken   int64          `json:"taken" doc:"Places, of all keys."`
	Waiting int64          `json:"waiting" doc:"Who waits for a place, of all keys."`
	Since   *time.Time     `json:"since" doc:"When the first of those who wait came; null: nobody waits."`
	SetAt   *time.Time     `json:"setAt"`
	SetBy   *string        `json:"setBy"`
	Keys    []limitKeyView `json:"keys" doc:"Those for which most wait first, 100 at most."`
}

type limitKeyView struct {
	Key     string     `json:"key"`
	Taken   int64      `json:"taken"`
	Waiting int64      `json:"waiting"`
	Since   *time.Time `json:"since" doc:"When the first of those who wait came; null: nobody waits."`
}

type limitPlacesView struct {
	Items      []limitPlaceView `json:"items"`
	NextCursor *string          `json:"nextCursor" doc:"Pass it as cursor for the next page; null at the end."`
}

type limitPlaceView struct {
	Key          string     `json:"key"`
	InstanceID   string     `json:"instanceId"`
	DefinitionID string     `json:"definitionId"`
	ActivityID   string     `json:"activityId"`
	CameAt       time.Time  `json:"cameAt" doc:"When it came to wait."`
	GivenAt      *time.Time `json:"givenAt" doc:"When it was given its place; null: it waits."`
}

func viewLimit(s *limits.Status) limitView {
	v := limitView{Name: s.Name, Taken: s.Taken, Waiting: s.Waiting, Since: shape.KnownTime(s.Since), SetAt: shape.KnownTime(s.At), SetBy: shape.Some(s.By),
		Keys: shape.Each(s.Keys, func(k limits.Key) limitKeyView {
			return limitKeyView{k.Key, k.Taken, k.Waiting, shape.KnownTime(k.Since)}
		})}
	if s.Set {
		v.Most = &s.Most
	}
	return v
}

func listLimits(c *serve.Call) (serve.Reply, error) {
	all, err := c.API.Config.Limits.List(c.Request.Context())
	return serve.Reply{Body: limitsView{shape.Each(all, func(s limits.Status) limitView { return viewLimit(&s) })}}, err
}

func getLimit(c *serve.Call) (serve.Reply, error) {
	s, err := c.API.Config.Limits.Get(c.Request.Context(), c.Request.PathValue("name"))
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewLimit(s)}, nil
}

func putLimit(c *serve.Call) (serve.Reply, error) {
	name := c.Request.PathValue("name")
	var b limitBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	if b.Most == nil {
		return serve.Reply{}, serve.Invalid("missing", "/most", "most is missing: how many may have a place of limit "+workflow.Shorten(name)+" at once")
	}
	by := ""
	if who := serve.ExchangeOf(c.Request).Caller; who != nil {
		by = who.Name
	}
	c.About("limit", name)
	s, made, err := c.API.Config.Limits.Set(c.Request.Context(), name, *b.Most, by)
	if err != nil {
		return serve.Reply{}, err
	}
	if made {
		return serve.Reply{Status: 201, Body: viewLimit(s)}, nil
	}
	return serve.Reply{Body: viewLimit(s)}, nil
}

func deleteLimit(c *serve.Call) (serve.Reply, error) {
	return serve.Reply{Status: 204}, c.API.Config.Limits.Forget(c.Request.Context(), c.Request.PathValue("name"))
}

func listPlaces(c *serve.Call, list func(context.Context, string, string, int) ([]limits.Place, string, error)) (serve.Reply, error) {
	cursor, most, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	places, next, err := list(c.Request.Context(), c.Request.PathValue("name"), cursor, most)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: limitPlacesView{shape.Each(places, func(p limits.Place) limitPlaceView {
		return limitPlaceView{p.Line.Key, p.Instance, p.Definition, p.Activity, p.Came.UTC(), shape.KnownTime(p.Given)}
	}), shape.Some(next)}}, nil
}
