package liquid

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/workflow"
)

// Each row was run by the originals: Shopify's Liquid 5.4.0 (Ruby) and liquidjs 10.30.1. What is wanted is what one of them
// gave, or both, but that a decimal which is whole has no ".0" here; "of" names them. Where it is "weft", neither gave
// it, and "why" says the reason, which stands in docs/expressions.md too. A row without "want" is refused.
func TestTheOriginalsGiveTheSame(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/originals.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Scope json.RawMessage
		Rows  []struct {
			Template, Of, Why string
			Want              *string
		}
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) < 1500 {
		t.Fatalf("%d rows", len(table.Rows))
	}
	var inputs any
	if err := workflow.Unmarshal(table.Scope, &inputs); err != nil {
		t.Fatal(err)
	}
	s := expressiontest.Example()
	s.In = inputs.(map[string]any)
	for _, row := range table.Rows {
		if (row.Of == "weft") != (row.Why != "") {
			t.Errorf("%s: of %q, why %q", row.Template, row.Of, row.Why)
		}
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, row.Template, s)
		if row.Want == nil {
			if err == nil {
				t.Errorf("%s: %q; want an error", row.Template, got)
			}
			continue
		}
		if err != nil || got != *row.Want {
			t.Errorf("%s: %q, %v; want %q (%s)", row.Template, got, err, *row.Want, row.Of)
		}
	}
}
