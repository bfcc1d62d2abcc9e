package elsajson

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// input reads the value of an activity's input in any of its forms: the wrapper
// {typeName, expression, memoryReference}, a bare expression, or a bare value.
// The zero Expression means that the activity's default holds.
func (r *reader) input(c cur, want workflow.InputDescriptor) workflow.Expression {
	var e workflow.Expression
	anything := false
	switch {
	case c.Kind == jsontree.Null:
		return e
	case c.Kind != jsontree.Object:
		e.Kind, e.Value = workflow.Literal, c.Value()
		if c.Kind == jsontree.Array {
			e.Kind = workflow.Object
		} else if want.Type == "Variable" {
			e.Kind, e.Value = workflow.VariableOf, c.Text
		}
	case want.Type == "Variable" && !c.Has("expression"):
		e.Kind, e.Value = workflow.VariableOf, r.reference(c)
	case c.IsWrapper():
		for _, f := range r.fields(c) {
			switch f.name {
			case "expression":
				e.Kind, e.Value = r.expression(f.cur)
			case "typeName":
				alias := names.Alias(r.str(f))
				e.Type, anything = declared(alias, want), alias == "Object"
			case "memoryReference":
				e.Memory = memory(f.Node)
			}
		}
		if e.Kind == "" {
			return workflow.Expression{}
		}
	case c.IsExpression():
		e.Kind, e.Value = r.expression(c)
	default:
		e.Kind, e.Value = workflow.Object, c.Value()
	}
	if e.Kind != "" {
		e.Place = r.place(c)
	}
	e.Value = r.typed(c, e, want)
	if text, ok := e.Value.(string); ok && anything && e.Kind == workflow.Object && strings.TrimSpace(text) != "" {
		e.Kind = workflow.Literal // where anything fits, Elsa reads no JSON out of a text
	}
	return e
}

// typed gives the value of an expression as the type that is declared has it.
func (r *reader) typed(c cur, e workflow.Expression, want workflow.InputDescriptor) any {
	if e.Kind != workflow.Literal && e.Kind != workflow.Object {
		return e.Value
	}
	n, inside := c.Node, c.IsExpression()
	if x := n.Get("expression"); x != nil && n.IsWrapper() {
		n, inside = x, x.Kind == jsontree.Object
	}
	if v := n.Get("value"); v != nil && inside {
		n = v
	}
	if text, ok := spelled(n, want); ok {
		return text
	}
	if want.Type == "" || want.Type == "Object" {
		want.Type = e.Type
	}
	return preserved(e.Value, want.Type)
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

// expression reads {type, value}; a bare value is a literal.
func (r *reader) expression(c cur) (kind string, value any) {
	switch c.Kind {
	case jsontree.Null:
		return "", nil
	case jsontree.Object:
	case jsontree.Array:
		return workflow.Object, c.Value()
	default:
		return workflow.Literal, c.Value()
	}
	val := cur{Node: &jsontree.Node{Off: c.Off, End: c.Off}, ptr: c.ptr}
	for _, f := range r.fields(c) {
		switch f.name {
		case "type":
			kind = r.str(f)
		case "value":
			val = f.cur
		}
	}
	if known := jsontree.Kinds[strings.ToLower(kind)]; known != "" {
		kind = known
	} else if kind == "" {
		kind = workflow.Literal
	}
	switch {
	case val.Kind == jsontree.Null:
		return "", nil
	case kind == workflow.VariableOf || kind == workflow.InputOf:
		return kind, r.reference(val)
	case kind == workflow.JavaScript || kind == workflow.Liquid:
		return kind, r.str(field{"the source", val})
	case kind == workflow.Literal && (val.Kind == jsontree.Object || val.Kind == jsontree.Array):
		return workflow.Object, val.Value()
	}
	return kind, val.Value()
}

// reference reads what names a variable or an input: a text, or the object that
// declares it.
func (r *reader) reference(c cur) string {
	if c.Kind == jsontree.String {
		return c.Text
	}
	for _, key := range []string{"id", "name"} {
		if v := c.Get(key); v != nil && v.Kind == jsontree.String && v.Text != "" {
			return v.Text
		}
	}
	r.shape(c, "a reference", "a text or an object with an id or a name")
	return ""
}

// memory reads the id of a memoryReference.
func memory(n *jsontree.Node) string {
	if n.Kind == jsontree.String {
		return n.Text
	}
	if id := n.Get("id"); id != nil {
		return id.Text
	}
	return ""
}

// condition reads the condition of a case or transition: an expression or an
// input's wrapper.
func (r *reader) condition(c cur) workflow.Expression {
	if c.IsWrapper() {
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
