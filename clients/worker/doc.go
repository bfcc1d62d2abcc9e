// Package worker does tasks of a Weft cluster in a Go program: it claims them, runs a function for each, and reports what
// came of it.
//
//	err := worker.Run(ctx, client, worker.Handlers{"pack": pack}, worker.Config{Max: 8})
//
// Guaranteed: a handler runs only while its task is claimed, at most [Config].Max at once. Heartbeats go out each third of
// the lease until the cluster has answered what became of the task, over lost connections too. The context of a handler ends
// when nobody waits for its task any more, when another worker has it, and when the program has to end; [context.Cause] says
// which. A task that runs when [Config].Grace is over is given back.
//
// Not guaranteed: that a task is done once. A program that cannot reach the cluster for longer than its lease goes on, and
// another may get the task beside it; one result counts. What a handler does outside should bear that; Task.TaskID is the same in
// every attempt, and makes a good idempotency key. A handler that does not heed its context keeps Run from returning.
//
// Concurrency: Run claims in its own goroutine. Each task has one, and one beside it for heartbeats. Run waits for all.
package worker
