package tracing

import (
	"errors"
	"net"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Transport makes a span of each request that goes out through next, and tells
// the other side of the trace. Without a trace in the request's context it is
// next.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return t.next.RoundTrip(r)
	}
	var s Span
	if p, ok := parent(ctx); ok {
		method := knownMethod(r.Method)
		// No url.full, which the conventions want: addresses of webhooks are secrets.
		attrs := []attribute.KeyValue{attribute.String("http.request.method", method), attribute.String("url.scheme", r.URL.Scheme), attribute.String("server.address", r.URL.Hostname())}
		if port := portOf(r); port > 0 {
			attrs = append(attrs, attribute.Int("server.port", port))
		}
		ctx, s = child(ctx, p, method, trace.SpanKindClient, attrs...)
		defer s.End()
	}
	r = r.Clone(ctx)                       // a transport must not change its request
	if r.Header.Get("Traceparent") == "" { // else the definition gives the trace that it wants
		w3c.Inject(ctx, propagation.HeaderCarrier(r.Header))
	}
	resp, err := t.next.RoundTrip(r)
	switch {
	case err != nil:
		s.Fail(failure(err))
	case s.s != nil:
		answered(s.s, resp.StatusCode, http.StatusBadRequest)
	}
	return resp, err
}

func failure(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	return "no answer"
}

func portOf(r *http.Request) int {
	if n, err := strconv.Atoi(r.URL.Port()); err == nil {
		return n
	}
	switch r.URL.Scheme {
	case "http":
		return 80
	case "https":
		return 443
	}
	return 0
}

// CloseIdleConnections reaches the transport below, as [http.Client] asks for it.
func (t transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
