package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/operate"
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
	return must(operate.Binary("+", args[0], args[1]))
}

func (r *run) equal(args ...any) any {
	r.heavy(args[0])
	return same(args[0], args[1]) == args[2].(bool)
}

// same reports whether two values are equal.
func same(a, b any) bool {
	same, err := operate.Same(a, b)
	if err != nil {
		stop(err)
	}
	return same
}

func (r *run) in(args ...any) any {
	r.heavy(args[1])
	switch of := args[1].(type) {
	case nil:
		return false
	case groups:
		_, has := of[keyText(args[0])]
		return has
	case map[string]any:
		name, ok := args[0].(string)
		if !ok && args[0] != nil {
			stop(fmt.Errorf("the fields of an object have texts as names, and this is %s", operate.Kind(args[0])))
		}
		_, has := of[name]
		return has
	case string:
		stop(errors.New("in looks into a list or an object; write text contains part"))
	}
	list, ok := anyList(args[1])
	if !ok {
		stop(fmt.Errorf("in looks into a list or an object, and not into %s", operate.Kind(args[1])))
	}
	return slices.ContainsFunc(list, func(e any) bool { r.check(); return same(args[0], e) })
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
		stop(fmt.Errorf("matches works on text, not on %s", operate.Kind(args[0])))
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
		stop(fmt.Errorf("matches needs a regular expression as text, not %s", operate.Kind(v)))
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
	n := wholeOf("repeat", args[1]).(int)
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
		stop(fmt.Errorf("join takes a list, not %s", operate.Kind(args[0])))
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
		n = wholeOf("replace", args[3]).(int)
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
		stop(fmt.Errorf("uniq takes a list, and not %s", operate.Kind(args[0])))
	}
	seen := make(map[any]bool, len(list))
	var out, large []any
	for _, e := range list {
		if key, ok := operate.Key(e); ok {
			if seen[key] {
				continue
			}
			seen[key] = true
		} else {
			r.heavy(e)
			if slices.ContainsFunc(large, func(o any) bool { r.check(); return same(o, e) }) {
				continue
			}
			large = append(large, e)
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
		if zone, err = evaluation.Zone(argText(args, 2, "date")); err != nil {
			stop(err)
		}
	}
	text := argText(args, 0, "date")
	for _, layout := range layouts {
		if t, err := operate.Date(layout, text, zone); err == nil {
			return t
		}
	}
	stop(fmt.Errorf("%q is not a date", workflow.Shorten(text)))
	return nil
}
