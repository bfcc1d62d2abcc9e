package upkeep_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// BenchmarkTenThousandTimers lets 10,000 timers come due within a second on
// three nodes and reports how long it takes until all instances are finished.
func BenchmarkTenThousandTimers(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		c := newCluster(b, 3)
		due := time.Now().Add(60 * time.Second).UTC().Format(time.RFC3339)
		c[0].Publish("id: alarm\nroot:\n  - startAt: '" + due + "'\n  - writeLine: rang\n")
		var wg sync.WaitGroup
		for w := range 64 {
			wg.Go(func() {
				for i := w; i < n; i += 64 {
					c[i%3].Start("alarm", fmt.Sprint("a", i), "")
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
			page, err := c[0].Inspector.Timers(b.Context(), "", 1)
			if err != nil || len(page.Items) > 0 {
				return false
			}
			running, err := c[0].Inspector.Instances(b.Context(), runtime.InstanceFilter{DefinitionID: "alarm", Status: workflow.StatusRunning}, runtime.Paging{Limit: 1})
			return err == nil && len(running.Items) == 0
		})
	}
}

// BenchmarkPurge tells how many finished instances one node deletes a second, of those that are
// old enough. A rate of starts that goes on is no higher, whatever etcd could do.
func BenchmarkPurge(b *testing.B) {
	const n = 6_000
	purged, took := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		m := newCluster(b, 1, retain(retention.Limits{Finished: time.Minute, Grace: 10 * time.Minute}))[0]
		m.Publish(ending)
		var wg sync.WaitGroup
		for w := range 64 {
			wg.Go(func() {
				for i := w; i < n; i += 64 {
					m.Start("ending", fmt.Sprint("i", i), "")
				}
			})
		}
		wg.Wait()
		if m.ended() != n {
			b.Fatalf("%d ended, of %d", m.ended(), n)
		}
		grow(b, []*member{m}, 11*time.Minute)
		eventually(b, "the first are gone", func() bool { return m.ended() < n })
		left, began := m.ended(), time.Now()
		b.StartTimer()
		eventually(b, "all are gone", func() bool { return m.ended() == 0 })
		purged, took = purged+left, took+time.Since(began)
	}
	b.ReportMetric(float64(purged)/took.Seconds(), "purged/s")
}

var steadyFor = flag.Duration("steady", time.Minute, "how long BenchmarkTimersAtASteadyRate goes on")

// BenchmarkTimersAtASteadyRate starts 300 instances a second that wait for a second each, on one node beside an
// etcd that is not compacted, and reports how long a start took at first and at last: the first and the last sixth of the time.
// Beside it 50 keys a second are put without a node: what of that changes is etcd's own, and the machine's.
//
//	go test ./internal/upkeep -run NONE -bench TimersAtASteadyRate -benchtime 1x -args -steady 10m
func BenchmarkTimersAtASteadyRate(b *testing.B) {
	const rate = 300
	for b.Loop() {
		m := newCluster(b, 1)[0]
		etcd := clustertest.Shared(b).Client(b)
		m.Publish("id: alarm\nroot:\n  - delay: 1s\n")
		n := int(steadyFor.Seconds() * rate)
		took := make([]time.Duration, n)
		var wg sync.WaitGroup
		next := time.NewTicker(time.Second / rate)
		puts := make([]time.Duration, n/6)
		for i := range n {
			<-next.C
			if i%6 == 0 && i/6 < len(puts) {
				wg.Go(func() {
					began := time.Now()
					if _, err := etcd.Put(b.Context(), fmt.Sprint("raw/", i%10_000), strings.Repeat("x", 1024)); err != nil {
						b.Error(err)
					}
					puts[i/6] = time.Since(began)
				})
			}
			wg.Go(func() {
				began := time.Now()
				m.Start("alarm", fmt.Sprint("a", i), "")
				took[i] = time.Since(began)
			})
		}
		next.Stop()
		wg.Wait()
		for name, part := range map[string][]time.Duration{
			"first": took[:n/6], "last": took[n-n/6:], "put-first": puts[:n/36], "put-last": puts[len(puts)-n/36:],
		} {
			slices.Sort(part)
			b.ReportMetric(float64(part[len(part)/2].Microseconds())/1000, "ms-median-"+name)
			b.ReportMetric(float64(part[len(part)*99/100].Microseconds())/1000, "ms-p99-"+name)
		}
		eventually(b, "all fire", func() bool { return len(m.left("timer/")) == 0 })
	}
}
