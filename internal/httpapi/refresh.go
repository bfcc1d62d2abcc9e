package httpapi

import (
	"cmp"
	"strings"

	"github.com/weft-run/weft/internal/auth"
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
		NotRefreshed: each(res.NotRefreshed, func(n refresh.NotRefreshed) notRefreshedView { return notRefreshedView{n.ID, n.Reason} })}
}

func (a *API) refreshRoutes() []route {
	return []route{
		{method: "POST", path: "/definitions/refresh", name: "refreshDefinitions", role: auth.Designer, tag: "definitions", kind: changes, target: "definitions",
			summary: "Index the triggers of stored definitions again; one node at a time does the same refresh",
			body:    refreshBody{}, answers: map[int]any{200: resultView{}}, serve: (*call).refresh},
		{method: "POST", path: "/definitions/reload", name: "reloadDefinitions", role: auth.Designer, tag: "definitions", kind: changes, target: "the definitions directory",
			summary: "Read the definitions directory of a node again; one node at a time does",
			answers: map[int]any{200: resultView{}}, serve: (*call).reload},
	}
}

func (c *call) refresh() (reply, error) {
	var b refreshBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	c.about("", cmp.Or(strings.Join(b.DefinitionIDs, " "), "all"))
	for _, id := range b.DefinitionIDs {
		if err := workflow.CheckID("a definition id", id); err != nil {
			return reply{}, invalid("bad-id", "/definitionIds", err.Error())
		}
	}
	res, err := c.api.cfg.Refresher.Refresh(c.r.Context(), b.DefinitionIDs)
	return reply{body: viewResult(res)}, err
}

func (c *call) reload() (reply, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	if err := c.api.cfg.Runtime.Room(); err != nil {
		return reply{}, err
	}
	res, err := c.api.cfg.Reloader.Reload(c.r.Context())
	return reply{body: viewResult(res)}, err
}
