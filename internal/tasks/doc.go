// Package tasks gives the tasks of a cluster to workers: each to one at a time, the oldest first.
//
// Guaranteed: what it gives was claimed in etcd, so no other node gives it while the claim stands; what was free when a
// call came is found; a worker that waits is woken by what becomes free. Not guaranteed: that of two nodes each gives the
// very oldest, as a task has a node that is preferred for it, and the others leave it to that one for a moment; that a
// claim reaches a worker who has gone: its lease ends.
//
// # What it reads
//
// A [Desk] knows the oldest free tasks of each name that somebody asks for: it reads a page of them, and a watch tells
// what comes and goes. It goes on behind the last one that it knows, in spans of time, so that a claim costs the
// same beside a hundred tasks and beside a million, and does not walk over those that were taken. Where the watch breaks, and each minute
// that somebody waits in vain, it begins with the first again.
//
// # Concurrency
//
// All methods are safe for concurrent use. [Desk.Run] is to be kept running; without it who waits looks again and again.
package tasks
