package elsajson

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// custom is what Weft understands of an activity's or a definition's
// customProperties.
type custom struct {
	canStart            bool
	merge, commit, logs string
}

// Names under which the designer keeps these settings; the first is the one
// that is written.
var (
	canStartKeys = []string{"canStartWorkflow"}
	mergeKeys    = []string{"mergeMode"}
	commitKeys   = []string{"commitStrategyName", "commitStrategy"}
	logKeys      = []string{"logPersistenceMode", "logPersistenceConfig"}
)

// readCustom reads the settings from m and removes those that writeCustom would
// put back in the same form.
func readCustom(m map[string]any) custom {
	c := peekCustom(m)
	if m[canStartKeys[0]] == true {
		delete(m, canStartKeys[0])
	}
	for key, v := range map[string]string{mergeKeys[0]: c.merge, commitKeys[0]: c.commit, logKeys[0]: c.logs} {
		if s, ok := m[key].(string); ok && s != "" && s == v {
			delete(m, key)
		}
	}
	return c
}

func peekCustom(m map[string]any) custom {
	var c custom
	switch v := lookup(m, canStartKeys).(type) {
	case bool:
		c.canStart = v
	case string:
		c.canStart = strings.EqualFold(v, "true")
	}
	c.merge, _ = lookup(m, mergeKeys).(string)
	c.commit, _ = lookup(m, commitKeys).(string)
	c.logs = logMode(lookup(m, logKeys), 0)
	return c
}

// logMode finds Include or Exclude in the forms that the designer's versions
// use: the text itself, {"default": …}, or a strategy's type name.
func logMode(v any, depth int) string {
	switch v := v.(type) {
	case string:
		switch mode := names.Class(v, "Strategy"); {
		case mode == "Include", mode == "Exclude":
			return mode
		case names.OwnLogStrategy(v):
			return "Exclude" // it may be there to keep a secret out; publishing tells of it
		}
	case map[string]any:
		if depth > 2 {
			return ""
		}
		if by, ok := byExpression(v); ok {
			return by
		}
		for _, key := range []string{"default", "strategyType", "value"} {
			if mode := logMode(lookup(v, []string{key}), depth+1); mode != "" {
				return mode
			}
		}
	}
	return ""
}

// byExpression is the mode of a strategy that is an expression: what a literal says, and Exclude for what only a run could
// say. Publishing tells of it.
func byExpression(v map[string]any) (mode string, ok bool) {
	e, _ := lookup(v, []string{"expression"}).(map[string]any)
	text, _ := lookup(v, []string{"evaluationMode"}).(string)
	if e == nil || !strings.EqualFold(text, "Expression") {
		return "", false
	}
	kind, _ := lookup(e, []string{"type"}).(string)
	value, _ := lookup(e, []string{"value"}).(string)
	if strings.EqualFold(kind, "Literal") && !strings.EqualFold(value, "Exclude") {
		return logMode(value, 3), true
	}
	return "Exclude", true
}

// nameModes writes log persistence modes by their names where .NET has the number of the name.
func nameModes(m map[string]any, depth int) {
	for name, v := range m {
		switch v := v.(type) {
		case map[string]any:
			if depth < 2 { // of single inputs and outputs
				nameModes(v, depth+1)
			}
		case float64:
			if names := []string{"Inherit", "Include", "Exclude"}; v == 0 || v == 1 || v == 2 {
				m[name] = names[int(v)]
			}
		}
	}
}

// lookup finds a value by the first of these names, without regard to case.
func lookup(m map[string]any, names []string) any {
	for _, name := range names {
		if v, ok := m[name]; ok {
			return v
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if strings.EqualFold(k, name) {
				return m[k]
			}
		}
	}
	return nil
}

// writeCustom gives m with the settings in it. A setting that m already holds
// with the same meaning stays as it is spelled there.
func writeCustom(m map[string]any, c custom) map[string]any {
	out := maps.Clone(m)
	old := peekCustom(m)
	put := func(same bool, names []string, v any) {
		if same {
			return
		}
		maps.DeleteFunc(out, func(k string, _ any) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(k, n) })
		})
		if v == "" || v == false {
			return
		}
		if out == nil {
			out = map[string]any{}
		}
		out[names[0]] = v
	}
	put(c.canStart == old.canStart, canStartKeys, c.canStart)
	put(c.merge == old.merge, mergeKeys, c.merge)
	put(c.commit == old.commit, commitKeys, c.commit)
	put(c.logs == old.logs, logKeys, c.logs)
	return out
}
