// Package e2e shows what Weft promises, on whole nodes and a real etcd: three
// nodes in one process, joined by pkg/node as the program joins them, or three
// processes of the program itself, which tests speak HTTP to and kill, stop and
// continue. It has no code of its own, only tests.
//
//	harness_test.go   nodes and processes, and how they end
//	calls_test.go     HTTP calls; every call and its outcome is remembered
//	checks_test.go    what must hold after every scenario; metrics
//	outside_test.go   a server outside that activities call
//	elsa*_test.go     what was seen of Elsa as a cluster, E1 to E17
//
// The name of a test states the rule that it shows. Every wait has a deadline
// and polls a condition; a fault that a test needs is proven by a counter, not
// assumed. At its end each scenario checks the cluster's histories: see
// [cluster.checkHistories].
//
// With WEFT_WHOLE=1 there are more rounds. WEFT_E2E_RUNS sets how often the scenarios
// with stopped and killed processes are repeated (default once or a few times).
package e2e
