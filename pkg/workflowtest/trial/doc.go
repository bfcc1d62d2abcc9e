// Package trial is one run of one definition in a test: on the real engine, with activities
// that are mocked, children and servers that are played, and a clock that the test moves; and
// what is to be seen of it, compared.
//
// Guaranteed: what pkg/workflowtest says, which gives its types and functions to Go programs
// under its own name. A run within [Bounds] reads no file, keeps only so much, and stops
// when its context ends.
//
// Not guaranteed: anything about test files, which are not known here, and about a cluster.
//
// # Concurrency
//
// A [Run] belongs to one goroutine. Different runs are independent.
package trial
