// Package answers finds out what became of commands, and of requests with an
// Idempotency-Key, and waits for it: the work is done by other goroutines and nodes.
//
// Guaranteed: what it tells was committed. Not guaranteed: that there is something to
// tell before the caller's time is over.
//
// # Concurrency
//
// All methods are safe for concurrent use and run on the goroutine that calls. A watch
// tells that there is news, and a look at etcd now and then stands behind it.
package answers
