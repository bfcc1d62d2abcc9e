package elsajson

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// kinds are the expression types by their lower-case names, obsolete ones
// included.
var kinds = map[string]string{
	"literal": workflow.Literal, "object": workflow.Object, "json": workflow.Object, "variable": workflow.VariableOf,
	"input": workflow.InputOf, "javascript": workflow.JavaScript, "liquid": workflow.Liquid, "expr": workflow.Expr,
	"csharp": workflow.CSharp, "c#": workflow.CSharp, "python": workflow.Python,
}

// input reads the value of an activity's input in any of its forms: the wrapper
// {typeName, expression, memoryReference}, a bare expression, or a bare value.
// The zero Expression means that the activity's default holds.
func (r *reader) input(c cur, want workflow.InputDescriptor) workflow.Expression {
	var e workflow.Expression
	switch {
	case c.kind == null:
		return e
	case c.kind != object:
		e.Kind, e.Value = workflow.Literal, c.value()
		if c.kind == array {
			e.Kind = workflow.Object
		} else if want.Type == "Variable" {
			e.Kind, e.Value = workflow.VariableOf, c.text
		}
	case want.Type == "Variable" && !c.has("expression"):
		e.Kind, e.Value = workflow.VariableOf, r.reference(c)
	case c.isWrapper():
		for _, f := range r.fields(c) {
			switch f.name {
			case "expression":
				e.Kind, e.Value = r.expression(f.cur)
			case "typeName":
				e.Type = declared(alias(r.str(f)), want)
			case "memoryReference":
				e.Memory = memory(f.node)
			}
		}
		if e.Kind == "" {
			return workflow.Expression{}
		}
	case c.isExpression():
		e.Kind, e.Value = r.expression(c)
	default:
		e.Kind, e.Value = workflow.Object, c.value()
	}
	if e.Kind != "" {
		e.Place = r.place(c)
	}
	return e
}

// declared leaves out a type that the activity declares anyway.
func declared(typ string, want workflow.InputDescriptor) string {
	if typ == defaultType(want) {
		return ""
	}
	return typ
}

func defaultType(want workflow.InputDescriptor) string {
	if want.Type == "" {
		return "Object"
	}
	return want.Type
}

// isWrapper tells whether a value is an input's wrapper.
func (n *node) isWrapper() bool {
	return n.kind == object && (n.has("expression") || n.has("typeName") || n.has("memoryReference"))
}

// isExpression tells whether a value is {type, value} of a known kind.
func (n *node) isExpression() bool {
	t := n.get("type")
	if t == nil || t.kind != text || len(n.members) > 2 || len(n.members) == 2 && !n.has("value") {
		return false
	}
	return kinds[strings.ToLower(t.text)] != ""
}

func (n *node) has(name string) bool {
	for _, m := range n.members {
		if strings.EqualFold(m.name, name) {
			return true
		}
	}
	return false
}

// expression reads {type, value}; a bare value is a literal.
func (r *reader) expression(c cur) (kind string, value any) {
	switch c.kind {
	case null:
		return "", nil
	case object:
	case array:
		return workflow.Object, c.value()
	default:
		return workflow.Literal, c.value()
	}
	val := cur{node: &node{off: c.off, end: c.off}, ptr: c.ptr}
	for _, f := range r.fields(c) {
		switch f.name {
		case "type":
			kind = r.str(f)
		case "value":
			val = f.cur
		}
	}
	if known := kinds[strings.ToLower(kind)]; known != "" {
		kind = known
	} else if kind == "" {
		kind = workflow.Literal
	}
	switch {
	case val.kind == null:
		return "", nil
	case kind == workflow.VariableOf || kind == workflow.InputOf:
		return kind, r.reference(val)
	case kind == workflow.JavaScript || kind == workflow.Liquid:
		return kind, r.str(field{"the source", val})
	case kind == workflow.Literal && (val.kind == object || val.kind == array):
		return workflow.Object, val.value()
	}
	return kind, val.value()
}

// reference reads what names a variable or an input: a text, or the object that
// declares it.
func (r *reader) reference(c cur) string {
	if c.kind == text {
		return c.text
	}
	for _, key := range []string{"id", "name"} {
		if v := c.get(key); v != nil && v.kind == text && v.text != "" {
			return v.text
		}
	}
	r.shape(c, "a reference", "a text or an object with an id or a name")
	return ""
}

// memory reads the id of a memoryReference.
func memory(n *node) string {
	if n.kind == text {
		return n.text
	}
	if id := n.get("id"); id != nil {
		return id.text
	}
	return ""
}

// condition reads the condition of a case or transition: an expression or an
// input's wrapper.
func (r *reader) condition(c cur) workflow.Expression {
	if c.isWrapper() {
		return r.input(c, workflow.InputDescriptor{Type: "Boolean"})
	}
	e := workflow.Expression{}
	if e.Kind, e.Value = r.expression(c); e.Kind != "" {
		e.Place = r.place(c)
	}
	return e
}

// wrap writes an input as Elsa's wrapper.
func wrap(e workflow.Expression, want workflow.InputDescriptor) fields {
	var w fields
	typ := e.Type
	if typ == "" {
		typ = defaultType(want)
	}
	w.set("typeName", typ)
	w.set("expression", expression(e))
	if e.Memory != "" {
		w.set("memoryReference", map[string]any{"id": e.Memory})
	}
	for _, k := range slices.Sorted(maps.Keys(e.Extra)) {
		if w.get(k) == nil {
			w.set(k, e.Extra[k])
		}
	}
	return w
}

// expression writes {type, value}.
func expression(e workflow.Expression) fields {
	var x fields
	x.set("type", e.Kind)
	switch e.Kind {
	case workflow.VariableOf:
		x.set("value", map[string]any{"id": e.Value})
	case workflow.InputOf:
		x.set("value", map[string]any{"name": e.Value})
	default:
		x.set("value", e.Value)
	}
	return x
}

func conditionFields(e workflow.Expression) fields {
	if e.Type != "" || e.Memory != "" {
		return wrap(e, workflow.InputDescriptor{Type: "Boolean"})
	}
	return expression(e)
}
