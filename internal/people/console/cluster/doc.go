// Package cluster is the pages about the cluster and what lives in it beside instances and
// definitions: home, the nodes, events, the queue and the dead letters, timers, activities, the audit
// log, receipts, and what a text may mean.
//
// What it guarantees: what was looked at in part is never shown as if it were all, and what nobody told
// is not shown as nothing.
//
// What it does not: its numbers are those of the moment in which each was read.
//
// Each page is a function of a visit, in the console's table of pages; package act shows with [Several]
// and [RefreshedNow] what became of a form.
package cluster
