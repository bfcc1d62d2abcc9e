package upkeep_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
)

// watchedMember is one whose clock may be off, with what it says of late timers and schedules.
func watchedMember(t *testing.T, name string) (m *member, skew *atomic.Int64, late, again *atomic.Int64, late30 func(kind string) (shards int, oldest time.Duration)) {
	t.Helper()
	skew, reg := new(atomic.Int64), prometheus.NewRegistry()
	said := &about{Handler: slog.DiscardHandler, what: "what is due does not fire"}
	over := &about{Handler: slog.DiscardHandler, what: "what is due fires in time again"}
	m = newMember(t, name, "a", func(c *membertest.Config) {
		c.Rest = 50 * time.Millisecond
		c.Session = func(c *cluster.Config) { c.OneMachine = true }
		c.Skew, c.Log = func() time.Duration { return time.Duration(skew.Load()) }, slog.New(slog.NewMultiHandler(said, over))
		var err error
		if c.Metrics, err = metrics.New(reg); err != nil {
			t.Fatal(err)
		}
	})
	return m, skew, &said.n, &over.n, func(kind string) (int, time.Duration) {
		return int(counts(t, reg, "weft_timer_shards_late")[kind]), time.Duration(counts(t, reg, "weft_timer_oldest_late_seconds")[kind] * float64(time.Second))
	}
}

// What has been due for 30 s and does not fire is counted by its shards, and the log says it once, and when it is over.
func TestWhatIsDueForLongIsTold(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		dated
		kind string
	}{{timersDue, "timers"}, {schedulesDue, "schedules"}} {
		t.Run(of.kind, func(t *testing.T) {
			t.Parallel()
			m, skew, said, over, late := watchedMember(t, clustertest.Namespace(t))
			skew.Store(int64(time.Hour)) // it fires nothing
			of.in(m, 3, "a", time.Now().Add(-20*time.Second))
			eventually(t, "it is seen", func() bool { _, oldest := late(of.kind); return oldest >= 20*time.Second })
			if shards, _ := late(of.kind); shards != 0 || said.Load() != 0 {
				t.Errorf("%d shards, %d lines", shards, said.Load())
			}
			of.in(m, 3, "b", time.Now().Add(-40*time.Second))
			of.in(m, 5, "c", time.Now().Add(-35*time.Second))
			eventually(t, "it is counted", func() bool { shards, oldest := late(of.kind); return shards == 2 && oldest >= 40*time.Second })
			eventually(t, "the log says it", func() bool { return said.Load() == 1 })
			skew.Store(0)
			eventually(t, "all fire", func() bool { return len(m.left(of.dated.kind)) == 0 })
			eventually(t, "it is over", func() bool { shards, oldest := late(of.kind); return shards == 0 && oldest == 0 })
			eventually(t, "the log says that", func() bool { return over.Load() == 1 })
			if n := said.Load(); n != 1 {
				t.Errorf("the log has %d lines of it", n)
			}
		})
	}
}

// What no program of the cluster can read is late too, though looks leave it out; once it is gone it is not.
func TestWhatNobodyCanReadIsToldAsLate(t *testing.T) {
	t.Parallel()
	m, _, said, _, late := watchedMember(t, clustertest.Namespace(t))
	key := timersDue.in(m, 3, "a", time.Now().Add(-time.Minute))
	eventually(t, "it fires", func() bool { return len(m.left("timer/")) == 0 })
	m.put(key, "{")
	eventually(t, "it is counted", func() bool { shards, _ := late("timers"); return shards == 1 })
	timersDue.in(m, 3, "b", time.Now().Add(300*time.Millisecond))
	eventually(t, "what is behind it fires", func() bool { return len(m.left("timer/")) == 1 })
	if shards, oldest := late("timers"); shards != 1 || oldest < time.Minute || said.Load() == 0 {
		t.Errorf("%d shards, %v, %d lines", shards, oldest, said.Load())
	}
	if _, err := clustertest.Shared(t).Client(t).Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is over", func() bool { shards, _ := late("timers"); return shards == 0 })
}

// In a cluster that is paused nothing fires, as somebody wants it: it is counted, and no line of the log.
func TestWhatIsDueInAPauseIsCountedAndNoLineOfTheLog(t *testing.T) {
	t.Parallel()
	m, _, said, _, late := watchedMember(t, clustertest.Namespace(t))
	if err := m.Pauses.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node knows", m.Runtime.Intake().Suspended)
	timersDue.in(m, 3, "b", time.Now().Add(-time.Minute))
	eventually(t, "it is counted", func() bool { shards, _ := late("timers"); return shards == 1 })
	if n := said.Load(); n != 0 {
		t.Errorf("%d lines", n)
	}
}
