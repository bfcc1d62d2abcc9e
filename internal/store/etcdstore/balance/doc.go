// Package balance counts what was accepted durably and what became of it, from what a watch of etcd tells.
//
// Guaranteed: each change is counted once, by the node that counts, also over restarts; where that cannot be, the count begins
// again and says why. Not guaranteed: that it is of this moment; a difference is told, and not mended.
package balance
