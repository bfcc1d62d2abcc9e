package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
)

// membersSweep is the slow look behind the watch, which can be late or lost.
const membersSweep = 10 * time.Second

// members is the list of live nodes as this node knows it.
type members struct {
	mu       sync.Mutex
	revision int64                     // of the last complete read; guarded by mu
	byKey    map[string]member         // guarded by mu
	sorted   []Node                    // immutable once published; guarded by mu
	subs     map[*Subscription]bool    // guarded by mu
	closed   bool                      // guarded by mu
	absent   map[string]time.Time      // processes that were asked about, since when no node is one; guarded by mu
	clocks   map[string]*clockEstimate // by process; guarded by mu
	lag      watchLag                  // guarded by mu
	compared bool                      // see [Session.ClockCompared]; guarded by mu
}

type member struct {
	node   Node
	modRev int64
	heard  time.Time // when this write of the record came here, with its monotonic reading
}

func (m *members) init() {
	m.byKey = map[string]member{}
	m.absent = map[string]time.Time{}
	m.subs = map[*Subscription]bool{}
	m.clocks = map[string]*clockEstimate{}
}

// Members is the list of live nodes, sorted by id, this one included. It may lag
// behind etcd a little. The result belongs to the caller.
func (s *Session) Members() []Node { return slices.Clone(s.members.snapshot()) }

// MembersAt is [Session.Members] with the revision of etcd up to which this node has
// followed their records.
func (s *Session) MembersAt() (nodes []Node, revision int64) {
	s.members.mu.Lock()
	defer s.members.mu.Unlock()
	return slices.Clone(s.members.sorted), s.members.revision
}

// Late tells which live nodes have not renewed their record for three heartbeats, as this node sees
// it, with how long that is. Such a node may hang, or etcd takes no writes, or this node does not hear
// of them: it is not known to work. A node whose lease is over is no live node, and not in it.
func (s *Session) Late() map[string]time.Duration {
	m := &s.members
	m.mu.Lock()
	defer m.mu.Unlock()
	late := map[string]time.Duration{}
	for _, mb := range m.byKey {
		if since := time.Since(mb.heard); since > lateBeats*heartbeatEvery(s.cfg.TTL) {
			late[mb.node.ID] = since
		}
	}
	return late
}

// lateBeats is how many heartbeats a node may miss, or be late with, before it is told as late.
const lateBeats = 3

// AllRead tells whether every live node reads records of this form, this one included. Until then nobody
// writes it, so that nodes of two versions work side by side. A node that does not know the others yet says no.
func (s *Session) AllRead(form int) bool {
	all := s.members.snapshot()
	return len(all) > 0 && !slices.ContainsFunc(all, func(n Node) bool { return n.Reads < form })
}

func (m *members) snapshot() []Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sorted
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
	cctx, cancel := withCallTimeout(ctx)
	defer cancel()
	resp, err := s.cfg.Client.Get(cctx, s.nodesPrefix(), clientv3.WithPrefix())
	if err != nil {
		return err
	}
	s.members.replace(resp.Kvs, resp.Header.Revision)
	s.cfg.Metrics.SetNodes(len(resp.Kvs))
	return nil
}

// followMembers applies events since the last complete read until the watch
// breaks or the next sweep is due.
func (s *Session) followMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(requireLeader(ctx), pace.Jitter(membersSweep))
	defer cancel()
	s.members.mu.Lock()
	from := s.members.revision + 1
	s.members.mu.Unlock()
	events := s.cfg.Client.Watch(ctx, s.nodesPrefix(), clientv3.WithPrefix(), clientv3.WithRev(from))
	for resp := range events {
		if resp.Err() != nil {
			return
		}
		received := s.cfg.Now()
		for _, ev := range resp.Events {
			s.noteOwnRecord(ev)
			s.members.apply(ev, received)
		}
		s.cfg.Metrics.SetNodes(len(s.members.snapshot()))
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

// replace takes a complete read at a revision.
func (m *members) replace(kvs []*mvccpb.KeyValue, revision int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if revision < m.revision {
		return // an older read that came late
	}
	m.revision = revision
	old := m.byKey
	m.byKey = make(map[string]member, len(kvs))
	changed := false
	var vanished []Node
	for _, kv := range kvs {
		key, now := string(kv.Key), member{decodeNode(kv), kv.ModRevision, time.Now()}
		before, known := old[key]
		if known && before.modRev == now.modRev {
			now.heard = before.heard
		}
		m.byKey[key] = now
		delete(old, key)
		changed = changed || !known || differs(before.node, now.node)
		if known && before.node.LeaseID != now.node.LeaseID {
			vanished = append(vanished, before.node)
		}
	}
	for _, gone := range old {
		changed = true
		vanished = append(vanished, gone.node)
	}
	m.publish(changed, vanished)
}

// apply takes one event of the watch.
func (m *members) apply(ev *clientv3.Event, received time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := string(ev.Kv.Key)
	before, known := m.byKey[key]
	if known && before.modRev >= ev.Kv.ModRevision {
		return
	}
	m.revision = max(m.revision, ev.Kv.ModRevision)
	if ev.Type == mvccpb.Event_DELETE {
		if known {
			delete(m.byKey, key)
			m.publish(true, []Node{before.node})
		}
		return
	}
	now := member{decodeNode(ev.Kv), ev.Kv.ModRevision, time.Now()}
	m.byKey[key] = now
	m.observeClock(now.node, ev.Kv.ModRevision, received)
	var vanished []Node
	if known && before.node.LeaseID != now.node.LeaseID {
		// The node came back with a new epoch: what its old one held is free.
		vanished = append(vanished, before.node)
	}
	m.publish(!known || differs(before.node, now.node), vanished)
}

// differs ignores the clock: a heartbeat is no news.
func differs(a, b Node) bool {
	a.Clock, b.Clock, a.Last, b.Last = time.Time{}, time.Time{}, written{}, written{}
	return a != b
}

// publish needs m.mu.
func (m *members) publish(changed bool, vanished []Node) {
	sorted := make([]Node, 0, len(m.byKey))
	for _, mb := range m.byKey {
		sorted = append(sorted, mb.node)
		delete(m.absent, mb.node.Process)
	}
	slices.SortFunc(sorted, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	m.sorted = sorted
	m.forgetClocks(vanished)
	if !changed && len(vanished) == 0 {
		return
	}
	for sub := range m.subs {
		sub.notify(vanished)
	}
}
