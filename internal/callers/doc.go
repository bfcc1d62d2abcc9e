// Package callers keeps who called the HTTP endpoints of an instance and waits for what it writes, or for what an
// instance writes that it started and waits for.
//
// Guaranteed: what is kept in properties is the same on any node. Not guaranteed: that somebody is still
// there; who waits may have gone before its time was over.
//
// # Concurrency
//
// A [List] belongs to one burst, and so to one goroutine at a time.
package callers
