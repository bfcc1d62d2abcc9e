// Command embed is a program with a node of its own: an activity in Go, a
// workflow built in Go, and one execution of it.
//
//	go run ./examples/embed
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/workflow"
)

type parcel struct {
	Order string `json:"order" required:"true" doc:"What is sent."`
}

type label struct {
	Tracking string `json:"tracking"`
}

// ship is an activity. A repeated burst gives the same idempotency key.
func ship(ctx context.Context, x *engine.Execution, in parcel) (label, error) {
	x.Log().InfoContext(ctx, "shipped", "order", in.Order, "key", x.IdempotencyKey())
	return label{"T-" + in.Order}, nil
}

var order = &workflow.Definition{
	ID:        "order",
	Inputs:    []workflow.Input{{Name: "id", Type: "String", Required: true}},
	Variables: []workflow.Variable{{Name: "tracking", Type: "String"}},
	Outputs:   []workflow.Output{{Name: "tracking", Type: "String", Value: &workflow.Expression{Kind: workflow.Expr, Value: "${{ variables.tracking }}"}}},
	Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
		{Type: "acme.Ship", Inputs: map[string]workflow.Expression{"order": workflow.Tmpl("${{ inputs.id }}")}, Outputs: map[string]string{"tracking": "tracking"}},
		{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Tmpl("Order ${{ inputs.id }} goes as ${{ variables.tracking }}")}},
	}},
}

func main() {
	if err := run(context.Background(), "weft-data"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) (err error) {
	n, err := full.New(ctx, node.Config{
		HTTPAddr: "127.0.0.1:0", DataDir: dir, Lines: os.Stdout, Workflows: []*workflow.Definition{order},
		Activities: func(r *engine.Registry) error {
			return engine.RegisterFunc(r, workflow.Descriptor{Type: "acme.Ship", Main: "order"}, ship)
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop(ctx)) }()
	if err := n.Start(ctx); err != nil {
		return err
	}
	in, err := n.Execute(ctx, workflow.Start{DefinitionID: "order", Input: map[string]any{"id": "o-1"}}, time.Minute)
	if err != nil {
		return err
	}
	fmt.Println(in.SubStatus, in.Output["tracking"])
	return nil
}
