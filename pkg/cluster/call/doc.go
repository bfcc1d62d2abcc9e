// Package call says how this node calls etcd: for how long, and what an error proves.
//
// # Guarantees
//
//   - A context of [WithTimeout] ends, also where its parent has no end.
//   - An error that [IsDefinite] is the answer of an etcd that has applied nothing.
//   - A watch with [RequireLeader] ends when its member has lost its leader.
//
// # Not guaranteed
//
// Any other error says neither that a call was applied nor that it was not, also when the caller
// has ended it: the outcome is unknown.
//
// # Concurrency
//
// The functions keep no state.
package call
