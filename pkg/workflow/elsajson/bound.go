package elsajson

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// IsBound reports whether a definition was read from Elsa's JSON.
func IsBound(def *workflow.Definition) bool { return def.Root != nil && def.Root.Place.Pointer != "" }

// Bound says why a definition may be another one in Elsa's JSON than in another notation; nil: it is the same.
// Only in this one the dates of variables are Date objects to scripts, and the text of an object is a text.
func Bound(def *workflow.Definition) error {
	if def.Root == nil {
		return nil
	}
	var b bound
	b.declared(def.Variables)
	for _, o := range def.Outputs {
		if o.Value != nil {
			b.look(*o.Value)
		}
	}
	for _, e := range def.Labels {
		b.look(e)
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		b.activity(a)
		return true
	})
	switch {
	case b.text != "":
		return fmt.Errorf("the variable %s of type Object begins with a text of JSON, which is a text in Elsa's JSON only, and an object or a value in another notation", b.text)
	case b.date != "" && b.scripts:
		return fmt.Errorf("its scripts may read the variable %s, which is a Date to them in Elsa's JSON only, and the text of a time in another notation", b.date)
	}
	return nil
}

// bound is what was seen of a definition.
type bound struct {
	date, text string // variables: a date, and one of type Object that begins with a text of JSON
	scripts    bool
}

func (b *bound) declared(vars []workflow.Variable) {
	for _, v := range vars {
		typ := strings.TrimSuffix(v.Type, "[]")
		if strings.EqualFold(typ, "DateTime") || strings.EqualFold(typ, "DateTimeOffset") {
			b.date = v.Name
		}
		if value, ok := v.Value.(string); ok && strings.EqualFold(v.Type, "Object") && !v.IsArray && json.Valid([]byte(value)) {
			b.text = v.Name
		}
	}
}

func (b *bound) look(e workflow.Expression) {
	b.scripts = b.scripts || e.Kind == workflow.JavaScript || e.Kind == workflow.CSharp
}

func (b *bound) activity(a *workflow.Activity) {
	b.declared(a.Variables)
	b.scripts = b.scripts || strings.EqualFold(a.Type, "Elsa.RunJavaScript") || strings.EqualFold(a.Type, "Elsa.RunCSharp")
	for _, e := range a.Inputs {
		b.look(e)
	}
	for _, c := range a.Cases {
		b.look(c.Condition)
	}
	for _, s := range a.States {
		for _, t := range s.Transitions {
			b.look(t.Condition)
		}
	}
}
