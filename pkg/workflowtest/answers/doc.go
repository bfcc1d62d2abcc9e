// Package answers plays the other side of the requests of a workflow in a test.
//
// Guaranteed: the first answer that fits a request is given, and nothing goes over the network.
//
// Not guaranteed: anything about a server: it takes no time, and knows nothing of the requests before.
package answers
