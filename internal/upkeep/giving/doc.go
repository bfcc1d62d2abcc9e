// Package giving gives places of limits to those who wait for them.
//
// Guaranteed: somebody who waits and can be given a place is given one: by the node whose commit made that so, or by a sweep of one
// node, within half a minute, and at once when a node has vanished. Where units come back by the time, each node that has looked
// looks again then.
//
// Concurrency: all methods are safe for concurrent use.
package giving
