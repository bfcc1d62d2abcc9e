package cron

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // of machines without
)

// What comes next around the days on which the clocks of 43 zones jump: midnights that there are not (Santiago, Beirut, Cairo, Havana, Asuncion), hours that
// there are twice, days that there are not (Apia, Fakaofo, Kwajalein, Kiritimati, Enderbury), half an hour (Lord Howe, Caracas, Pyongyang), a quarter
// (Chatham's clocks, Kathmandu), two hours (Troll), Ramadan (Casablanca, El Aaiun), summer time that ended for good (Mexico City, Sao Paulo, Istanbul,
// Moscow, Amman, Damascus, Tehran, Asuncion), seconds (Monrovia). Two programs found them: in Python 3 with zoneinfo (tzdata 2025b) each matching time of a
// clock was looked for in UTC; in Node 20 with Intl (ICU's 2025c) each minute of UTC was asked what the clock shows. They differ in Monrovia only, 44 minutes and 30 seconds
// behind UTC until 1972, because the second one asked whole minutes; the first one is right.
func TestZones(t *testing.T) {
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
	if len(rows) < 700 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		s, err := Parse("TZ=" + row.Zone + " " + row.Cron)
		if err != nil {
			t.Error(err)
			continue
		}
		at, err := time.Parse(time.RFC3339, row.After)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range row.Next {
			next, ok := s.Next(at)
			if !ok {
				break
			}
			got, at = append(got, next.Format(time.RFC3339)), next
		}
		if !slices.Equal(got, row.Next) {
			t.Errorf("%s %s after %s:\n%v; want\n%v", row.Zone, row.Cron, row.After, got, row.Next)
		}
	}
}
