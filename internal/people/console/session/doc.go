// Package session knows who a browser is of: sessions, which the browser keeps sealed.
//
// What it guarantees: nobody outside the cluster can read or make a session, a sign-in on its way or a
// pass, and none of the three counts as another. Any node of the cluster knows all of them. A session
// gives the role that its API key has now, and none after its end or a sign-out of which the node has heard.
//
// What it does not: it keeps nothing itself, so that a session can be ended before its time by a
// sign-out only; and what a provider said of somebody is not asked for again before the session is over.
//
// [Sessions] is made once for a node, with [New]. Package signin gives and ends sessions, and page asks
// of each request whose it is.
package session
