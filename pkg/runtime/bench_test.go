package runtime_test

import (
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// crowd puts n keys that stand in the way of a careless look: bookmarks of the
// same event with other correlations, or queue items of it.
func crowd(b *testing.B, m *member, prefix string, n int) {
	b.Helper()
	etcd := clustertest.Shared(b).Client(b)
	for i := 0; i < n; {
		var ops []clientv3.Op
		for ; i < n && len(ops) < 100; i++ {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("%sc%07d/i%d/x", prefix, i, i), fmt.Sprintf(`{"instance":"i%d"}`, i)))
		}
		if _, err := etcd.Txn(b.Context()).Then(ops...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
	_ = m
}

// BenchmarkEventInACrowd starts an instance and resumes it by an event, alone,
// and with many bookmarks and queued events of the same name and other
// correlations beside it. The figures should not differ.
func BenchmarkEventInACrowd(b *testing.B) {
	hash, err := workflow.Hash(workflow.EventType, workflow.EventPayload("go"))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		prefix string
		n      int
	}{{"alone", "", 0}, {"100000 waiting", "bookmark/", 100_000}, {"5000 queued", "queue/", 5_000}} {
		b.Run(c.name, func(b *testing.B) {
			m := newCluster(b, 1)[0]
			m.Publish(membertest.Waits)
			crowd(b, m, m.Root+c.prefix+hash+"/", c.n)
			i := 0
			for b.Loop() {
				i++
				corr := fmt.Sprint("mine", i)
				m.Start("waits", "i-"+corr, corr)
				if res := m.Event("go", corr, nil); len(res.Outcomes) != 1 {
					b.Fatalf("got %+v", res)
				}
			}
		})
	}
}
