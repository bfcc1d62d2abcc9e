// Package httpapi is the HTTP face of a node: it decodes and checks a request,
// makes one call down, and maps the result. The outward contract (routes,
// shapes, status codes) is in docs/api.md and, for machines, in /openapi.json,
// which is built from the same table of routes that serves them.
//
// This package has the table. What serves it is [serve]; the handlers are in define (definitions), run
// (instances and what moves them) and operate (the cluster), which know nothing of each other; what
// several of them answer with is in shape, and what other nodes are asked in peers.
//
// Guaranteed: every answer of the API that is not a success is
// application/problem+json with a stable code, from one table;
// 200 and 201 mean applied, 202 means durably accepted, and after
// any other answer the caller may repeat with the same Idempotency-Key. No
// request body is read beyond its limit. What a client sent is never echoed into
// a metric label. A cause that is not meant for the caller goes to the log with
// the request's id and never into the answer.
//
// Not guaranteed: that an answer arrives. A request that got none may have been
// applied; repeat it with the same key. Without [Config].Auth every caller who reaches
// the listener may do everything. With it, a route that names no role is served to
// nobody, and [New] refuses it.
//
// # Concurrency
//
// An [API] is made once and serves any number of requests. Handlers hold no
// state and start no goroutine. [API.Drain] may be called at any time from any
// goroutine; from then on waiting requests answer with what they have, and new
// ones get 503.
package httpapi
