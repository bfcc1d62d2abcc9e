// Package cluster is this process in etcd: the session, the members, the locks.
//
// # Guarantees
//
//   - A lock's fence proves ownership inside an etcd transaction: a transaction
//     that compares the [Fence] as described there is applied only while the lock
//     is held by that very acquisition. A paused, partitioned or expired holder
//     is refused.
//   - Within one node and epoch at most one goroutine holds a name. (An etcd mutex
//     alone lets all goroutines of a session in.)
//   - Giving a lock back never removes the key of a later holder.
//   - A name does not stay locked because an answer was lost: what nobody on this
//     node holds is removed within about two seconds while the session lives, and
//     with its lease otherwise.
//   - [Locks.TryAcquire] returns when its context ends, also when the network is
//     gone.
//   - At most one live node of one id, and no local node beside another.
//
// # Not guaranteed
//
//   - That only one node believes that it holds a lock. A handle and its context
//     are advice: they can be wrong for as long as a process is paused. A
//     write without the fence is not protected.
//   - That a refusal means that another node does the work. [HeldError] says
//     whether the holder was confirmed. Look again in any case.
//   - That two nodes see the same members at the same time. [Session.Members] and
//     [Session.PreferredNode] are for efficiency.
//   - Fairness: no line is formed at a lock.
//
// # The session
//
// One lease at a time, owned by the loop in [Session.Run]; its life is an
// [Epoch]. A lost lease is never revived: everything bound to it is cancelled
// (not waited for), and a new lease begins the next epoch.
//
//	                Open                        ctx ends, Close
//	(nothing) ──────────────▶ live(epoch n) ──────────────────────▶ closed
//	    ▲                        │      ▲                              ▲
//	    │ ConflictError,         │      │ lease granted and            │
//	    │ etcd away:             │      │ node record put:             │
//	    │ nothing is left        │      │ epoch n+1                    │
//	    │ behind          lease  │      │                              │
//	    │                 gone,  ▼      │         ctx ends, Close      │
//	    └───────       no renewal:  rebuilding ────────────────────────┘
//	             contexts of epoch n end      back-off with jitter
//
// The lease counts as lost when etcd says that it is gone, when it was not
// renewed for a whole TTL, or when the node record is found under another lease.
// This node learns it late: by up to half a second if the network is silent, and
// only afterwards if the process was paused.
//
// # How a lock is taken
//
// At once or not at all. Nobody waits for a lock, other than in Elsa, where a run
// waits for the lock of its instance: what finds it held goes into the instance's
// mailbox, where it is durable and needs no connection, or is done by the holder in
// any case. A wait would bring the traps of etcd notes 3, 4 and 10. Other programs
// may wait, with etcd's own mutex; the fence and [Locks.List] reckon with their keys.
//
// The local lock of the name comes first ([keylock.Table], one per epoch), then a
// [mutex.Acquisition] with an etcd mutex of its own, whose transaction carries the
// caller's reads. Giving back is a
// transaction that compares the create revision; the local lock is freed last. An
// acquisition or release with an unknown outcome keeps the local lock until its
// key is known to be gone. A janitor removes keys of our own lease whose local
// lock is free: copies that were delivered late.
//
// # Concurrency
//
// All exported methods may be called from any goroutine. [Session.Run] owns the
// loops (lease, heartbeat, janitor, members) and waits for them. Goroutines that
// an acquisition leaves behind belong to the session; [Session.Close] waits for
// them, and they end when their epoch does. Nothing calls back into the caller:
// changes of the members arrive as coalesced tokens, and subscribers may be slow.
// No mutex is held during a call to etcd, except the one that orders the writes
// of this node's record. Every call to etcd has a deadline, and every watch a
// slow read behind it.
package cluster
