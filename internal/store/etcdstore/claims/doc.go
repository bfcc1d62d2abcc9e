// Package claims keeps in etcd which worker has which task, and until when.
//
// Guaranteed: a task that waits is free or taken, and of two claims of it one is refused; a claim ends once, by the
// commit that burns the task's bookmark, by its release, or by the end of its lease, and its create revision says which
// claim it is; each write is right twice and late. Not guaranteed: that a worker whose claim ended has stopped; that a
// lease ends at its time to the millisecond, as nodes' clocks differ (the node that writes a claim says until when, and
// the node that ends it goes by its own clock); that a task which lies among the free waits still, until it was claimed: a
// node of before knows nothing of claims, and leaves them behind.
package claims
