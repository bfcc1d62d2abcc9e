// Package intake says what a node may take up: nothing while it drains or its cluster
// is paused, no starts while it cannot renew its session, and less the fuller etcd is.
//
// Guaranteed: what is refused here is refused before anything of it is durable, with
// an error that says when to come again. Not guaranteed: that a node knows at once; it
// goes by what its upkeep saw last.
//
// # Concurrency
//
// All methods are safe for concurrent use and return at once.
package intake
