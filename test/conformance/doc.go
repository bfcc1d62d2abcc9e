// Command conformance runs workflow definitions written by others through the
// HTTP API and compares what comes out with what must come out.
//
//	go run ./test/conformance DIR                     # a node of its own per case
//	go run ./test/conformance --nodes 3 DIR           # three nodes, each request to a random one
//	go run ./test/conformance --addr http://… DIR     # nodes that run already
//
// DIR has a cases.json, a list of [Case], and the definition files that it
// names; testdata/elsa are cases written after Elsa's own tests and sources. It prints one line a case and a table, and ends with 1 if a case failed
// and with 2 if it could not run them.
//
// Guaranteed: only the outward contract is used, so the result says what a user
// sees. Without --addr the cases share nothing. Lines are compared in the order
// in which they were written, over parents and children: a burst's lines stay
// together in the order of its journal, and journals are merged by time, which
// is exact as long as the nodes share a clock.
//
// Not guaranteed with --addr: that a definition of the same id that was there
// before is left alone; it gets a new version.
package main
