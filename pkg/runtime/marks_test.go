package runtime_test

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// A mark without an item costs a look. Nothing is kept for it: no lock, no mail.
func TestAMarkWithoutAnItemHoldsUpNobody(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits, "id: twice\nroot:\n  - event: first\n  - event: go\n")
	hash, err := workflow.Hash(workflow.EventType, workflow.EventPayload("go"))
	if err != nil {
		t.Fatal(err)
	}
	etcd := clustertest.Shared(t).Client(t)
	if _, err := etcd.Put(t.Context(), m.Root+"queue-mark/"+hash+"/-/0", ""); err != nil {
		t.Fatal(err)
	}
	// In hand, without a lock: an id that the node has just made. And with one.
	res, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "waits"})
	if err != nil {
		t.Fatal(err)
	}
	m.Start("twice", "two", "")
	m.Event("first", "", nil)
	for _, id := range []string{res.Instance.ID, "two"} {
		eventually(t, "it waits, and nothing is under way", func() bool {
			in, err := m.Inspector.Instance(t.Context(), id)
			if err != nil || in.SubStatus != workflow.Suspended || in.Bookmarks[0].Name != "go" {
				return false
			}
			_, busy, err := m.Session.Locks().Inspect(t.Context(), cluster.InstanceLock(id))
			if err != nil {
				t.Fatal(err)
			}
			l, err := m.Store.Instances.Load(t.Context(), id, "", "")
			return err == nil && !busy && len(l.Mail) == 0
		})
	}
	m.Event("go", "", nil)
	m.Finished("two")
	m.Finished(res.Instance.ID)
}

// What was queued is met by whoever comes to wait for it, and leaves no mark.
func TestTheQueueLeavesNoMarks(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	etcd := clustertest.Shared(t).Client(t)
	for _, corr := range []string{"", "1"} {
		for range 3 {
			m.Event("go", corr, nil)
		}
		for range 3 {
			m.Finished(m.Start("waits", "", corr).ID)
		}
	}
	kvs, err := etcd.Get(t.Context(), m.Root+"queue", clientv3.WithPrefix())
	if err != nil || len(kvs.Kvs) != 0 {
		t.Errorf("%v, %v", kvs, err)
	}
}
