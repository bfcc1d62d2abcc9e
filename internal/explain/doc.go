// Package explain says why an instance is where it is: who runs it, what it waits
// for, what nearly met it, and what to do.
//
// Guaranteed: what is said of an instance's record, its mailbox, its lock and the
// queue was true at one revision of etcd, which is named, and each reason names its
// key. Not guaranteed: what other instances, dead letters and nodes are like was
// read a moment later; near misses are looked for among the newest hundreds of the
// queue and the dead letters, and what nodes remember; what a node does between two commits only that node knows, and is
// asked; so are the nodes for what fences refused, of which they forget all with their end.
//
// [Explainer.Instance] reads; [judge] decides, and is a function of what was read.
package explain
