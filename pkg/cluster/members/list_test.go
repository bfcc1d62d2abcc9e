package members

import (
	"encoding/json"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestAHeartbeatIsNoNews(t *testing.T) {
	t.Parallel()
	m := New()
	sub := m.Subscribe()
	event := func(n Node, rev int64) *clientv3.Event {
		b, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		return &clientv3.Event{Kv: &mvccpb.KeyValue{Key: []byte("nodes/" + n.ID), Value: b, ModRevision: rev}}
	}
	now := time.Now()
	m.Apply(event(Node{ID: "a", LeaseID: "1", Clock: now}, 1), now)
	<-sub.C()
	m.Apply(event(Node{ID: "a", LeaseID: "1", Clock: now.Add(time.Second)}, 2), now)
	if len(sub.C()) != 0 {
		t.Error("a heartbeat woke the subscriber")
	}
	m.Apply(event(Node{ID: "a", LeaseID: "1", Draining: true}, 1), now) // older than known
	if m.sorted[0].Draining {
		t.Error("an old event undid a newer one")
	}
	m.Apply(event(Node{ID: "a", LeaseID: "1", Draining: true}, 3), now)
	<-sub.C()
	if len(sub.Vanished()) != 0 {
		t.Error("nobody vanished")
	}
}
