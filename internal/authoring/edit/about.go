package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/flow"
	"github.com/weft-run/weft/internal/authoring/edit/part"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// About is an activity as a form shows it, and what may be done with it.
type About struct {
	ID, Type     string // the type as YAML has it
	Line, Column int
	Fields       []Field
	Branches     []string // into which an activity may be put
	Outcomes     []string // by which ways may lead out of it, in a flowchart
	Near         []string // the other activities of its flowchart
	Flowchart    bool     // it stands in one
	Up, Down     bool     // something stands above it or below it in its list
	Wraps        []string // what it may be wrapped in
	Types        []string // what may be put beside it
	Delete       bool
	Ways         []Way    // that lead on from it, in a flowchart
	Parts        []string // what of it may be added, such as case
	Cases        []Case
	CaseKeys     []string // what may be set of a case
	States       []State
}

// Way is where an outcome of an activity leads.
type Way = flow.Way

// Case is one of a switch and its like.
type Case struct {
	Label, When string // When as [Edit.Text] takes it
	Line        int
	Branch      string // into which activities may be put; "": into none
}

// State is one of a state machine.
type State struct {
	Name           string
	Final, Initial bool
	Line           int
	Transitions    []Transition
}

// Transition is a way out of a state.
type Transition struct {
	Name, When, To string // When as [Edit.Text] takes it
	On             string // the event that it waits for; "": see Waits
	Waits          string // the id of the activity that it waits for, if that is no event; "": it waits for none
	Line           int
}

// Field is an input of an activity, or a key that each may have.
type Field struct {
	Name, Type, Description string
	Required, Sensitive     bool
	Options                 []string // what it may be, if that is known
	Text                    string   // what it is, as [Edit.Text] takes it
	Line                    int      // where it is written; 0: it is not
	Key                     bool     // it is no input
}

// Tell describes an activity of a source; line tells which if several have the id, 0 if one has.
// When the context ends, it gives up soon, with the problem given-up.
func Tell(ctx context.Context, src []byte, json bool, id string, line int, types workflow.Types) (About, workflow.Problems) {
	if types == nil {
		types = workflow.Descriptors{}
	}
	d, problems := activity.Open(ctx, src, json, types)
	if problems != nil {
		return About{}, problems
	}
	return tell(d, id, line)
}

func tell(d *activity.Sites, id string, line int) (About, workflow.Problems) {
	s, err := d.Find(id, line)
	if err != nil {
		return About{}, problem(d, err, "")
	}
	return about(d, s), nil
}

func about(d *activity.Sites, s *activity.Site) About {
	x := s.Activity
	t := d.Types.ByType(x.Type)
	r := d.Role(s.Node)
	a := About{ID: x.ID, Type: x.Type, Line: x.Place.Line, Column: x.Place.Column, Flowchart: r == activity.Chart, Delete: s.Node.Parent != nil}
	for _, k := range d.Types.All() {
		a.Types = append(a.Types, k.ShortName())
		if (k.MainPort != "" || k.List != "" || len(k.Ports) > 0) && k.Type != activity.FlowchartType && s.Node.Kind != text.List {
			a.Wraps = append(a.Wraps, k.ShortName())
		}
	}
	slices.Sort(a.Types)
	slices.Sort(a.Wraps)
	if s.Node.Kind == text.Mapping {
		a.Wraps = append([]string{Retry, Timeout}, a.Wraps...)
	}
	if mayStandElsewhere(d, s) != nil {
		a.Wraps = nil
	}
	if x.Ref != nil && x.Ref.ID != "" {
		a.Type = x.Ref.ID
	}
	if t != nil && x.Ref == nil {
		a.Type = t.ShortName()
		for _, in := range t.Inputs {
			e := x.Inputs[in.Name]
			f := Field{Name: in.Name, Type: in.Type, Description: in.Description, Required: in.Required, Sensitive: in.Sensitive, Options: in.Options, Text: fieldText(e, in)}
			if !e.IsZero() {
				f.Line = e.Place.Line
			}
			a.Fields = append(a.Fields, f)
		}
		a.Branches = slices.Clone(t.Ports)
		if t.List != "" {
			a.Branches = append(a.Branches, t.List)
		}
		a.Outcomes = outcomes(x, t)
		tellParts(d, &a, x, t)
	}
	if s.Node.Kind == text.Mapping {
		a.Fields = append(a.Fields, commonKeys(d, s, t)...)
	}
	if r == activity.Chart {
		if f, err := flow.ChartOf(&activity.Change{Sites: d, Text: &text.Draft{Doc: d.Doc}}, s); err == nil {
			a.Near = slices.DeleteFunc(slices.Clone(f.IDs), func(id string) bool { return id == x.ID })
			a.Ways = f.Ways(x.ID)
		}
		return a
	}
	a.Up, a.Down = d.Beside(s.Node, -1) != nil, d.Beside(s.Node, 1) != nil
	return a
}

// outcomes are those that can be told of the text: the labels of cases, and the names of branches.
func outcomes(x *workflow.Activity, t *workflow.Descriptor) []string {
	out := slices.Clone(t.Outcomes)
	if t.Cases != "" && !t.CaseBodies {
		for _, c := range x.Cases {
			if c.Label != "" {
				out = append(out, c.Label)
			}
		}
		out = append(out, "Default")
	}
	for _, in := range t.Inputs {
		if !t.AnyOutcome || in.Type != "String[]" && in.Name != part.StatusCases {
			continue
		}
		names, _ := x.Inputs[in.Name].Value.([]any)
		for _, name := range names {
			out = append(out, fmt.Sprint(name))
		}
	}
	return out
}

// tellParts tells the cases and the states of an activity.
func tellParts(d *activity.Sites, a *About, x *workflow.Activity, t *workflow.Descriptor) {
	condition := workflow.InputDescriptor{Type: "Boolean"}
	if t.Cases != "" {
		a.Parts, a.CaseKeys = []string{CasePart}, part.Keys[CasePart]
	}
	if t.Cases == part.StatusCases {
		a.CaseKeys = part.Keys[CasePart][:1]
	}
	for i, c := range x.Cases {
		k := Case{Label: c.Label, When: fieldText(c.Condition, condition), Line: c.Place.Line}
		if t.CaseBodies {
			k.Branch = fmt.Sprint(CasePart, i+1)
			a.Branches = append(a.Branches, k.Branch)
		}
		a.Cases = append(a.Cases, k)
	}
	if x.Type != part.MachineType {
		return
	}
	a.Parts = []string{StatePart, TransitionPart}
	for i, s := range x.States {
		st := State{Name: s.Name, Final: s.Final, Initial: s.Name == x.Initial || x.Initial == "" && i == 0, Line: s.Place.Line}
		for _, t := range s.Transitions {
			tr := Transition{Name: t.Name, When: fieldText(t.Condition, condition), To: t.To, Line: t.Place.Line}
			if on := t.Trigger; on != nil {
				name, literal := on.Inputs["eventName"].Value.(string)
				if tr.On = name; on.Type != part.EventType || !literal || d.SiteOf(on) == nil {
					tr.On, tr.Waits = "", on.ID
				}
			}
			st.Transitions = append(st.Transitions, tr)
		}
		a.States = append(a.States, st)
	}
}

// shown are the keys that a form has, with what each is for.
var shown = []struct{ name, about string }{
	{"id", "What connections, the journal and scripts call it."},
	{"name", "For people."},
	{"result", "The variable that takes the first output."},
	{"timeout", "How long it may take, such as 48h."},
	{"retry", "How often it is tried, or {attempts: 5, delay: 10s}."},
}

func commonKeys(d *activity.Sites, s *activity.Site, t *workflow.Descriptor) []Field {
	var out []Field
	for _, k := range shown {
		if d.JSON && k.name != "id" && k.name != "name" || k.name == "result" && (t == nil || len(t.Outputs) == 0) {
			continue
		}
		if t != nil {
			if _, owned := t.Input(k.name); owned {
				continue
			}
		}
		f := Field{Name: k.name, Type: "String", Description: k.about, Key: true}
		if v := s.Node.Val(k.name); v != nil && v.Written() {
			if f.Text = v.Text; v.Kind != text.Scalar {
				f.Text = d.FlowText(v)
			}
			f.Line, _ = d.Place(v.Start)
		}
		out = append(out, f)
	}
	return out
}

// fieldText is an expression as a field shows it, and as [Edit.Text] takes it.
func fieldText(e workflow.Expression, in workflow.InputDescriptor) string {
	plain := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(raw)
	}
	one := func(key string) string { return fmt.Sprintf("{%s: %s}", key, plain(e.Value)) }
	switch e.Kind {
	case "":
		return ""
	case workflow.Literal, workflow.Expr:
		s, isText := e.Value.(string)
		if !isText {
			return plain(e.Value)
		}
		if again := activity.Typed(s, in, true); !reflect.DeepEqual(again, any(s)) {
			return one(map[bool]string{true: "expr", false: "literal"}[e.Kind == workflow.Expr])
		}
		return s
	case workflow.Object:
		if s, ok := e.Value.(string); ok {
			return s
		}
		return plain(e.Value)
	case workflow.VariableOf:
		if s, ok := e.Value.(string); ok && in.Type == "Variable" {
			return s
		}
		return one("variable")
	case workflow.InputOf:
		return one("input")
	case workflow.JavaScript, workflow.Liquid:
		return one(strings.ToLower(e.Kind))
	}
	return fmt.Sprintf("{expression: {type: %s, value: %s}}", e.Kind, plain(e.Value))
}
