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

// Keys keep times in order up to the year 9999.
func TestATimeThatKeysCannotKeepIsRefused(t *testing.T) {
	t.Parallel()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
	for _, c := range []struct {
		year    int
		trigger engine.Trigger
		refused bool
	}{
		{2026, engine.Trigger{ActivityID: "t", At: &last}, false},
		{2026, engine.Trigger{ActivityID: "t", At: new(last.Add(time.Millisecond))}, true},
		{2026, engine.Trigger{ActivityID: "t", At: new(time.Date(2286, 11, 20, 17, 46, 40, 0, time.UTC))}, false},
		{2026, engine.Trigger{ActivityID: "t", At: new(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))}, false}, // it has been
		{2026, engine.Trigger{ActivityID: "t", Every: 292 * 365 * 24 * time.Hour}, false},
		{9900, engine.Trigger{ActivityID: "t", Every: 292 * 365 * 24 * time.Hour}, true},
	} {
		idx, problems := index(&workflow.Definition{}, []engine.Trigger{c.trigger}, time.Date(c.year, 1, 1, 0, 0, 0, 0, time.UTC))
		if refused := len(problems) == 1 && problems[0].Code == "time-too-late" && len(idx.Schedules) == 0; refused != c.refused {
			t.Errorf("%+v: %+v, %+v", c.trigger, idx.Schedules, problems)
		}
	}
}
