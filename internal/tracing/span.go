package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/weft-run/weft"

// Attributes of our own. The others are OpenTelemetry's.
const (
	instanceKey   = attribute.Key("weft.instance.id")
	definitionKey = attribute.Key("weft.definition.id")
	nodeKey       = attribute.Key("weft.node.id")
	commandKey    = attribute.Key("weft.command.kind")
	activityKey   = attribute.Key("weft.activity.id")
	typeKey       = attribute.Key("weft.activity.type")
	sequenceKey   = attribute.Key("weft.commit.sequence")
	outcomeKey    = attribute.Key("weft.outcome")
	commandsKey   = attribute.Key("weft.burst.commands")
	lateKey       = attribute.Key("weft.timer.late_seconds")
	errorKey      = attribute.Key("error.type")
)

// Span is something under way. The zero value is nothing, and safe to use.
type Span struct{ s trace.Span }

// End says that it is over.
func (s Span) End() {
	if s.s != nil {
		s.s.End()
	}
}

// Fail says that it came to nothing; kind is one of few words, such as a problem
// code, and no error's text: that may quote what must not leave the node.
func (s Span) Fail(kind string) {
	if s.s != nil {
		s.s.SetStatus(codes.Error, "")
		s.s.SetAttributes(errorKey.String(kind))
	}
}

// Outcome says how it ended, in one of few words.
func (s Span) Outcome(outcome string) {
	if s.s != nil {
		s.s.SetAttributes(outcomeKey.String(outcome))
	}
}

// parent is the span in ctx, if it is recorded.
func parent(ctx context.Context) (trace.Span, bool) {
	p := trace.SpanFromContext(ctx)
	return p, p.IsRecording()
}

// child begins a span below p.
func child(ctx context.Context, p trace.Span, name string, kind trace.SpanKind, attrs ...attribute.KeyValue) (context.Context, Span) {
	ctx, s := p.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	return ctx, Span{s}
}

// Recorded tells whether what is done under ctx is traced.
func Recorded(ctx context.Context) bool {
	_, ok := parent(ctx)
	return ok
}

// TraceID is the id of the trace that ctx belongs to, for exemplars: "" unless
// the trace is sampled, since nobody can look up one that is not.
func TraceID(ctx context.Context) string {
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		return sc.TraceID().String()
	}
	return ""
}

// Quiet is ctx without its span: for what asks again and again while it waits.
func Quiet(ctx context.Context) context.Context {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return trace.ContextWithSpan(ctx, nil)
}

// Within is ctx with the span of another context: for what is done for that, and does not
// end with it.
func Within(ctx, other context.Context) context.Context {
	p, ok := parent(other)
	if !ok {
		return ctx
	}
	return trace.ContextWithSpan(ctx, p)
}

// Lock is the taking of an instance's lock.
func Lock(ctx context.Context, instance string) (context.Context, Span) {
	p, ok := parent(ctx)
	if !ok {
		return ctx, Span{}
	}
	return child(ctx, p, "lock", trace.SpanKindInternal, instanceKey.String(instance))
}

// Locked is the taking of a lock before it was known for whom: it was asked for
// and had at these times.
func Locked(ctx context.Context, instance string, asked, had time.Time) {
	p, ok := parent(ctx)
	if !ok {
		return
	}
	_, s := p.TracerProvider().Tracer(scope).Start(ctx, "lock", trace.WithTimestamp(asked), trace.WithAttributes(instanceKey.String(instance)))
	s.End(trace.WithTimestamp(had))
}

// Activity is one execution, or the resumption, of an activity.
func Activity(ctx context.Context, id, typ string) (context.Context, Span) {
	p, ok := parent(ctx)
	if !ok {
		return ctx, Span{}
	}
	return child(ctx, p, "activity "+typ, trace.SpanKindInternal, activityKey.String(id), typeKey.String(typ))
}

// MaxActivities is how many activities of one burst are traced: a loop of
// thousands would push everything else out of the exporter's queue.
const MaxActivities = 256

// Commit is the commit of a burst, from building its transaction to its outcome.
func Commit(ctx context.Context, instance string, sequence int64) (context.Context, Span) {
	p, ok := parent(ctx)
	if !ok {
		return ctx, Span{}
	}
	return child(ctx, p, "commit", trace.SpanKindInternal, instanceKey.String(instance), sequenceKey.Int64(sequence))
}

// Send is the handing over of work to another burst: into a mailbox, the
// queue, send records, or as a new instance. What is stored then carries the
// [Traceparent] of the context that comes back. instance is "" if the target is
// not known yet.
func Send(ctx context.Context, to, instance string) (context.Context, Span) {
	p, ok := parent(ctx)
	if !ok {
		return ctx, Span{}
	}
	attrs := []attribute.KeyValue{
		attribute.String("messaging.system", "weft"), attribute.String("messaging.operation.type", "send"),
		attribute.String("messaging.operation.name", "send"), attribute.String("messaging.destination.name", to),
	}
	if instance != "" {
		attrs = append(attrs, instanceKey.String(instance))
	}
	return child(ctx, p, "send "+to, trace.SpanKindProducer, attrs...)
}

// Where [Send] sends.
const (
	ToMailbox  = "mailbox"
	ToQueue    = "queue"
	ToSends    = "sends"
	ToSeveral  = "mailboxes"
	ToInstance = "new instance"
)

// Etcd is one request to etcd; operations is how many a transaction has.
func Etcd(ctx context.Context, operation string, operations int) (context.Context, Span) {
	p, ok := parent(ctx)
	if !ok {
		return ctx, Span{}
	}
	attrs := []attribute.KeyValue{attribute.String("db.system.name", "etcd"), attribute.String("db.operation.name", operation)}
	if operations > 1 {
		attrs = append(attrs, attribute.Int("db.operation.batch.size", operations))
	}
	return child(ctx, p, "etcd "+operation, trace.SpanKindClient, attrs...)
}
