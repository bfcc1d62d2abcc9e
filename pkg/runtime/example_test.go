package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// exampleOrder waits for an event of its own order.
var exampleOrder = &workflow.Definition{ID: "order", Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
	{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("paid")}},
	{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit("Thank you")}},
}}}

// onNode runs an example on a node with an etcd of its own.
func onNode(example func(ctx context.Context, r *runtime.Runtime) error) {
	ctx := context.Background()
	err := func() (err error) {
		dir, err := os.MkdirTemp("", "weft-example-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		n, err := full.New(ctx, node.Config{HTTPAddr: "127.0.0.1:0", DataDir: dir, Lines: os.Stdout, Workflows: []*workflow.Definition{exampleOrder}, ReplyWait: time.Minute})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, n.Stop(ctx)) }()
		if err := n.Start(ctx); err != nil {
			return err
		}
		return example(ctx, n.Runtime())
	}()
	if err != nil {
		fmt.Println("failed:", err)
	}
}

// A stimulus resumes what waits for it. One that nothing waits for yet is durable
// too: it is in the queue.
func ExampleSender_Send() {
	onNode(func(ctx context.Context, r *runtime.Runtime) error {
		started, err := r.Starts.Execute(ctx, runtime.StartRequest{DefinitionID: "order", InstanceID: "o-1", CorrelationID: "42"})
		if err != nil {
			return err
		}
		fmt.Println(started.Instance.SubStatus)
		for _, order := range []string{"42", "43"} {
			paid := workflow.EventStimulus("paid", map[string]any{"by": "Ada"})
			paid.CorrelationID = order
			sent, err := r.Events.Send(ctx, paid, nil)
			if err != nil {
				return err
			}
			for _, o := range sent.Outcomes {
				fmt.Println(o.InstanceID, o.Outcome)
			}
			fmt.Println("queued:", sent.Queued != "")
		}
		return nil
	})
	// Output:
	// Suspended
	// Thank you
	// o-1 resumed
	// queued: false
	// queued: true
}

// A call with a key has one effect and one answer, however often and wherever it is
// repeated. Another body under the same key is refused.
func ExampleStarter_Execute() {
	onNode(func(ctx context.Context, r *runtime.Runtime) error {
		for range 2 {
			key := &runtime.Key{Scope: "orders", Value: "k-1", BodyHash: "b-1"}
			in, err := r.Starts.Execute(ctx, runtime.StartRequest{DefinitionID: "order", Name: "first", Key: key})
			if err != nil {
				return err
			}
			fmt.Println(in.Instance.Name, in.Instance.SubStatus)
		}
		all, err := r.Inspector.Instances(ctx, runtime.InstanceFilter{DefinitionID: "order"}, runtime.Paging{})
		if err != nil {
			return err
		}
		fmt.Println("instances:", len(all.Items))
		_, err = r.Starts.Execute(ctx, runtime.StartRequest{DefinitionID: "order", Name: "second", Key: &runtime.Key{Scope: "orders", Value: "k-1", BodyHash: "b-2"}})
		fmt.Println(workflow.CodeOf(err))
		return nil
	})
	// Output:
	// first Suspended
	// first Suspended
	// instances: 1
	// idempotency-key-reused
}
