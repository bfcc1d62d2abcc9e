package workflow_test

import (
	"fmt"

	"github.com/weft-run/weft/pkg/workflow"
)

// Payloads of equal meaning are one stimulus: neither the order of keys nor the
// spelling of a number counts.
func ExampleHash() {
	a, _ := workflow.Hash("Elsa.Event", map[string]any{"eventName": "paid", "amount": 1})
	b, _ := workflow.Hash("Elsa.Event", map[string]any{"amount": 1.0, "eventName": "paid"})
	c, _ := workflow.Hash("Elsa.Event", map[string]any{"amount": 2, "eventName": "paid"})
	fmt.Println(a == b, a == c)
	// Output: true false
}
