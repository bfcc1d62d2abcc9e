// Package members is the list of live nodes as one node knows it, and what their heartbeats tell:
// whose clock is off, who is late, who has gone. It makes no calls: package cluster reads the
// records and watches them.
//
// # Guarantees
//
//   - An older read or event undoes no newer one.
//   - A subscriber is told of every epoch of a node that has ended, unless it did not ask for
//     a thousand of them.
//   - A right clock does not look wrong because writes to etcd are slow, or because the watch is,
//     as long as it was that slow for the own heartbeat too.
//
// # Not guaranteed
//
//   - That the list is what etcd has now, or that two nodes have the same list: it is for efficiency.
//   - That a node which is not in the list has ended: it may be paused, or cut off.
//   - That a wrong clock looks as wrong as it is; see [List.Skews].
//
// # Concurrency
//
// All methods may be called from any goroutine. None waits for anything but the list's mutex, and
// nothing calls back into a subscriber: it gets tokens, and may be slow.
package members
