package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/members"
)

// Node is the record of a live node, kept as JSON under nodes/<id> on the lease
// of the node's session.
type Node = members.Node

const nodesDir = "nodes/"

func (s *Session) nodesPrefix() string { return s.root + nodesDir }

func (s *Session) nodeKey() string { return s.nodesPrefix() + encodeSegment(s.cfg.NodeID) }

func leaseHex(id clientv3.LeaseID) string { return strconv.FormatInt(int64(id), 16) }

// UpdateNode changes what this node says about itself: Draining, Paused with
// PauseRevision, and CatalogRevision; everything else that change touches is ignored.
//
// The change is kept in any case and is published with the next heartbeat or the
// next epoch at the latest; an error only says that it is not published yet. The
// record of an epoch that has ended is never written again.
func (s *Session) UpdateNode(ctx context.Context, change func(*Node)) error {
	s.mu.Lock()
	n := s.self
	change(&n)
	s.self.Draining, s.self.CatalogRevision = n.Draining, n.CatalogRevision
	s.self.Paused, s.self.PauseRevision = n.Paused, n.PauseRevision
	draining := n.Draining
	s.mu.Unlock()
	s.cfg.Metrics.SetDraining(draining)
	e := s.Epoch()
	if e == nil {
		return fmt.Errorf("publish the node record: %w", s.notReady())
	}
	if err := s.publish(ctx, e); err != nil {
		return fmt.Errorf("publish the node record: %w", err)
	}
	return nil
}

// notReady is why there is no epoch; never nil.
func (s *Session) notReady() error {
	if err := s.Ready(); err != nil {
		return err
	}
	return sessionLost("it was rebuilt just now") // between two looks
}

// record is the own node record as it should be in epoch e, to be sent now. It needs
// s.recordMu.
func (s *Session) record(e *Epoch) (string, error) {
	s.mu.Lock()
	n := s.self
	s.mu.Unlock()
	n.Epoch, n.LeaseID, n.Clock = e.Number, leaseHex(e.Lease), s.cfg.Now().UTC().Round(0)
	n.Last, s.last = s.last, members.Written{} // of a write without an answer nobody knows when it was
	s.members.Sending(n.Clock)
	b, err := json.Marshal(n)
	return string(b), err
}

// publish writes the own record. The compare on its mod revision keeps a late
// copy of an older write from undoing a newer one, the lease keeps a write of a
// dead epoch from succeeding at all.
func (s *Session) publish(ctx context.Context, e *Epoch) error {
	s.recordMu.Lock()
	defer s.recordMu.Unlock()
	for range 3 {
		value, err := s.record(e)
		if err != nil {
			return err
		}
		key := s.nodeKey()
		cctx, cancel := call.WithTimeout(ctx)
		began := time.Now()
		resp, err := s.cfg.Client.Txn(cctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", s.recordRev)).
			Then(clientv3.OpPut(key, value, clientv3.WithLease(e.Lease))).
			Else(clientv3.OpGet(key)).
			Commit()
		cancel()
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			e.doubt()
			return sessionLost("etcd does not know the lease any more")
		}
		if err != nil {
			return err
		}
		if resp.Succeeded {
			s.recordRev = resp.Header.Revision
			s.last = members.Written{Revision: s.recordRev, Took: time.Since(began)}
			return nil
		}
		// Moved without us knowing: an unknown write of our own was applied, or
		// somebody removed the record by hand. Another node's record is left alone.
		s.recordRev = 0
		if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			if clientv3.LeaseID(kvs[0].Lease) != e.Lease {
				e.doubt()
				return sessionLost("the node record belongs to another session")
			}
			s.recordRev = kvs[0].ModRevision
		}
	}
	return errors.New("the node record keeps changing under another hand")
}

// heartbeats renews the clock in the node record while epoch e is live, and
// repairs a record that was removed by hand.
func (s *Session) heartbeats(ctx context.Context, e *Epoch) {
	for pace.Pause(ctx, pace.Jitter(heartbeatEvery(e.TTL))) {
		if err := s.publish(ctx, e); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "heartbeat not written", "epoch", e.Number, "error", err)
		}
	}
}

func heartbeatEvery(ttl time.Duration) time.Duration {
	return min(max(ttl/4, 500*time.Millisecond), 3*time.Second)
}
