package cluster

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/members"
)

// register puts the node record of epoch e, in one transaction that is refused
// if the members have changed since seen, which is what survey found.
func (s *Session) register(ctx context.Context, e *Epoch, seen surveyed) error {
	for {
		done, err := s.putRecord(ctx, e, seen)
		if done || err != nil {
			return err
		}
		if !pace.Pause(ctx, pace.Jitter(50*time.Millisecond)) {
			return context.Cause(ctx)
		}
		if seen, err = s.survey(ctx); err != nil {
			return err
		}
	}
}

// surveyed is the state of the members at a revision, found good to join.
type surveyed struct {
	own *mvccpb.KeyValue // the record under our id if it may be overwritten
	rev int64
}

// survey reads the members and returns when this node may join them, or with a
// [*ConflictError]. It waits for the record of a dead process with our id to
// expire; that is why it comes before the new lease is granted.
func (s *Session) survey(ctx context.Context) (surveyed, error) {
	var rival rivalWatch
	for {
		cctx, cancel := call.WithTimeout(ctx)
		now, err := s.cfg.Client.Get(cctx, s.nodesPrefix(), clientv3.WithPrefix())
		cancel()
		if err != nil {
			return surveyed{}, fmt.Errorf("read the live nodes: %w", err)
		}
		own, err := s.mayJoin(now.Kvs)
		if err != nil {
			return surveyed{}, err
		}
		if own == nil || s.isOurs(own) {
			return surveyed{own, now.Header.Revision}, nil
		}
		if rival.isAlive(own) {
			return surveyed{}, &ConflictError{Other: members.Decode(own), Reason: "another live node has the same id"}
		}
		if !pace.Pause(ctx, pace.Jitter(100*time.Millisecond)) {
			return surveyed{}, fmt.Errorf("%w (while waiting for the record of a former process to expire: %w)", context.Cause(ctx),
				&ConflictError{Other: members.Decode(own), Reason: "a node has the same id"})
		}
	}
}

// mayJoin finds the record under our own id, and refuses to join if another mode
// is in use.
func (s *Session) mayJoin(kvs []*mvccpb.KeyValue) (own *mvccpb.KeyValue, err error) {
	for _, kv := range kvs {
		if string(kv.Key) == s.nodeKey() {
			own = kv
			continue
		}
		other := members.Decode(kv)
		if s.cfg.Mode == ModeLocal {
			return nil, &ConflictError{Other: other, Reason: "a local node must be alone, and another node is live"}
		}
		if other.Mode == ModeLocal {
			return nil, &ConflictError{Other: other, Reason: "a local node is live, and it must be alone"}
		}
	}
	return own, nil
}

// isOurs tells whether the record was written by an earlier epoch of this very
// process: such a record may be overwritten.
func (s *Session) isOurs(kv *mvccpb.KeyValue) bool {
	n := members.Decode(kv)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch != nil && n.LeaseID == leaseHex(s.epoch.Lease)
}

// putRecord reports false if the members have moved since they were surveyed.
func (s *Session) putRecord(ctx context.Context, e *Epoch, seen surveyed) (bool, error) {
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	value, err := s.record(e)
	if err != nil {
		return false, err
	}
	can, err := s.putAbilities(e)
	if err != nil {
		return false, err
	}
	var ownRev int64
	if seen.own != nil {
		ownRev = seen.own.ModRevision
	}
	cctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	began := time.Now()
	resp, err := s.cfg.Client.Txn(cctx).
		If(clientv3.Compare(clientv3.ModRevision(s.nodeKey()), "=", ownRev),
			// No node joined since the look. On an empty range this holds.
			clientv3.Compare(clientv3.CreateRevision(s.nodesPrefix()), "<", seen.rev+1).WithPrefix()).
		Then(clientv3.OpPut(s.nodeKey(), value, clientv3.WithLease(e.Lease)), can).
		Commit()
	if err != nil {
		return false, fmt.Errorf("write the node record: %w", err)
	}
	if resp.Succeeded {
		s.recordRev = resp.Header.Revision
		s.last = members.Written{Revision: s.recordRev, Took: time.Since(began)}
	}
	return resp.Succeeded, nil
}

// rivalWatch tells a live node from the record that a dead one left behind: the
// live one writes. A lease whose time to live went up proves nothing, since each
// change of etcd's leader gives every lease its full TTL again.
type rivalWatch struct {
	lease  int64
	modRev int64
}

func (r *rivalWatch) isAlive(kv *mvccpb.KeyValue) bool {
	if r.modRev != 0 && (r.lease != kv.Lease || r.modRev != kv.ModRevision) {
		return true
	}
	r.lease, r.modRev = kv.Lease, kv.ModRevision
	return false
}
