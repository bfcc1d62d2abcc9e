package schedule

import (
	"sort"
	"time"

	"github.com/weft-run/weft/internal/cron"
	"github.com/weft-run/weft/internal/store"
)

// Next gives the first occurrence of a schedule after a time, and false if there
// is none any more, or none up to [store.LastMilli]. It is pure: equal arguments give equal results. A timer's
// occurrences lie one interval apart from the one that is given.
func Next(e *store.CronEntry, after time.Time) (time.Time, bool) {
	next, ok := following(e)
	if !ok {
		return time.Time{}, false
	}
	return next(after.UTC())
}

// following gives the function of [Next], and false if the schedule has no
// occurrence at all.
func following(e *store.CronEntry) (func(after time.Time) (time.Time, bool), bool) {
	follow, ok := times(e)
	return func(after time.Time) (time.Time, bool) {
		next, more := follow(after)
		return next, more && next.UnixMilli() <= store.LastMilli
	}, ok
}

// times gives what a schedule names, also times that keys would not keep in order.
func times(e *store.CronEntry) (func(after time.Time) (time.Time, bool), bool) {
	switch e.Kind {
	case store.ScheduleCron:
		s, err := cron.Parse(e.Expression)
		return s.Next, err == nil
	case store.ScheduleTimer:
		return func(after time.Time) (time.Time, bool) { return after.Add(e.Interval), true }, e.Interval > 0
	case store.ScheduleStartAt:
		return func(after time.Time) (time.Time, bool) { return e.At.UTC(), e.At.After(after) }, e.At != nil
	}
	return nil, false
}

// Missed gives the occurrences of a schedule from its due time up to now, the last
// most of them, and the one that follows, if there is one. What it costs does not
// depend on how many were missed: an outage may have lasted a month, and a schedule
// may be due each second.
func Missed(e *store.CronEntry, now time.Time, most int) (dues []time.Time, next time.Time, more bool) {
	follow, ok := following(e)
	if !ok {
		return []time.Time{e.Due}, next, false
	}
	from := e.Due.UTC()
	walk := func(from time.Time) (dues []time.Time, next time.Time, more bool) {
		next, more = from, true
		for more && !next.After(now) && len(dues) <= most {
			dues = append(dues, next)
			next, more = follow(next)
		}
		return dues, next, more
	}
	if dues, next, more = walk(from); len(dues) <= most {
		return dues, next, more
	}
	if e.Kind == store.ScheduleTimer {
		behind := now.Sub(from)
		return walk(from.Add(behind - behind%e.Interval - time.Duration(most-1)*e.Interval))
	}
	// The latest second behind which there are as many as that. Cron has no two in one.
	behind := func(i int) time.Time { return from.Add(time.Duration(i) * time.Second) }
	i := sort.Search(int(now.Sub(from)/time.Second), func(i int) bool {
		at, more := behind(i), true
		for n := 0; n < most && more && !at.After(now); n++ {
			at, more = follow(at)
		}
		return !more || at.After(now)
	})
	first, _ := follow(behind(i - 1))
	return walk(first)
}
