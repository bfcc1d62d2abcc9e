// Package trace reads from etcd what became of one thing: of a request with a key, of a command, of an instance by its
// journal and all that lies for it.
//
// Guaranteed: what is told was so at the revision that it names. Not guaranteed: that it is still so, or that what was
// let go as it is old is known.
package trace
