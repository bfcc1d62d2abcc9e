package catalog_test

import (
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/catalog"
	"github.com/weft-run/weft/pkg/store"
)

func TestNext(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	day := at("2030-06-01T00:00:00Z")
	for _, c := range []struct {
		name        string
		e           store.CronEntry
		after, want string // want "": none
	}{
		{"every hour", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 * * * *"}, "2030-01-01T10:59:59.5Z", "2030-01-01T11:00:00Z"},
		{"not the occurrence itself", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 * * * *"}, "2030-01-01T11:00:00Z", "2030-01-01T12:00:00Z"},
		{"every second", store.CronEntry{Kind: store.ScheduleCron, Expression: "* * * * * *"}, "2030-01-01T11:00:00.001Z", "2030-01-01T11:00:01Z"},
		{"in UTC, whatever the zone", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 0 * * *"}, "2030-01-01T23:30:00-05:00", "2030-01-03T00:00:00Z"},
		{"last day of the month", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 0 L * ?"}, "2028-02-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"nearest weekday", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 0 15W * ?"}, "2030-06-01T00:00:00Z", "2030-06-14T00:00:00Z"},
		{"third friday", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 0 ? * FRI#3"}, "2030-06-01T00:00:00Z", "2030-06-21T00:00:00Z"},
		{"never", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 0 31 2 *"}, "2030-06-01T00:00:00Z", ""},
		{"timer", store.CronEntry{Kind: store.ScheduleTimer, Interval: 90 * time.Second}, "2030-01-01T00:00:00Z", "2030-01-01T00:01:30Z"},
		{"timer without an interval", store.CronEntry{Kind: store.ScheduleTimer}, "2030-01-01T00:00:00Z", ""},
		{"a date to come", store.CronEntry{Kind: store.ScheduleStartAt, At: &day}, "2030-05-31T00:00:00Z", "2030-06-01T00:00:00Z"},
		{"a date that has come", store.CronEntry{Kind: store.ScheduleStartAt, At: &day}, "2030-06-01T00:00:00Z", ""},
		{"no kind", store.CronEntry{}, "2030-06-01T00:00:00Z", ""},
	} {
		got, ok := catalog.Next(&c.e, at(c.after))
		if c.want == "" {
			if ok {
				t.Errorf("%s: %v", c.name, got)
			}
			continue
		}
		if !ok || !got.Equal(at(c.want)) || got.Location() != time.UTC {
			t.Errorf("%s: %v, %v; want %s", c.name, got, ok, c.want)
		}
	}
}

func TestBadCronExpressions(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "* * * * *", "* * * * * * *", "@hourly", "TZ=Europe/Berlin 0 0 * * * *", "61 * * * * *", "x x x x x x", "CRON_TZ=UTC 0 * * * *"} {
		if catalog.CheckCron(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
