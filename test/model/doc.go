// Package model walks through every order of what can happen in small worlds of the
// protocol of docs/protocol.md: two or three nodes, one instance, a few commands.
//
// A world has an etcd with the keys and transactions of docs/keys.md, callers, owners of
// instances, and the sweeps behind them. A mailbox may be followed, a node may have no place for a burst. Each request to etcd may be answered, applied
// without an answer, or kept by the network and applied arbitrarily late, beside the copy
// that is sent again. Nodes end; sessions end while their nodes go on. From each state the
// model goes to all that can follow, so what it does not find is not there in that world.
//
// Guaranteed in each state: no command has two effects; a commit is applied to the state
// that it was made from, by who may write; no answer says what is not so. And where nothing
// can happen any more: what was acknowledged took effect, or waits in the queue as nothing
// waits for it; no mail and no lock is left.
//
// The model is no test of the code. That it has the compares that the code has is shown by
// test/mutants for the code and by TestEveryGuardIsNeeded here: each compare is taken away,
// and a violation has to be found. What is left out: group commit, which has a model of its
// own (pkg/cluster/groupcommit), what test/model/promises has (gates, bodies, webhooks), children, timers, fixed lists, marks of
// takeovers, the age of records (a copy comes while its records are there), and definitions.
package model
