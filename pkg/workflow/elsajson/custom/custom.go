// Package custom reads and writes what the designer of Elsa keeps among the custom properties of an activity or a definition,
// as far as Weft understands it.
//
// Guaranteed: what is not understood stays as it is; what is, is written in the form that it had if it says the same. Not
// guaranteed: that a mode of the log by an expression is what a run of Elsa would come to: it is Exclude.
package custom

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// Settings are what is understood; zero fields say nothing.
type Settings struct {
	CanStart            bool
	Merge, Commit, Logs string
}

// Names under which the designer keeps these settings; the first is the one
// that is written.
var (
	canStartKeys = []string{"canStartWorkflow"}
	mergeKeys    = []string{"mergeMode"}
	commitKeys   = []string{"commitStrategyName", "commitStrategy"}
	logKeys      = []string{"logPersistenceMode", "logPersistenceConfig"}
)

// Read reads the settings from m and removes those that [Write] would
// put back in the same form.
func Read(m map[string]any) Settings {
	c := Peek(m)
	if m[canStartKeys[0]] == true {
		delete(m, canStartKeys[0])
	}
	for key, v := range map[string]string{mergeKeys[0]: c.Merge, commitKeys[0]: c.Commit, logKeys[0]: c.Logs} {
		if s, ok := m[key].(string); ok && s != "" && s == v {
			delete(m, key)
		}
	}
	return c
}

// Peek is [Read] without the removal.
func Peek(m map[string]any) Settings {
	var c Settings
	switch v := lookup(m, canStartKeys).(type) {
	case bool:
		c.CanStart = v
	case string:
		c.CanStart = strings.EqualFold(v, "true")
	}
	c.Merge, _ = lookup(m, mergeKeys).(string)
	c.Commit, _ = lookup(m, commitKeys).(string)
	c.Logs = logMode(lookup(m, logKeys), 0)
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

// NameModes writes log persistence modes by their names where .NET has the number of the name.
func NameModes(m map[string]any) {
	if modes, ok := m[logKeys[0]].(map[string]any); ok {
		nameModes(modes, 0)
	}
}

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

// Write gives m with the settings in it. A setting that m already holds
// with the same meaning stays as it is spelled there.
func Write(m map[string]any, c Settings) map[string]any {
	out := maps.Clone(m)
	old := Peek(m)
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
	put(c.CanStart == old.CanStart, canStartKeys, c.CanStart)
	put(c.Merge == old.Merge, mergeKeys, c.Merge)
	put(c.Commit == old.Commit, commitKeys, c.Commit)
	put(c.Logs == old.Logs, logKeys, c.Logs)
	return out
}
