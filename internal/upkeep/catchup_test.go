package upkeep

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
)

// TestCatchUp is what starts of missed occurrences, by policy.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		v, err := time.Parse(time.TimeOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return v.AddDate(2026, 0, 0)
	}
	for _, c := range []struct {
		name, policy, due, now string
		starts                 []string
		next                   string
	}{
		{"on time", "", "10:00:00", "10:00:00", []string{"10:00:00"}, "10:10:00"},
		{"a takeover late", "skip", "10:00:00", "10:00:14", []string{"10:00:00"}, "10:10:00"},
		{"half a minute late", "skip", "10:00:00", "10:00:30", nil, "10:10:00"},
		{"half a minute late, without a word", "", "10:00:00", "10:00:30", []string{"10:00:00"}, "10:10:00"},
		{"to the fresh one, without a word", "", "10:00:00", "10:30:20", []string{"10:30:00"}, "10:40:00"},
		{"what was missed, without a word", "", "10:00:00", "10:35:00", nil, "10:40:00"},
		{"skip what was missed", "skip", "10:00:00", "10:35:00", nil, "10:40:00"},
		{"skip the fresh one with those before it", "skip", "10:00:00", "10:30:02", nil, "10:40:00"},
		{"one for all that were missed", "one", "10:00:00", "10:35:00", []string{"10:30:00"}, "10:40:00"},
		{"all that were missed", "all", "10:00:00", "10:25:00", []string{"10:00:00", "10:10:00", "10:20:00"}, "10:30:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &store.CronEntry{Kind: store.ScheduleCron, Expression: "0 */10 * * * *", Due: at(c.due), CatchUp: c.policy}
			dues, next := occurrences(e, at(c.now))
			var starts []string
			for _, d := range dues {
				starts = append(starts, d.Format(time.TimeOnly))
			}
			if !slices.Equal(starts, c.starts) || next == nil || next.Due.Format(time.TimeOnly) != c.next {
				t.Errorf("starts %v then %v; want %v then %s", starts, next, c.starts, c.next)
			}
		})
	}
}
