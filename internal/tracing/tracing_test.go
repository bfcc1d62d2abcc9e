package tracing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/internal/tracing"
)

func recorder(t *testing.T, options ...sdk.TracerProviderOption) (*tracing.Tracer, *tracetest.InMemoryExporter) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(append(options, sdk.WithSyncer(exporter))...)
	t.Cleanup(func() {
		if err := provider.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return tracing.New(provider, "n1", "devel"), exporter
}

const sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestWhatWaitedBrieflyIsAChildAndWhatWaitedLongIsLinked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		origin       tracing.Origin
		child, links bool
	}{
		{"a moment ago", tracing.Origin{Trace: sent, Sent: time.Now().Add(-time.Second)}, true, false},
		{"an hour ago", tracing.Origin{Trace: sent, Sent: time.Now().Add(-time.Hour)}, false, true},
		{"without a trace", tracing.Origin{Sent: time.Now()}, false, false},
		{"with a damaged one", tracing.Origin{Trace: "00-zz", Sent: time.Now()}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tracer, exporter := recorder(t)
			// What the context has is not where the work comes from.
			ctx, before := tracer.Schedule(t.Context(), "other", 0)
			ctx, span := tracer.Burst(ctx, "i1", "d", 1, true, tt.origin)
			_, lock := tracing.Lock(ctx, "i1")
			lock.End()
			span.End()
			before.End()
			spans := exporter.GetSpans()
			if len(spans) != 3 || spans[1].Name != "burst d" {
				t.Fatalf("spans: %v", spans)
			}
			burst := spans[1]
			if got := burst.SpanContext.TraceID().String() == sent[3:35] && burst.Parent.SpanID().String() == sent[36:52]; got != tt.child {
				t.Errorf("a child of the sender: %v, want %v", got, tt.child)
			}
			if !tt.child && burst.Parent.IsValid() {
				t.Errorf("it has the parent %v", burst.Parent)
			}
			if got := len(burst.Links) == 1 && burst.Links[0].SpanContext.SpanID().String() == sent[36:52]; got != tt.links {
				t.Errorf("links: %v", burst.Links)
			}
			if spans[0].Parent.SpanID() != burst.SpanContext.SpanID() {
				t.Error("the lock is not below the burst")
			}
		})
	}
}

func TestFurtherCommandsOfABurstStayInTheirOwnTraces(t *testing.T) {
	t.Parallel()
	tracer, exporter := recorder(t)
	now := time.Now()
	ctx, burst := tracer.Burst(t.Context(), "i1", "d", 3, true, tracing.Origin{Trace: sent, Sent: now})
	_, same := tracer.Command(ctx, "i1", "resume", tracing.Origin{Trace: sent, Sent: now})
	same.End()
	other := strings.Replace(sent, "4bf9", "5bf9", 1)
	octx, second := tracer.Command(ctx, "i1", "resume", tracing.Origin{Trace: other, Sent: now})
	_, activity := tracing.Activity(octx, "a1", "Elsa.WriteLine")
	activity.Fail("fault")
	activity.End()
	second.End()
	burst.End()
	spans := exporter.GetSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans, want the activity, the second trace's command and the burst", len(spans))
	}
	a, c, b := spans[0], spans[1], spans[2]
	if c.SpanContext.TraceID().String() != other[3:35] || a.Parent.SpanID() != c.SpanContext.SpanID() {
		t.Errorf("the second command is in trace %s", c.SpanContext.TraceID())
	}
	if len(c.Links) != 1 || c.Links[0].SpanContext.SpanID() != b.SpanContext.SpanID() ||
		len(b.Links) != 1 || b.Links[0].SpanContext.SpanID() != c.SpanContext.SpanID() {
		t.Errorf("links: %v and %v", c.Links, b.Links)
	}
	if a.Status.Code != codes.Error || a.Status.Description != "" {
		t.Errorf("status of the activity: %v", a.Status)
	}
}

func TestARequestGoesOnWithTheTraceOfItsCallerAndOutwardCallsToo(t *testing.T) {
	t.Parallel()
	tracer, exporter := recorder(t)
	got := make(chan http.Header, 3)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		if r.URL.Path == "/404" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer outside.Close()
	client := &http.Client{Transport: tracing.Transport(outside.Client().Transport)}
	call := func(ctx context.Context, url string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	incoming := httptest.NewRequestWithContext(t.Context(), "BREW", "/api/v1/secret", nil)
	incoming.Header.Set("Traceparent", sent)
	incoming.Header.Set("Tracestate", "vendor=1")
	ctx, span := tracer.Request(t.Context(), incoming)
	call(ctx, outside.URL+"/404?token=secret")
	call(ctx, "http://127.0.0.1:1/secret")
	span.Answered("BREW", "/api/v1/{name}", 503)
	call(t.Context(), outside.URL)
	spans := exporter.GetSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	if h := <-got; h.Get("Traceparent") != "00-"+sent[3:35]+"-"+spans[0].SpanContext.SpanID().String()+"-01" || h.Get("Tracestate") != "vendor=1" {
		t.Errorf("outside got %q, %q", h.Get("Traceparent"), h.Get("Tracestate"))
	}
	if h := <-got; h.Get("Traceparent") != "" {
		t.Errorf("a call without a trace had %q", h.Get("Traceparent"))
	}
	server := spans[2]
	if server.Name != "_OTHER /api/v1/{name}" || server.Parent.SpanID().String() != sent[36:52] || server.Status.Code != codes.Error {
		t.Errorf("the request: %s below %s, %v", server.Name, server.Parent.SpanID(), server.Status)
	}
	for i, want := range []string{"404", "no answer"} {
		if v := attrs(spans[i])["error.type"]; v.AsString() != want {
			t.Errorf("call %d: error.type is %q, want %q", i, v.AsString(), want)
		}
	}
	for _, s := range spans {
		for _, kv := range s.Attributes {
			if strings.Contains(kv.Value.String(), "secret") {
				t.Errorf("%s: %s is %s", s.Name, kv.Key, kv.Value.String())
			}
		}
	}
}

func attrs(s tracetest.SpanStub) map[attribute.Key]attribute.Value {
	all := map[attribute.Key]attribute.Value{}
	for _, kv := range s.Attributes {
		all[kv.Key] = kv.Value
	}
	return all
}

// What a caller's tracing system wrote beside the trace goes on with what is stored, and out; a trace that a request has
// itself is left as it is.
func TestTracestateGoesOn(t *testing.T) {
	t.Parallel()
	tracer, _ := recorder(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", nil)
	r.Header.Set("Traceparent", sent)
	r.Header.Set("Tracestate", "vendor=a,other=b")
	ctx, request := tracer.Request(t.Context(), r)
	stored := tracing.Traceparent(ctx)
	request.Answered(http.MethodPost, "/x", 200)
	ctx, span := tracer.Burst(t.Context(), "i1", "d", 1, true, tracing.Origin{Trace: stored, Sent: time.Now()})
	defer span.End()
	var got http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer srv.Close()
	call := func(own string) {
		out, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if own != "" {
			out.Header.Set("traceparent", own)
		}
		resp, err := tracing.Transport(http.DefaultTransport).RoundTrip(out)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if call(""); got.Get("Tracestate") != "vendor=a,other=b" || !strings.HasPrefix(got.Get("Traceparent"), sent[:35]) {
		t.Errorf("%v of %q", got, stored)
	}
	const own = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
	if call(own); got.Get("Traceparent") != own || got.Get("Tracestate") != "" {
		t.Errorf("%v", got)
	}
}

// A caller that does not sample decides for everybody after it: nothing is
// recorded, and what is sent on says so.
func TestATraceThatIsNotSampledIsCarriedAndNotRecorded(t *testing.T) {
	t.Parallel()
	tracer, exporter := recorder(t)
	unsampled := strings.TrimSuffix(sent, "1") + "0"
	ctx, span := tracer.Burst(t.Context(), "i1", "d", 1, true, tracing.Origin{Trace: unsampled, Sent: time.Now()})
	if got := tracing.Traceparent(ctx); !strings.HasPrefix(got, sent[:35]) || !strings.HasSuffix(got, "-00") {
		t.Errorf("traceparent is %q", got)
	}
	if tracing.Recorded(ctx) || tracing.TraceID(ctx) != "" {
		t.Error("it is recorded")
	}
	span.End()
	if n := len(exporter.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

func TestNothingIsAllocatedWithoutATracer(t *testing.T) {
	var tracer *tracing.Tracer
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, 1)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/x", nil)
	origin := tracing.Origin{Sent: time.Now()}
	broken := errors.New("broken")
	n := testing.AllocsPerRun(100, func() {
		ctx, q := tracer.Request(ctx, r)
		ctx, b := tracer.Burst(ctx, "i", "d", 1, true, origin)
		ctx, c := tracer.Command(ctx, "i", "start", origin)
		ctx, l := tracing.Lock(ctx, "i")
		ctx, m := tracing.Commit(ctx, "i", 1)
		ctx, a := tracing.Activity(ctx, "a", "Elsa.If")
		ctx, s := tracing.Send(ctx, tracing.ToMailbox, "i")
		ctx, e := tracing.Etcd(ctx, "txn", 3)
		ctx, v := tracer.Resolve(ctx, origin)
		ctx, f := tracer.Timer(ctx, "i", time.Second, origin)
		ctx, h := tracer.Schedule(ctx, "d", time.Second)
		tracing.Locked(ctx, "i", origin.Sent, origin.Sent)
		if ctx = tracing.Quiet(ctx); tracing.Traceparent(ctx)+tracing.TraceID(ctx) != "" || tracing.Recorded(ctx) {
			panic(broken)
		}
		for _, x := range [...]tracing.Span{b, c, l, m, a, s, e, v, f, h} {
			x.Outcome("x")
			x.Fail("y")
			x.End()
		}
		q.Answered(http.MethodPost, "/x", 200)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if tracing.New(nil, "n", "v") != nil {
		t.Error("a nil provider made a tracer")
	}
}

func TestALogLineWithinASpanSaysWhichTraceItBelongsTo(t *testing.T) {
	t.Parallel()
	tracer, _ := recorder(t)
	var out bytes.Buffer
	log := slog.New(tracing.LogHandler(slog.NewJSONHandler(&out, nil))).With("a", 1)
	ctx, span := tracer.Burst(t.Context(), "i1", "d", 1, true, tracing.Origin{Trace: sent, Sent: time.Now()})
	defer span.End()
	log.InfoContext(ctx, "inside")
	log.InfoContext(t.Context(), "outside")
	dec := json.NewDecoder(&out)
	for _, want := range []string{sent[3:35], ""} {
		var line struct {
			TraceID string  `json:"trace_id"`
			SpanID  string  `json:"span_id"`
			A       float64 `json:"a"`
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.TraceID != want || line.A != 1 || (line.SpanID != "") != (want != "") {
			t.Errorf("line %+v, want trace %q", line, want)
		}
	}
}

func TestQuietForgetsTheSpan(t *testing.T) {
	t.Parallel()
	tracer, exporter := recorder(t)
	ctx, span := tracer.Schedule(t.Context(), "d", 0)
	_, s := tracing.Etcd(tracing.Quiet(ctx), "range", 1)
	s.End()
	if n := len(exporter.GetSpans()); n != 0 || trace.SpanContextFromContext(tracing.Quiet(ctx)).IsValid() {
		t.Errorf("%d spans", n)
	}
	span.End()
}

// The SDK keeps the last 128 links of a span. A burst that took more commands along has lost the first ones of its own, and each command has its.
func TestALongBurstIsFoundFromEachOfItsCommands(t *testing.T) {
	t.Parallel()
	const commands = 300
	tracer, exporter := recorder(t)
	now := time.Now()
	ctx, burst := tracer.Burst(t.Context(), "i1", "d", 3, true, tracing.Origin{Trace: sent, Sent: now})
	for range commands {
		_, c := tracer.Command(ctx, "i1", "resume", tracing.Origin{Trace: strings.Replace(sent, "4bf9", "5bf9", 1), Sent: now})
		c.End()
	}
	burst.End()
	spans := exporter.GetSpans()
	b := spans[len(spans)-1]
	if len(spans) != commands+1 || len(b.Links) != 128 || b.DroppedLinks != commands-128 || b.DroppedAttributes != 0 {
		t.Errorf("%d spans; the burst has %d links, lost %d and %d attributes", len(spans), len(b.Links), b.DroppedLinks, b.DroppedAttributes)
	}
	for _, c := range spans[:commands] {
		if len(c.Links) != 1 || c.Links[0].SpanContext.SpanID() != b.SpanContext.SpanID() || c.DroppedAttributes != 0 {
			t.Fatalf("a command has links %v", c.Links)
		}
	}
	if last := b.Links[127].SpanContext.SpanID(); last != spans[commands-1].SpanContext.SpanID() {
		t.Error("the last link is not that of the last command")
	}
}
