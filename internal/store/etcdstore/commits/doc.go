// Package commits keeps instances in etcd for the node that works them: it loads them with their mail, commits what a burst
// did, and removes them.
//
// Guaranteed: a commit is one transaction, compared against the fence of the instance's lock and the revision that was
// loaded, so at most one per instance and sequence number is ever applied, and none by a node that lost its lock.
// Not guaranteed: that a commit whose answer was lost is known at once; asking again settles it.
package commits
