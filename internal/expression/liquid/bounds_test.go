package liquid

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// large makes a text of a million characters of a sign, in a.
func large(sign string) string {
	return "{% assign a = '" + sign + "' %}{% for i in (1..20) %}{% assign a = a | append: a | slice: 0, 1000000 %}{% endfor %}"
}

// What is read and what filters do takes as long as it is long, and not the square of it: none of it can be ended.
func TestNothingIsReadAgainAndAgain(t *testing.T) {
	t.Parallel()
	most := evaluation.MaxSource
	for name, source := range map[string]string{
		"raw":        strings.Repeat("{% raw %}", most/9),
		"comment":    strings.Repeat("{% comment %}", most/13),
		"strip_html": large("<script>") + "{{ a | strip_html | size }}",
		"map":        large(".") + "{% assign l = (1..100000) | map: a %}",
	} {
		began := time.Now()
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example())
		if took := time.Since(began); took > expressiontest.Patience/2 {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}

// What variables, names of cycles and JSON hold at a time is bounded, though filters give little of it each.
func TestWhatIsHeldIsBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "{%% assign b%d = a | append: '%d' %%}", i, i)
	}
	for name, source := range map[string]string{
		"variables": large("x") + many.String(),
		"cycles":    large("x") + "{% for i in (1..100) %}{% assign k = a | append: i %}{% cycle k: '' %}{% endfor %}",
		"json":      large("x") + "{% assign l = a | split: 'y' %}{% for i in (1..9) %}{% assign l = l | concat: l %}{% endfor %}{{ l | json | size }}",
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example())
		if !errors.Is(err, evaluation.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is replaced is not held any more.
	source := large("x") + "{% for i in (1..500) %}{% assign b = a | append: i | slice: 0, 9 %}{% assign c = a | append: i %}{% endfor %}{{ b }}"
	if got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example()); err != nil || got != "xxxxxxxxx" {
		t.Error(got, err)
	}
}

func TestSecretsOfATemplate(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"{{ '}}' | append: secrets.A }}":                                                                                          {"A"},
		"{{ secrets . A }}{{ secrets [ 'b.c' ] }}{{ secrets[\"A\"] }}":                                                            {"A", "b.c"},
		"{% liquid\n # don't\n echo secrets.A\n assign x = secrets.B %}":                                                          {"A", "B"},
		"{% raw %}{{ secrets.A }}{% endraw %}{% comment %}{{ secrets.A }}{% endcomment %}{{ 'secrets.A' }}{{ inputs.secrets.A }}": nil,
	} {
		c := expressiontest.Compile(t, Evaluator{}, source)
		if got := c.(*template).Secrets(); !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", source, got, want)
		}
	}
	for _, source := range []string{"{{ secrets }}", "{% assign s = secrets %}", "{{ secrets[inputs.x] }}", "{{ ['secrets'].A }}", "{% for s in secrets %}{% endfor %}"} {
		if _, err := (Evaluator{}).Compile(workflow.Expression{Kind: workflow.Liquid, Value: source}); !errors.Is(err, errSecret) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// What is right is not reported; what is wrong in {% liquid %} is.
func TestTheCheckReadsLiquidTags(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"{% for i in inputs.l limit: 2 offset: continue %}{{ forloop.parentloop.index }}{{ i }}{% endfor %}":                                                                           0,
		"{% liquid\n assign\tx = 1\n capture  y\n echo x\n endcapture\n for z in inputs.l\n increment w\n endfor\n comment\n any words | at: all\n endcomment %}{{ x }}{{ y }}{{ w }}": 0,
		"{% echo inputs.l | default: 1, allow_false: true %}{% cycle 'a': 1, 2 %}{% tablerow c in inputs.l cols: 2 %}{{ tablerowloop.col }}{% endtablerow %}":                          0,
		"{% liquid\n echo nowhere\n echo inputs.l | nofilter %}":                                                                                                                       2,
	} {
		found, _ := (Evaluator{}).Check(workflow.Expression{Kind: workflow.Liquid, Value: source}, &engine.Names{Inputs: map[string]string{"l": ""}})
		if len(found) != want {
			t.Errorf("%s: %v", source, found)
		}
	}
}

func TestWhatLiquidGivesToo(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["big"] = workflow.Number("99999999999999999999")
	for source, want := range map[string]string{
		"{% liquid\n comment\n this is a note\n endcomment\n echo 'a' %}":                                            "a",
		"{% tablerow i in (1..2) cols: 0 %}{{ i }}{% endtablerow %}":                                                 "<tr class=\"row1\">\n<td class=\"col1\">1</td><td class=\"col2\">2</td></tr>\n",
		"{% tablerow i in nil %}{{ i }}{% endtablerow %}":                                                            "",
		"{% tablerow i in (1..3) %}{% if i == 2 %}{% break %}{% endif %}a{% endtablerow %}":                          "<tr class=\"row1\">\n<td class=\"col1\">a</td><td class=\"col2\"></td></tr>\n",
		"{% tablerow i in (1..2) cols: 1 %}{% continue %}{% endtablerow %}":                                          "<tr class=\"row1\">\n<td class=\"col1\"></td></tr>\n<tr class=\"row2\"><td class=\"col1\"></td></tr>\n",
		"{{ '+3' | plus: 1 }} {{ '5.' | plus: 1 }} {{ '-2.50' | plus: 0 }} {{ '3a' | plus: 1 }} {{ '+' | plus: 1 }}": "4 6 -2.5 1 1",
		"{{ '2026-01-31' | date: 'room 1234, %Y' }} {{ '2026-01-31' | date: '%10Y' }}":                               "room 1234, 2026 0000002026",
		"{% case 5 %}{% else %}c{% when 5 %}a{% endcase %}":                                                          "ca",
		"{{ 'a\u00a0b c' | split: ' ' | join: '-' }}":                                                                "a\u00a0b-c",
		"{{ 'abc' | slice: 0, inputs.big }}{% for i in (1..3) limit: inputs.big %}{{ i }}{% endfor %}":               "abc123",
		"{{ 'a<b>c</b><SCRIPT x>y</script>d<!-- > -->e<style>f</STYLE>g<script>h < i' | strip_html }}":               "acdegh < i",
		"{% for i in (9223372036854775806..9223372036854775807) %}{{ i }} {% endfor %}":                              "9223372036854775806 9223372036854775807 ",
		"{{ variables.order.first | join: ',' }}{{ variables.order.nowhere }}":                                       "id,A-1",
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, source, s)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", source, got, err, want)
		}
	}
}
