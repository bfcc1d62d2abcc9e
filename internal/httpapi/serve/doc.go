// Package serve carries a request to its handler, and what it answers back: it numbers,
// guards, counts and logs a request, reads its body within bounds, gives it a place among
// those in flight, and writes the answer or the problem. A [Route] says what there is to know of
// a call; the same line serves it and describes it in /openapi.json.
//
// Guaranteed: a route that names no role is served to nobody, and [API.Open] refuses it. No
// body is read beyond its limit, none before it is known that the caller may, and none without room for it.
// A cause that is not meant for the caller goes to the log with the request's id and never into the answer.
// A code has one status, from the one table in problems.go.
//
// Not guaranteed: that what a handler does is right. Handlers are functions of a [Call], in the packages beside this one;
// they know what is asked for, and nothing of HTTP that a Call does not tell.
//
// # Concurrency
//
// An [API] is made once, gets its routes once, and then serves any number of requests. A Call is used by one goroutine.
package serve
