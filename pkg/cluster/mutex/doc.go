// Package mutex takes a lock with etcd's own mutex, at once or not at all. It is the only place that
// touches [concurrency.Mutex]; package cluster is the one that uses it.
//
// # Guarantees
//
//   - A try that is refused puts no key beside that of another node.
//   - The caller's reads are read in the transaction that takes the lock.
//   - [DeleteKey] removes the key of one acquisition, never that of a later one, however late it comes.
//   - After a try an [Acquisition] says whether a key of it may exist.
//
// # Not guaranteed
//
//   - That no key is left behind: who gives up an acquisition that was sent removes its key.
//   - That two goroutines of one lease exclude each other: the mutex is re-entrant. A local lock
//     has to come before it.
//   - That a lock is still held when a try returns: the proof is the fence, inside a transaction.
//
// # Concurrency
//
// An acquisition belongs to one goroutine at a time. The functions keep no state.
package mutex
