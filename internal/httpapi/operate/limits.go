package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/limits"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
	"github.com/weft-run/weft/pkg/workflow/value"
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
		{Method: "PUT", Path: "/limits/{name}", Name: "putLimit", Role: auth.Operator, Tag: "limits", Kind: serve.Changes, Summary: "Set how many may have a place of a limit at once, of each key, and how many units may be taken in a time",
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
	Most *int64         `json:"most" doc:"How many may have a place of one key at once, from 0 (nobody is given one) to 10,000. Who has a place keeps it, also if they are more by now. If absent, any number: then rate is needed."`
	Rate *limitRateBody `json:"rate" doc:"How many units may be taken of one key in any time of a length. If absent, any number: then most is needed."`
}

type limitRateBody struct {
	Units *int64 `json:"units" doc:"From 0 (nobody is given one) to 1,000,000,000,000. A place takes one, unless withLimit says an amount."`
	Per   string `json:"per" doc:"After which time a unit that was taken is back, such as 1m: from 1s to 366 days. If absent it is never, and units are how many there are in all."`
}

type limitRateView struct {
	Units int64   `json:"units"`
	Per   *string `json:"per" doc:"After which time a unit that was taken is back; null: never, so that there are so many in all."`
}

type limitsView struct {
	Items []limitView `json:"items"`
}

type limitView struct {
	Name    string         `json:"name"`
	Most    *int64         `json:"most" doc:"How many may have a place of one key at once; null: any number, or, without a rate, the limit is not set, and who waits for it waits until it is."`
	Rate    *limitRateView `json:"rate" doc:"How many units may be taken of one key in any time of a length; null: any number."`
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
	Units   *int64     `json:"units" doc:"That may be taken now, of a limit with a rate; less than 0: more were used than reserved. null: they are not counted."`
	NextAt  *time.Time `json:"nextAt" doc:"When units come that somebody waits for; null: nobody waits for units that come by time."`
	HeldTo  *time.Time `json:"heldTo" doc:"Until when nobody is given a place, as a service answered 429 or 503 with Retry-After; null: none did."`
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
			key := limitKeyView{Key: k.Key, Taken: k.Taken, Waiting: k.Waiting, Since: shape.KnownTime(k.Since), NextAt: shape.KnownTime(k.Next), HeldTo: k.Hold}
			if s.Rate != nil {
				key.Units = &k.Free
			}
			return key
		})}
	if s.Set && s.Most != limit.AnyNumber {
		v.Most = &s.Most
	}
	if s.Rate != nil {
		v.Rate = &limitRateView{Units: s.Rate.Units}
		if s.Rate.Per > 0 {
			v.Rate.Per = shape.Some(limit.PerText(s.Rate.Per))
		}
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
	set, err := b.setting(name)
	if err != nil {
		return serve.Reply{}, err
	}
	by := ""
	if who := serve.ExchangeOf(c.Request).Caller; who != nil {
		by = who.Name
	}
	c.About("limit", name)
	s, made, err := c.API.Config.Limits.Set(c.Request.Context(), name, set, by)
	if err != nil {
		return serve.Reply{}, err
	}
	if made {
		return serve.Reply{Status: 201, Body: viewLimit(s)}, nil
	}
	return serve.Reply{Body: viewLimit(s)}, nil
}

// setting is what the body asks for.
func (b *limitBody) setting(name string) (set limits.Setting, err error) {
	set.Most = b.Most
	if b.Rate == nil {
		return set, nil
	}
	if b.Rate.Units == nil {
		return set, serve.Invalid("missing", "/rate/units", "units is missing: how many may be taken of limit "+workflow.Shorten(name))
	}
	set.Rate = &limit.Rate{Units: *b.Rate.Units}
	if b.Rate.Per == "" {
		return set, nil
	}
	if set.Rate.Per, err = value.ParseDuration(b.Rate.Per); err != nil || set.Rate.Per <= 0 {
		return set, serve.Invalid("bad-rate", "/rate/per", fmt.Sprintf("limit %s: per is %q, and no time such as 1m: leave it out for so many units in all", workflow.Shorten(name), workflow.Shorten(b.Rate.Per)))
	}
	return set, nil
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
