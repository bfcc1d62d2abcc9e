package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/workflow"
)

// BenchmarkSizeInEtcd measures what one thing takes in etcd's database, until a
// compaction (written-B/op) and after it, for the table of docs/operations/scale.md.
// The time is of no interest:
//
//	go test ./pkg/node -run '^$' -bench SizeInEtcd -benchtime 5000x
func BenchmarkSizeInEtcd(b *testing.B) {
	order := map[string]any{"order": strings.Repeat("order 0815 ", 18)} // 200 bytes
	defs := []*workflow.Definition{
		{ID: "three", Inputs: []workflow.Input{{Name: "order", Type: "String"}}, Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{writeLine("a"), writeLine("b"), writeLine("c")}}},
		{ID: "waits", Inputs: []workflow.Input{{Name: "order", Type: "String"}}, Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
			{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("go")}}, writeLine("b")}}},
	}
	execute := func(id string) func(ctx context.Context, n *node.Node, i int) error {
		return func(ctx context.Context, n *node.Node, i int) error {
			_, err := n.Execute(ctx, workflow.Start{DefinitionID: id, CorrelationID: fmt.Sprint("c", i), Input: order}, 0)
			return err
		}
	}
	resume := func(name string) func(ctx context.Context, n *node.Node, i int) error {
		return func(ctx context.Context, n *node.Node, i int) error {
			st := workflow.EventStimulus(name, nil)
			st.CorrelationID = fmt.Sprint("c", i)
			return n.Send(ctx, st)
		}
	}
	for _, what := range []struct {
		name        string
		before, one func(ctx context.Context, n *node.Node, i int) error
	}{
		{"finished", nil, execute("three")},
		{"suspended", nil, execute("waits")},
		{"resumed", execute("waits"), resume("go")},
		{"queued event", nil, resume("nobody")},
	} {
		b.Run(what.name, func(b *testing.B) {
			n := start(b, node.Config{Workflows: defs})
			each := func(f func(ctx context.Context, n *node.Node, i int) error) {
				var wg sync.WaitGroup
				for w := range 64 {
					wg.Go(func() {
						for i := w; i < b.N; i += 64 {
							if err := f(b.Context(), n, i); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			}
			if what.before != nil {
				each(what.before)
			}
			compact(b, n)
			from := sizeInUse(b, n)
			each(what.one)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(sizeInUse(b, n)-from)/float64(b.N), "written-B/op")
			compact(b, n)
			b.ReportMetric(float64(sizeInUse(b, n)-from)/float64(b.N), "etcd-B/op")
		})
	}
}

func writeLine(text string) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit(text)}}
}

func etcdOf(b *testing.B, n *node.Node) *clientv3.Client {
	b.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints()})
	if err != nil {
		b.Fatal(err)
	}
	return etcd
}

// compact lets etcd forget its history.
func compact(b *testing.B, n *node.Node) {
	b.Helper()
	etcd := etcdOf(b, n)
	defer etcd.Close()
	now, err := etcd.Get(b.Context(), "x")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := etcd.Compact(b.Context(), now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		b.Fatal(err)
	}
}

// sizeInUse is what etcd's database holds.
func sizeInUse(b *testing.B, n *node.Node) int64 {
	b.Helper()
	etcd := etcdOf(b, n)
	defer etcd.Close()
	// Writing its buffer makes etcd count anew.
	if _, err := etcd.Put(b.Context(), "/size", "x"); err != nil {
		b.Fatal(err)
	}
	if _, err := etcd.Defragment(b.Context(), n.EtcdEndpoints()[0]); err != nil {
		b.Fatal(err)
	}
	status, err := etcd.Status(b.Context(), n.EtcdEndpoints()[0])
	if err != nil {
		b.Fatal(err)
	}
	return status.DbSizeInUse
}
