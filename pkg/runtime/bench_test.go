package runtime_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
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
			m.publish(waits)
			crowd(b, m, m.root+c.prefix+hash+"/", c.n)
			i := 0
			for b.Loop() {
				i++
				corr := fmt.Sprint("mine", i)
				m.execute("waits", "i-"+corr, corr)
				if res := m.send("go", corr, nil); len(res.Outcomes) != 1 {
					b.Fatalf("got %+v", res)
				}
			}
		})
	}
}

// BenchmarkTenThousandTimers lets 10,000 timers come due within a second on
// three nodes and reports how long it takes until all instances are finished.
func BenchmarkTenThousandTimers(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		c := newCluster(b, 3)
		due := time.Now().Add(60 * time.Second).UTC().Format(time.RFC3339)
		c[0].publish("id: alarm\nroot:\n  - startAt: '" + due + "'\n  - writeLine: rang\n")
		var wg sync.WaitGroup
		for w := range 64 {
			wg.Go(func() {
				for i := w; i < n; i += 64 {
					c[i%3].execute("alarm", fmt.Sprint("a", i), "")
				}
			})
		}
		wg.Wait()
		at, err := time.Parse(time.RFC3339, due)
		if err != nil {
			b.Fatal(err)
		}
		if late := time.Since(at); late > 0 {
			b.Fatalf("arming took %v too long for this machine; try again when it is idle", late)
		}
		<-time.After(time.Until(at))
		b.StartTimer()
		eventually(b, "all instances end", func() bool {
			page, err := c[0].Timers(b.Context(), "", 1)
			if err != nil || len(page.Items) > 0 {
				return false
			}
			running, err := c[0].Instances(b.Context(), runtime.InstanceFilter{DefinitionID: "alarm", Status: workflow.StatusRunning, Limit: 1})
			return err == nil && len(running.Items) == 0
		})
	}
}
