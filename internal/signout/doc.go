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
// Nothing is asked of etcd for a page: each node keeps the list in its memory. It is short:
// of a person it has [MostOfOne] sessions and one entry more for each minute, and what is
// over is forgotten.
//
// # Concurrency
//
// A [List] is safe for any number of goroutines. [List.Run] has none of its own.
package signout
