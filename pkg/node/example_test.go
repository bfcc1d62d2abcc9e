package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/workflow"
)

// A program holds a node, and gives it a workflow that waits for an event. What is
// durable outlives the node: the next one on the same data goes on with it.
func Example() {
	approval := &workflow.Definition{ID: "approval", Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
		{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit("May I?")}},
		{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("approved")}},
		{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit("I may.")}},
	}}}
	dir, err := os.MkdirTemp("", "weft-example-")
	if err != nil {
		fmt.Println("failed:", err)
		return
	}
	defer os.RemoveAll(dir)

	with := func(use func(ctx context.Context, n *node.Node) error) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		n, err := full.New(ctx, node.Config{HTTPAddr: "127.0.0.1:0", DataDir: dir, Lines: os.Stdout, Workflows: []*workflow.Definition{approval}, ReplyWait: time.Minute})
		if err != nil {
			return err
		}
		if err := n.Start(ctx); err != nil {
			return err
		}
		return errors.Join(use(ctx, n), n.Stop(ctx))
	}
	var id string
	err = with(func(ctx context.Context, n *node.Node) error {
		in, err := n.Execute(ctx, workflow.Start{DefinitionID: "approval"}, 0)
		id = in.ID
		fmt.Println(in.SubStatus)
		return err
	})
	err = errors.Join(err, with(func(ctx context.Context, n *node.Node) error {
		if err := n.Send(ctx, workflow.EventStimulus("approved", nil)); err != nil {
			return err
		}
		in, err := n.Instance(ctx, id, time.Minute)
		fmt.Println(in.SubStatus)
		return err
	}))
	if err != nil {
		fmt.Println("failed:", err)
	}
	// Output:
	// May I?
	// Suspended
	// I may.
	// Finished
}
