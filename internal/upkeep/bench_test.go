package upkeep_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

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
			page, err := c[0].Timers(b.Context(), "", 1)
			if err != nil || len(page.Items) > 0 {
				return false
			}
			running, err := c[0].Instances(b.Context(), runtime.InstanceFilter{DefinitionID: "alarm", Status: workflow.StatusRunning}, runtime.Paging{Limit: 1})
			return err == nil && len(running.Items) == 0
		})
	}
}
