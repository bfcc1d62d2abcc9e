package liquid

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/internal/expression/liquid/filter"
)

// ofGo are words that no person who writes a template has to know.
var ofGo = regexp.MustCompile(`"First"|reflect|interface conversion|[A-Z]\w*\.Marshal|json: unsupported|json: cannot|runtime error|strconv|%!|<nil>|\[\]\w|map\[|float64|int64|\bfunc\b|goroutine|panic|json\.|[tT]ime\.[A-Z]|big\.|utf8|encoding/|invalid syntax|\{\d+ \d+\}`)

// Every filter and tag says in words for people what it makes of what it was not made for, and none ends the program.
func TestNoWordsOfGo(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In = map[string]any{
		"nothing": nil, "object": map[string]any{"a": nil, "b": int64(1)}, "list": []any{nil, "a", int64(1), 1.5, true, map[string]any{}, []any{}}, "empty": []any{},
		"text": "Grüße 1", "yes": true, "half": -2.5, "large": math.MaxFloat64, "tiny": 5e-324, "least": int64(math.MinInt64), "most": int64(math.MaxInt64),
		"huge": json.Number(strings.Repeat("9", 40)), "minus": json.Number("-" + strings.Repeat("9", 401)), "beyond": json.Number("1e400"),
		"time": time.Date(2026, 3, 5, 14, 7, 9, 0, time.UTC), "far": int64(8_640_000_000_000), "deep": nested(evaluation.MaxDepth + 5),
		"broken": "a\xff", "sign": "%", "form": "{0} {9}",
	}
	values := []string{"(1..3)", "(-9223372036854775808..9223372036854775807)", "empty", "blank", "now", "-1", "0", "''", "99999999999999999999"}
	for name := range s.In {
		values = append(values, "inputs."+name)
	}
	var templates []string
	add := func(form string, of ...any) { templates = append(templates, fmt.Sprintf(form, of...)) }
	for i, v := range values {
		for _, name := range filter.Names() {
			add("{{ %s | %s }}", v, name)
			for j, w := range values {
				add("{{ %s | %s: %s }}", v, name, w)
				if (i+j)%3 != 0 {
					continue
				}
				add("{{ inputs.text | %s: %s, %s }}", name, v, w)
				add("{{ inputs.list | %s: %s, %s }}", name, v, w)
			}
		}
		for _, tag := range []string{
			"{{ %s }}", "{%% echo %s %%}", "{%% if %s %%}a{%% endif %%}", "{%% unless %s %%}a{%% endunless %%}", "{%% assign x = %s %%}{{ x }}",
			"{%% cycle %s: 1, 2 %%}", "{%% case %s %%}{%% when 1 %%}a{%% else %%}b{%% endcase %%}", "{%% for i in %s limit: 2 %%}{{ i }}{%% endfor %%}",
			"{%% tablerow i in %s limit: 2 %%}{{ i }}{%% endtablerow %%}", "{%% increment %s %%}", "{%% capture %s %%}a{%% endcapture %%}", "{%% liquid\necho %s %%}",
			"{{ inputs[%s] }}", "{{ %[1]s.a.b }}{{ %[1]s[0] }}{{ %[1]s.size }}",
		} {
			add(tag, v)
		}
		for _, w := range values {
			for _, op := range []string{"==", "!=", "<", ">=", "contains", "and"} {
				add("{%% if %s %s %s %%}a{%% endif %%}", v, op, w)
			}
			add("{%% for i in %s limit: %s offset: %s %%}{%% if forloop.index > 3 %%}{%% break %%}{%% endif %%}{%% endfor %%}", "inputs.list", v, w)
			add("{%% for i in (%s..%s) limit: 2 reversed %%}{{ i }}{%% endfor %%}", v, w)
			add("{%% tablerow i in inputs.list cols: %s limit: %s %%}{{ i }}{%% endtablerow %%}", v, w)
		}
	}
	seen := map[string]bool{}
	for _, source := range templates {
		got, err := rendered(t, source, s)
		if strings.Contains(got, "%!") {
			t.Errorf("%s: %.200s", source, got)
		}
		var e *evaluation.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%s: %v", source, err)
		}
		if err == nil || seen[e.Message] {
			continue
		}
		if seen[e.Message] = true; ofGo.MatchString(e.Message) {
			t.Errorf("%s: %s (%q)", source, e.Message, ofGo.FindString(e.Message))
		}
	}
	t.Logf("%d templates, %d messages", len(templates), len(seen))
}

// rendered is what a template gives; a panic is an error of the test with the template that it is of.
func rendered(t *testing.T, source string, s *expressiontest.Scope) (got string, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: %v", source, p)
		}
	}()
	v, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s)
	got, _ = v.(string)
	return got, err
}

// nested is a list in lists.
func nested(depth int) any {
	list := []any{}
	for range depth {
		list = []any{list}
	}
	return list
}
