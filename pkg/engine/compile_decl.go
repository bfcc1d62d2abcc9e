package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/pkg/engine/forms"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// expression compiles e; what names it in the problem.
func (c *compiler) expression(e workflow.Expression, what string) Compiled {
	ev := c.evaluator(e, what)
	if ev == nil {
		return nil
	}
	compiled, err := c.compiled(ev, e)
	if err != nil {
		c.problem("bad-expression", e.Place, "%s: %s", what, err)
		if c.via == nil {
			c.problems[len(c.problems)-1].Within = within(e.Value, err)
		}
		return nil
	}
	if r, ok := compiled.(secretReader); ok {
		c.useSecrets(r.Secrets(), e.Place, what)
	}
	return compiled
}

// compiled tells an evaluator that wants them the declared types of what is in scope.
func (c *compiler) compiled(ev Evaluator, e workflow.Expression) (Compiled, error) {
	typed, ok := ev.(Typed)
	if !ok {
		return ev.Compile(e)
	}
	return typed.CompileTyped(e, func(name string) (string, bool) {
		v := findVariable(c.at, name)
		if v == nil {
			return "", false
		}
		return v.alias, true
	}, func(name string) (string, bool) {
		i := slices.IndexFunc(c.at.unit.inputs, func(in declaredInput) bool { return in.Name == name })
		if i < 0 {
			return "", false
		}
		return c.at.unit.inputs[i].alias, true
	})
}

// within is the place that an evaluator's error names in the text of an expression; the
// zero Within if it names none.
func within(value any, err error) workflow.Within {
	var placed interface {
		Where() (path string, line, column int)
	}
	if !errors.As(err, &placed) {
		return workflow.Within{}
	}
	path, line, column := placed.Where()
	for token := range jsontext.Pointer(path).Tokens() {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return workflow.Within{}
			}
			value = v[i]
		}
	}
	text, _ := value.(string)
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for ; column > 1 && at < len(text); column-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return workflow.Within{Text: text, Offset: at}
}

// evaluator finds the evaluator of e's kind, and notes that the program needs it. If
// there is none it reports that and gives nil.
func (c *compiler) evaluator(e workflow.Expression, what string) Evaluator {
	const code = "unsupported-expression"
	switch ev := c.evals[e.Kind]; {
	case e.Kind == "":
	case ev != nil:
		c.prog.kinds[e.Kind] = true
		return ev
	case names.InsteadOfKind(e.Kind) != "":
		c.problem(code, e.Place, "%s is written in %s, which Weft does not run%s", what, e.Kind, names.InsteadOfKind(e.Kind))
	case e.Kind == workflow.JavaScript || e.Kind == workflow.CSharp: // which runs as JavaScript
		c.problem(code, e.Place, "%s is written in %s, which is switched off here (--javascript=off); rewrite it in Liquid or ${{ }}", what, e.Kind)
	case e.Kind != workflow.Literal:
		kinds := sortedKeys(c.evals)
		c.problem(code, e.Place, "%s is an expression of the unknown kind %q; known are %s%s", what, e.Kind, strings.Join(kinds, ", "), suggest(e.Kind, kinds))
	}
	return nil
}

// variables checks declared variables and converts their initial values.
func (c *compiler) variables(decl []workflow.Variable, place workflow.Place) []variable {
	if len(decl) == 0 {
		return nil
	}
	out := make([]variable, 0, len(decl))
	seen := map[string]bool{}
	for _, d := range decl {
		if d.Name == "" {
			d.Name = d.ID
		}
		at := cmp.Or(d.Place, place)
		if d.Name == "" || seen[d.Name] {
			c.problem("bad-variable", at, "variable %q has no name, or a name that is used twice in its scope", d.Name)
			continue
		}
		seen[d.Name] = true
		v := variable{id: d.ID, name: d.Name, alias: aliasOf(d.Type, d.IsArray), memory: isMemory(d.StorageDriver)}
		v.date = at.Pointer != "" && slices.Contains([]string{"datetime", "datetimeoffset"}, strings.ToLower(strings.TrimSuffix(v.alias, "[]")))
		value, err := initial(d.Value, v.alias)
		if text, ok := d.Value.(string); ok && at.Pointer != "" && strings.EqualFold(v.alias, "Object") && strings.TrimSpace(text) != "" {
			value, err = Normalize(text) // in Elsa a text stays one
		}
		if err != nil {
			c.problem("bad-literal", at, "initial value of variable %s: %v", d.Name, err)
		}
		v.value = value
		out = append(out, v)
	}
	return out
}

// initial gives a declared value the form of its alias. Elsa writes initial
// values as text, objects and lists among them.
func initial(v any, alias string) (any, error) {
	n, err := Normalize(v)
	if err != nil || n == nil {
		return nil, err
	}
	if s, ok := n.(string); ok && !strings.EqualFold(alias, "String") {
		t := strings.TrimSpace(s)
		if t == "" {
			return nil, nil
		}
		if workflow.HoldsJSON(alias) || strings.HasSuffix(alias, "]") && !strings.EqualFold(alias, "String[]") || strings.Contains(alias, "<") {
			if t[0] == '{' || t[0] == '[' {
				if tree, err := decodeValue([]byte(t)); err == nil {
					return tree, nil
				}
			}
			return n, nil
		}
	}
	if _, err := forms.To(n, alias); err != nil {
		return nil, err
	}
	return convertStored(n, alias)
}

func isMemory(driver string) bool { return strings.Contains(driver, "Memory") }

func (c *compiler) declaredInputs(def *workflow.Definition) []declaredInput {
	out := make([]declaredInput, 0, len(def.Inputs))
	seen := map[string]bool{}
	for _, d := range def.Inputs {
		at := cmp.Or(d.Place, def.Place)
		if d.Name == "" || seen[strings.ToLower(d.Name)] {
			c.problem("bad-input", at, "input %q has no name, or a name that is used twice; capitals make no other name", d.Name)
			continue
		}
		seen[strings.ToLower(d.Name)] = true
		in := declaredInput{Input: d, alias: aliasOf(d.Type, d.IsArray), memory: isMemory(d.StorageDriver)}
		value, err := initial(d.Default, in.alias)
		if err != nil {
			c.problem("bad-literal", at, "default of input %s: %v", d.Name, err)
		}
		in.value = value
		out = append(out, in)
	}
	return out
}

// outputs compiles the declared outputs of the definition that n runs, and
// looks whether anything in it may read activity outputs.
func (c *compiler) outputs(n *Node) {
	u := n.inner
	for _, o := range u.def.Outputs {
		out := declaredOutput{name: o.Name, alias: aliasOf(o.Type, o.IsArray)}
		out.value.desc = workflow.InputDescriptor{Name: "output " + o.Name, Type: out.alias}
		if o.Value != nil {
			// Its variables are those of the definition, so it is compiled as
			// if it stood on the root activity.
			out.value = c.input(&Node{activity: &workflow.Activity{Place: o.Value.Place}, desc: n.desc, local: n.local, parent: n, unit: u}, out.value.desc, *o.Value)
		}
		u.outputs = append(u.outputs, out)
	}
	reads := func(e workflow.Expression) bool { return mentionsOutputs(e.Value, 0) }
	workflow.Walk(u.def.Root, func(a, _ *workflow.Activity, _ int) bool {
		for _, e := range a.Inputs {
			u.keepOutputs = u.keepOutputs || reads(e)
		}
		for _, cs := range a.Cases {
			u.keepOutputs = u.keepOutputs || reads(cs.Condition)
		}
		for _, s := range a.States {
			for _, t := range s.Transitions {
				u.keepOutputs = u.keepOutputs || reads(t.Condition)
			}
		}
		return !u.keepOutputs
	})
	for _, o := range u.def.Outputs {
		u.keepOutputs = u.keepOutputs || o.Value != nil && reads(*o.Value)
	}
}

// labels compiles those of the workflow.
func (c *compiler) labels(n *Node) {
	u := n.inner
	if len(u.def.Labels) > workflow.MaxLabels {
		c.problem("too-many-labels", u.def.Place, "a definition may give an instance up to %d labels, it has %d", workflow.MaxLabels, len(u.def.Labels))
		if c.via == nil {
			c.problems[len(c.problems)-1].Within = workflow.Within{Text: "labels"}
		}
	}
	for _, name := range sortedKeys(u.def.Labels) {
		e := u.def.Labels[name]
		place := cmp.Or(e.Place, u.def.Place)
		label := declaredLabel{name: name}
		label.value = c.input(&Node{activity: &workflow.Activity{Place: place}, desc: n.desc, local: n.local, parent: n, unit: u}, workflow.InputDescriptor{Name: "label " + name, Type: "String"}, e)
		err := workflow.CheckLabelName(name)
		if err == nil && label.value.constant {
			err = workflow.CheckLabel(name, Text(label.value.value))
		}
		if err != nil {
			c.problem("bad-label", place, "label %q: %v", workflow.Shorten(name), err)
			continue
		}
		u.labels = append(u.labels, label)
	}
}

// mentionsOutputs tells whether a source may read the output of an activity: every way to do so has one of these words in it.
func mentionsOutputs(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		l := strings.ToLower(v)
		return strings.Contains(l, "output") || strings.Contains(l, "from") || strings.Contains(l, "result")
	case map[string]any:
		return mentionsOutputs(slices.Collect(maps.Values(v)), depth)
	case []any:
		return depth < 50 && slices.ContainsFunc(v, func(e any) bool { return mentionsOutputs(e, depth+1) })
	}
	return false
}
