package liquid

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

func FuzzLiquid(f *testing.F) {
	for _, s := range []string{
		"Order {{ inputs.orderId }}", "{% if inputs.amount > 1 %}a{% else %}b{% endif %}", "{% for i in (1..3) %}{{ i }}{% endfor %}",
		"{% assign x = 'a' | append: 'b' %}{{ x }}", "{% capture x %}a{% endcapture %}", "{{ 'a,b' | split: ',' | join: '-' }}",
		"{{ now | date: '%Y' }}", "{% case 1 %}{% when 1 %}x{% endcase %}", "{% cycle 'a', 'b' %}", "{{- 1 -}}", "{% raw %}{{{% endraw %}",
		"{{ inputs | json }}", "{{ 1.5 | round }}", "{{ 'x' | slice: 0 }}", "{% tablerow i in (1..2) cols:2 %}{% endtablerow %}",
		"{%case {%when 0%}{%endcase%}", "{{1000000000000000000000000000000000}}", "{{'0'|slice:2}}", // by fuzzing, once
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { expressiontest.CheckSound(t, Evaluator{}, source) })
}
