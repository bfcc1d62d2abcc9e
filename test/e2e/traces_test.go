package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/node"
)

// An event for an instance that another node works: one trace goes from the
// request through the mailbox to the burst on that node, its commit, and etcd.
func TestOneTraceFromTheRequestToTheNodeThatHoldsTheInstance(t *testing.T) {
	t.Parallel()
	c, spans := traced(t)
	arrived, release := make(chan string, 1), make(chan struct{})
	outside := hook(t, func(r *http.Request) {
		arrived <- r.Header.Get("Traceparent")
		<-release
	})
	c.publish(t, fmt.Sprintf(`
id: held
root:
  - parallel:
      - [event: hold, sendHttpRequest: {method: POST, url: %q}]
      - [event: go, writeLine: went]
`, outside))
	a, b := c.members[0], c.members[1]
	if got := c.execute(t, b, "held", "i1", "{}"); got.text("subStatus") != "Suspended" {
		t.Fatalf("execute: %s", got)
	}
	holding := make(chan answer, 1)
	go func() { holding <- c.call(t, b, "POST", "/api/v1/events/hold", `{"instanceId": "i1"}`) }()
	outward := <-arrived // node b holds the instance until it is released
	trace1 := "4bf92f3577b34da6a3ce929d0e0e4736"
	going := make(chan int, 1)
	go func() {
		going <- post(t, a.base+"/api/v1/events/go", `{"instanceId": "i1"}`, "00-"+trace1+"-00f067aa0ba902b7-01")
	}()
	polltest.Eventually(t, "the command is in the mailbox", func() bool { return spans.find(trace1, "send mailbox") != nil })
	close(release)
	if got := <-going; got != http.StatusOK && got != http.StatusAccepted {
		t.Errorf("the event was answered with %d", got)
	}
	<-holding
	c.waitFor(t, a, "i1", "Finished")
	path := []string{"POST /api/v1/events/{name}", "send mailbox", "burst held", "commit", "etcd txn"}
	polltest.Eventually(t, "the trace is whole", func() bool { return spans.path(trace1, path...) != nil })
	way := spans.path(trace1, path...)
	if got := way[0].Parent.SpanID().String(); got != "00f067aa0ba902b7" {
		t.Errorf("the request's parent is %s, not the caller's", got)
	}
	for i, want := range []struct{ key, value string }{{"weft.node.id", a.id}, {"weft.instance.id", "i1"}, {"weft.node.id", b.id}, {"weft.instance.id", "i1"}} {
		if got := attr(way[i], want.key); got != want.value {
			t.Errorf("%s: %s is %q, want %q", way[i].Name, want.key, got, want.value)
		}
	}
	for kind, i := range map[trace.SpanKind]int{trace.SpanKindServer: 0, trace.SpanKindProducer: 1, trace.SpanKindConsumer: 2, trace.SpanKindClient: 4} {
		if way[i].SpanKind != kind {
			t.Errorf("%s is of kind %v, want %v", way[i].Name, way[i].SpanKind, kind)
		}
	}
	for _, below := range []string{"activity Elsa.Event", "activity Elsa.WriteLine"} {
		if spans.path(trace1, path[0], path[1], path[2], below) == nil {
			t.Errorf("no span %q below the burst in\n%s", below, spans.tree(trace1))
		}
	}
	// The request that held the instance, with its lock, and the call to outside.
	other := strings.Split(outward, "-")
	if len(other) != 4 {
		t.Fatalf("the call to outside had the traceparent %q", outward)
	}
	polltest.Eventually(t, "the other trace is whole", func() bool {
		return spans.path(other[1], "POST /api/v1/events/{name}", "burst held", "activity Elsa.SendHttpRequest", "POST") != nil &&
			spans.path(other[1], "POST /api/v1/events/{name}", "burst held", "lock", "etcd txn") != nil
	})
	out := spans.path(other[1], "POST /api/v1/events/{name}", "burst held", "activity Elsa.SendHttpRequest", "POST")
	if got := out[3].SpanContext.SpanID().String(); got != other[2] {
		t.Errorf("outside was told of span %s, the call is %s", other[2], got)
	}
	// Ids, types and counts: nothing of what was sent, asked or called.
	for _, s := range spans.all() {
		for _, kv := range s.Attributes {
			if v := kv.Value.String(); strings.Contains(v, "went") || strings.Contains(v, "/i1") || strings.Contains(v, "secret") {
				t.Errorf("%s: attribute %s is %q", s.Name, kv.Key, v)
			}
		}
	}
}

// A timer is set on one node and fires on any: the burst that it resumes goes on
// in the trace that set it, and so do a child and its end.
func TestOneTraceThroughATimerAndAChild(t *testing.T) {
	t.Parallel()
	c, spans := traced(t)
	c.publish(t, "id: inner\nroot:\n  - writeLine: inner\n")
	c.publish(t, "id: outer\nroot:\n  - delay: 300ms\n  - executeWorkflow: {workflowDefinitionId: inner, waitForCompletion: true}\n  - writeLine: done\n")
	trace1 := "5bf92f3577b34da6a3ce929d0e0e4736"
	if got := post(t, c.any().base+"/api/v1/definitions/outer/execute", `{"instanceId": "o1"}`, "00-"+trace1+"-00f067aa0ba902b7-01"); got != http.StatusOK {
		t.Fatalf("execute: %d", got)
	}
	c.waitFor(t, c.any(), "o1", "Finished")
	first := []string{"POST /api/v1/definitions/{id}/execute", "burst outer"}
	fired := append(slices.Clone(first), "timer", "burst outer")
	for _, path := range [][]string{
		append(slices.Clone(first), "commit", "etcd txn"),
		append(slices.Clone(fired), "commit", "etcd txn"),
		append(slices.Clone(fired), "lock"),
		append(slices.Clone(fired), "burst inner", "burst outer", "activity Elsa.WriteLine"),
	} {
		deadline := time.Now().Add(patience)
		for spans.path(trace1, path...) == nil {
			if time.Now().After(deadline) {
				t.Fatalf("no path %q in\n%s", path, spans.tree(trace1))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if stored := c.traces(t); len(stored) == 0 {
		t.Error("nothing that was stored has a trace: the test without traces would find nothing either")
	}
	// Every log line of a request's span says whose it is.
	found := false
	for _, m := range c.members {
		for line := range strings.Lines(m.log.String()) {
			var l struct {
				Msg     string `json:"msg"`
				TraceID string `json:"trace_id"`
				SpanID  string `json:"span_id"`
			}
			if json.Unmarshal([]byte(line), &l) == nil && l.TraceID == trace1 && len(l.SpanID) == 16 {
				found = true
			}
		}
	}
	if !found {
		t.Error("no log line has the trace's id")
	}
}

// Without a provider there is no span, no header outward, and nothing in etcd is
// longer than it was, also when a caller sends a traceparent.
func TestNothingIsTracedWithoutBeingAskedTo(t *testing.T) {
	t.Parallel()
	c := inProcess(t)
	arrived := make(chan string, 1)
	outside := hook(t, func(r *http.Request) { arrived <- r.Header.Get("Traceparent") })
	c.publish(t, "id: inner\nroot:\n  - writeLine: inner\n")
	c.publish(t, fmt.Sprintf("id: outer\nroot:\n  - delay: 300ms\n  - executeWorkflow: {workflowDefinitionId: inner, waitForCompletion: true}\n  - sendHttpRequest: {method: POST, url: %q}\n", outside))
	for _, path := range []string{"/api/v1/definitions/outer/dispatch", "/api/v1/definitions/outer/execute"} {
		post(t, c.any().base+path, `{}`, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		if got := <-arrived; got != "" {
			t.Errorf("outside was told of %q", got)
		}
	}
	post(t, c.any().base+"/api/v1/events/nobody", `{}`, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	for _, stored := range c.traces(t) {
		t.Errorf("stored: %s", stored)
	}
}

// hook is a server that workflows call.
func hook(t *testing.T, called func(*http.Request)) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called(r) }))
	t.Cleanup(s.Close)
	return s.URL + "/hook?token=secret"
}

func post(t *testing.T, url, body, traceparent string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	req.Header.Set("Traceparent", traceparent)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
	return resp.StatusCode
}

// traces are the values that were ever put for the cluster and have a trace.
func (c *cluster) traces(t *testing.T) (stored []string) {
	t.Helper()
	root := "/weft/" + c.name + "/"
	etcd := c.etcd.Client(t)
	now, err := etcd.Get(t.Context(), root+"meta/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := 0
	for resp := range etcd.Watch(ctx, root, clientv3.WithPrefix(), clientv3.WithRev(1), clientv3.WithProgressNotify()) {
		if err := resp.Err(); err != nil {
			t.Fatal(err)
		}
		for _, e := range resp.Events {
			seen++
			var v json.RawMessage
			if e.Type != clientv3.EventTypePut || etcdstore.Decode(e.Kv.Value, &v) != nil {
				continue
			}
			if strings.Contains(string(v), `"trace":`) {
				stored = append(stored, fmt.Sprintf("%s: %s", e.Kv.Key, v))
			}
		}
		if resp.Header.Revision >= now.Header.Revision {
			break
		}
		if err := etcd.RequestProgress(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Fatalf("saw %d changes only", seen)
	}
	return stored
}

// recorded are the spans of a cluster.
type recorded struct{ exporter *tracetest.InMemoryExporter }

// traced makes a cluster of three nodes that trace.
func traced(t *testing.T) (*cluster, recorded) {
	t.Helper()
	r := recorded{tracetest.NewInMemoryExporter()}
	provider := sdk.NewTracerProvider(sdk.WithSyncer(r.exporter))
	c := inProcess(t, func(cfg *node.Config) {
		cfg.Traces = provider
		// Debug: every request has a line.
		cfg.Logger = slog.New(levelled{cfg.Logger.Handler()})
	}, outcomes)
	return c, r
}

// levelled lets everything through.
type levelled struct{ slog.Handler }

func (levelled) Enabled(context.Context, slog.Level) bool { return true }

func (r recorded) all() tracetest.SpanStubs { return r.exporter.GetSpans() }

// find gives a span of a trace by its name; nil if there is none.
func (r recorded) find(trace, name string) *tracetest.SpanStub {
	for _, s := range r.all() {
		if s.Name == name && s.SpanContext.TraceID().String() == trace {
			return &s
		}
	}
	return nil
}

// path gives the spans of a trace that are each other's children in this order;
// nil if there are none.
func (r recorded) path(trace string, names ...string) []tracetest.SpanStub {
	all := r.all()
	var from func(parent *tracetest.SpanStub, names []string) []tracetest.SpanStub
	from = func(parent *tracetest.SpanStub, names []string) []tracetest.SpanStub {
		if len(names) == 0 {
			return []tracetest.SpanStub{}
		}
		for i := range all {
			s := &all[i]
			if s.Name != names[0] || s.SpanContext.TraceID().String() != trace || parent != nil && s.Parent.SpanID() != parent.SpanContext.SpanID() {
				continue
			}
			if rest := from(s, names[1:]); rest != nil {
				return append([]tracetest.SpanStub{*s}, rest...)
			}
		}
		return nil
	}
	return from(nil, names)
}

// tree shows a trace.
func (r recorded) tree(id string) string {
	var b strings.Builder
	all := r.all()
	known := map[trace.SpanID]bool{}
	for _, s := range all {
		known[s.SpanContext.SpanID()] = true
	}
	var show func(parent *tracetest.SpanStub, depth int)
	show = func(parent *tracetest.SpanStub, depth int) {
		for i := range all {
			s := &all[i]
			below := parent != nil && s.Parent.SpanID() == parent.SpanContext.SpanID()
			if s.SpanContext.TraceID().String() == id && (below || parent == nil && !known[s.Parent.SpanID()]) {
				fmt.Fprintf(&b, "%s%s %v\n", strings.Repeat("  ", depth), s.Name, s.Attributes)
				show(s, depth+1)
			}
		}
	}
	show(nil, 0)
	return b.String()
}

func attr(s tracetest.SpanStub, key string) string {
	for _, kv := range s.Attributes {
		if kv.Key == attribute.Key(key) {
			return kv.Value.String()
		}
	}
	return ""
}
