// Package groupcommit folds concurrent, independent requests to etcd into shared
// proposals: most of what a small request costs is the request, not the work.
//
// A [KV] stands in front of a client's own:
//
//	group := groupcommit.New(groupcommit.Config{KV: client.KV})
//	client.KV = group // reaches concurrency.Mutex too
//	…
//	group.Close() // before the client
//
// # What is guaranteed
//
//   - Each request is applied as if it were alone: all of it or nothing, its
//     compares against one state, in some order with the others. etcd evaluates
//     all compares of a proposal, nested ones too, before it applies anything;
//     so two requests share a proposal only if neither may write what the other
//     may read, compare or write. May: in any branch, at any depth, by key
//     range. Reads beside reads are free, and are no proposal: the reads of several
//     requests stand beside each other in one that has nothing else.
//   - A request that etcd refuses fails alone: when a proposal is refused, in a
//     way that proves that nothing was applied (an expired lease, too large),
//     its requests are sent again one by one.
//   - An unknown outcome is unknown for every request of the proposal. Nothing
//     is ever repeated after it, but for what only deletes when etcd says that it
//     has no space: the deletes make room.
//   - A request that meets an idle etcd is sent at once, on its caller's own
//     goroutine and context, as if this package were not there. Requests gather
//     only while Config.InFlight proposals are under way.
//   - A caller's context bounds the caller: it returns when the context ends. It
//     does not end the proposal, which others share, unless all have left.
//
// # What is not
//
//   - Requests of one proposal have one revision: the Header.Revision of their
//     answers, and the create and mod revisions of what they put, are equal. A
//     revision still tells, of everything that its own request reads and writes,
//     what was before and what is after, since no other request of the proposal
//     writes there. Of other keys it tells the state including its own proposal.
//     So nothing that is ordered by revision comes out wrong: rivals of one lock
//     each read the lock's prefix, which the other writes, so they never share a
//     proposal. docs/decisions/0003 goes through every use of a revision.
//   - Order among concurrent requests, as ever. A request that is sent after
//     another one was answered comes after it.
//   - Serializable reads, reads at a revision, unbounded lists, reads that compare,
//     compactions, watches and leases go straight to the client.
//
// # Concurrency
//
// A KV may be used from any goroutine. It starts goroutines for proposals under
// way only; Close waits for them. Operations and compares that were handed in
// must not be changed, also after the caller has left.
package groupcommit
