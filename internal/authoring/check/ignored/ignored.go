package ignored

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// A Setting has no effect. Activity is what it is of; nil: of the definition.
type Setting struct {
	Activity *workflow.Activity
	Place    workflow.Place // zero: that of the activity or the definition
	Name     string         // as it is written there
	Detail   string         // for people, behind the name of the activity
}

// Settings finds the settings of a definition that Elsa follows and Weft does not, in the order of its activities. What
// says nothing, such as an empty list, is none. types has the activities.
func Settings(def *workflow.Definition, types workflow.Types) []Setting {
	var found []Setting
	for _, name := range slices.Sorted(maps.Keys(def.CustomProperties)) {
		if strings.HasPrefix(name, "Elsa:WorkflowContext") && !Inert(def.CustomProperties[name]) {
			found = append(found, Setting{Name: name, Detail: name + " names classes of an application of Elsa, and has no effect here: keep in variables what they load"})
		}
	}
	found = append(found, declared(nil, def.Variables)...)
	for _, in := range def.Inputs {
		found = append(found, declared(nil, []workflow.Variable{{Name: in.Name, Type: in.Type, StorageDriver: in.StorageDriver, Place: in.Place}})...)
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		found = append(found, ofActivity(a, types.ByType(a.Type))...)
		found = append(found, declared(a, a.Variables)...)
		return len(found) < workflow.MaxProblems
	})
	return found
}

// ofActivity finds those of an activity; d is nil if its type is not known.
func ofActivity(a *workflow.Activity, d *workflow.Descriptor) (found []Setting) {
	add := func(name, detail string) {
		found = append(found, Setting{Activity: a, Name: name, Detail: detail})
	}
	var bare any
	_ = json.Unmarshal(a.Extra["runAsynchronously"], &bare) // what is no JSON says nothing
	if (d == nil || d.Asks == "") && (!Inert(a.CustomProperties["runAsynchronously"]) || !Inert(bare)) {
		add("runAsynchronously", "runAsynchronously has no effect: it does not say that it calls something outside, so it runs in its turn; what takes long is a call or a task that its instance waits for")
	}
	if s := a.CustomProperties["resilienceStrategy"]; !Inert(s) && !Inert(chosen(s)) {
		add("resilienceStrategy", "resilienceStrategy names a strategy that an application of Elsa registered, and has no effect: without retries of its own the activity is tried once")
	}
	for _, key := range []string{"logPersistenceMode", "logPersistenceConfig"} {
		if evaluated(a.CustomProperties[key], 0) {
			add(key, "a log persistence mode in "+key+" is an expression, which is not evaluated here: what it is for stays out of the journal")
		}
		if name := ownStrategy(a.CustomProperties[key], 0); name != "" {
			add(key, "the log persistence strategy "+workflow.Shorten(name)+" is a class of an application of Elsa: what it is for stays out of the journal")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Extra)) {
		var in struct{ Expression struct{ Type string } }
		if json.Unmarshal(a.Extra[name], &in) == nil && strings.EqualFold(in.Expression.Type, "Delegate") {
			add(name, name+" is code of an application of Elsa (Delegate), which is not in its JSON: it has no value here; write an expression")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Outputs)) {
		for field, raw := range a.Extra {
			var binding struct{ Converter any }
			if strings.EqualFold(field, name) && json.Unmarshal(raw, &binding) == nil && !Inert(binding.Converter) {
				add("converter", fmt.Sprintf("the converter of its output %s has no effect: what it gives is kept as it is; convert it where it is read", name))
			}
		}
	}
	return found
}

// evaluated reports whether there is an expression among log persistence modes, other than a literal.
func evaluated(modes any, depth int) bool {
	m, _ := modes.(map[string]any)
	by, _ := m["evaluationMode"].(string)
	if e, _ := m["expression"].(map[string]any); e != nil && strings.EqualFold(by, "Expression") {
		kind, _ := e["type"].(string)
		return !strings.EqualFold(kind, "Literal")
	}
	for _, inner := range m {
		if depth < 3 && evaluated(inner, depth+1) {
			return true
		}
	}
	return false
}

// ownStrategy is the name of a log persistence strategy of an application, "" if there is none.
func ownStrategy(modes any, depth int) string {
	if s, ok := modes.(string); ok && names.OwnLogStrategy(s) {
		return s
	}
	m, _ := modes.(map[string]any)
	if _, has := m["expression"]; has && m["expression"] != nil || depth > 3 {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if s := ownStrategy(m[key], depth+1); s != "" {
			return s
		}
	}
	return ""
}

// chosen is what a resilience strategy is chosen by; all of it, if that cannot be told.
func chosen(strategy any) any {
	m, _ := strategy.(map[string]any)
	if id, has := m["strategyId"]; has && Inert(m["expression"]) {
		return id
	}
	return strategy
}

// declared finds variables with a storage driver that is not known, or with a type that is a class of an application.
func declared(a *workflow.Activity, vars []workflow.Variable) (found []Setting) {
	for _, v := range vars {
		if v.StorageDriver != "" && !strings.Contains(v.StorageDriver, "Memory") {
			found = append(found, Setting{Activity: a, Place: v.Place, Name: v.StorageDriver,
				Detail: fmt.Sprintf("%s has the storage driver %s, which is not known here: it is kept with the instance", v.Name, workflow.Shorten(v.StorageDriver))})
		}
		if isClass(v.Type) {
			found = append(found, Setting{Activity: a, Place: v.Place, Name: v.Type,
				Detail: fmt.Sprintf("%s has the type %s, a class that is not here: its value is JSON, with the members that are written there, by the names that they have there", v.Name, workflow.Shorten(v.Type))})
		}
	}
	return found
}

// isClass tells whether the name of a type is that of a class outside .NET and Elsa, with its namespace.
func isClass(name string) bool {
	name, _, _ = strings.Cut(name, ",")
	return strings.Contains(name, ".") && !strings.HasPrefix(name, "System.") && !strings.HasPrefix(name, "Elsa.")
}

// Inert reports whether a value says nothing: null, false, 0, and what is empty.
func Inert(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return slices.Contains([]string{"", "false", "0", "[]", "{}", "null"}, strings.ToLower(strings.TrimSpace(v)))
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case json.RawMessage:
		var inner any
		return json.Unmarshal(v, &inner) != nil || Inert(inner)
	}
	return false
}

// EndOf is the id at one end of a connection that the designer put aside.
func EndOf(v any) string {
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"activity", "id"} {
			if m[key] != nil {
				return EndOf(m[key])
			}
		}
		return ""
	}
	if v == nil {
		return ""
	}
	return engine.Text(v)
}
