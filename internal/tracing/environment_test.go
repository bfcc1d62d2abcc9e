package tracing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/weft-run/weft/internal/tracing"
)

// otel sets exactly these OTEL_* variables.
func otel(t *testing.T, vars ...string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
}

func TestTheEnvironmentDecides(t *testing.T) {
	for _, tt := range []struct {
		vars  string
		on    bool
		wrong string // the variable that the error names
	}{
		{"", false, ""},
		{"OTEL_SERVICE_NAME=x", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", true, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1/v1/traces", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", false, ""},
		{"OTEL_SDK_DISABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_PROTOCOL=grpc", true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_PROTOCOL=http/json", false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{"OTEL_TRACES_EXPORTER=zipkin", false, "OTEL_TRACES_EXPORTER"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=u:secret@127.0.0.1:4318", false, "OTEL_EXPORTER_OTLP_ENDPOINT"},
	} {
		t.Run(tt.vars, func(t *testing.T) {
			otel(t, strings.Fields(tt.vars)...)
			p, err := tracing.FromEnvironment(t.Context(), "v1", slog.New(slog.DiscardHandler))
			if (p != nil) != tt.on {
				t.Errorf("on: %v, want %v", p != nil, tt.on)
			}
			switch {
			case tt.wrong == "" && err != nil:
				t.Error(err)
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "secret")):
				t.Errorf("error %v, want one about %s", err, tt.wrong)
			}
			if p != nil {
				if err := p.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// What is left at the end is sent to a real collector, with the service's name.
func TestShutdownSendsWhatIsLeft(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		raw, err := io.ReadAll(body)
		req := &collector.ExportTraceServiceRequest{}
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, req) != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
			return
		}
		got <- req
	}))
	defer server.Close()
	otel(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test")
	p, err := tracing.FromEnvironment(t.Context(), "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracing.New(p, "n1", "v1").Schedule(t.Context(), "d", 0)
	span.End()
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := <-got
	about := map[string]string{}
	for _, kv := range req.GetResourceSpans()[0].GetResource().GetAttributes() {
		about[kv.GetKey()] = kv.GetValue().GetStringValue()
	}
	if about["service.name"] != "weft" || about["service.version"] != "v1" || about["deployment.environment.name"] != "test" {
		t.Errorf("resource: %v", about)
	}
	if name := req.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName(); name != "schedule d" {
		t.Errorf("span %q", name)
	}
}

// A collector that never answers holds up neither what is traced nor, for longer
// than it is given, the end; the log says so once.
func TestACollectorThatHangsHoldsUpNothing(t *testing.T) {
	hang := make(chan struct{})
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-hang
	}))
	defer server.Close()
	defer close(hang)
	otel(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_BSP_SCHEDULE_DELAY=5", "OTEL_EXPORTER_OTLP_TIMEOUT=50", "OTEL_BSP_EXPORT_TIMEOUT=100")
	var log safeBuffer
	p, err := tracing.FromEnvironment(t.Context(), "v1", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tracer := tracing.New(p, "n1", "v1")
	begin := time.Now()
	n := 0
	for ; asked.Load() < 2 && time.Since(begin) < 30*time.Second; n++ { // far more than the queue holds
		_, span := tracer.Schedule(t.Context(), "d", 0)
		span.End()
	}
	if asked.Load() < 2 {
		t.Fatal("the collector was not asked twice")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin = time.Now()
	_ = p.Shutdown(ctx) // it may give up, or have nothing left
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the end took %v", took)
	}
	t.Logf("%d spans made meanwhile", n)
	if got := strings.Count(log.String(), "traces are not exported"); got != 1 {
		t.Errorf("it was said %d times:\n%s", got, log.String())
	}
}

// safeBuffer may be written while it is read.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
