// Package stimuli brings stimuli and commands to whom they are for: it puts them into mailboxes, the outbox and the queue,
// creates instances, and takes dead letters up again.
//
// Guaranteed: what was accepted lies in etcd until something is made of it, and a repeat after a lost answer finds its own
// write. Not guaranteed: that what a stimulus meets still waits when its command comes.
package stimuli
