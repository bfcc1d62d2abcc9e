// Package etcdstore keeps Weft's data in etcd: it owns every key's format and
// every transaction.
//
// Guaranteed: a commit is one transaction, compared against the fence of the
// instance's lock and the revision that was loaded, so at most one commit per
// instance and sequence number is ever applied, and none by a node that lost
// its lock. Every transaction stays correct when it is applied twice or
// arbitrarily late: its outer compares, once false, stay false. Not guaranteed:
// that a write whose answer was lost is known at once ([ErrUnknown]); asking
// again settles it.
//
// docs/keys.md lists the keys and, for each transaction, If, Then and Else.
//
// A [Store] is five parts over one connection: [Definitions] for the catalog,
// [Instances] for the node that works instances, [Stimuli] for what comes from
// callers, [Upkeep] for what has to be done without any, and [Reader], which writes
// nothing. Each user is given its part, so that the compiler says who may commit.
//
// What knows no record, requests, compares and pages, is in internal/db; keys, and the
// records that several parts write, are in internal/record: a commit puts mail, outbox,
// queue items, dead letters, timers and children, and upkeep repairs all of them. What they look at, instances
// whose records may lie in parts, what waits, and ranges that are followed, is in internal/lookup.
//
// The rooms are packages beside each other and know no other: definitions, commits ([Instances]), stimuli, upkeep, lists and
// trace ([Reader]), balance, jobs, webhooks, signouts, contents. Only fsck ([Checker]) knows another: it removes an instance as commits does. This
// package puts them together, and names what callers use.
package etcdstore
