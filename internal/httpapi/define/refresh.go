package define

import (
	"cmp"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/refresh"
	"github.com/weft-run/weft/pkg/workflow"
)

type refreshBody struct {
	DefinitionIDs []string `json:"definitionIds" doc:"All published definitions if absent or empty."`
}

// resultView is what became of a refresh or a reload.
type resultView struct {
	Status       refresh.Status     `json:"status"`
	Refreshed    []string           `json:"refreshed"`
	NotRefreshed []notRefreshedView `json:"notRefreshed"`
	Holder       string             `json:"holder,omitempty"`
	Revision     int64              `json:"revision" doc:"Of etcd, at which the last of refreshed became so: a node whose catalogRevision has it serves them all; 0: there are none."`
}

type notRefreshedView struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

func viewResult(res refresh.Result) resultView {
	return resultView{Status: res.Status, Refreshed: res.Refreshed, Holder: res.Holder, Revision: res.Revision,
		NotRefreshed: shape.Each(res.NotRefreshed, func(n refresh.NotRefreshed) notRefreshedView { return notRefreshedView{n.ID, n.Reason} })}
}

func refreshRoutes() []serve.Route {
	return []serve.Route{
		{Method: "POST", Path: "/definitions/refresh", Name: "refreshDefinitions", Role: auth.Designer, Tag: "definitions", Kind: serve.Changes, Target: "definitions",
			Summary: "Index the triggers of stored definitions again; one node at a time does the same refresh",
			Body:    refreshBody{}, Answers: map[int]any{200: resultView{}}, Serve: refreshDefinitions},
		{Method: "POST", Path: "/definitions/reload", Name: "reloadDefinitions", Role: auth.Designer, Tag: "definitions", Kind: serve.Changes, Target: "the definitions directory",
			Summary: "Read the definitions directory of a node again; one node at a time does",
			Answers: map[int]any{200: resultView{}}, Serve: reloadDefinitions},
	}
}

func refreshDefinitions(c *serve.Call) (serve.Reply, error) {
	var b refreshBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	c.About("", cmp.Or(strings.Join(b.DefinitionIDs, " "), "all"))
	for _, id := range b.DefinitionIDs {
		if err := workflow.CheckID("a definition id", id); err != nil {
			return serve.Reply{}, serve.Invalid("bad-id", "/definitionIds", err.Error())
		}
	}
	res, err := c.API.Config.Refresher.Refresh(c.Request.Context(), b.DefinitionIDs)
	return serve.Reply{Body: viewResult(res)}, err
}

func reloadDefinitions(c *serve.Call) (serve.Reply, error) {
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	if err := c.API.Config.Runtime.Room(); err != nil {
		return serve.Reply{}, err
	}
	res, err := c.API.Config.Reloader.Reload(c.Request.Context())
	return serve.Reply{Body: viewResult(res)}, err
}
