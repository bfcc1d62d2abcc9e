// Package node builds, starts and stops every part of one Weft node. It is the
// composition root: internal/people/command reads the configuration and calls it, tests run
// whole nodes in process through it, and nothing else knows how the parts fit.
//
//	n, err := node.New(ctx, node.Config{DataDir: dir, HTTPAddr: "127.0.0.1:0"})
//	if err != nil { … }
//	err = n.Run(ctx, nil) // until ctx ends; then drained and stopped
//
// A program may embed a node with activities and workflows of its own
// ([Config].Activities, [Config].Workflows) and start instances without HTTP
// ([Node.Execute]); examples/embed is one. It makes the node with pkg/node/full, which gives
// it the console and what helps to write definitions ([Wings]): a node without them has no
// pages, and refuses of a definition only what does not compile.
//
// Guaranteed: [New] returns a node that is ready to run or an error, and after
// an error nothing of it is left. After [Node.Run] or [Node.Stop] no goroutine,
// listener, lease or lock of the node is left, and it took no longer than the
// drain's delay and timeout plus [stopTimeout]. An instance that was in work
// when the time ran out is taken over by another node, or by this one when it
// starts again.
//
// Not guaranteed: that a burst of activities ends within the drain's time. Not
// recovered: a panic outside of activities and requests ends the process, since
// the state that it left is not known.
//
// # Order of the stop
//
//	not ready     /readyz says why; everything else is served for DrainDelay, so
//	              that load balancers see it first
//	stop intake   new requests get 503 with Retry-After; no timer fires, no queue
//	              item is taken, nothing is taken over
//	finish        running bursts end, within DrainTimeout; longer ones are cut off
//	              at their next activity boundary or left to the next owner
//	release       locks and session; other nodes see this one go
//	etcd          connections close; an embedded etcd stops
//
// # Concurrency
//
// Start and Run may be called once. Stop may be called any number of times, from
// any goroutine, also before Start; all calls return when the node is stopped.
package node
