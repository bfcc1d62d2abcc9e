package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine/forms"
	"github.com/weft-run/weft/pkg/workflow"
)

// scope is what an expression sees. The scopes in view are those of the execution from;
// x is the execution whose input is evaluated.
type scope struct {
	b       *Burst
	from, x *Execution
}

var _ Scope = (*scope)(nil)

func (b *Burst) eval(from *Execution, c Compiled, x *Execution) (any, error) {
	v, err := c.Eval(b.ctx, &scope{b, from, x})
	if err != nil {
		return nil, err
	}
	return Normalize(v)
}

// boundary is the execution of the definition that from belongs to; nil above
// the workflow.
func (x *Execution) boundary(from *Execution) *Execution {
	for ; from != nil; from = from.parent {
		if from.scope != nil {
			return from
		}
	}
	return nil
}

// holder finds the nearest execution, from from outwards to the boundary, that
// has the variable, and the variable's name.
func holder(from *Execution, name string) (*Execution, string) {
	for e := from; e != nil; e = e.parent {
		if e.vars != nil {
			if _, ok := e.vars[name]; ok {
				return e, name
			}
			for i := range e.node.vars {
				if v := &e.node.vars[i]; v.id == name && name != "" {
					return e, v.name
				}
			}
		}
		if e.scope != nil {
			break
		}
	}
	return nil, name
}

// Variable gives the value of a variable in scope, by name or id.
func (x *Execution) Variable(name string) (any, bool) {
	e, n := holder(x, name)
	if e == nil {
		return nil, false
	}
	return e.vars[n], true
}

// SetVariable sets the nearest variable of that name or id; one that nobody
// declared is made for the whole definition. It returns an error for values
// that do not fit the variable's type, have no JSON form, or hold the value of a
// secret although the variable is kept with the instance.
func (x *Execution) SetVariable(name string, v any) error {
	by := x.b.calling
	return x.setVariable(name, v, by, by.keepsInputs() || by.keepsOutputs(), false)
}

// setVariable is SetVariable for the activity by, which may keep the value out of the
// journal.
func (x *Execution) setVariable(name string, v any, by *Execution, hidden, asGiven bool) error {
	if err := checkName("a variable", name); err != nil {
		return err
	}
	n, err := Normalize(v)
	if err != nil {
		return fmt.Errorf("variable %s: %w", name, err)
	}
	e, name := holder(x, name)
	if e == nil {
		e = x.boundary(x)
		if e.vars == nil {
			e.vars = map[string]any{}
		}
	}
	kept := true
	for i := range e.node.vars {
		if d := &e.node.vars[i]; d.name == name {
			kept = !d.memory
			if !asGiven || d.alias != "String" { // Elsa keeps what an output gives
				n, err = convertStored(n, d.alias)
			}
			switch {
			case err != nil && hidden: // whose text has the value
				return fmt.Errorf("variable %s: its value, which is hidden, does not fit the type %s", name, d.alias)
			case err != nil:
				return fmt.Errorf("variable %s: %w", name, err)
			}
		}
	}
	if kept {
		if err := x.b.env.refuseSecret("variable "+name, n); err != nil {
			return err
		}
	}
	e.vars[name] = n
	if kept {
		e.noteSet(name, by, hidden)
	}
	x.b.growth.add(n)
	return nil
}

// convertStored gives a value that is kept the form of its alias; times and
// durations stay the text they are.
func convertStored(v any, alias string) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch strings.ToLower(alias) {
	case "string", "guid", "boolean", "bool", "int16", "int32", "int64", "byte", "integer", "int", "long", "single", "double", "decimal", "number":
		out, err := forms.To(v, alias)
		if err != nil {
			return nil, err
		}
		return Normalize(out)
	}
	if of, list := strings.CutSuffix(strings.ToLower(alias), "[]"); list {
		if of != "string" {
			alias = "Object[]"
		}
		return forms.To(v, alias)
	}
	if text, ok := v.(string); ok && workflow.HoldsJSON(alias) && alias != "" && !strings.EqualFold(alias, "Object") { // of Elsa's dictionaries
		if t := strings.TrimSpace(text); t != "" && (t[0] == '{' || t[0] == '[') {
			if tree, err := decodeValue([]byte(t)); err == nil {
				return tree, nil
			}
		}
	}
	return v, nil
}

// SetOutput sets one of the activity's outputs, and the variable or workflow
// output that the author connected to it. Values without a JSON form end the
// call as an incident.
func (x *Execution) SetOutput(name string, v any) {
	if err := x.setOutput(name, v); err != nil {
		panic(err)
	}
}

// TakeOutput is SetOutput for what a stimulus brought. A value that does not fit
// is an error after which a retry waits for another one: see [BeginAgain].
func (x *Execution) TakeOutput(name string, v any) error {
	if err := x.setOutput(name, v); err != nil {
		return BeginAgain(err)
	}
	return nil
}

func (x *Execution) setOutput(name string, v any) error {
	if err := checkName("an output", name); err != nil {
		return err
	}
	n, err := Normalize(v)
	if err != nil {
		return fmt.Errorf("output %s: %w", name, err)
	}
	n = x.redactOutput(name, n)
	if x.results == nil {
		x.results = make(map[string]any, len(x.node.desc.Outputs))
	}
	x.results[name] = n
	x.b.growth.add(n)
	t, ok := x.node.targets[name]
	switch {
	case !ok:
	case t.variable != "":
		if err := x.parent.setVariable(t.variable, n, x, x.keepsOutput(name), x.node.activity.Place.Pointer != ""); err != nil {
			return fmt.Errorf("output %s: %w", name, err)
		}
	default:
		x.parent.SetWorkflowOutput(t.output, n)
	}
	return nil
}

// SetWorkflowOutput sets an output of the definition that the activity belongs
// to. Values without a JSON form end the call as an incident.
func (x *Execution) SetWorkflowOutput(name string, v any) {
	if err := checkName("an output", name); err != nil {
		panic(err)
	}
	n, err := Normalize(v)
	if err != nil {
		panic(fmt.Errorf("output %s: %w", name, err))
	}
	if err := x.b.env.refuseSecret("workflow output "+name, n); err != nil {
		panic(err)
	}
	home := x.boundary(x)
	home.scope.setOutput(name, n)
	x.b.growth.add(n)
	if home.parent == nil {
		x.b.header.Output = home.scope.outputs
	}
}

// Input gives an input of the definition that the activity belongs to.
func (x *Execution) Input(name string) (any, bool) {
	m := x.inputs()
	if v, ok := m[name]; ok {
		return v, true
	}
	for _, k := range sortedKeys(m) {
		if strings.EqualFold(k, name) {
			return m[k], true
		}
	}
	if p := x.b.header.Parent; name == "ParentInstanceId" && p != nil {
		return p.InstanceID, true
	}
	return nil, false
}

func (x *Execution) inputs() map[string]any {
	if home := x.boundary(x); home != nil && home.parent != nil {
		return home.scope.inputs
	}
	return x.b.inputs
}

// SetInstanceName names the instance.
func (x *Execution) SetInstanceName(name string) {
	x.b.header.Name = workflow.ValidText(x.b.env.Secrets.Redact(name))
}

// SetCorrelationID changes what correlates the instance with stimuli.
func (x *Execution) SetCorrelationID(id string) error {
	if err := workflow.CheckName("correlation id", id); err != nil {
		return err
	}
	if err := x.b.env.refuseSecret("correlation id", id); err != nil {
		return err
	}
	x.b.header.CorrelationID = id
	return nil
}

// SetLabel gives the instance a label, by which people find it, or takes it away ("").
func (x *Execution) SetLabel(name, value string) error {
	if err := workflow.CheckLabel(name, value); err != nil {
		return err
	}
	if err := x.b.env.refuseSecret("label "+name, name, value); err != nil {
		return err
	}
	labels := maps.Clone(x.b.header.Labels) // others may hold what there is
	if labels == nil {
		labels = map[string]string{}
	}
	if labels[name] = value; value == "" {
		delete(labels, name)
	}
	if len(labels) > workflow.MaxLabels {
		return fmt.Errorf("label %s would be one too many: an instance has up to %d", name, workflow.MaxLabels)
	}
	if len(labels) == 0 {
		labels = nil
	}
	x.b.header.Labels = labels
	return nil
}

func (s *scope) Variable(name string) (any, bool)     { return s.from.Variable(name) }
func (s *scope) SetVariable(name string, v any) error { return s.from.SetVariable(name, v) }

func (s *scope) IsDate(named string) bool {
	e, name := holder(s.from, named)
	return e != nil && slices.ContainsFunc(e.node.vars, func(v variable) bool { return v.date && v.name == name })
}

func (s *scope) Variables() map[string]any {
	out := map[string]any{}
	for e := s.from; e != nil; e = e.parent {
		for k, v := range e.vars {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
		if e.scope != nil {
			break
		}
	}
	return out
}

func (s *scope) Input(name string) (any, bool) { return s.from.Input(name) }
func (s *scope) Inputs() map[string]any        { return s.from.inputs() }

func (s *scope) ActivityOutput(activity, name string) (any, bool) {
	home := s.x.boundary(s.from)
	if home == nil {
		return nil, false
	}
	u := home.node.inner
	node := u.byID[activity]
	if node == nil {
		node = cmp.Or(u.byName[activity], u.bySpelling[activity])
	}
	if node == nil {
		return nil, false
	}
	res := home.scope.results[node.local]
	if name == "" && len(node.desc.Outputs) > 0 {
		name = node.desc.Outputs[0].Name
	}
	if v, ok := res[name]; ok {
		return v, true
	}
	i := slices.IndexFunc(node.desc.Outputs, func(o workflow.OutputDescriptor) bool { return strings.EqualFold(o.Name, name) })
	if i < 0 {
		return nil, false
	}
	v, ok := res[node.desc.Outputs[i].Name]
	return v, ok
}

func (s *scope) LastResult() any {
	if home := s.x.boundary(s.from); home != nil {
		return home.scope.last
	}
	return nil
}

func (s *scope) InstanceID() string     { return s.b.header.ID }
func (s *scope) DefinitionID() string   { return s.b.header.DefinitionID }
func (s *scope) DefinitionVersion() int { return s.b.header.Version }
func (s *scope) CorrelationID() string  { return s.b.header.CorrelationID }
func (s *scope) DefinitionVersionID() string {
	return cmp.Or(s.b.prog.def.VersionID, fmt.Sprintf("%s:%d", s.DefinitionID(), s.DefinitionVersion()))
}

func (s *scope) SetCorrelationID(id string) {
	if err := s.from.SetCorrelationID(id); err != nil {
		panic(err)
	}
}
func (s *scope) InstanceName() string         { return s.b.header.Name }
func (s *scope) SetInstanceName(name string)  { s.x.SetInstanceName(name) }
func (s *scope) SetOutcomes(out ...string)    { s.x.SetOutcomes(out...) }
func (s *scope) SetOutput(name string, v any) { s.from.SetWorkflowOutput(name, v) }

func (s *scope) Secret(name string) (string, bool) {
	s.b.secrets++
	return s.x.Secret(name)
}
func (s *scope) Limits() Limits { return s.b.limits }
