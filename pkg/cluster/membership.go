package cluster

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Standing is that this node is a live member of the cluster, without a lock. A
// transaction that compares
//
//	Lease(Key) = Lease
//
// is applied only while the session lives: the key is the node's record, which is
// on the session's lease, goes with it, and is never on this lease again.
//
// It excludes nobody. It is for writing what nobody else can write, such as a
// first state under an id that this node has just made.
type Standing struct {
	Key   string
	Lease clientv3.LeaseID

	e *Epoch
}

// Standing is the present one; an error if this node has no live session.
func (l *Locks) Standing() (*Standing, error) {
	e := l.s.Epoch()
	if e == nil {
		return nil, fmt.Errorf("stand in the cluster: %w", l.s.notReady())
	}
	return &Standing{Key: l.s.nodeKey(), Lease: e.Lease, e: e}, nil
}

// Context ends with the session, with the cause of a lost lock. It is a reason to
// stop, not a proof.
func (s *Standing) Context() context.Context { return s.e.lockCtx }

// Covers reports whether lock belongs to the same session: what was begun with
// this standing may go on under the lock.
func (s *Standing) Covers(lock *Lock) bool { return lock.e == s.e }
