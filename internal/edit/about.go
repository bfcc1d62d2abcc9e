package edit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

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
func Tell(src []byte, json bool, id string, line int, types workflow.Types) (About, workflow.Problems) {
	if types == nil {
		types = workflow.Descriptors{}
	}
	d, problems := open(src, json, types)
	if problems != nil {
		return About{}, problems
	}
	s, err := d.find(id, line)
	if err != nil {
		return About{}, d.problem(err, "")
	}
	return d.about(s), nil
}

func (d *doc) about(s *site) About {
	x := s.activity
	t := d.types.ByType(x.Type)
	r := d.role(s.node)
	a := About{ID: x.ID, Type: x.Type, Line: x.Place.Line, Column: x.Place.Column, Flowchart: r == chart, Delete: s.node.parent != nil}
	for _, k := range d.types.All() {
		a.Types = append(a.Types, k.ShortName())
		if (k.MainPort != "" || k.List != "" || len(k.Ports) > 0) && k.Type != flowchartType && !d.json && s.node.kind != list {
			a.Wraps = append(a.Wraps, k.ShortName())
		}
	}
	slices.Sort(a.Types)
	slices.Sort(a.Wraps)
	if s.node.kind == mapping && !d.json {
		a.Wraps = append([]string{Retry, Timeout}, a.Wraps...)
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
		a.Outcomes = t.Outcomes
	}
	if s.node.kind == mapping {
		a.Fields = append(a.Fields, d.keys(s, t)...)
	}
	if r == chart {
		if f, err := (&change{doc: d}).chartOf(s); err == nil {
			a.Near = slices.DeleteFunc(f.ids, func(id string) bool { return id == x.ID })
		}
		return a
	}
	a.Up, a.Down = d.beside(s.node, -1) != nil, d.beside(s.node, 1) != nil
	return a
}

// shown are the keys that a form has, with what each is for.
var shown = []struct{ name, about string }{
	{"id", "What connections, the journal and scripts call it."},
	{"name", "For people."},
	{"result", "The variable that takes the first output."},
	{"timeout", "How long it may take, such as 48h."},
	{"retry", "How often it is tried, or {attempts: 5, delay: 10s}."},
}

func (d *doc) keys(s *site, t *workflow.Descriptor) []Field {
	var out []Field
	for _, k := range shown {
		if d.json && k.name != "id" && k.name != "name" || k.name == "result" && (t == nil || len(t.Outputs) == 0) {
			continue
		}
		if t != nil {
			if _, owned := t.Input(k.name); owned {
				continue
			}
		}
		f := Field{Name: k.name, Type: "String", Description: k.about, Key: true}
		if v := s.node.val(k.name); v != nil && v.written() {
			if f.Text = v.text; v.kind != scalar {
				f.Text = d.flowText(v)
			}
			f.Line, _ = d.place(v.start)
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
		if again := typed(s, in, true); !reflect.DeepEqual(again, any(s)) {
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
