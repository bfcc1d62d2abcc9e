package liquid

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestLiquidValues(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":      "",
		"plain": "plain",
		"Order {{ inputs.orderId }} over {{ inputs.amount }}":                           "Order A-1 over 1500",
		"{{ Variables.Total }} {{ Input.message }}":                                     "41 hi",
		"{{ Input.MESSAGE }} {{ Input['Message'] }} {{ inputs.MESSAGE }}":               "hi hi ",
		"{{ variables.order.lines[1] }}":                                                "y",
		"{{ variables.order }}":                                                         `{"id":"A-1","lines":["x","y"]}`,
		"{{ variables.order.lines }}":                                                   "xy",
		"{{ variables.none }}{{ variables.missing.deep }}":                              "",
		"{{ variables.ratio }} {{ variables.yes }}":                                     "0.5 true",
		"{% if inputs.amount > 1000 %}big{% else %}small{% endif %}":                    "big",
		"{% unless inputs.formal %}hi{% endunless %}":                                   "",
		"{% for l in variables.order.lines %}{{ l }},{% endfor %}":                      "x,y,",
		"{% for i in (1..3) %}{{ i }}{% endfor %}":                                      "123",
		"{% for i in (1..9) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}": "12",
		"{% assign e = '' | split: ',' %}{% for i in e %}x{% else %}none{% endfor %}":   "none",
		"{% case inputs.message %}{% when 'hi' %}1{% else %}2{% endcase %}":             "1",
		"{% assign x = inputs.amount | plus: 1 %}{{ x }}":                               "1501",
		"{% assign x = 1000000 | times: 1000000 %}{{ x }}":                              "1000000000000",
		"{% capture x %}a{{ inputs.orderId }}{% endcapture %}{{ x }}{{ x }}":            "aA-1aA-1",
		"{{ inputs.message | upcase | append: '!' }}":                                   "HI!",
		"{{ variables.order.lines | join: '-' }}":                                       "x-y",
		"{{ 'über' | slice: 1 }}{{ 'über' | slice: -2, 2 }}{{ 'x' | slice: 2 }}{{ 'x' | slice: -2 }}{{ 'x' | slice: 0, -1 }}{{ 'x' | slice: 1, 9 }}":       "ber",
		"{{ 'über' | slice: 0, 9223372036854775807 }}{{ 12 | slice: 1 }}{{ '' | slice: 0 }}{{ variables.none | slice: 0 }}":                                "über2",
		"{{ inputs.list | slice: 1, 2 | json }}{{ inputs.list | slice: 9 | json }}{{ inputs.list | slice: -1 | json }}":                                    "[2,3][][4]",
		"{{ 'über' | truncate: 3 }}|{{ 'überall' | truncate: 5 }}|{{ 'überall' | truncate: 4, '' }}|{{ 'abc' | truncate: 3 }}|{{ 'abcd' | truncate: -9 }}": "...|üb...|über|abc|...",
		"{{ 'a' | truncate: 5000 }}{{ 'a b  c' | truncatewords: 2 }}{{ 'a b  c' | truncatewords: 5000 }}{{ 'a b' | truncatewords: 0, '!' }}":               "aa b...a b  ca!",
		"{{ 'a.b' | replace: '.', '..' }}":                                                                               "a..b",
		"{{ variables.order.lines | json }}":                                                                             `["x","y"]`,
		"{{ 'b,a' | split: ',' | sort | first }}":                                                                        "a",
		"{{ now | date: '%Y-%m-%d' }}":                                                                                   "2026-01-02",
		"{{ '2026-05-06T01:02:03Z' | date: '%H:%M' }}":                                                                   "01:02",
		"{{ lastResult }} {{ WorkflowInstanceId }} {{ CorrelationId }} {{ version }} {{ name }}":                         "last instance-1 corr 7 my instance",
		"{{ secrets.KEY }}{{ secrets['KEY'] }} secrets.other":                                                            "s3crets3cret secrets.other",
		"{% raw %}{{ x }}{% endraw %}{% comment %}{{ y }}{% endcomment %}":                                               "{{ x }}",
		" a {{- 'b' -}} c ":                                                                                              " abc ",
		"{{ '..' }}":                                                                                                     "..",
		"{% for i in (1..variables.n) %}{{ i }}{% endfor %}":                                                             "123",
		"{% for i in (inputs.list[0]..inputs.list[1]) %}{{ i }}{% endfor %}":                                             "12",
		"{% for x in inputs.list limit: variables.n offset: inputs.one %}{{ x }}{% endfor %}":                            "234",
		"{% tablerow x in inputs.list cols: variables.n %}{% endtablerow %}":                                             "<tr class=\"row1\">\n<td class=\"col1\"></td><td class=\"col2\"></td><td class=\"col3\"></td></tr>\n<tr class=\"row2\"><td class=\"col1\"></td></tr>\n",
		"{{ inputs.list[variables.n] }}{{ inputs.list[variables.of.deep[0]] }}":                                          "42",
		"{% assign h = variables.n | divided_by: 2 %}{{ inputs.list[h] }}":                                               "2",
		"{{ variables.n | divided_by: 2 }} {{ 7 | divided_by: variables.n }} {{ 7.5 | divided_by: variables.ratio }}":    "1 2 15",
		"{{ variables.n | plus: 1 | times: variables.n }} {{ variables.n | modulo: 2 }} {{ 1.256 | round: inputs.one }}": "12 1 1.3",
		"{{ inputs.list | join: '' }} {{ inputs.list | reverse | first }} {{ inputs.list | json }} {{ variables.of }}":   "1234 4 [1,2,3,4] {\"deep\":[1]}",
		"{% if variables.n == 3 and variables.n < 3.5 %}x{% endif %}{% case variables.n %}{% when 3 %}y{% endcase %}":    "xy",
		"{{ variables.big }} {{ 0 | date: '%Y' }} {{ inputs.one | date: '%Y' }}":                                         "9007199254740993 1970 1970",
		"{% for i in (1..3) %}{% cycle 'a', 'b' %}{% raw %}{{-{% endraw %}{% endfor %} {%- raw -%} x {% endraw %}":       "a{{-b{{-a{{- x ",
	} {
		s := expressiontest.Example()
		s.Vars["n"], s.Vars["big"], s.Vars["of"] = int64(3), int64(9007199254740993), map[string]any{"deep": []any{int64(1)}}
		s.In["one"], s.In["list"] = int64(1), []any{int64(1), int64(2), int64(3), int64(4)}
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", source, got, err, want)
		}
	}
}

func TestLiquidRefuses(t *testing.T) {
	t.Parallel()
	for source, has := range map[string]string{
		"a\n{% include 'x' %}":                "include is not available",
		"a\n{% if x %}":                       "if",
		"a\n{{ x | nothing }}":                "nothing",
		"a\n{% nothing %}":                    "nothing",
		"a\n{{ x y }}":                        "",
		"a\n{{ (1..1000000000) | join: '' }}": "range",
		"a\n{{ (1..1000000000) | first | plus: 1 | nothing }}":                 "nothing",
		"a\n{{ 'x' | append }}":                                                "one value behind a colon",
		"a\n{{ 'x' | upcase: 1 }}":                                             "nothing behind a colon",
		"a\n{% if 'x' > 1 %}{% endif %}":                                       "have no order",
		"a\n{{ now | time_zone: 'Nowhere' }}":                                  "no time zone",
		"a\n{{ '%%%' | base64_decode }}":                                       "base64",
		"a\n{{ now | date: '%1000000000Y' }}":                                  "too long",
		"a\n{{ 1 | divided_by: 0 }}":                                           "zero",
		strings.Repeat("{% if x %}", 300) + strings.Repeat("{% endif %}", 300): "nested",
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example())
		var e *evaluation.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, has) || e.Kind != workflow.Liquid {
			t.Errorf("%.40s: %v", source, err)
			continue
		}
		if strings.HasPrefix(source, "a") && e.Line != 2 {
			t.Errorf("%.40s: %+v", source, e)
		}
	}
}

func TestLiquidIsBounded(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.Most = engine.Limits{Script: 250 * time.Millisecond}
	list := make([]any, 90_000)
	for i := range list {
		list[i] = map[string]any{"i": int64(i)}
	}
	s.Vars["list"], s.Vars["text"] = list, strings.Repeat("x", 1<<19)
	for name, source := range map[string]string{
		"loop":           "{% for i in (1..1000000000) %}{% endfor %}",
		"loop with text": "{% for i in (1..1000000000) %}some text{% endfor %}",
		"loops":          "{% for i in (1..100000) %}{% for j in (1..100000) %}{% assign x = j %}{% endfor %}{% endfor %}",
		"table":          "{% tablerow i in (1..1000000000) %}{% endtablerow %}",
		"append":         "{% assign a = 'x' %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}",
		"capture":        "{% assign a = 'x' %}{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}",
		"replace":        "{{ variables.text | replace: '', variables.text }}",
		"escape":         "{% assign a = '&' %}{% for i in (1..60) %}{% assign a = a | escape | append: a %}{% endfor %}",
		"concat":         "{% assign a = variables.list %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}",
		"uniq":           "{% for i in (1..1000) %}{% assign a = variables.list | uniq %}{% endfor %}",
		"output":         "{% for i in (1..9) %}{{ variables.text }}{% endfor %}",
		"sort in a loop": "{% for i in (1..1000) %}{% assign a = variables.list | sort: 'i' %}{% endfor %}",
	} {
		began := time.Now()
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s)
		took := time.Since(began)
		var e *evaluation.Error
		if !errors.As(err, &e) || took > expressiontest.Patience {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		t.Logf("%-20s %v %v", name, took.Round(time.Millisecond), err)
	}
}

// What is captured takes memory before it is output, so all of it counts.
func TestLiquidCountsAllThatItWrites(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for name, what := range map[string]string{
		"text":  long,
		"raw":   "{% raw %}" + long + "{% endraw %}",
		"cycle": "{% cycle '" + long + "' %}",
		"value": "{{ '" + long + "' }}",
		"table": "{% tablerow j in (1..1000) %}{% endtablerow %}",
		"cases": "{% case 1 %}{% when 1 %}{% raw %}" + long + "{% endraw %}{% endcase %}",
	} {
		source := "{% capture x %}{% for i in (1..100000000) %}" + what + "{% endfor %}{% endcapture %}"
		if _, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example()); !errors.Is(err, evaluation.ErrOutput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, source := range []string{"{% raw %}xx{% endraw %}", "{% for i in (1..2) %}{% cycle 'x' %}{% endfor %}"} {
		s := expressiontest.Example()
		s.Most.Output = 1
		if _, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s); !errors.Is(err, evaluation.ErrOutput) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestLiquidDoesNotChangeItsScope(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.Vars["list"] = []any{"b", "a"}
	want := expressiontest.Example()
	want.Vars["list"] = []any{"b", "a"}
	if _, err := expressiontest.Eval(t.Context(), Evaluator{}, "{% assign variables = 1 %}{{ inputs | json }}", s); err != nil {
		t.Fatal(err)
	}
	if _, err := expressiontest.Eval(t.Context(), Evaluator{}, "{{ variables.list | sort }}{{ variables.list | reverse }}", s); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Vars, want.Vars) {
		t.Errorf("%+v", s.Vars)
	}
}

// What has no meaning, or does not fit a number, is an error of the template.
func TestLiquidRefusesWhatHasNoValue(t *testing.T) {
	t.Parallel()
	for source, has := range map[string]string{
		"{%case {%when 0%}{%endcase%}":                          "cannot be read",
		"{% if %loop i in x %}{% endif %}":                      "cannot be read",
		"{{ {%cycle 'a' }}":                                     "cannot be read",
		"{% unless {%when 1 %}x{% endunless %}":                 "cannot be read",
		"{{1" + strings.Repeat("0", 400) + "}}":                 "more than 400 digits",
		"{{ 8640000000000 | time_zone: 'GMT' }}":                "the year 275760 has no text",
		"{{ (1..3) | keys }}":                                   "(1..3) is none",
		"{{ blank | keys }}":                                    "blank is none",
		"{{ 1 | at_least: '1e400' }}":                           "too large to compute with: 1e400",
		"{% if 1" + strings.Repeat("0", 400) + ".5 %}{%endif%}": "out of range",
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example())
		var e *evaluation.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, has) {
			t.Errorf("%s: %v", source, err)
		}
	}
	if v, err := expressiontest.Eval(t.Context(), Evaluator{}, "{{ '{%when' }}{{ '50%' }}{% if '%' == '%' %}!{% endif %}", expressiontest.Example()); err != nil || v != "{%when50%!" {
		t.Errorf("%v, %v", v, err)
	}
}
