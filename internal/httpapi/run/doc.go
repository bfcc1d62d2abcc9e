// Package run has the handlers for instances and what moves them: start, cancel, alter and
// retry; events, tasks, resume links and HTTP endpoints; and what shows them: lists, the journal, the
// stream, and why an instance is where it is.
//
// 200 and 201 mean applied, 202 means durably accepted. Each is a function of a [serve.Call] and
// stands in [Routes]; the one route of all endpoints is [Endpoint].
package run
