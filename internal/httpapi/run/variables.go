package run

import (
	"time"

	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/inspect"
)

type variablesView struct {
	InstanceID string              `json:"instanceId"`
	At         int64               `json:"at" doc:"The commit that left them so; 0: there is none yet."`
	Variables  []variableStateView `json:"variables" doc:"The workflow's first. If complete is true, a variable that is not among them is null."`
	Complete   bool                `json:"complete" doc:"Nothing is missing, apart from what is clipped or hidden."`
	Gaps       gapsView            `json:"gaps"`
	First      int64               `json:"first" doc:"The oldest commit that the journal still has."`
	Last       int64               `json:"last" doc:"The newest commit."`
	Revision   int64               `json:"revision" doc:"Of etcd, at which all of it was read."`
}

type variableChangesView struct {
	InstanceID string               `json:"instanceId"`
	From       int64                `json:"from"`
	To         int64                `json:"to"`
	Changes    []variableChangeView `json:"changes" doc:"What was set between them, also to what it was, or went with its scope."`
	Complete   bool                 `json:"complete" doc:"Nothing is missing, apart from what is clipped or hidden."`
	Gaps       gapsView             `json:"gaps"`
	First      int64                `json:"first" doc:"The oldest commit that the journal still has."`
	Last       int64                `json:"last" doc:"The newest commit."`
	Revision   int64                `json:"revision" doc:"Of etcd, at which all of it was read."`
}

// gapsView says what the journal cannot tell.
type gapsView struct {
	Before     int64 `json:"before" doc:"What was set last by a commit before this one is not known, as the journal no longer has it, or is too long to be read at once; 0: none is missing."`
	Unlisted   int   `json:"unlisted" doc:"So many that were set are not told by name."`
	Unreadable int   `json:"unreadable" doc:"So many commits cannot be read."`
	More       int   `json:"more" doc:"So many variables are left out, as there are more than 5,000."`
}

type variableStateView struct {
	Execution  int64      `json:"execution" doc:"Whose scope has it; 0: the workflow."`
	ActivityID *string    `json:"activityId" doc:"Of that execution; null: the workflow, or not known."`
	Name       string     `json:"name"`
	Value      any        `json:"value"`
	Clipped    bool       `json:"clipped,omitempty" doc:"The value is the beginning of its text."`
	Hidden     bool       `json:"hidden,omitempty" doc:"The value is null, as what set it keeps its inputs or outputs out of the journal."`
	By         int64      `json:"by" doc:"The execution that set it; 0: it began with this value."`
	ByActivity *string    `json:"byActivityId" doc:"Of that execution; null: it began with the value, or not known."`
	Commit     int64      `json:"commit" doc:"The commit that set it."`
	At         *time.Time `json:"time" doc:"Of that commit."`
	Node       *string    `json:"node" doc:"That made that commit."`
}

type variableChangeView struct {
	Execution  int64              `json:"execution" doc:"Whose scope has it; 0: the workflow."`
	ActivityID *string            `json:"activityId"`
	Name       string             `json:"name"`
	Before     *variableStateView `json:"before" doc:"null: it was null, or its scope was not open."`
	After      *variableStateView `json:"after" doc:"null: its scope has ended."`
}

func viewVariable(v inspect.Variable) variableStateView {
	return variableStateView{v.Execution, shape.Some(v.ScopeActivity), v.Name, v.Value, v.Clipped, v.Hidden, v.By, shape.Some(v.ByActivity), v.Commit, shape.KnownTime(v.Time), shape.Some(v.Node)}
}

func variables(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	at, err := commitOr(c, "at", 1, inspect.Newest)
	if err != nil {
		return serve.Reply{}, err
	}
	part, err := c.API.Config.Runtime.Inspector.Variables(c.Request.Context(), id, at)
	if err != nil {
		return serve.Reply{}, err
	}
	v := part.Of[0]
	return serve.Reply{Body: variablesView{
		InstanceID: id, At: v.At, Variables: shape.Each(v.Values, viewVariable), Complete: v.Gaps.Whole(), Gaps: gapsView(v.Gaps),
		First: part.First, Last: part.Last, Revision: part.Revision,
	}}, nil
}

func variableChanges(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	to, err := commitOr(c, "to", 1, inspect.Newest)
	if err != nil {
		return serve.Reply{}, err
	}
	from, err := commitOr(c, "from", 0, to-1)
	if err != nil {
		return serve.Reply{}, err
	}
	part, err := c.API.Config.Runtime.Inspector.Variables(c.Request.Context(), id, from, to)
	if err != nil {
		return serve.Reply{}, err
	}
	before, after := part.Of[0], part.Of[1]
	if before.At > after.At {
		return serve.Reply{}, serve.Invalid("bad-parameter", "", "from must be a commit before to")
	}
	gaps := before.Gaps.With(after.Gaps)
	view := variableChangesView{
		InstanceID: id, From: before.At, To: after.At, Changes: []variableChangeView{}, Complete: gaps.Whole(), Gaps: gapsView(gaps),
		First: part.First, Last: part.Last, Revision: part.Revision,
	}
	for _, d := range inspect.Differences(before, after) {
		var change variableChangeView
		if d.Before != nil {
			v := viewVariable(*d.Before)
			change = variableChangeView{v.Execution, v.ActivityID, v.Name, &v, nil}
		}
		if d.After != nil {
			v := viewVariable(*d.After)
			change = variableChangeView{v.Execution, v.ActivityID, v.Name, change.Before, &v}
		}
		view.Changes = append(view.Changes, change)
	}
	return serve.Reply{Body: view}, nil
}
