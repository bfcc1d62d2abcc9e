package cluster

import (
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/call"
)

// membersSweep is the slow look behind the watch, which can be late or lost.
const membersSweep = 10 * time.Second

// Members is the list of live nodes, sorted by id, this one included. It may lag
// behind etcd a little. The result belongs to the caller.
func (s *Session) Members() []Node { return slices.Clone(s.members.Nodes()) }

// MembersAt is [Session.Members] with the revision of etcd up to which this node has
// followed their records.
func (s *Session) MembersAt() (nodes []Node, revision int64) {
	nodes, revision = s.members.At()
	return slices.Clone(nodes), revision
}

// Late tells which live nodes have not renewed their record for three heartbeats, as this node sees
// it, with how long that is. Such a node may hang, or etcd takes no writes, or this node does not hear
// of them: it is not known to work. A node whose lease is over is no live node, and not in it.
func (s *Session) Late() map[string]time.Duration {
	return s.members.Late(lateBeats * heartbeatEvery(s.cfg.TTL))
}

// lateBeats is how many heartbeats a node may miss, or be late with, before it is told as late.
const lateBeats = 3

// AllRead tells whether every live node reads records of this form, this one included. Until then nobody
// writes it, so that nodes of two versions work side by side. A node that does not know the others yet says no.
func (s *Session) AllRead(form int) bool { return s.members.AllRead(form) }

// PreferredNode is the live node that should look after key, by rendezvous
// hashing: when a node comes or goes, only its own share moves. Draining nodes
// are passed over unless all are draining. Nodes may disagree for a moment: it
// is for efficiency, a lock is what keeps two from doing the same.
func (s *Session) PreferredNode(key string) string {
	return s.members.Preferred(key, s.cfg.NodeID)
}

// watchMembers keeps the list current until ctx ends.
func (s *Session) watchMembers(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.sweepMembers(ctx); err != nil {
			if ctx.Err() == nil {
				s.log.DebugContext(ctx, "members not read", "error", err)
			}
			pace.Pause(ctx, pace.Jitter(500*time.Millisecond))
			continue
		}
		s.followMembers(ctx)
		// The watch ended or a sweep is due. Do not spin on a broken watch.
		pace.Pause(ctx, pace.Jitter(50*time.Millisecond))
	}
}

// sweepMembers reads all node records.
func (s *Session) sweepMembers(ctx context.Context) error {
	cctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	resp, err := s.cfg.Client.Get(cctx, s.nodesPrefix(), clientv3.WithPrefix())
	if err != nil {
		return err
	}
	s.members.Replace(resp.Kvs, resp.Header.Revision)
	s.cfg.Metrics.SetNodes(len(resp.Kvs))
	return nil
}

// followMembers applies events since the last complete read until the watch
// breaks or the next sweep is due.
func (s *Session) followMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(call.RequireLeader(ctx), pace.Jitter(membersSweep))
	defer cancel()
	_, read := s.members.At()
	events := s.cfg.Client.Watch(ctx, s.nodesPrefix(), clientv3.WithPrefix(), clientv3.WithRev(read+1))
	for resp := range events {
		if resp.Err() != nil {
			return
		}
		received := s.cfg.Now()
		for _, ev := range resp.Events {
			s.noteOwnRecord(ev)
			s.members.Apply(ev, received)
		}
		s.cfg.Metrics.SetNodes(len(s.members.Nodes()))
	}
}

// noteOwnRecord takes the end of the own record as a hint that the lease is gone.
func (s *Session) noteOwnRecord(ev *clientv3.Event) {
	if ev.Type != mvccpb.Event_DELETE || string(ev.Kv.Key) != s.nodeKey() {
		return
	}
	if e := s.Epoch(); e != nil {
		e.doubt()
	}
}
