package native

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

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
	f.Fuzz(func(t *testing.T, source string) { expressiontest.CheckSound(t, Evaluator{}, "${{ "+source+" }}") })
}
