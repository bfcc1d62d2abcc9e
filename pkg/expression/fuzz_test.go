package expression

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// fuzzEval compiles and evaluates source within small limits and checks that
// nothing but a clean value or an *Error comes out, in time.
func fuzzEval(t *testing.T, kind string, source string) {
	t.Helper()
	s := example()
	s.limits = engine.Limits{Script: 100 * time.Millisecond, Output: 64 << 10}
	began := time.Now()
	v, err := eval(t.Context(), t, kind, source, s)
	if took := time.Since(began); took > patience {
		t.Errorf("took %v", took)
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%v is not an *Error", err)
		} else if strings.Contains(e.Message, "this cannot be") {
			t.Errorf("a bug: %v", e)
		}
		return
	}
	g := gauge{2 * s.limits.Output}
	c, err := g.clean(v, 0)
	if err != nil || !equalValues(c, v) {
		t.Errorf("%#v is not clean: %v", v, err)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"", "x", "${{", "${{ }}", "$${{ x }}", "$$${{ 1 }}", "a ${{ {a: {b: '}}'}} }} b", "${{ \"\\\"}}\" }}", "${{ `}}` }}",
		"${{ /* }} */ 1 }}", "${{ 1 // }}\n }}", "${{ 1 }}${{ 2 }}", "}}${{'${{'}}{{",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, at, err := splitTemplate(text)
		if err != nil {
			if at < 0 || !strings.HasPrefix(text[at:], "${{") {
				t.Errorf("offset %d does not name the place", at)
			}
			return
		}
		var back strings.Builder
		for _, p := range parts {
			if !p.code {
				back.WriteString(strings.ReplaceAll(p.text, "${{", "$${{"))
				continue
			}
			if text[p.offset:p.offset+len(p.text)] != p.text || text[p.offset-3:p.offset] != "${{" {
				t.Errorf("offset %d does not name the code", p.offset)
			}
			back.WriteString("${{" + p.text + "}}")
		}
		if back.String() != text {
			t.Errorf("%q became %q", text, back.String())
		}
	})
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{
		"inputs.amount > 1000", "{order: inputs.orderId}", "variables.decision?.by", "map(1..3, # + 1)", "let x = 1; x",
		"reduce(1..9, #acc + #acc, 'x')", "outputs('ask', 'Result')", "join(['a'], ',')", "'a' matches '^a$'", "$env",
		"uniq([1, [2]])", "secrets.KEY", "now() + duration('1h')", "groupBy([1], #)", "fromJSON('[1]')", "sortBy([2, 1], #)[0]",
		"repeat('x', 3) in ['xxx']", "concat([1], [2])", "flatten([[1]])", "toPairs({a: 1})", "1 ?? 2", "inputs['a' + 'b']",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzEval(t, workflow.Expr, "${{ "+source+" }}") })
}

func FuzzJavaScript(f *testing.F) {
	for _, s := range []string{
		"getTotal() + 1", "return getInput1();", "({a: [1, null]})", "variables.order.lines.push('z')", "`${getMessage()} ${1}`",
		"let s = 'x'; s += s; s", "[1, 2].map(x => x * 2).join()", "'a-b'.replace(/(a)/g, '$1')", "throw new Error('x')",
		"const {a, ...r} = {a: 1}; r", "for (const k in variables) k", "JSON.parse('{\"a\": 1}')", "new Date(0)", "(async () => 1)()",
		"class A { x = 1 } new A()", "try { nobody } catch (e) { e.message }", "Object.assign({}, inputs)", "o = {get a() { return 1 }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzEval(t, workflow.JavaScript, source) })
}

func FuzzLiquid(f *testing.F) {
	for _, s := range []string{
		"Order {{ inputs.orderId }}", "{% if inputs.amount > 1 %}a{% else %}b{% endif %}", "{% for i in (1..3) %}{{ i }}{% endfor %}",
		"{% assign x = 'a' | append: 'b' %}{{ x }}", "{% capture x %}a{% endcapture %}", "{{ 'a,b' | split: ',' | join: '-' }}",
		"{{ now | date: '%Y' }}", "{% case 1 %}{% when 1 %}x{% endcase %}", "{% cycle 'a', 'b' %}", "{{- 1 -}}", "{% raw %}{{{% endraw %}",
		"{{ inputs | json }}", "{{ 1.5 | round }}", "{{ 'x' | slice: 0 }}", "{% tablerow i in (1..2) cols:2 %}{% endtablerow %}",
		"{%case {%when 0%}{%endcase%}", "{{1000000000000000000000000000000000}}", // by fuzzing, once
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzEval(t, workflow.Liquid, source) })
}
