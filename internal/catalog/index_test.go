package catalog

import (
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Due times are kept and looked for in milliseconds, so intervals are whole ones.
func TestIntervalsAreWholeMilliseconds(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{
		time.Hour / 7:              514285 * time.Millisecond,
		1000500 * time.Microsecond: time.Second,
		time.Second:                time.Second,
		time.Millisecond - 1:       0, // refused
	} {
		idx, problems := index(&workflow.Definition{}, []engine.Trigger{{ActivityID: "t", Every: every}}, time.UnixMilli(5).UTC())
		if want == 0 {
			if len(problems) != 1 || problems[0].Code != "bad-interval" {
				t.Errorf("%s: %+v", every, problems)
			}
			continue
		}
		if len(problems) > 0 || len(idx.Schedules) != 1 || idx.Schedules[0].Interval != want || !idx.Schedules[0].Due.Equal(time.UnixMilli(5).Add(want)) {
			t.Errorf("%s: %+v, %v; want %s", every, idx.Schedules, problems, want)
		}
	}
}
