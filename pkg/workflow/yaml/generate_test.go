package yaml_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/workflow"
)

// maker draws definitions that both notations can express.
type maker struct {
	*rapid.T
	types workflow.Types
	n     int // activities so far; makes ids unique
}

var (
	anyText = rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{
		"", " ", "true", "null", "~", "007", "1.10", "1e3", "0x1F", "- a", "a: b", "# no", "a\nb\n", "\n", " a\n b", "a\tb", "'", "\"", "é→…",
		"string", "list", "2026-01-01", "<<", "=", "yes", "on", "*x", "&x", "!!str", "%", "a\r\nb", "\u2028", "a \n", "{}", "[]", "{\"a\": 1}", "-> b", "x -> y",
	}))
	aName = rapid.StringMatching(`[a-z][A-Za-z0-9_]{0,7}`)
	anID  = rapid.StringMatching(`[A-Za-z0-9._:-]{1,12}`).Filter(func(id string) bool { return workflow.CheckID("id", id) == nil })
)

func (m *maker) definition() *workflow.Definition {
	d := &workflow.Definition{
		ID: anID.Draw(m.T, "id"), Name: anyText.Draw(m.T, "name"),
		Description: anyText.Draw(m.T, "description"), Variables: m.variables(),
		Outcomes: rapid.SliceOfN(anyText, 0, 2).Draw(m.T, "outcomes"),
	}
	for _, name := range rapid.SliceOfNDistinct(aName, 0, 3, rapid.ID).Draw(m.T, "inputs") {
		typ, isArray := m.typ()
		d.Inputs = append(d.Inputs, workflow.Input{Name: name, Type: typ, IsArray: isArray, Required: rapid.Bool().Draw(m.T, "required"),
			Default: m.data(2), Description: anyText.Draw(m.T, "description"), StorageDriver: rapid.SampledFrom([]string{"", "Memory"}).Draw(m.T, "driver")})
	}
	for _, name := range rapid.SliceOfNDistinct(aName, 0, 3, rapid.ID).Draw(m.T, "outputs") {
		typ, isArray := m.typ()
		o := workflow.Output{Name: name, Type: typ, IsArray: isArray, Description: anyText.Draw(m.T, "description")}
		if e := m.expression(workflow.InputDescriptor{}); !e.IsZero() {
			o.Value = &e
		}
		d.Outputs = append(d.Outputs, o)
	}
	for _, name := range rapid.SliceOfNDistinct(aName, 0, 2, rapid.ID).Draw(m.T, "labels") {
		if e := m.expression(workflow.InputDescriptor{Type: "String"}); !e.IsZero() {
			if d.Labels == nil {
				d.Labels = map[string]workflow.Expression{}
			}
			d.Labels[name] = e
		}
	}
	d.Options = workflow.Options{
		ActivationStrategy: rapid.SampledFrom([]string{"", "Always", "Singleton", "CorrelatedSingleton", "Correlation"}).Draw(m.T, "activation"),
		IncidentStrategy:   rapid.SampledFrom([]string{"", "Fault", "ContinueWithIncidents"}).Draw(m.T, "incidents"),
		CommitStrategy:     rapid.SampledFrom([]string{"", "ActivityExecuted", "ActivityExecutedStrict", "Periodic"}).Draw(m.T, "commit"),
		CommitInterval:     rapid.SampledFrom([]string{"", "30s"}).Draw(m.T, "interval"),
		UsableAsActivity:   rapid.Bool().Draw(m.T, "usable"),
		AutoUpdate:         rapid.Bool().Draw(m.T, "auto"),
		CatchUp:            rapid.SampledFrom([]string{"", "skip", "one", "all"}).Draw(m.T, "catchUp"),
		LogPersistence:     rapid.SampledFrom([]string{"", "Include", "Exclude"}).Draw(m.T, "logging"),
	}
	if rapid.Bool().Draw(m.T, "mode") {
		d.CustomProperties = map[string]any{"Flowchart:ExecutionMode": "TokenBased"}
	}
	d.Root = m.activity(4)
	return d
}

func (m *maker) typ() (string, bool) {
	return rapid.SampledFrom([]string{"", "String", "Double", "Int32", "Int64", "Object", "TimeSpan", "Boolean", "DateTimeOffset"}).Draw(m.T, "type"),
		false
}

func (m *maker) variables() []workflow.Variable {
	var out []workflow.Variable
	for _, name := range rapid.SliceOfNDistinct(aName, 0, 2, rapid.ID).Draw(m.T, "variables") {
		typ, _ := m.typ()
		out = append(out, workflow.Variable{Name: name, Type: typ, IsArray: typ != "" && rapid.Bool().Draw(m.T, "isArray"), Value: m.data(2),
			StorageDriver: rapid.SampledFrom([]string{"", "Memory"}).Draw(m.T, "driver")})
	}
	return out
}

func (m *maker) data(depth int) any {
	switch k := rapid.IntRange(0, 7).Draw(m.T, "data"); {
	case k == 0:
		return nil
	case k == 1:
		return rapid.Bool().Draw(m.T, "bool")
	case k == 2:
		return float64(rapid.IntRange(-1000, 1000).Draw(m.T, "int"))
	case k == 3:
		return rapid.SampledFrom([]any{0.1, 1e21, 1.5e-9, float64(1 << 53), int64(1<<53 + 1), -0.5, json.Number("18446744073709551616"), json.Number("1.0e400")}).Draw(m.T, "number")
	case k == 4 && depth > 0:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(m.T, "len") {
			out = append(out, m.data(depth-1))
		}
		return out
	case k == 5 && depth > 0:
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(m.T, "len") {
			out[anyText.Draw(m.T, "key")] = m.data(depth - 1)
		}
		return out
	}
	return anyText.Draw(m.T, "text")
}

func isTree(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func (m *maker) expression(in workflow.InputDescriptor) workflow.Expression {
	if in.Type == "Variable" {
		return workflow.Expression{Kind: workflow.VariableOf, Value: aName.Draw(m.T, "variable")}
	}
	switch rapid.IntRange(0, 7).Draw(m.T, "kind") {
	case 0:
		return workflow.JS(anyText.Draw(m.T, "source"))
	case 1:
		return workflow.Expression{Kind: workflow.VariableOf, Value: aName.Draw(m.T, "variable")}
	case 2:
		return workflow.Tmpl("x ${{ " + anyText.Draw(m.T, "expr") + " }}")
	case 3:
		return workflow.Tmpl(map[string]any{"a": []any{"${{ 1 }}", m.data(1)}})
	case 4:
		if v := m.data(3); isTree(v) {
			return workflow.Expression{Kind: workflow.Object, Value: v}
		}
	case 5:
		if v := m.data(0); v != nil && !isTree(v) {
			return workflow.Lit(v)
		}
	case 6:
		return workflow.Expression{Kind: rapid.SampledFrom([]string{workflow.InputOf, workflow.Liquid, workflow.CSharp}).Draw(m.T, "other"), Value: aName.Draw(m.T, "source")}
	}
	return workflow.Lit(rapid.SampledFrom([]string{"plain", "${{ not evaluated }}", "5", "javascript"}).Draw(m.T, "literal"))
}

func (m *maker) id() string {
	m.n++
	return fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"a", "write.Line", "x:y", "12", "é"}).Draw(m.T, "id"), m.n)
}

func (m *maker) activity(depth int) *workflow.Activity {
	if rapid.IntRange(0, 9).Draw(m.T, "ref") == 0 {
		return m.reference()
	}
	types := m.types.All()
	d := types[rapid.IntRange(0, len(types)-1).Draw(m.T, "type")]
	if depth <= 0 {
		d = m.types.ByShortName("writeLine")
	}
	a := &workflow.Activity{ID: m.id(), Type: d.Type, Name: rapid.SampledFrom([]string{"", "Some name"}).Draw(m.T, "name")}
	for _, in := range d.Inputs {
		if in.Name != d.Cases && rapid.Bool().Draw(m.T, "given") {
			m.set(a, in.Name, m.expression(in))
		}
	}
	a.CanStart = d.Trigger && rapid.Bool().Draw(m.T, "trigger")
	for _, o := range d.Outputs {
		if rapid.Bool().Draw(m.T, "target") {
			if a.Outputs == nil {
				a.Outputs = map[string]string{}
			}
			a.Outputs[o.Name] = aName.Draw(m.T, "variable")
		}
	}
	for _, p := range d.Ports {
		if rapid.Bool().Draw(m.T, "port") {
			if a.Ports == nil {
				a.Ports = map[string]*workflow.Activity{}
			}
			a.Ports[p] = m.activity(depth - 1)
		}
	}
	if d.List != "" {
		a.Activities = []*workflow.Activity{}
		for range rapid.IntRange(0, 3).Draw(m.T, "children") {
			a.Activities = append(a.Activities, m.activity(depth-1))
		}
		a.Variables = m.variables()
	}
	if d.Cases != "" {
		m.cases(a, d, depth)
	}
	switch d.Type {
	case "Elsa.Flowchart":
		m.flowchart(a)
	case "Elsa.StateMachine":
		m.machine(a, depth)
	}
	a.CommitStrategy = rapid.SampledFrom([]string{"", "", "Always", "Executing"}).Draw(m.T, "commit")
	a.LogPersistence = rapid.SampledFrom([]string{"", "", "Exclude"}).Draw(m.T, "logging")
	a.MergeMode = rapid.SampledFrom([]string{"", "", "Race"}).Draw(m.T, "merge")
	if rapid.IntRange(0, 5).Draw(m.T, "metadata") == 0 {
		a.Metadata = map[string]any{"displayText": anyText.Draw(m.T, "displayText")}
	}
	return a
}

func (m *maker) set(a *workflow.Activity, name string, e workflow.Expression) {
	if a.Inputs == nil {
		a.Inputs = map[string]workflow.Expression{}
	}
	a.Inputs[name] = e
}

func (m *maker) reference() *workflow.Activity {
	version := rapid.IntRange(0, 2).Draw(m.T, "version")
	a := &workflow.Activity{ID: m.id(), Type: rapid.SampledFrom([]string{"ChildOne", "Some"}).Draw(m.T, "type"), Version: version,
		Ref: &workflow.DefinitionRef{ID: "child-one", Version: version}}
	if rapid.Bool().Draw(m.T, "versioned") {
		a.Ref.VersionID = "v-1"
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"message", "order", "name", "type", "start"}), 0, 3, rapid.ID).Draw(m.T, "inputs") {
		m.set(a, name, m.expression(workflow.InputDescriptor{}))
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"order", "id", "answer"}), 0, 3, rapid.ID).Draw(m.T, "outputs") {
		if a.Outputs == nil {
			a.Outputs = map[string]string{}
		}
		a.Outputs[name] = aName.Draw(m.T, "variable")
	}
	return a
}

func (m *maker) cases(a *workflow.Activity, d *workflow.Descriptor, depth int) {
	a.Cases = []workflow.Case{}
	for i := range rapid.IntRange(0, 3).Draw(m.T, "cases") {
		c := workflow.Case{Label: fmt.Sprint(200 + i)}
		if d.Cases == "cases" {
			c.Label = rapid.SampledFrom([]string{"", "Big", "a b", "1"}).Draw(m.T, "label")
			if c.Label == "" || rapid.Bool().Draw(m.T, "when") {
				c.Condition = m.expression(workflow.InputDescriptor{Type: "Boolean"})
			}
		}
		if d.CaseBodies && rapid.Bool().Draw(m.T, "then") {
			c.Activity = m.activity(depth - 1)
		}
		a.Cases = append(a.Cases, c)
	}
}

func (m *maker) flowchart(a *workflow.Activity) {
	a.Connections = []workflow.Connection{}
	if len(a.Activities) == 0 {
		return
	}
	pick := func() string {
		return a.Activities[rapid.IntRange(0, len(a.Activities)-1).Draw(m.T, "end")].ID
	}
	for range rapid.IntRange(0, 4).Draw(m.T, "connections") {
		con := workflow.Connection{Source: pick(), Target: pick(),
			SourcePort: rapid.SampledFrom([]string{"", "True", "Status 200", "a.b", "x->y", " pad "}).Draw(m.T, "port")}
		if !slices.ContainsFunc(a.Connections, func(o workflow.Connection) bool {
			return o.Source == con.Source && o.SourcePort == con.SourcePort && o.Target == con.Target
		}) {
			a.Connections = append(a.Connections, con)
		}
	}
	if rapid.Bool().Draw(m.T, "start") {
		a.Start = pick()
	}
	if rapid.Bool().Draw(m.T, "token") {
		a.CustomProperties = map[string]any{"Flowchart:ExecutionMode": "TokenBased"}
	}
}

func (m *maker) machine(a *workflow.Activity, depth int) {
	a.States = []workflow.State{}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"Draft", "In review", "Done"}), 0, 3, rapid.ID).Draw(m.T, "states")
	for _, name := range names {
		s := workflow.State{Name: name, Final: rapid.Bool().Draw(m.T, "final")}
		if rapid.Bool().Draw(m.T, "entry") {
			s.Entry = m.activity(depth - 1)
		}
		for range rapid.IntRange(0, 2).Draw(m.T, "transitions") {
			t := workflow.Transition{To: rapid.SampledFrom(names).Draw(m.T, "to")}
			if rapid.Bool().Draw(m.T, "on") {
				t.Trigger = m.activity(0)
			}
			if rapid.Bool().Draw(m.T, "when") {
				t.Condition = m.expression(workflow.InputDescriptor{Type: "Boolean"})
			}
			s.Transitions = append(s.Transitions, t)
		}
		a.States = append(a.States, s)
	}
	if len(names) > 0 {
		a.Initial = names[0]
	}
}
