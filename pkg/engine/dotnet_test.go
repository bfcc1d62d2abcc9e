package engine_test

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// What Temporal.Duration.from of @js-temporal/polyfill 0.5.1 makes of each text, in days of 24 hours; "temporal" is given where Weft does otherwise: it refuses years and
// months, and what is longer than 292 years, and lets spaces stand around a duration.
func TestDurationsOfISO8601(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/iso8601.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Text, Nanoseconds string }
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 110 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		got := "refused"
		if d, err := value.ParseDuration(row.Text); err == nil {
			got = strconv.FormatInt(int64(d), 10)
		}
		if got != row.Nanoseconds {
			t.Errorf("%q: %s; want %s", row.Text, got, row.Nanoseconds)
		}
	}
}

// What .NET takes for a TimeSpan by its own tests (System.Tests.TimeSpanTests, dotnet/runtime), and what Weft makes of it.
func TestDurationsOfDotNet(t *testing.T) {
	t.Parallel()
	const day, refused = 24 * time.Hour, -1
	for _, row := range []struct {
		text         string
		dotnet       time.Duration // refused: an exception
		weft         time.Duration // 0: the same
		whyOtherwise string
	}{
		{"12:24:02", 12*time.Hour + 24*time.Minute + 2*time.Second, 0, ""},
		{"   12:24:02  ", 12*time.Hour + 24*time.Minute + 2*time.Second, 0, ""},
		{"12:24", 12*time.Hour + 24*time.Minute, 0, ""},
		{"12.03:04", 12*day + 3*time.Hour + 4*time.Minute, 0, ""},
		{"12:24:02.01", 12*time.Hour + 24*time.Minute + 2010*time.Millisecond, 0, ""},
		{"1:1:1.0", time.Hour + time.Minute + time.Second, 0, ""},
		{"1:1:1.1", time.Hour + time.Minute + 1100*time.Millisecond, 0, ""},
		{"1:1:1.0001", time.Hour + time.Minute + time.Second + 100*time.Microsecond, 0, ""},
		{"1:1:1.0000001", time.Hour + time.Minute + time.Second + 100, 0, ""},
		{"1.12:24:02", 36*time.Hour + 24*time.Minute + 2*time.Second, 0, ""},
		{"1:12:24:02", 36*time.Hour + 24*time.Minute + 2*time.Second, 0, ""},
		{"-1:12:24:02.5", -(36*time.Hour + 24*time.Minute + 2500*time.Millisecond), 0, ""},
		{"1.12:24:02.999", 36*time.Hour + 24*time.Minute + 2999*time.Millisecond, 0, ""},
		{"-01.07:45:16.999", -(31*time.Hour + 45*time.Minute + 16999*time.Millisecond), 0, ""},
		{"100000.00:00:00.1234567", 100_000*day + 123_456_700, 0, ""},
		{"00:00:59", 59 * time.Second, 0, ""},
		{"00:59:00", 59 * time.Minute, 0, ""},
		{"23:00:00", 23 * time.Hour, 0, ""},
		{"", refused, 0, ""},
		{"-", refused, 0, ""},
		{"garbage", refused, 0, ""},
		{"12/12/12", refused, 0, ""},
		{"00:", refused, 0, ""},
		{"00:00:-01", refused, 0, ""},
		{"00:00::00", refused, 0, ""},
		{"00:00:00:", refused, 0, ""},
		{"00:00:00:00:00", refused, 0, ""},
		{"00:00:60", refused, 0, ""},
		{"00:60:00", refused, 0, ""},
		{"24:00", refused, 0, ""},
		{"6:12:14:45,348", refused, 0, ""},
		{"10675200:00:00:00", refused, 0, ""},
		{"1:1:1.99999999", refused, time.Hour + time.Minute + time.Second + 999_999_990, "nanoseconds are taken"},
		{"24:00:00", 24 * day, refused, "24 days, where nearly all mean 24 hours"},
		{"1:1:.1", time.Hour + time.Minute + 100*time.Millisecond, refused, "seconds are written"},
		{"01.23:45:.67", 47*time.Hour + 45*time.Minute + 670*time.Millisecond, refused, "seconds are written"},
		{"7", 7 * day, refused, "a number of days, which looks like seconds"},
		{"10675199.02:48:05", 0, refused, "longer than 292 years"},
	} {
		want := row.dotnet
		if row.weft != 0 {
			want = row.weft
		}
		if (row.weft != 0) != (row.whyOtherwise != "") {
			t.Errorf("%q: why %q", row.text, row.whyOtherwise)
		}
		got, err := value.ParseDuration(row.text)
		if (err != nil) != (want == refused) || err == nil && got != want {
			t.Errorf("%q: %v, %v; want %v", row.text, got, err, want)
		}
	}
}

// Times as .NET writes and reads them in JSON.
func TestTimesOfDotNet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-01-31T08:00:00.1234567+01:00":        "2026-01-31T07:00:00.1234567Z",
		"2026-01-31T08:00:00.1234567Z":             "2026-01-31T08:00:00.1234567Z",
		"2026-01-31T08:00:00.1234567":              "2026-01-31T08:00:00.1234567Z",
		"2026-01-31T08:00:00.5+05:45":              "2026-01-31T02:15:00.5Z",
		"2026-01-31T08:00:00-00:00":                "2026-01-31T08:00:00Z",
		"2026-01-31T08:00:00+14:00":                "2026-01-30T18:00:00Z",
		"2026-01-31T08:00:00+01":                   "2026-01-31T07:00:00Z",
		"2026-01-31T08:00Z":                        "2026-01-31T08:00:00Z",
		"2026-01-31T08:00+01:00":                   "2026-01-31T07:00:00Z",
		"2026-01-31T08:00":                         "2026-01-31T08:00:00Z",
		"2026-01-31":                               "2026-01-31T00:00:00Z",
		"0001-01-01T00:00:00+00:00":                "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59.9999999+00:00":        "9999-12-31T23:59:59.9999999Z",
		"2024-02-29T00:00:00Z":                     "2024-02-29T00:00:00Z",
		"2025-02-29T00:00:00Z":                     "",
		"2026-01-31T24:00:00Z":                     "",
		"2026-01-31T08:00:60Z":                     "",
		"2026-13-01T00:00:00Z":                     "",
		"2026-1-31T08:00:00Z":                      "",
		"01/31/2026 08:00:00 +01:00":               "",
		"31.01.2026":                               "",
		"/Date(1769846400000)/":                    "",
		"20260131T080000Z":                         "",
		"2026-W05-6":                               "",
		"2026-031":                                 "",
		"2026-01-31T08:00:00 Europe/Berlin":        "",
		"2026-01-31T08:00:00+01:00[Europe/Berlin]": "",
		"2026-01-31T08":                            "",
		"":                                         "",
	} {
		got := ""
		if v, err := engine.Convert(text, "DateTimeOffset"); err == nil {
			got = v.(time.Time).Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}
