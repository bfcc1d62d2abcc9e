// Package upkeep does in etcd what has to be done without anybody's call: it fires what is due, starts what waits behind a
// gate that is free, lets go what is old or too much, and says how etcd does.
//
// Guaranteed: each thing is done by a transaction that compares that it is as it was found, so that two nodes that do the
// same do it once. Not guaranteed: that a sweep meets what came while it ran; the next one does.
package upkeep
