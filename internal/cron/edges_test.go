package cron

import (
	"testing"
	"time"
)

// The ends of years and of what the package knows, and signs that mean nothing together.
func TestEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, after, want string }{
		{"0 0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"0 0 0 29 2 MON", "2026-01-01T00:00:00Z", "2044-02-29T00:00:00Z"},
		{"59 59 23 31 12 *", "2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"},
		{"0 0 0 1 1 *", "1969-06-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{"0 0 0 1 1 *", "1899-12-31T23:59:59.9Z", "1900-01-01T00:00:00Z"},
		{"59 59 23 31 12 *", "9999-12-31T23:59:58Z", "9999-12-31T23:59:59Z"},
		{"* * * * * *", "9999-12-31T23:59:59Z", ""},
		{"0 0 0 30 2 *", "2026-01-01T00:00:00Z", ""},
		{"0 0 22-2/3 * * *", "2026-01-01T01:00:01Z", "2026-01-01T22:00:00Z"},
		{"0 0 0 L 12-2 *", "2026-03-01T00:00:00Z", "2026-12-31T00:00:00Z"},
		{"0 0 0 31-1 * *", "2026-02-02T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"0 0 0 * * SAT-SUN", "2026-01-05T00:00:00Z", "2026-01-10T00:00:00Z"},
	} {
		s, err := Parse(c.expr)
		if err != nil {
			t.Error(err)
			continue
		}
		after, err := time.Parse(time.RFC3339Nano, c.after)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if next, ok := s.Next(after); ok {
			got = next.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s after %s: %s; want %s", c.expr, c.after, got, c.want)
		}
	}
	for _, expr := range []string{"*? * * * * *", "?* * * * * *", "*?/5 * * * * *", "*,1 * * * * *", "** * * * * *", "1-2-3 * * * * *", "1/ * * * * *", "1//2 * * * * *", ", * * * * *", "* * * 1,L * *", "* * * * * L"} {
		if _, err := Parse(expr); err == nil {
			t.Errorf("%s is taken", expr)
		}
	}
}

// Leap years, ends of years and of February on the clocks of zones; found with Python's zoneinfo.
func TestEdgesInZones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, after, want string }{
		{"TZ=Europe/Berlin 0 0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-28T23:00:00Z"},
		{"TZ=Pacific/Kiritimati 59 59 23 31 12 *", "2026-12-31T09:59:58Z", "2026-12-31T09:59:59Z"},
		{"TZ=Pacific/Kiritimati 0 0 0 1 1 *", "2026-12-31T09:59:59Z", "2026-12-31T10:00:00Z"},
		{"TZ=Pacific/Niue 0 0 0 1 1 *", "2027-01-01T00:00:00Z", "2027-01-01T11:00:00Z"},
		{"TZ=America/New_York 0 0 0 L 2 *", "2028-02-29T04:59:59Z", "2028-02-29T05:00:00Z"},
		{"TZ=Asia/Kathmandu 0 0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-28T18:15:00Z"},
		{"TZ=Australia/Lord_Howe 0 15 2 * * *", "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"}, // 02:00 to 02:30
		{"TZ=Europe/Berlin 0 30 2 29 3 *", "2026-01-01T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"TZ=Europe/Berlin 0 30 2 25 10 *", "2026-10-25T00:30:00Z", "2027-10-25T00:30:00Z"},
		{"TZ=Europe/Berlin 0 30 2 25 10 *", "2026-10-25T01:10:00Z", "2027-10-25T00:30:00Z"}, // within the second hour
		{"TZ=Europe/Berlin 0 30 2,14 25 10 *", "2026-10-25T00:30:00Z", "2026-10-25T13:30:00Z"},
		{"TZ=Europe/Berlin 0 */30 2 25 10 *", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"},
		{"TZ=Pacific/Apia 0 0 12 30 12 *", "2010-12-31T00:00:00Z", "2011-12-30T10:00:00Z"}, // there was no 30 December 2011
		{"TZ=Europe/Berlin 59 59 23 31 12 *", "9999-12-31T22:59:58Z", "9999-12-31T22:59:59Z"},
		{"TZ=Europe/Berlin * * * * * *", "9999-12-31T22:59:59Z", ""},
		{"TZ=UTC 0 0 0 1 1 *", "2026-06-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"CRON_TZ=Asia/Tokyo @daily", "2026-06-01T00:00:00Z", "2026-06-01T15:00:00Z"},
	} {
		s, err := Parse(c.expr)
		if err != nil {
			t.Error(err)
			continue
		}
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if next, ok := s.Next(after); ok {
			got = next.Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s after %s: %s; want %s", c.expr, c.after, got, c.want)
		}
	}
}
