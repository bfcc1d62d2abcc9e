// Package inspect reads what callers may see: instances with their journal and their
// state, and the lists of what waits, is due, or could not be done.
//
// Guaranteed: each item is as it was at one revision of etcd, and all of a page of
// instances is; what cannot be read is listed as damaged and keeps nothing else from being
// listed. Not guaranteed: that two pages of a list are of one revision.
//
// # Concurrency
//
// All methods are safe for concurrent use and run on the goroutine that calls.
package inspect
