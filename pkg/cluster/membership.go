package cluster

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Membership proves, inside a transaction, that this node has a live session. It
// needs no lock. A transaction that compares
//
//	Lease(Key) = Lease
//
// is applied only while the session lives: the key is the node's record, which is
// on the session's lease, goes with it, and is never on this lease again.
//
// A membership excludes no other writer. It is for what no other node can write,
// such as the first state under an id that this node has just made.
type Membership struct {
	Key   string
	Lease clientv3.LeaseID

	e *Epoch
}

// Membership is that of the present epoch. It is an error if this node has no live
// session.
func (l *Locks) Membership() (*Membership, error) {
	e := l.s.Epoch()
	if e == nil {
		return nil, fmt.Errorf("membership in the cluster: %w", l.s.notReady())
	}
	return &Membership{Key: l.s.nodeKey(), Lease: e.Lease, e: e}, nil
}

// Context ends with the epoch, with the cause of a lost lock. It is a reason to
// stop, not a proof.
func (m *Membership) Context() context.Context { return m.e.lockCtx }

// SameEpoch reports whether lock is of the same epoch. Work that began with this
// membership may then go on under the lock.
func (m *Membership) SameEpoch(lock *Lock) bool { return lock.e == m.e }
