package members

import (
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// List is the list of live nodes as this node knows it. Make it with [New].
type List struct {
	mu       sync.Mutex
	revision int64                     // of the last complete read; guarded by mu
	byKey    map[string]member         // guarded by mu
	sorted   []Node                    // immutable once published; guarded by mu
	subs     map[*Subscription]bool    // guarded by mu
	closed   bool                      // guarded by mu
	absent   map[string]time.Time      // processes that were asked about, since when no node is one; guarded by mu
	clocks   map[string]*clockEstimate // by process; guarded by mu
	lag      watchLag                  // guarded by mu
	compared bool                      // see [List.Compared]; guarded by mu
}

type member struct {
	node   Node
	modRev int64
	heard  time.Time // when this write of the record came here, with its monotonic reading
}

// New makes an empty list.
func New() *List {
	return &List{
		byKey:  map[string]member{},
		absent: map[string]time.Time{},
		subs:   map[*Subscription]bool{},
		clocks: map[string]*clockEstimate{},
	}
}

// Nodes are the live nodes, sorted by id. Nobody changes what it gives.
func (m *List) Nodes() []Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sorted
}

// At is [List.Nodes] with the revision of etcd up to which their records were followed.
func (m *List) At() (nodes []Node, revision int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sorted, m.revision
}

// Late has the nodes of whose records no write was heard for longer than that, by their ids, with how
// long it is.
func (m *List) Late(than time.Duration) map[string]time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	late := map[string]time.Duration{}
	for _, mb := range m.byKey {
		if since := time.Since(mb.heard); since > than {
			late[mb.node.ID] = since
		}
	}
	return late
}

// AllRead tells whether every live node reads records of this form; false if none is known.
func (m *List) AllRead(form int) bool {
	all := m.Nodes()
	return len(all) > 0 && !slices.ContainsFunc(all, func(n Node) bool { return n.Reads < form })
}

// Replace takes a complete read at a revision.
func (m *List) Replace(kvs []*mvccpb.KeyValue, revision int64) {
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
		key, now := string(kv.Key), member{Decode(kv), kv.ModRevision, time.Now()}
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

// Apply takes one event of the watch.
func (m *List) Apply(ev *clientv3.Event, received time.Time) {
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
	now := member{Decode(ev.Kv), ev.Kv.ModRevision, time.Now()}
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
	a.Clock, b.Clock, a.Last, b.Last = time.Time{}, time.Time{}, Written{}, Written{}
	return a != b
}

// publish needs m.mu.
func (m *List) publish(changed bool, vanished []Node) {
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
