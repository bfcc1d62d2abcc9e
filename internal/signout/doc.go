// Package signout knows which sessions of the console count no more although their time is
// not over, on every node.
//
// Guaranteed: a session that was ended, or one that began before all of its person were, is
// refused by the node that ended it at once, by every other one when it has heard of it, and
// by one that starts before it answers its first page. It stays refused for as long as a
// browser, or somebody who copied its cookie, could show it.
//
// Not guaranteed: that another node hears of it at once. It takes as long as etcd's watch
// does, a moment as a rule; a node that hears nothing of etcd answers no page either.
//
// Clocks: when all sessions of a person end, "began before" is by the clocks of the node at
// which one began and of the node that ends them. If the first is ahead of the other, a session that began
// within that difference survives; if it is behind, one that begins within it is
// refused, and its person signs in again. Once a person has [MostOfOne]
// ended sessions, "before" is up to the end of the running minute: who signs in again within it
// is refused until it is over.
//
// A person is a name of a caller: all who use one API key are one, and one of them ends the
// sessions of all.
//
// Nothing is asked of etcd for a page: each node keeps the list in its memory. It is short:
// of a person it has [MostOfOne] sessions and one entry more for each minute, and what is
// over is forgotten.
//
// # Concurrency
//
// A [List] is safe for any number of goroutines. [List.Run] has none of its own.
package signout
