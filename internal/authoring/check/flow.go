package check

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// targets looks at where an activity's outputs go: whether what takes one can take it.
func (c *checker) targets(p, around place) {
	if p.desc == nil || c.spent > mostWork {
		return
	}
	for _, name := range sortedKeys(p.a.Outputs) {
		to := p.a.Outputs[name]
		i := slices.IndexFunc(p.desc.Outputs, func(o workflow.OutputDescriptor) bool { return strings.EqualFold(o.Name, name) })
		if to == "" || i < 0 {
			continue // unknown names are the compiler's
		}
		what := "output " + p.desc.Outputs[i].Name + " of " + p.title()
		gives := given(p.desc.Outputs[i])
		if typ, ok := around.variables[to]; ok {
			c.stored(p, gives, typ, what, "the variable "+to, problem)
			continue
		}
		for _, o := range c.def.Outputs {
			if o.Name == to {
				c.stored(p, gives, alias(o.Type, o.IsArray), what, "the output "+to, warning)
			}
		}
		if p.a.Place.Pointer != "" && !strings.Contains(to, ":") && !c.outputs[to] && c.byID[to] == "" && !c.variableNames[to] { // the designer makes those with a colon
			q := warning("leftover-output", "%s goes to %q, which no variable and no output is any more: it goes nowhere", what, workflow.Shorten(to))
			q.Within = workflow.Within{Text: to}
			c.report(p, workflow.Place{}, q)
		}
	}
}

// stored reports a result that what it is written to does not take, or only if it is
// written like one.
func (c *checker) stored(p place, gives, typ, what, to string, say func(string, string, ...any) workflow.Problem) {
	verdict := takes(strings.ToLower(listAlias(typ)), gives)
	if gives == "" || verdict == fine {
		return
	}
	q := say("type-mismatch", "%s is %s, and %s takes %s", what, kindOf(gives), to, wanted(typ))
	q.Warning = q.Warning || verdict == doubtful
	q.Within = workflow.Within{Text: ": " + to[strings.LastIndexByte(to, ' ')+1:], Offset: 2}
	c.report(p, workflow.Place{}, q)
}

// given is what kind of value an output of a declared type is; "" if it may be any.
func given(o workflow.OutputDescriptor) string {
	if o.Fields != nil {
		return "Map"
	}
	switch strings.ToLower(o.Type) {
	case "boolean", "bool":
		return "Boolean"
	case "int16", "int32", "int64", "single", "double", "decimal", "number", "integer":
		return "Double"
	case "string":
		return "String"
	case "object[]", "string[]":
		return "Object[]"
	}
	return ""
}

// ChildCodes are of what may be wrong with what a definition runs, and gives it.
var ChildCodes = []string{"missing-child-input", "unknown-child-input", "type-mismatch", "endless-loop"}

// child holds what a child is given against the inputs of its definition. Both may be
// published in any order, so all of this may be meant.
func (c *checker) child(p place) {
	if c.mute || !is(p.a, "Elsa.ExecuteWorkflow") && !is(p.a, "Elsa.DispatchWorkflow") {
		return
	}
	id, ok := p.a.Inputs["workflowDefinitionId"].Value.(string)
	def := c.kid(id)
	if !ok || def == nil || p.a.Inputs["workflowDefinitionId"].Kind != workflow.Literal {
		return
	}
	e := p.a.Inputs["input"]
	fields, known := fieldsOf(e)
	if !known {
		return
	}
	declared := map[string]workflow.Input{}
	for _, in := range def.Inputs {
		declared[in.Name] = in
		if _, ok := fields[in.Name]; !ok && in.Required && in.Default == nil {
			c.report(p, e.Place, warning("missing-child-input", "%s runs %s, which requires the input %s, and does not give it: the child would fault", p.title(), id, in.Name))
		}
	}
	if len(declared) == 0 || def.Options.AdditionalInputs || def.Root == nil || def.Root.Place.Pointer != "" {
		return // it takes any
	}
	names := sortedKeys(declared)
	for _, name := range sortedKeys(fields) {
		in, ok := declared[name]
		if c.full() {
			return
		}
		if !ok {
			q := warning("unknown-child-input", "%s gives %s the input %s, which it does not declare", p.title(), id, workflow.Shorten(name))
			q.Within = workflow.Within{Text: name}
			c.report(p, e.Place, meant(q, name, names))
			continue
		}
		c.childValue(p, e, name, fields[name], alias(in.Type, in.IsArray), id)
	}
}

// childValue looks at the type of one value that a child is given.
func (c *checker) childValue(p place, e workflow.Expression, name string, v any, typ, id string) {
	var q workflow.Problem
	switch {
	case v == nil || typ == "":
		return
	case e.Kind == workflow.Expr:
		gives := c.typeOf(p, workflow.Expression{Kind: workflow.Expr, Value: v, Place: e.Place})
		if takes(strings.ToLower(listAlias(typ)), gives) != wrong {
			return
		}
		q = warning("type-mismatch", "the input %s of %s takes %s, and is given %s", name, id, wanted(typ), kindOf(gives))
	default:
		_, err := engine.Convert(v, listAlias(typ))
		if err == nil {
			return
		}
		q = warning("type-mismatch", "the input %s of %s: %v", name, id, err)
	}
	q.Within = workflow.Within{Text: name}
	c.report(p, e.Place, q)
}

// mostKids bounds how many definitions are asked for.
const mostKids = 50

// kid gives the definition that a child of that id runs; nil if it is not known.
func (c *checker) kid(id string) *workflow.Definition {
	if id == "" || id == c.def.ID {
		return map[bool]*workflow.Definition{true: c.def}[id != ""]
	}
	def, asked := c.kids[id]
	if !asked && c.opts.Child != nil && len(c.kids) < mostKids {
		def = c.opts.Child(id)
		c.kids[id] = def
	}
	return def
}

// fieldsOf gives the fields of an object that is written out; false if they are known
// only at run time.
func fieldsOf(e workflow.Expression) (map[string]any, bool) {
	if e.IsZero() || e.Value == nil {
		return nil, true
	}
	switch v := e.Value.(type) {
	case map[string]any:
		return v, e.Kind == workflow.Expr || e.Kind == workflow.Object || e.Kind == workflow.Literal
	case string:
		var fields map[string]any
		if e.Kind != workflow.Object || json.Unmarshal([]byte(v), &fields) != nil {
			return nil, false
		}
		return fields, true
	}
	return nil, false
}
