package cron

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for expr, want := range map[string]string{
		"0 0 * * * *":       "2026-03-01T13:00:00Z",
		"30 * * * * *":      "2026-03-01T12:00:30Z",
		"0 0 8 * * MON-FRI": "2026-03-02T08:00:00Z",
		"0 0 12 L * *":      "2026-03-31T12:00:00Z",
		"0 0 0 15W * *":     "2026-03-16T00:00:00Z",
		"0 0 0 * * FRI#2":   "2026-03-13T00:00:00Z",
		"0 0 0 13 * FRI":    "2026-03-13T00:00:00Z", // both have to hold, as in Cronos
	} {
		got, err := Next(expr, noon)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v; want %s", expr, got, err, want)
		}
	}
}

func TestBadExpressionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "* * * * *", "* * * * * * *", "@reboot", "@every 5m", "H * * * * *", "61 * * * * *", "x x x x x x", "CRON_TZ=UTC 0 * * * *", "TZ=Europe/Berlyn 0 0 * * * *", "TZ= 0 0 * * * *", "TZ=Local 0 0 * * * *", "TZ=../x 0 0 * * * *", "ZONE=UTC 0 0 * * * *"} {
		if _, err := Next(bad, time.Time{}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
