package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/workflow"
)

// What follows stands in for operators and builtins of expr that could make
// much out of little, or take long over much.

func (r *run) add(args ...any) any {
	a, ok1 := args[0].(string)
	b, ok2 := args[1].(string)
	if ok1 && ok2 {
		r.check()
		r.spend(16 + len(a) + len(b))
		return a + b
	}
	return runtime.Add(args[0], args[1])
}

func (r *run) equal(args ...any) any {
	r.heavy(args[0])
	return same(args[0], args[1]) == args[2].(bool)
}

// same reports whether two values are equal: lists, objects and numbers by what they hold, others as expr has it.
func same(a, b any) bool {
	switch a.(type) {
	case []any, map[string]any, groups, int, int64, float64, json.Number:
		switch b.(type) {
		case []any, map[string]any, groups, int, int64, float64, json.Number:
			return evaluation.Equal(a, b)
		}
	}
	return runtime.Equal(a, b)
}

func (r *run) in(args ...any) any {
	r.heavy(args[1])
	if list, ok := args[1].([]any); ok {
		return slices.ContainsFunc(list, func(e any) bool { r.check(); return same(args[0], e) })
	}
	if of, ok := args[1].(groups); ok {
		_, has := of[keyText(args[0])]
		return has
	}
	if _, text := args[0].(string); !text && args[0] != nil {
		if _, object := args[1].(map[string]any); object {
			stop(fmt.Errorf("the fields of an object have texts as names, and this is %s", kindOf(args[0])))
		}
	}
	return runtime.In(args[0], args[1])
}

// heavy looks at the clock before a step over a whole list or object.
func (r *run) heavy(v any) {
	switch v := v.(type) {
	case []any:
		if len(v) > 16 {
			r.checkNow()
		}
	case map[string]any:
		if len(v) > 16 {
			r.checkNow()
		}
	}
	r.check()
}

func (r *run) matches(args ...any) any {
	if args[0] == nil || args[1] == nil {
		return false
	}
	text, ok := args[0].(string)
	if !ok {
		stop(fmt.Errorf("matches works on text, not on %s", kindOf(args[0])))
	}
	var p evaluation.Pattern
	switch v := args[1].(type) {
	case compiled:
		p = r.code.patterns[v]
	case string:
		var err error
		if p, err = evaluation.CompilePattern(v); err != nil {
			stop(err)
		}
	default:
		stop(fmt.Errorf("matches needs a regular expression as text, not %s", kindOf(v)))
	}
	r.checkNow()
	if len(text) > 0 && p.Cost > evaluation.MatchSteps/len(text) {
		stop(fmt.Errorf("the regular expression is too costly for a text of %d bytes: %w", len(text), evaluation.ErrTime))
	}
	return p.MatchString(text)
}

func argText(args []any, i int, fn string) string {
	if i < len(args) {
		if s, ok := args[i].(string); ok {
			return s
		}
	}
	stop(fmt.Errorf("argument %d of %s has to be text", i+1, fn))
	return ""
}

func (r *run) repeat(args ...any) any {
	s := argText(args, 0, "repeat")
	if len(args) != 2 {
		stop(errors.New("repeat takes a text and a number"))
	}
	n := runtime.ToInt(args[1])
	if n < 0 {
		stop(fmt.Errorf("repeat takes a number from 0, not %d", n))
	}
	if len(s) > 0 && n > r.memory/len(s) {
		stop(evaluation.ErrMemory)
	}
	r.spend(16 + len(s)*n)
	return strings.Repeat(s, n)
}

func (r *run) join(args ...any) any {
	if len(args) < 1 || len(args) > 2 {
		stop(errors.New("join takes a list of texts and a text between them"))
	}
	glue := ""
	if len(args) == 2 {
		glue = argText(args, 1, "join")
	}
	var texts []string
	if numbers, ok := args[0].([]int); ok {
		args[0] = toAny(numbers)
	}
	switch list := args[0].(type) {
	case []string:
		texts = list
	case []any:
		texts = make([]string, len(list))
		for i, e := range list {
			s, ok := e.(string)
			if !ok {
				b, err := evaluation.AppendText(nil, e)
				if err != nil {
					stop(err)
				}
				s = string(b)
			}
			texts[i] = s
		}
	default:
		stop(fmt.Errorf("join takes a list, not %s", kindOf(args[0])))
	}
	r.spend(16)
	for _, s := range texts {
		r.spend(len(s) + len(glue))
	}
	r.checkNow()
	return strings.Join(texts, glue)
}

func (r *run) replace(args ...any) any {
	if len(args) < 3 || len(args) > 4 {
		stop(errors.New("replace takes a text, what to look for, what to put there, and perhaps how often"))
	}
	s, old, with := argText(args, 0, "replace"), argText(args, 1, "replace"), argText(args, 2, "replace")
	n := -1
	if len(args) == 4 {
		n = runtime.ToInt(args[3])
	}
	hits := strings.Count(s, old)
	if n >= 0 {
		hits = min(hits, n)
	}
	if len(with) > 0 && hits > r.memory/len(with) {
		stop(evaluation.ErrMemory)
	}
	r.spend(16 + len(s) + hits*len(with))
	r.checkNow()
	return strings.Replace(s, old, with, n)
}

// uniq keeps the first of equal elements.
func (r *run) uniq(args ...any) any {
	if len(args) != 1 {
		stop(errors.New("uniq takes one list"))
	}
	list, ok := anyList(args[0])
	if !ok {
		stop(fmt.Errorf("uniq takes a list, and not %s", kindOf(args[0])))
	}
	seen := make(map[any]bool, len(list))
	var out, large []any
	for _, e := range list {
		switch v := e.(type) {
		case []any, map[string]any, []int, []string, groups:
			r.heavy(v)
			if slices.ContainsFunc(large, func(o any) bool { r.check(); return same(o, v) }) {
				continue
			}
			large = append(large, e)
		default:
			key := v
			if i, ok := v.(int64); ok {
				key = int(i)
			} else if f, ok := v.(float64); ok && f == float64(int(f)) {
				key = int(f)
			}
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		out = append(out, e)
	}
	r.weigh(out, 0)
	return out
}

func (r *run) text(args ...any) any {
	if len(args) != 1 {
		stop(errors.New("string takes one value"))
	}
	if s, ok := args[0].(string); ok {
		return s
	}
	if args[0] == nil {
		return "nil"
	}
	v, err := evaluation.Clean(args[0], r.memory)
	if err != nil {
		stop(err)
	}
	b, err := evaluation.AppendText(nil, v)
	if err != nil {
		stop(err)
	}
	r.spend(16 + len(b))
	return string(b)
}

func (r *run) parse(args ...any) any {
	text := argText(args, 0, "fromJSON")
	r.spend(len(text))
	v, at, err := evaluation.ParseJSON(text)
	if err != nil {
		stop(fmt.Errorf("fromJSON: byte %d: %w", at, err))
	}
	if v, err = evaluation.Clean(v, r.memory); err != nil {
		stop(err)
	}
	r.weigh(v, 0)
	return v
}

var dateLayouts = []string{time.DateOnly, time.TimeOnly, time.DateTime, time.RFC3339, time.RFC822, time.RFC850, time.RFC1123}

// date reads a time from text, as one of UTC or of the zone that is named.
func (r *run) date(args ...any) any {
	if len(args) < 1 || len(args) > 3 {
		stop(errors.New("date takes a text, and perhaps its layout and a time zone"))
	}
	zone, layouts := time.UTC, dateLayouts
	if len(args) > 1 {
		layouts = []string{argText(args, 1, "date")}
	}
	if len(args) > 2 {
		var err error
		if zone, err = time.LoadLocation(argText(args, 2, "date")); err != nil || zone == time.Local {
			stop(fmt.Errorf("date knows no time zone %q", workflow.Shorten(argText(args, 2, "date"))))
		}
	}
	text := argText(args, 0, "date")
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t
		}
	}
	stop(fmt.Errorf("%q is not a date", workflow.Shorten(text)))
	return nil
}
