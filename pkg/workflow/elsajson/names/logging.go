package names

import (
	"maps"
	"slices"
	"strings"
)

// Excluded tells whether the log persistence modes of a designer, by the names of inputs or outputs, keep one out of the journal; include
// is what holds for one that has none.
func Excluded(modes map[string]any, name string, include bool) bool {
	m := Field(modes, name)
	if o, ok := m.(map[string]any); ok { // newer designers write {"evaluationMode": …, "strategyType"/"mode": …}
		if by, _ := Field(o, "evaluationMode").(string); strings.EqualFold(by, "Expression") && Field(o, "expression") != nil {
			e, _ := Field(o, "expression").(map[string]any)
			kind, _ := Field(e, "type").(string)
			return !strings.EqualFold(kind, "Literal") || Excluded(e, "value", include) // publishing tells of what only a run could say
		}
		for _, k := range slices.Sorted(maps.Keys(o)) {
			if s, ok := o[k].(string); ok && (strings.Contains(strings.ToLower(s), "exclude") || OwnLogStrategy(s)) {
				return true
			}
		}
	}
	switch s, _ := m.(string); strings.ToLower(s) {
	case "include":
		return false
	case "exclude":
		return true
	}
	return !include
}

// Field looks a key up without regard to case.
func Field(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if strings.EqualFold(k, name) {
			return m[k]
		}
	}
	return nil
}
