package elsajson

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Bound says why a definition that was read from Elsa's JSON would be another one in another notation; nil: it would not.
// Only in this one the dates of variables are Date objects to scripts.
func Bound(def *workflow.Definition) error {
	if def.Root == nil || def.Root.Place.Pointer == "" {
		return nil
	}
	var dates []string
	declared := func(vars []workflow.Variable) {
		for _, v := range vars {
			if strings.EqualFold(v.Type, "DateTime") || strings.EqualFold(v.Type, "DateTimeOffset") {
				dates = append(dates, v.Name)
			}
		}
	}
	var scripts []string
	look := func(e workflow.Expression) {
		if text, ok := e.Value.(string); ok && e.Kind == workflow.JavaScript {
			scripts = append(scripts, strings.ToLower(text))
		}
	}
	declared(def.Variables)
	for _, o := range def.Outputs {
		if o.Value != nil {
			look(*o.Value)
		}
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		declared(a.Variables)
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
	for _, name := range dates {
		for _, text := range scripts {
			if name != "" && strings.Contains(text, strings.ToLower(name)) {
				return fmt.Errorf("its scripts read the variable %s, which is a Date to them in Elsa's JSON only, and the text of a time in another notation", name)
			}
		}
	}
	return nil
}
