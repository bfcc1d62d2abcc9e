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
// The node that works an instance has one owner for it, a state machine on a
// goroutine of its own. Each state is a type with what it needs, and its function
// next returns the state after it:
//
//	taking       the lock, and the instance in the same transaction; on the caller's goroutine
//	  |
//	choosing     the commands of the next burst <---------------+-----------+
//	  |     \                                                   |           |
//	  |      leaving    nothing to do: the lock goes, unless mail came -----+
//	  |         |                                               |
//	opening   the engine's burst, its place, its mark           |
//	  |         |                                               |
//	working   the burst runs; requests are answered             |
//	  |         |                                               |
//	committing  one transaction, which may free the lock        |
//	  |         |                                               |
//	following   what the store said: answers, and what is next -+
//	  |    \    |
//	  |     yielding    after 100 rounds: others may want the lock
//	  |      /
//	releasing    all is given back, everybody is answered
//
// A burst that cannot be opened, or that fails, goes to releasing, or it is parked:
// the old state stays, with an incident. What follows a commit is decided by a pure
// function ([sent.after]).
//
// Commands come from three places: in hand (a caller of this node waits for the
// outcome), from the mailbox (durable), and claimed from the bookmark queue.
// While an owner is there, callers on the same node put their commands into its
// inbox; callers elsewhere put theirs into the mailbox. Either way commands
// that come while a commit is under way are taken together into the next one.
//
// # Places
//
// Before its first burst an owner takes a place of its definition ([Limits]). If
// there is none, one without a lock waits in memory for a moment (half of
// Config.LateAfter, at most half a second), as long as places become free. Otherwise it lets the lock go;
// commands in hand get [admission.ErrCrowded], and what
// is in the mailbox waits until a burst ends here. So bursts may wait for the
// outside as long as they like.
//
// A command that is one death short of being poison waits in the same way until no
// other such command runs here, so that the next death marks one of them only.
//
// # Concurrency
//
// [Node] and the clients are safe for concurrent use. What an owner knows belongs to
// its goroutine, which the Node waits for in Stop. Other goroutines have its handle:
// the inbox, with what callers hand in, and the desk, where they ask to have that made
// durable, each with a lock of its own; and an interrupt, which reaches a running burst
// at once, as the end of the node's time does. In the state working the owner's
// goroutine runs the burst, which has nothing of the owner. Until it is over, all of the
// owner belongs to who serves at the desk, if anybody asks: a goroutine that the
// owner waits for before it leaves that state, as it does for one that takes a mark back
// because the node's time is over.
package client
