package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/cron"
)

// Dates that an expression leaves out are those of its own clock.
func TestDatesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, after, next string }{
		{"NOT=2026-12-24,2026-12-25 0 0 8 * * *", "2026-12-23T08:00:00Z", "2026-12-26T08:00:00Z"},
		{"NOT=2026-12-24 * * * * * *", "2026-12-23T23:59:59Z", "2026-12-25T00:00:00Z"},
		{"NOT=2026-12-24 TZ=Europe/Berlin 0 30 23 * * *", "2026-12-23T22:30:00Z", "2026-12-25T22:30:00Z"},
		{"NOT=2026-12-24 TZ=Europe/Berlin 0 30 0 * * *", "2026-12-22T23:30:00Z", "2026-12-24T23:30:00Z"}, // the 24th begins on the 23rd of UTC
		{"NOT=2024-02-29 0 0 0 29 2 *", "2024-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"NOT=2026-12-31 @monthly", "2026-12-30T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"NOT=0000-01-01,9999-12-31 0 0 0 L * *", "2026-12-30T00:00:00Z", "2026-12-31T00:00:00Z"},
	} {
		after, _ := time.Parse(time.RFC3339, c.after)
		if next, err := cron.Next(c.expr, after); err != nil || next.Format(time.RFC3339) != c.next {
			t.Errorf("%s: %v, %v; want %s", c.expr, next, err, c.next)
		}
	}
	for _, expr := range []string{"NOT= 0 0 8 * * *", "NOT=2026-02-30 0 0 8 * * *", "NOT=24.12.2026 0 0 8 * * *", "NOT=2026-12-24", "NOT=2026-12-24, 0 0 8 * * *", "TZ=UTC NOT=2026-12-24 0 0 8 * * *",
		"NOT=" + strings.Repeat("2026-12-24,", cron.MaxDates) + "2026-12-24 0 0 8 * * *"} {
		if s, err := cron.Parse(expr); err == nil {
			t.Errorf("%.60s: %+v", expr, s)
		}
	}
	if got := cron.Except([]string{"2026-12-24", "2026-12-25"}, "TZ=UTC @daily"); got != "NOT=2026-12-24,2026-12-25 TZ=UTC @daily" || cron.Except(nil, "@daily") != "@daily" {
		t.Error(got)
	}
}
