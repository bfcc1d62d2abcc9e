package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
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
	for _, what := range sizes() {
		b.Run(what.name, func(b *testing.B) {
			written, kept := what.measure(b, b.N)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(written, "written-B/op")
			b.ReportMetric(kept, "etcd-B/op")
		})
	}
}

// The table of docs/operations/scale.md has what things take, and the sum of the worked example follows from it.
func TestSizesOfThePage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/operations/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range sizes() {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(what.row) + `[^|]*\| ([\d,]+) \|$`).FindStringSubmatch(string(raw))
		if row == nil {
			t.Errorf("the page has no row %q", what.row)
			continue
		}
		said, err := strconv.ParseFloat(strings.ReplaceAll(row[1], ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, kept := what.measure(t, 640); kept < said*0.9 || kept > said*1.1 {
			t.Errorf("%s: %.0f bytes, and the page says %.0f", what.row, kept, said)
		}
	}
}

// sized is something that takes room in etcd, and its row in the page.
type sized struct {
	name, row string
	one       func(ctx context.Context, n *node.Node, i int) error
}

func sizes() []sized {
	execute := func(id string) func(ctx context.Context, n *node.Node, i int) error {
		return func(ctx context.Context, n *node.Node, i int) error {
			_, err := n.Execute(ctx, workflow.Start{DefinitionID: id, CorrelationID: fmt.Sprint("c", i), Input: sizedInput()}, 0)
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
	return []sized{
		{"finished", "a finished instance of three activities", execute("three")},
		{"keyed", "the same, started with an `Idempotency-Key`", keyedStart},
		{"suspended", "an instance that waits for one event", execute("waits")},
		{"resumed", "the same, resumed and finished", func(ctx context.Context, n *node.Node, i int) error {
			return errors.Join(execute("waits")(ctx, n, i), resume("go")(ctx, n, i))
		}},
		{"queued event", "a queued event", resume("nobody")},
	}
}

func sizedInput() map[string]any {
	return map[string]any{"order": strings.Repeat("order 0815 ", 18)} // 200 bytes
}

// keyedStart starts over HTTP, as the command line and most clients do.
func keyedStart(ctx context.Context, n *node.Node, i int) error {
	body, err := json.Marshal(map[string]any{"correlationId": fmt.Sprint("c", i), "input": sizedInput()})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.HTTPAddr()+"/api/v1/definitions/three/execute", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", fmt.Sprint("key-of-a-start-", i))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("start %d: %s", i, resp.Status)
	}
	return nil
}

// measure tells what each of so many takes, until a compaction and after it.
func (what *sized) measure(b testing.TB, times int) (written, kept float64) {
	b.Helper()
	n := start(b, node.Config{Workflows: []*workflow.Definition{
		{ID: "three", Inputs: []workflow.Input{{Name: "order", Type: "String"}}, Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{writeLine("a"), writeLine("b"), writeLine("c")}}},
		{ID: "waits", Inputs: []workflow.Input{{Name: "order", Type: "String"}}, Root: &workflow.Activity{Type: "Elsa.Sequence", Activities: []*workflow.Activity{
			{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("go")}}, writeLine("b")}}},
	}})
	compact(b, n)
	from := sizeInUse(b, n)
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := w; i < times; i += 64 {
				if err := what.one(b.Context(), n, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	written = float64(sizeInUse(b, n)-from) / float64(times)
	compact(b, n)
	return written, float64(sizeInUse(b, n)-from) / float64(times)
}

func writeLine(text string) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit(text)}}
}

func etcdOf(b testing.TB, n *node.Node) *clientv3.Client {
	b.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints()})
	if err != nil {
		b.Fatal(err)
	}
	return etcd
}

// compact lets etcd forget its history.
func compact(b testing.TB, n *node.Node) {
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
func sizeInUse(b testing.TB, n *node.Node) int64 {
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
