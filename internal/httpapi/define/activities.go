package define

import (
	"encoding/json"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// activityRoutes tell what definitions may be made of.
func activityRoutes() []serve.Route {
	return []serve.Route{{Method: "GET", Path: "/activities", Name: "listActivities", Role: auth.Viewer, Tag: "definitions", Kind: serve.Reads, Costly: true,
		Summary: "The activities that this node's program has, with what they take and give, and where they are used",
		Answers: map[int]any{200: activitiesView{}}, Serve: activities}}
}

type activitiesView struct {
	Items   []activityView `json:"items" doc:"By their types."`
	Unknown int            `json:"unknown" doc:"Published definitions of which this node does not know what they use: it has not looked at them yet, and does so at the next calls, or they do not say it, as an older program published them: publish those again."`
}

type activityView struct {
	Name        string              `json:"name" doc:"As YAML spells it."`
	Type        string              `json:"type" doc:"As Elsa spells it."`
	Description string              `json:"description"`
	Main        string              `json:"main" doc:"The input that a value stands for in YAML; empty: none."`
	Inputs      []activityInputView `json:"inputs"`
	Outputs     []activityValueView `json:"outputs" doc:"The first one is what result takes."`
	Branches    []string            `json:"branches" doc:"Such as then, else, body."`
	Variables   []activityValueView `json:"variables" doc:"That its branches see beside those that are declared."`
	Outcomes    []string            `json:"outcomes" doc:"Done, where it has no others; none, where they are known only as it runs."`
	AnyOutcome  bool                `json:"anyOutcome" doc:"Its outcomes are known only as it runs, or from what it is given."`
	Trigger     bool                `json:"trigger" doc:"With trigger: true it starts instances."`
	Effect      bool                `json:"effect" doc:"It may do something outside, so that a repetition may do it again, with the same Idempotency-Key."`
	Example     string              `json:"example" doc:"In YAML, one item of a list; empty: there is none."`
	Users       int                 `json:"users" doc:"How many published definitions use it, also inside of definitions that they run as activities, as far as this node knows."`
	UsedBy      []string            `json:"usedBy" doc:"The first 20 of them, by id."`
}

type activityInputView struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default" doc:"null: none."`
	Options     []string        `json:"options" doc:"All that it may be; none: anything of its type."`
	Sensitive   bool            `json:"sensitive" doc:"It never reaches the journal."`
}

type activityValueView struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

// usersTold is how many of the definitions that use an activity are named.
const usersTold = 20

func activities(c *serve.Call) (serve.Reply, error) {
	all := c.API.Config.Catalog.Types().All()
	usage := c.API.Authoring.Usage(c.Request.Context(), usersTold)
	v := activitiesView{Items: make([]activityView, 0, len(all)), Unknown: usage.Unknown}
	for _, d := range all {
		item, err := viewActivity(d)
		if err != nil {
			return serve.Reply{}, err
		}
		users := usage.Of(d.Type)
		item.Users, item.UsedBy = users.Count, append([]string{}, users.IDs...)
		v.Items = append(v.Items, item)
	}
	return serve.Reply{Body: v}, nil
}

func viewActivity(d *workflow.Descriptor) (activityView, error) {
	value := func(o workflow.OutputDescriptor) activityValueView {
		return activityValueView{o.Name, o.Type, o.Description}
	}
	v := activityView{
		Name: d.ShortName(), Type: d.Type, Description: d.Description, Main: d.Main, Inputs: []activityInputView{},
		Outputs: shape.Each(d.Outputs, value), Branches: append([]string{}, d.Ports...), Variables: shape.Each(d.Gives, value),
		Outcomes: append([]string{}, d.Outcomes...), AnyOutcome: d.AnyOutcome, Trigger: d.Trigger, Effect: !d.NoEffect, Example: d.Example,
	}
	if len(v.Outcomes) == 0 && !v.AnyOutcome {
		v.Outcomes = []string{"Done"}
	}
	for _, in := range d.Inputs {
		standard, err := json.Marshal(in.Default)
		if err != nil {
			return v, err
		}
		v.Inputs = append(v.Inputs, activityInputView{in.Name, in.Type, in.Description, in.Required, standard, append([]string{}, in.Options...), in.Sensitive})
	}
	return v, nil
}
