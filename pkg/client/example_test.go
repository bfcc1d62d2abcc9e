package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// exampleNode is a node that knows one program.
func exampleNode(etcd *clientv3.Client, name string, p *engine.Program) (*client.Node, error) {
	store, err := etcdstore.New(etcdstore.Config{Client: etcd, Root: cluster.Root(name)})
	if err != nil {
		return nil, err
	}
	return client.NewNode(client.Config{
		Store:       store.Instances,
		Definitions: single{p},
		Env: func() engine.Env {
			return engine.Env{Now: time.Now, Lines: func(text string) { fmt.Println(text) }}
		},
	})
}

// single is the definitions of a node that has one.
type single struct{ program *engine.Program }

func (s single) Program(context.Context, string, int) (*engine.Program, error) { return s.program, nil }

func (single) Gate(context.Context, *workflow.Start) (*store.Gate, error) { return nil, nil }

// A command has an id for life. What repeats it, such as a caller that got no answer,
// changes nothing any more.
func ExampleClient() {
	def := &workflow.Definition{ID: "greeting", Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
		{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("answer")}},
		{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit("Come in!")}},
	}}}
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default()})
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		node, err := exampleNode(etcd, name, prog)
		if err := errors.Join(problems.Err(), err); err != nil {
			return err
		}
		var c client.Client = node.Local("i-1") // or node.Distributed, in a cluster
		started, err := c.Do(ctx, workflow.Command{ID: "c-1", Kind: workflow.CommandStart, CreatedAt: time.Now(),
			Start: &workflow.Start{DefinitionID: def.ID, Version: 1}})
		if err != nil {
			return err
		}
		fmt.Println(started.Effect.Outcome, started.Instance.SubStatus)

		resume := workflow.Command{ID: "c-2", Kind: workflow.CommandResume, CreatedAt: time.Now(), Bookmark: started.Instance.Bookmarks[0].ID}
		for range 2 {
			resumed, err := c.Do(ctx, resume)
			if err != nil {
				return err
			}
			fmt.Printf("%s %q %s\n", resumed.Effect.Outcome, resumed.Effect.Code, resumed.Instance.SubStatus)
		}
		return node.Stop(ctx)
	})
	// Output:
	// started Suspended
	// Come in!
	// resumed "" Finished
	// refused "instance-finished" Finished
}

// An instance has one owner. On another node a command is not taken while its
// burst goes on, and no time is lost with waiting for a lock.
func ExampleDistributed_Do() {
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		sessions := map[string]*cluster.Session{}
		for _, id := range []string{"a", "b"} {
			s, err := cluster.Open(ctx, cluster.Config{Client: etcd, Cluster: name, NodeID: id, TTL: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close(ctx) }()
			sessions[id] = s
		}
		node, err := exampleNode(etcd, name, nil)
		if err != nil {
			return err
		}
		lock, err := sessions["a"].Locks().TryAcquire(ctx, cluster.InstanceLock("i-1")) // a works on it
		if err != nil {
			return err
		}
		cancel := workflow.Command{ID: "c-1", Kind: workflow.CommandCancel, CreatedAt: time.Now()}
		_, err = node.Distributed(sessions["b"].Locks(), "i-1", client.RetryPolicy{}).Do(ctx, cancel)
		fmt.Println(errors.Is(err, client.ErrBusy), err)
		return errors.Join(lock.Release(ctx), node.Stop(ctx))
	})
	// Output: true the instance is busy on another node
}
