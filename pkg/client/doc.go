// Package client operates on one workflow instance inside a node. It is not an
// HTTP client.
//
// Guaranteed: every mutating operation goes through one private path ([Node.do])
// that owns the instance for its duration and ends in a commit guarded by the
// instance's revision and, in a cluster, by the lock's fence. A command is
// applied once, however often it is delivered. A burst runs on the node, not on
// the request: when its caller goes away, or after a second, its cause is made
// durable, so that another node finishes it if this one dies. Not guaranteed:
// that activities' outside effects happen once (each carries a stable
// idempotency key), nor that a command which was never acknowledged survives
// the node.
//
// # How an instance is worked
//
// The node that owns an instance has one owner for it:
//
//	take lock + load -> run commands -> commit and release
//	                        ^                  |
//	                        +-- new work came -+   (at most 100 rounds)
//
// Commands come from three places: in hand (a caller of this node waits for the
// outcome), from the mailbox (durable), and claimed from the bookmark queue.
// While an owner lives, callers on the same node hand it their commands in
// memory; callers elsewhere put theirs into the mailbox. Either way commands
// that come while a commit is under way are taken together into the next one.
//
// # Places
//
// Before its first burst an owner takes a place of its definition ([Limits]). If
// there is none, it lets the lock go; commands in hand get [ErrCrowded], and what
// is in the mailbox waits until a burst ends here. So bursts may wait for the
// outside as long as they like.
//
// A command that is one death short of being poison waits in the same way until no
// other such command runs here, so that the next death marks one of them only.
//
// # Concurrency
//
// [Node] and the clients are safe for concurrent use. Each owner is one
// goroutine, owned by the Node, which waits for all of them in Stop.
package client
