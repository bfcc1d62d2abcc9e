package tracing

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Tracer begins the spans of one node that have no parent in their context. A nil
// *Tracer traces nothing and is safe to use.
type Tracer struct {
	t    trace.Tracer
	node attribute.KeyValue
}

// New makes the tracer of a node; nil for a nil provider.
func New(p trace.TracerProvider, node, version string) *Tracer {
	if p == nil {
		return nil
	}
	return &Tracer{t: p.Tracer(scope, trace.WithInstrumentationVersion(version)), node: nodeKey.String(node)}
}

var w3c propagation.TraceContext

// SameTrace is how long after it was sent work goes on in the trace that sent it.
const SameTrace = time.Minute

// Origin is where work came from: what was stored with it, and when.
type Origin struct {
	Trace string // as [Traceparent] gives it; "": it was sent without a trace
	Sent  time.Time
}

// mostState bounds the tracestate that is stored, in bytes: as much as the standard has everybody pass on.
const mostState = 512

// Traceparent is the W3C traceparent of ctx, for what is stored, and behind a space its tracestate, if it has one; ""
// without a trace.
func Traceparent(ctx context.Context) string {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsValid() {
		return ""
	}
	c := propagation.MapCarrier{}
	w3c.Inject(trace.ContextWithSpanContext(context.Background(), sc), c)
	if state := c["tracestate"]; state != "" && len(state) <= mostState {
		return c["traceparent"] + " " + state
	}
	return c["traceparent"]
}

// context reads the traceparent back; what is damaged is as none.
func (o Origin) context() trace.SpanContext {
	if o.Trace == "" {
		return trace.SpanContext{}
	}
	parent, state, _ := strings.Cut(o.Trace, " ")
	ctx := w3c.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent, "tracestate": state})
	return trace.SpanContextFromContext(ctx)
}

// from begins a span for work that was sent: a child of the span that sent it,
// or, after [SameTrace], the first of a trace that is linked to it.
func (t *Tracer) from(ctx context.Context, name string, kind trace.SpanKind, o Origin, attrs ...attribute.KeyValue) (context.Context, Span) {
	opts := []trace.SpanStartOption{trace.WithSpanKind(kind), trace.WithAttributes(append(attrs, t.node)...)}
	sent := o.context()
	switch {
	case !sent.IsValid():
		opts = append(opts, trace.WithNewRoot())
	case time.Since(o.Sent) > SameTrace:
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: sent}))
	default:
		ctx = trace.ContextWithRemoteSpanContext(ctx, sent)
	}
	ctx, s := t.t.Start(ctx, name, opts...)
	return ctx, Span{s}
}

func process(destination string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "weft"), attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.operation.name", "process"), attribute.String("messaging.destination.name", destination),
	}
}

// Burst is a burst, from the loaded instance to the committed result. It goes on
// where the first of its commands came from: out of the mailbox, or handed in on
// this node.
func (t *Tracer) Burst(ctx context.Context, instance, definition string, commands int, mailed bool, first Origin) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	kind := trace.SpanKindInternal
	attrs := []attribute.KeyValue{instanceKey.String(instance), definitionKey.String(definition), commandsKey.Int(commands)}
	if mailed {
		kind = trace.SpanKindConsumer
		attrs = append(attrs, process(ToMailbox)...)
	}
	return t.from(ctx, "burst "+definition, kind, first, attrs...)
}

// Command is one of the further commands of a burst: it goes on where it came
// from itself, linked to the burst that ctx has, which in turn is linked to it.
func (t *Tracer) Command(ctx context.Context, instance, kind string, o Origin) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	burst := trace.SpanFromContext(ctx)
	if sent := o.context(); sent.IsValid() && sent.TraceID() == burst.SpanContext().TraceID() || !sent.IsValid() {
		return ctx, Span{} // the burst's own trace shows it
	}
	ctx, s := t.from(ctx, "command "+kind, trace.SpanKindConsumer, o, append(process(ToMailbox), instanceKey.String(instance), commandKey.String(kind))...)
	s.s.AddLink(trace.Link{SpanContext: burst.SpanContext()})
	burst.AddLink(trace.Link{SpanContext: s.s.SpanContext()})
	return ctx, s
}

// Resolve is the delivery of a send record.
func (t *Tracer) Resolve(ctx context.Context, o Origin) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.from(ctx, "resolve", trace.SpanKindConsumer, o, process(ToSends)...)
}

// Timer is the firing of a timer that was set with a trace; without one it is
// not traced, as it begins nothing.
func (t *Tracer) Timer(ctx context.Context, instance string, late time.Duration, o Origin) (context.Context, Span) {
	if t == nil || o.Trace == "" {
		return ctx, Span{}
	}
	return t.from(ctx, "timer", trace.SpanKindConsumer, o, append(process("timers"), instanceKey.String(instance), lateKey.Float64(late.Seconds()))...)
}

// Schedule is an occurrence of a schedule: the first span of a trace.
func (t *Tracer) Schedule(ctx context.Context, definition string, late time.Duration) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.from(ctx, "schedule "+definition, trace.SpanKindInternal, Origin{}, definitionKey.String(definition), lateKey.Float64(late.Seconds()))
}

// Request is a request that the node answers; it goes on with the caller's trace
// if the headers name one.
func (t *Tracer) Request(ctx context.Context, r *http.Request) (context.Context, Request) {
	if t == nil {
		return ctx, Request{}
	}
	ctx = w3c.Extract(ctx, propagation.HeaderCarrier(r.Header))
	method := knownMethod(r.Method)
	// No url.path, which the conventions want: it can hold the token of a link.
	// The route, set in the end, says what it was, and ids are attributes of what
	// the request did.
	ctx, s := t.t.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method), attribute.String("url.scheme", scheme(r)), t.node))
	return ctx, Request{s}
}

// Request is a request under way. The zero value is none.
type Request struct{ s trace.Span }

// Answered ends it; route is the pattern that matched, "" if none did.
func (q Request) Answered(method, route string, status int) {
	if q.s == nil {
		return
	}
	if q.s.IsRecording() {
		if route != "" {
			q.s.SetName(knownMethod(method) + " " + route)
			q.s.SetAttributes(attribute.String("http.route", route))
		}
		answered(q.s, status, http.StatusInternalServerError)
	}
	q.s.End()
}

// answered notes the status; from is where it is this side's error.
func answered(s trace.Span, status, from int) {
	s.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= from {
		s.SetStatus(codes.Error, "")
		s.SetAttributes(errorKey.String(strconv.Itoa(status)))
	}
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// knownMethod folds what a client may have made up: a method is any token.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "_OTHER"
}
