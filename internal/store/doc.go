// Package store says what is kept of workflows and what one commit is: types
// only. Package etcdstore keeps them in etcd.
//
// Guaranteed: the types carry everything that a commit needs to be one atomic
// step (state, bookmarks, journal, consumed and sent commands). Not guaranteed:
// anything about when it is durable; that is the store's to say.
package store
