// Package loading reads an instance for who takes it.
//
// Guaranteed: the record, its mailbox and what else was asked for are as they were at one revision. The reads may ride in the transaction
// that takes the instance's lock. Not guaranteed: that they are so still, unless the caller has the lock.
package loading
