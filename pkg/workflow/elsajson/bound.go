package elsajson

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Bound says why a definition that was read from Elsa's JSON may be another one in another notation; nil: it is the same.
// Only in this one the dates of variables are Date objects to scripts, and the text of an object is a text.
func Bound(def *workflow.Definition) error {
	if def.Root == nil || def.Root.Place.Pointer == "" {
		return nil
	}
	date, text := "", ""
	declared := func(vars []workflow.Variable) {
		for _, v := range vars {
			typ := strings.TrimSuffix(v.Type, "[]")
			if strings.EqualFold(typ, "DateTime") || strings.EqualFold(typ, "DateTimeOffset") {
				date = v.Name
			}
			if value, ok := v.Value.(string); ok && strings.EqualFold(v.Type, "Object") && !v.IsArray && json.Valid([]byte(value)) {
				text = v.Name
			}
		}
	}
	scripts := false
	look := func(e workflow.Expression) {
		scripts = scripts || e.Kind == workflow.JavaScript || e.Kind == workflow.CSharp
	}
	declared(def.Variables)
	for _, o := range def.Outputs {
		if o.Value != nil {
			look(*o.Value)
		}
	}
	for _, e := range def.Labels {
		look(e)
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		declared(a.Variables)
		scripts = scripts || strings.EqualFold(a.Type, "Elsa.RunJavaScript") || strings.EqualFold(a.Type, "Elsa.RunCSharp")
		for _, e := range a.Inputs {
			look(e)
		}
		for _, c := range a.Cases {
			look(c.Condition)
		}
		for _, s := range a.States {
			for _, t := range s.Transitions {
				look(t.Condition)
			}
		}
		return true
	})
	switch {
	case text != "":
		return fmt.Errorf("the variable %s of type Object begins with a text of JSON, which is a text in Elsa's JSON only, and an object or a value in another notation", text)
	case date != "" && scripts:
		return fmt.Errorf("its scripts may read the variable %s, which is a Date to them in Elsa's JSON only, and the text of a time in another notation", date)
	}
	return nil
}
