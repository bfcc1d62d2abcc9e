// Package live tells what changes, to those who look: of an instance, of a list of instances,
// of the nodes of the cluster, of the definitions.
//
// What is told is a state and its revision in etcd. Several changes within a tenth of a
// second may be told as one. Who comes back with the position of what was told last, on any
// node, is told what is otherwise by then, and nothing twice. Where that cannot be known,
// as the position is of another etcd, or of before a compaction and the instance is gone, a
// reset says so, and everything follows as it is.
//
// Of a list its first page is told: at first all of it, and then its order with those that came
// or changed. It is asked for every few seconds while somebody looks, once for all who look at
// the same, as no watch could tell what concerns it. Who comes back is told all of it.
//
// Guaranteed: who looks long enough is told the last state of what changes; an instance is
// watched in etcd while somebody looks at it here, by one watch for all who do; who reads
// slowly costs nobody anything, as nothing is kept for each of them but a position and the page of a list. Not
// guaranteed: that each state in between is told (the journal has them).
//
// # Concurrency
//
// A [Hub] is for any number of goroutines; a [Viewer] for one. The goroutine that follows an
// instance or a list ends with the last viewer's Close, which waits for it.
package live
