package expression

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/workflow"
)

// longSecret has a secret that is longer than what errors show of a value.
type longSecret struct{ *expressiontest.Scope }

func (longSecret) Secret(string) (string, bool) { return strings.Repeat("k3y.", 100), true }

// An error has no part of a secret: what is cut would not be found and taken out.
func TestErrorsHaveNoPartOfASecret(t *testing.T) {
	t.Parallel()
	for _, e := range []workflow.Expression{
		{Type: workflow.Expr, Value: "${{ int(secrets.KEY) }}"},
		{Type: workflow.Expr, Value: "${{ take([1], secrets.KEY) }}"},
		{Type: workflow.Expr, Value: "${{ fromPairs([[secrets.KEY]]) }}"},
		{Type: workflow.Expr, Value: "${{ timezone(secrets.KEY) }}"},
		{Type: workflow.Liquid, Value: "{% if secrets.KEY > 5 %}{% endif %}"},
		{Type: workflow.Liquid, Value: "{{ secrets.KEY | append: '%' | base64_decode }}"},
		{Type: workflow.Liquid, Value: "{{ now | time_zone: secrets.KEY }}"},
	} {
		_, err := compile(t, e.Type, e.Value).Eval(t.Context(), longSecret{expressiontest.Example()})
		if err == nil || strings.Contains(err.Error(), "k3y.") && !strings.Contains(err.Error(), strings.Repeat("k3y.", 100)) {
			t.Errorf("%v: %v", e.Value, err)
		}
	}
}
