package tracing_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/weft-run/weft/internal/tracing"
)

// standIn is a collector that gives its first requests an answer, and takes what comes after them.
type standIn struct {
	collector.UnimplementedTraceServiceServer
	status  int           // over HTTP; 0: gRPC
	code    codes.Code    // over gRPC
	partial bool          // it takes each request but for three spans
	always  bool          // it gives the same answer again and again
	first   chan struct{} // of one that gives the same answer again and again: closed by the first request
	asked   atomic.Int32
	took    atomic.Int32 // spans
}

const refusal = "it is busy"

// refuses tells whether a request is one of those that get the answer.
func (s *standIn) refuses() bool {
	first := s.asked.Add(1) == 1
	if first && s.always {
		close(s.first)
	}
	return (first || s.always) && !s.partial
}

func (s *standIn) take(req *collector.ExportTraceServiceRequest) *collector.ExportTraceServiceResponse {
	for _, r := range req.GetResourceSpans() {
		for _, scope := range r.GetScopeSpans() {
			s.took.Add(int32(len(scope.GetSpans())))
		}
	}
	if !s.partial {
		return &collector.ExportTraceServiceResponse{}
	}
	s.took.Add(-3)
	return &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "no room for three"}}
}

// Export is a request over gRPC.
func (s *standIn) Export(_ context.Context, req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	if s.refuses() {
		return nil, status.Error(s.code, refusal)
	}
	return s.take(req), nil
}

// ServeHTTP is a request over HTTP.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	req := &collector.ExportTraceServiceRequest{}
	if err != nil || proto.Unmarshal(raw, req) != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if s.refuses() {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, refusal)
		return
	}
	out, err := proto.Marshal(s.take(req))
	if err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

// start listens, and gives the provider that sends to it.
func (s *standIn) start(t *testing.T) *sdk.TracerProvider {
	t.Helper()
	s.first = make(chan struct{})
	var vars []string
	if s.status != 0 {
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		vars = append(vars, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL)
	} else {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		collector.RegisterTraceServiceServer(server, s)
		go func() { _ = server.Serve(l) }()
		t.Cleanup(server.Stop)
		vars = append(vars, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+l.Addr().String(), "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	}
	otel(t, vars...)
	p, err := tracing.FromEnvironment(t.Context(), "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is lost and what is said when a collector does not take what it gets, as docs/operations/observe.md has it: one that is busy is asked again, and what
// it does not take is said. Pauses are of 5 s and more, so all wait at once.
func TestWhatACollectorDoesNotTakeIsAskedAgainOrSaid(t *testing.T) {
	const spans = 10
	var waits sync.WaitGroup
	for name, c := range map[string]struct {
		s           *standIn
		asked, took int32
		says        string // "": nothing
	}{
		"HTTP 429":                  {&standIn{status: 429}, 2, spans, ""},
		"HTTP 502":                  {&standIn{status: 502}, 2, spans, ""},
		"HTTP 503":                  {&standIn{status: 503}, 2, spans, ""},
		"HTTP 504":                  {&standIn{status: 504}, 2, spans, ""},
		"HTTP 503 for ever":         {&standIn{status: 503, always: true}, 1, 0, "context canceled"},
		"HTTP 400":                  {&standIn{status: 400}, 1, 0, "400"},
		"HTTP 401":                  {&standIn{status: 401}, 1, 0, "401"},
		"HTTP 413":                  {&standIn{status: 413}, 1, 0, "413"},
		"HTTP 500":                  {&standIn{status: 500}, 1, 0, "500"},
		"HTTP, only in part":        {&standIn{status: 200, partial: true}, 1, spans - 3, "no room for three"},
		"gRPC Unavailable":          {&standIn{code: codes.Unavailable}, 2, spans, ""},
		"gRPC Unavailable for ever": {&standIn{code: codes.Unavailable, always: true}, 1, 0, "context canceled"},
		"gRPC ResourceExhausted":    {&standIn{code: codes.ResourceExhausted}, 1, 0, refusal},
		"gRPC InvalidArgument":      {&standIn{code: codes.InvalidArgument}, 1, 0, refusal},
		"gRPC Unauthenticated":      {&standIn{code: codes.Unauthenticated}, 1, 0, refusal},
		"gRPC Internal":             {&standIn{code: codes.Internal}, 1, 0, refusal},
		"gRPC, only in part":        {&standIn{partial: true}, 1, spans - 3, "no room for three"},
	} {
		p := c.s.start(t)
		tracer := tracing.New(p, "n1", "v1")
		for range spans {
			_, span := tracer.Schedule(t.Context(), "d", 0)
			span.End()
		}
		waits.Go(func() {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if c.s.always { // it is not waited for that it gives up
				go func() { <-c.s.first; stop() }()
			}
			err := p.ForceFlush(ctx)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: it is said %v; want %q", name, err, c.says)
			}
			if asked, took := c.s.asked.Load(), c.s.took.Load(); asked != c.asked || took != c.took {
				t.Errorf("%s: asked %d times, %d spans came; want %d and %d", name, asked, took, c.asked, c.took)
			}
			if err := p.Shutdown(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	waits.Wait()
}
