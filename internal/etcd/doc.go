// Package etcd opens the etcd that a node works on: an embedded one, in the process and
// its data directory, or one elsewhere; and it makes room in either ([Repair]).
//
// It guarantees that a data directory has one process at a time, that the embedded etcd
// listens where only its user gets, and that one on a full disk is refused before it
// starts, in words. It does not know what is kept in etcd, nor does it repeat a request
// whose outcome is unknown.
package etcd
