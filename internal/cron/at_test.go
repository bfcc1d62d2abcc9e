package cron

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// A time of each day on the clock of a zone is when an expression that names only this time comes: in the table of [TestZones], which two programs of other
// languages made.
func TestATimeOnAClockIsWhereTheTableHasIt(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/zones.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Zone, Cron, After string
		Next              []string
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	moments, jumped := 0, 0
	for _, row := range rows {
		var second, minute, hour int
		if n, err := fmt.Sscanf(row.Cron, "%d %d %d", &second, &minute, &hour); err != nil || n != 3 || row.Cron != fmt.Sprintf("%d %d %d * * *", second, minute, hour) {
			continue // one that comes more than once a day, or not each day
		}
		zone, err := time.LoadLocation(row.Zone)
		if err != nil {
			t.Fatal(err)
		}
		after, err := time.Parse(time.RFC3339, row.After)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		day := time.Date(after.Year(), after.Month(), after.Day()-2, hour, minute, second, 0, time.UTC)
		for ; len(got) < len(row.Next); day = day.AddDate(0, 0, 1) {
			at := At(day, zone)
			if text := at.Format(time.RFC3339); at.After(after) && !slices.Contains(got, text) {
				got = append(got, text)
				if moments++; at.In(zone).Format(time.TimeOnly) != day.Format(time.TimeOnly) {
					jumped++
				}
			}
		}
		if !slices.Equal(got, row.Next) {
			t.Errorf("%s at %s after %s:\n%v; want\n%v", row.Zone, day.Format(time.TimeOnly), row.After, got, row.Next)
		}
	}
	if moments < 1000 || jumped < 20 {
		t.Errorf("%d moments, %d of them at a jump", moments, jumped)
	}
}

// A fraction of a second stays, and the ends of the calendar are reached.
func TestATimeOnAClock(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ zone, clock, want string }{
		{"Europe/Berlin", "2026-03-29T02:30:00.5Z", "2026-03-29T01:00:00Z"},   // there is none
		{"Europe/Berlin", "2026-03-29T01:59:59.5Z", "2026-03-29T00:59:59.5Z"}, // just before
		{"Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z"},     // the first one after
		{"Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"},     // there are two
		{"Europe/Berlin", "2026-10-25T02:59:59.999Z", "2026-10-25T00:59:59.999Z"},
		{"Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z"},
		{"Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"}, // a day that was left out
		{"Pacific/Apia", "2011-12-31T00:00:00Z", "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-29T23:59:59Z", "2011-12-30T09:59:59Z"},
		{"America/Santiago", "2026-09-06T00:00:00Z", "2026-09-06T04:00:00Z"}, // no midnight
		{"Australia/Lord_Howe", "2026-10-04T02:15:00Z", "2026-10-03T15:30:00Z"},
		{"Asia/Kolkata", "2026-06-01T09:00:00Z", "2026-06-01T03:30:00Z"},
		{"Pacific/Kiritimati", "2026-01-01T00:00:00Z", "2025-12-31T10:00:00Z"},
		{"Europe/Berlin", "9999-12-31T23:00:00Z", "9999-12-31T22:00:00Z"},
		{"Europe/Berlin", "1800-01-01T00:00:00Z", "1799-12-31T23:06:32Z"},
		{"UTC", "2026-03-29T02:30:00Z", "2026-03-29T02:30:00Z"},
	} {
		zone, err := time.LoadLocation(row.zone)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := time.Parse(time.RFC3339Nano, row.clock)
		if err != nil {
			t.Fatal(err)
		}
		if got := At(clock, zone).Format(time.RFC3339Nano); got != row.want {
			t.Errorf("%s in %s: %s; want %s", row.clock, row.zone, got, row.want)
		}
	}
}
