package api

import (
	editing "github.com/weft-run/weft/internal/authoring/edit"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

type sourceEditBody struct {
	Text   string         `json:"text" doc:"The definition, up to 1 MiB."`
	Format string         `json:"format" enum:"yaml,json" doc:"Weft's YAML, or Elsa's JSON; told by its look if absent."`
	Edits  []textEditView `json:"edits" doc:"Up to 20, one after the other: each is about the text that the one before left. None: only about is asked."`
	About  string         `json:"about" doc:"The id of the activity that the answer tells about; that of the last edit if absent."`
	Line   int            `json:"line" doc:"Where that activity begins, needed if several have its id."`
}

type textEditView struct {
	Op       string         `json:"op" enum:"insert,delete,move,wrap,set,connect,disconnect"`
	Activity string         `json:"activity" doc:"The id of the activity that it is about, or that the new one stands beside."`
	Line     int            `json:"line" doc:"Where that activity begins, needed if several have its id."`
	Where    string         `json:"where" enum:"before,after,into,up,down" doc:"insert and move: after if absent. up and down only move, within a list."`
	To       string         `json:"to" doc:"move: the activity beside or into which. connect and disconnect: where the way leads."`
	Branch   string         `json:"branch" doc:"into and wrap: such as then; the main one if absent."`
	Port     string         `json:"port" doc:"connect, disconnect, and insert in a flowchart: an outcome, Done if absent."`
	Type     string         `json:"type" doc:"insert and wrap: as YAML has it; wrap also takes retry and timeout."`
	ID       string         `json:"id" doc:"insert and wrap: the id of the new activity; by its place if absent."`
	Inputs   map[string]any `json:"inputs" doc:"insert and wrap: of the new activity; texts may have ${{ }}."`
	Key      string         `json:"key" doc:"set: an input, or one of id, name, result, outputs, trigger, timeout, retry, commit, logging, mergeMode, version."`
	Value    any            `json:"value" doc:"set: null takes it away."`
	Text     *string        `json:"fieldText" doc:"set: the value as a person writes it in a field, instead of value; empty takes it away."`
	Part     string         `json:"part" enum:"case,state,transition" doc:"insert, delete, move (up, down) and set: what of the activity it is about, if not the activity. inputs and key are label and when of a case, name, final and initial of a state, and on (an event), when and to of a transition."`
	State    string         `json:"state" doc:"Of a part: the state, or the one that a transition leaves."`
	Number   int            `json:"number" doc:"Of a part: which case or transition, from 1; insert puts the new one beside it."`
}

type sourceEditedView struct {
	Text     string              `json:"text"`
	Line     int                 `json:"line" doc:"Where the cursor goes."`
	Column   int                 `json:"column" doc:"In characters, from 1."`
	Problems []serve.ProblemItem `json:"problems" doc:"References that lost their activity or mean another one now; other mistakes are for a check."`
	About    *aboutActivityView  `json:"about,omitempty"`
}

type aboutActivityView struct {
	ID        string              `json:"id"`
	Type      string              `json:"type" doc:"As YAML has it."`
	Line      int                 `json:"line"`
	Column    int                 `json:"column"`
	Fields    []activityFieldView `json:"fields"`
	Branches  []string            `json:"branches" doc:"Into which activities may be put."`
	Outcomes  []string            `json:"outcomes" doc:"None: Done."`
	Near      []string            `json:"near" doc:"The other activities of its flowchart."`
	Flowchart bool                `json:"flowchart" doc:"It stands in one."`
	Up        bool                `json:"up" doc:"It may be moved before the one above it."`
	Down      bool                `json:"down"`
	Types     []string            `json:"types" doc:"What may be put beside it, as YAML has it."`
	Wraps     []string            `json:"wraps" doc:"What it may be wrapped in."`
	Delete    bool                `json:"delete"`
	Ways      []wayView           `json:"ways" doc:"Where it leads, in a flowchart."`
	Parts     []string            `json:"parts" doc:"What may be added to it beside activities: case, or state and transition."`
	CaseKeys  []string            `json:"caseKeys" doc:"What may be set of a case."`
	Cases     []caseView          `json:"cases"`
	States    []machineStateView  `json:"states"`
}

type wayView struct {
	Port string `json:"port"`
	To   string `json:"to"`
}

type caseView struct {
	Label  string `json:"label"`
	When   string `json:"when" doc:"As fieldText of an edit takes it."`
	Line   int    `json:"line"`
	Branch string `json:"branch" doc:"Into which activities may be put; empty: into none."`
}

type machineStateView struct {
	Name        string                  `json:"name"`
	Final       bool                    `json:"final"`
	Initial     bool                    `json:"initial"`
	Line        int                     `json:"line"`
	Transitions []machineTransitionView `json:"transitions"`
}

type machineTransitionView struct {
	Name  string `json:"name"`
	When  string `json:"when" doc:"As fieldText of an edit takes it."`
	To    string `json:"to"`
	On    string `json:"on" doc:"The event that it waits for."`
	Waits string `json:"waits" doc:"The id of the activity that it waits for, if that is no event."`
	Line  int    `json:"line"`
}

type activityFieldView struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required"`
	Options     []string `json:"options,omitempty"`
	Text        string   `json:"text" doc:"What it is, as fieldText of an edit takes it."`
	Line        int      `json:"line" doc:"Where it is written; 0: it is not."`
	Key         bool     `json:"key" doc:"A key that each activity may have, and no input."`
}

// editDefinition changes a text, and stores nothing.
func editDefinition(c *serve.Call) (serve.Reply, error) {
	var b sourceEditBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	src := []byte(b.Text)
	json := elsajson.Looks(src)
	switch b.Format {
	case "":
	case "yaml", "json":
		json = b.Format == "json"
	default:
		return serve.Reply{}, serve.Invalid("bad-format", "/format", "format is yaml or json")
	}
	if len(b.Edits) == 0 && b.About == "" {
		return serve.Reply{}, serve.Invalid("bad-edit", "/edits", "say what is edited, or what the answer is about")
	}
	types := c.API.Config.Catalog.Types()
	v := sourceEditedView{Text: b.Text, Problems: []serve.ProblemItem{}}
	about, line := b.About, b.Line
	ctx := c.Request.Context()
	tell := func(id string, line int) (editing.About, workflow.Problems) {
		return editing.Tell(ctx, src, json, id, line, types)
	}
	if len(b.Edits) > 0 {
		res, problems := editing.Apply(ctx, src, json, shape.Each(b.Edits, func(e textEditView) editing.Edit {
			return editing.Edit{Op: e.Op, Activity: e.Activity, Line: e.Line, Where: e.Where, To: e.To, Branch: e.Branch, Port: e.Port, Type: e.Type, ID: e.ID, Inputs: e.Inputs, Key: e.Key, Value: e.Value, Text: e.Text, Part: e.Part, State: e.State, Number: e.Number}
		}), types)
		if ctx.Err() != nil {
			return serve.Reply{}, ctx.Err()
		}
		if problems != nil {
			return serve.Reply{}, notEdited(problems)
		}
		tell = res.Tell
		v.Text, v.Line, v.Column = string(res.Text), res.Line, res.Column
		v.Problems = append(v.Problems, serve.ProblemItems(res.Problems)...)
		if about == "" && res.Activity != "" {
			about, line = res.Activity, res.Line
		}
	}
	if about == "" {
		return serve.Reply{Body: v}, nil
	}
	a, problems := tell(about, line)
	if ctx.Err() != nil {
		return serve.Reply{}, ctx.Err()
	}
	if problems != nil {
		if b.About == "" { // what is left is nothing that is told about
			return serve.Reply{Body: v}, nil
		}
		return serve.Reply{}, notEdited(problems)
	}
	v.About = viewAbout(a)
	if len(b.Edits) == 0 {
		v.Line, v.Column = a.Line, a.Column
	}
	return serve.Reply{Body: v}, nil
}

func viewAbout(a editing.About) *aboutActivityView {
	list := func(s []string) []string { return append([]string{}, s...) }
	return &aboutActivityView{
		ID: a.ID, Type: a.Type, Line: a.Line, Column: a.Column, Branches: list(a.Branches), Outcomes: list(a.Outcomes), Near: list(a.Near),
		Flowchart: a.Flowchart, Up: a.Up, Down: a.Down, Types: list(a.Types), Wraps: list(a.Wraps), Delete: a.Delete, Parts: list(a.Parts), CaseKeys: list(a.CaseKeys),
		Ways:  shape.Each(a.Ways, func(w editing.Way) wayView { return wayView(w) }),
		Cases: shape.Each(a.Cases, func(k editing.Case) caseView { return caseView(k) }),
		States: shape.Each(a.States, func(s editing.State) machineStateView {
			return machineStateView{Name: s.Name, Final: s.Final, Initial: s.Initial, Line: s.Line, Transitions: shape.Each(s.Transitions, func(t editing.Transition) machineTransitionView {
				return machineTransitionView{Name: t.Name, When: t.When, To: t.To, On: t.On, Waits: t.Waits, Line: t.Line}
			})}
		}),
		Fields: shape.Each(a.Fields, func(f editing.Field) activityFieldView {
			return activityFieldView{Name: f.Name, Type: f.Type, Description: f.Description, Required: f.Required, Options: f.Options, Text: f.Text, Line: f.Line, Key: f.Key}
		}),
	}
}

func notEdited(problems workflow.Problems) error {
	if problems[0].Code == string(workflow.CodeTooLarge) {
		return &workflow.Error{Code: workflow.CodeTooLarge, Detail: problems[0].Detail}
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: problems[0].Detail, Problems: problems}
}
