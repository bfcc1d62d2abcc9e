package workflow_test

import (
	"fmt"

	"github.com/weft-run/weft/pkg/workflow"
)

// A definition is a tree that a program can build and look through. Its expressions are
// literals, templates with ${{ }}, or scripts.
func ExampleDefinition() {
	order := &workflow.Definition{
		ID:     "order",
		Inputs: []workflow.Input{{Name: "amount", Type: "Double", Required: true}},
		Root: &workflow.Activity{Type: "Elsa.If", Inputs: map[string]workflow.Expression{"condition": workflow.JS("inputs.amount > 1000")},
			Ports: map[string]*workflow.Activity{
				"then": {Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("approved")}},
				"else": {Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Tmpl("${{ inputs.amount }} is little")}},
			}},
	}
	fmt.Println(order.ID, "takes", order.Inputs[0].Name)
	workflow.Walk(order.Root, func(a, parent *workflow.Activity, _ int) bool {
		if parent != nil {
			fmt.Print(parent.Type, " > ")
		}
		fmt.Println(a.Type)
		return true
	})
	// Unordered output:
	// order takes amount
	// Elsa.If
	// Elsa.If > Elsa.Event
	// Elsa.If > Elsa.WriteLine
}

// Payloads of equal meaning are one stimulus: neither the order of keys nor the
// spelling of a number counts.
func ExampleHash() {
	a, _ := workflow.Hash("Elsa.Event", map[string]any{"eventName": "paid", "amount": 1})
	b, _ := workflow.Hash("Elsa.Event", map[string]any{"amount": 1.0, "eventName": "paid"})
	c, _ := workflow.Hash("Elsa.Event", map[string]any{"amount": 2, "eventName": "paid"})
	fmt.Println(a == b, a == c)
	// Output: true false
}
