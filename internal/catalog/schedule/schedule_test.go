package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/catalog/schedule"
	"github.com/weft-run/weft/internal/store"
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
		{"the last that keys keep in order", store.CronEntry{Kind: store.ScheduleTimer, Interval: time.Millisecond}, "9999-12-31T23:59:59.998Z", "9999-12-31T23:59:59.999Z"},
		{"a timer behind it", store.CronEntry{Kind: store.ScheduleTimer, Interval: time.Millisecond}, "9999-12-31T23:59:59.999Z", ""},
		{"a timer whose key has more digits", store.CronEntry{Kind: store.ScheduleTimer, Interval: time.Millisecond}, "2286-11-20T17:46:39.999Z", "2286-11-20T17:46:40Z"},
		{"cron behind it", store.CronEntry{Kind: store.ScheduleCron, Expression: "0 0 0 1 1 *"}, "9999-06-01T00:00:00Z", ""},
		{"no kind", store.CronEntry{}, "2030-06-01T00:00:00Z", ""},
	} {
		got, ok := schedule.Next(&c.e, at(c.after))
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

// What was missed is what walking from occurrence to occurrence gives, the last of it.
func TestMissedIsTheEndOfTheWalk(t *testing.T) {
	t.Parallel()
	const most = 7
	start := time.Date(2026, 2, 27, 23, 59, 58, 0, time.UTC)
	for _, e := range []*store.CronEntry{
		{Kind: store.ScheduleCron, Expression: "* * * * * *"},
		{Kind: store.ScheduleCron, Expression: "*/7 * * * * *"},
		{Kind: store.ScheduleCron, Expression: "0,1,2 0 0 * * *"},
		{Kind: store.ScheduleCron, Expression: "* 59 23 28 2 *"},
		{Kind: store.ScheduleCron, Expression: "0 0 0 29 2 *"},
		{Kind: store.ScheduleTimer, Interval: 7 * time.Second},
		{Kind: store.ScheduleTimer, Interval: 1500 * time.Millisecond},
		{Kind: store.ScheduleTimer, Interval: 0},
		{Kind: store.ScheduleStartAt, At: &start},
		{Kind: store.ScheduleCron, Expression: "none"},
	} {
		e.Due = start
		if first, ok := schedule.Next(e, start.Add(-time.Second)); ok && e.Kind == store.ScheduleCron {
			e.Due = first
		}
		for _, late := range []time.Duration{0, time.Millisecond, 6 * time.Second, 7 * time.Second, 41 * time.Second, 49 * time.Second, time.Hour, 25 * time.Hour} {
			now := e.Due.Add(late)
			var want []time.Time
			next, more := e.Due, true
			for more && !next.After(now) {
				want = append(want, next)
				next, more = schedule.Next(e, next)
			}
			want = want[max(0, len(want)-most):]
			got, gotNext, gotMore := schedule.Missed(e, now, most)
			if !slices.EqualFunc(got, want, time.Time.Equal) || gotMore != more || more && !gotNext.Equal(next) {
				t.Errorf("%s %q %v, %v late: %v then %v %v, want %v then %v %v", e.Kind, e.Expression, e.Interval, late, got, gotNext, gotMore, want, next, more)
			}
		}
	}
}

// Each second for two hundred years: walking through that would not end.
func TestWhatWasMissedForLongCostsNoMore(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := due.AddDate(200, 0, 0)
	for _, e := range []*store.CronEntry{
		{Kind: store.ScheduleCron, Expression: "* * * * * *", Due: due},
		{Kind: store.ScheduleTimer, Interval: time.Millisecond, Due: due},
	} {
		dues, next, more := schedule.Missed(e, now, 100)
		if len(dues) != 100 || !dues[99].Equal(now) || !more || !next.After(now) {
			t.Errorf("%s: %d, then %v %v", e.Kind, len(dues), next, more)
		}
	}
}
