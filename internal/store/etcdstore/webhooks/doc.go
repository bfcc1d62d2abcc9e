// Package webhooks keeps in etcd who is told of what, how far they are, and what was not taken.
//
// Guaranteed: a webhook is put and told by who read it as it is; what its ranges hold is collected
// from its position on, each change of a key or, where etcd has compacted them, what is there; a letter that was not taken stays
// until it is settled. Not guaranteed: that an event is told once, as a position that is not put is gone on from again.
package webhooks
