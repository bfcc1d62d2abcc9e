// Package upkeep is the work that a node does by itself: its workers move what
// waits (mailboxes, timers, schedules, send records, the bookmark queue, gates) and
// delete what has had its time.
//
// Guaranteed, as long as one node of the cluster runs it: what is durable goes on,
// also when the node that made it so has died; nothing is deleted before it is as old
// as it has to be, by the age of the cluster and no wall clock. A step that fails is
// logged and tried again: nothing that a worker meets ends it. Not guaranteed: when.
// A worker that was hinted looks at once, all others within the time of their sweep;
// in a cluster that is paused, or an etcd that is full, only ends and deletes go on.
//
// # Jobs
//
// Each job is a type over [worker], with its file; what deletes that which has ended is
// internal/upkeep/retention:
//
//	mailboxes      works commands that wait, and finds those that nobody works
//	outbox         works off send records
//	timers         fires timers of instances and schedules of definitions
//	queue          sends on what waits in the bookmark queue for what is there by now
//	gatekeeper     starts what waits behind gates
//	expiry         ends what waited too long, and deletes records that are old enough
//	aging          lets the age of the cluster go on
//	balancing      counts what is accepted and what becomes of it
//	spaceWatch     looks how full etcd is, and makes room in an etcd of this node
//	control        follows the pause flag and cancels
//
// # Concurrency
//
// [Upkeep.Run] owns every worker and waits for them; it is called once. Which node
// works on what is a matter of efficiency only (rendezvous hashing); each
// transaction compares what it acts on, so two workers on one thing do it once.
package upkeep
