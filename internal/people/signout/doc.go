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
// Clocks of nodes may differ. A session carries behind which end of all its person's it began,
// as its node knew it, and the next end of all is behind that one: "before" means "before it
// was heard of". So a session that begins at a node which has not heard of the end of all yet
// is refused when it has, and its person signs in again. Two ends of all within the moment that
// others take to hear of one are told apart by the clocks of their nodes.
//
// Once a person has [MostOfOne] ended sessions, "before" is by the clock of the node, up to the
// end of the running minute: who signs in again within it is refused until it is over, and a
// session of a node whose clock is ahead survives until another one is ended.
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
