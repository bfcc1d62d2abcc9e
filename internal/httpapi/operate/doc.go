// Package operate has the handlers for who looks after a cluster: nodes, locks and timers,
// what could not be done and what waits, jobs, webhooks, how full etcd is, who did what, and counts.
//
// What it shows is of one moment, of etcd or of a node's memory, and each answer says which. Each handler is a
// function of a [serve.Call] and stands in [Routes].
package operate
