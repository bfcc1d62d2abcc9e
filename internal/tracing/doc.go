// Package tracing says in OpenTelemetry's words what a node does for whom: spans
// from an HTTP request through lock, burst, activities and commit to the requests
// to etcd, and on to the node that continues.
//
// Guaranteed: without a [Tracer] nothing is done, allocated or stored. A span is
// handed to a queue that drops what it cannot hold, so a collector that is slow
// or away costs a node nothing. Attributes are ids, types, counts and codes:
// never payloads, inputs, expressions, error texts, or paths and queries of
// URLs, which can hold secrets.
//
// Not guaranteed: that every span arrives, and that a trace is complete. A
// burst traces so many activities ([MaxActivities]) and no more.
//
// # Where traces begin and how they go on
//
// A [Tracer] begins spans that may be the first of this node: a request, a burst,
// a due timer. Everything else is a function of the context: it makes a span if
// the context has one that is recorded, and does nothing if not. So the loops of
// a node, which ask etcd all the time, make no traces.
//
// What is stored for another node carries a W3C traceparent ([Traceparent]), as
// an optional field of its JSON. Work that goes on with it within [SameTrace] is
// a child: one trace shows the whole way. Work that waited longer begins a trace of
// its own with a link to the one it came from, as OpenTelemetry advises for
// messages: backends keep a trace together for minutes, and a workflow waits for
// days.
//
// # Who may call what
//
// Every package may, as with pkg/metrics; pkg/node makes the Tracer, and internal/people/command
// the provider, from the environment. Functions and methods take plain values and
// give a [Span], so that only this package needs OpenTelemetry.
package tracing
