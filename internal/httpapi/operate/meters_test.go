package operate

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/metrics"
)

// TestRatesAreOfTheTimeBetweenTwoQuestions holds that a node tells rates of the time since somebody
// asked, and none where nobody did.
func TestRatesAreOfTheTimeBetweenTwoQuestions(t *testing.T) {
	t.Parallel()
	m, err := metrics.New(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var kept serve.Meter
	start := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	look := func(after time.Duration) metersView {
		now := serve.Reading{At: start.Add(after), Reading: m.Reading()}
		before, known := kept.Since(now)
		return viewMeters("one", now, before, known)
	}
	commit := func(outcome metrics.CommitOutcome, n int) {
		for range n {
			m.Commit(outcome, 20*time.Millisecond, 100, "")
			m.CommitCommands(3)
		}
	}
	commit(metrics.CommitCommitted, 10)
	m.SetStore(1<<20, 2<<20, 4<<30, 1)
	if v := look(0); v.Seconds != 0 || len(v.Commits) != 1 || v.Commits[0] != (rateView{"committed", 10, 0}) || v.Store != (storeMeterView{InUse: 1 << 20, Allocated: 2 << 20, Quota: 4 << 30, Level: 1}) {
		t.Errorf("the first: %+v", v)
	}
	if v := look(time.Second); v.Seconds != 0 {
		t.Errorf("a second later: %+v", v)
	}
	commit(metrics.CommitCommitted, 20)
	commit(metrics.CommitFenced, 4)
	v := look(4 * time.Second) // the newest that is old enough is of a second after the start
	if v.Seconds != 3 || len(v.Commits) != 2 || v.Commits[0].Total != 30 || math.Abs(v.Commits[0].PerSecond-20.0/3) > 1e-9 || v.Commits[1] != (rateView{"fenced", 4, 4.0 / 3}) {
		t.Errorf("after 4 s: %+v", v)
	}
	if v.CommitSeconds.Count != 24 || math.Abs(v.CommitSeconds.Mean-0.02) > 1e-9 || v.CommitCommands != (meanView{24, 3}) || v.WriteBatch != (meanView{}) {
		t.Errorf("means: %+v", v)
	}
	if v := look(2 * time.Minute); v.Seconds != 0 {
		t.Errorf("what was read two minutes ago is compared with: %+v", v)
	}
	if v := look(time.Minute); v.Seconds != 0 { // the clock went back
		t.Errorf("with what comes later: %+v", v)
	}
}
