// Package worker has the command that does tasks with a program of its caller's, a process for each task.
//
// Guaranteed: a task is done only while this worker has claimed it, by one process at a time, and a heartbeat is sent each third
// of the lease as long as it is. What a process wrote, or why it failed, is reported with the claim until the cluster has
// answered, over lost connections too. A process whose task nobody waits for any more, or that another worker has by now, is
// ended with its process group: asked to, and killed when it has not ended after --kill-after. An interrupt claims no more, waits
// for what runs up to --grace, and gives the rest back.
//
// Not guaranteed: that a task is done once. A worker that cannot reach the cluster for longer than its lease goes on, and
// another may get the task beside it; only one result counts. A worker that is killed leaves its processes running. On systems
// without process groups a process is killed at once, and what it has started lives on.
//
// Concurrency: one goroutine claims, one for each task runs its process and reports, one beside it sends heartbeats. The first
// waits for all others.
package worker
