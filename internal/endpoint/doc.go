// Package endpoint finds out what a request for an HTTP endpoint is for: an endpoint
// that a definition declares, and there the one trigger or bookmark that takes it.
//
// Guaranteed: of the endpoints that a path matches the best one is found, at a cost that
// does not depend on how many there are; the very place that takes a request says who
// may call and with how large a body; strangers learn nothing of instances. Not
// guaranteed: that what was found is still there when the request is handed over, which
// pkg/runtime does, and whose transaction compares it.
//
// # Concurrency
//
// A [Finder] is safe for concurrent use and runs on the goroutine that calls. A
// [Request] is its caller's.
package endpoint
