package expression_test

import (
	"reflect"
	"testing"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/workflow"
)

// What an expression reads is known before it runs, so that publishing can check
// the names.
func TestExpressionsNameTheSecretsTheyRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		value any
		want  []string
	}{
		{workflow.Expr, map[string]any{"a": []any{"Bearer ${{ secrets.one }} ${{ secrets['tls.key'] }}"}, "b": "${{ secrets.one }}"}, []string{"one", "tls.key"}},
		{workflow.Expr, "${{ inputs.secrets }} secrets.none", nil},
		{workflow.JavaScript, `secrets.one + secrets["tls.key"] + getSecret('two') + inputs.secrets.none + mysecrets.none`, []string{"one", "tls.key", "two"}},
		{workflow.JavaScript, `let secrets = {one: 1}; secrets.one`, nil},
		{workflow.Liquid, `secrets.none {{ secrets.one-b }} {% if secrets["tls.key"] %}{% endif %}`, []string{"one-b", "tls.key"}},
	} {
		for _, e := range expression.All() {
			if e.Kinds()[0] != c.kind {
				continue
			}
			compiled, err := e.Compile(workflow.Expression{Kind: c.kind, Value: c.value})
			if err != nil {
				t.Fatalf("%v: %v", c.value, err)
			}
			var got []string
			if r, ok := compiled.(interface{ Secrets() []string }); ok {
				got = r.Secrets()
			}
			if len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v: %q", c.value, got)
			}
		}
	}
}
