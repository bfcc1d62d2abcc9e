// Package cron reads the cron expressions of definitions.
//
// They are those of Cronos, as Elsa has them, and testdata/cronos.txt holds them to its
// own tests: six fields, seconds first; lists, ranges (which may go over the end: 22-2), steps,
// names, ? for *, L, L-3, LW, 15W, 5L, FRIL and MON#2; or a name such as @daily. A day has to
// fit both the day of the month and the day of the week. Times are in UTC, or in the zone that stands
// before the fields (TZ=Europe/Berlin), and not on the dates of that clock that stand before both (NOT=2026-12-24,2026-12-25): an expression means the same on each node, as far as they know the same rules of zones.
//
// Where the clocks of a zone jump, it is as with Cronos. What is named within the time that is left out comes once, at the jump. What is named
// in a time that there is twice comes the first time only, unless second, minute or hour has a *, a range or a step: then both.
//
// It guarantees that equal arguments give equal results; it has no clock. Not guaranteed: the year
// of the next time, which may be centuries away. H, for which Cronos wants a seed, is refused.
package cron

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Schedule is the times that an expression names. Make it with [Parse]. A bit of a field says that its number fits.
type Schedule struct {
	second, minute, hour, day, month, weekday uint64
	days                                      days
	nth                                       int            // of the weekdays in the month: the first is 1; 0: any
	back                                      int            // days before the last one, with lastDay
	often                                     bool           // second, minute or hour has a *, a range or a step
	zone                                      *time.Location // nil: UTC
	except                                    map[int]uint64 // days that do not count, as bits, by the months since the year 0
}

// days is how the days of a month are counted.
type days struct {
	last        bool // from the last one back
	working     bool // the working day that is nearest
	lastWeekday bool // the last one of its kind in the month
}

// Next gives the first time after a time, in UTC, and false if the expression names none up to the year 9999.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	if s.zone == nil {
		return s.nextOnClock(after)
	}
	return s.nextInZone(after)
}

// nextOnClock is the first time after one, on a clock that never jumps.
func (s Schedule) nextOnClock(after time.Time) (time.Time, bool) {
	t := after.UTC().Truncate(time.Second).Add(time.Second)
	y, m, d := t.Date()
	// The calendar repeats itself after 400 years.
	for last := min(y+400, lastYear); y <= last; y, m, d = y+1, time.January, 1 {
		for ; m <= time.December; m, d = m+1, 1 {
			if s.month&(1<<m) == 0 {
				continue
			}
			for rest := s.daysOf(y, m) >> d << d; rest != 0; rest &= rest - 1 {
				day := bits.TrailingZeros64(rest)
				from := 0
				if at := t; at.Year() == y && at.Month() == m && at.Day() == day {
					from = at.Hour()*3600 + at.Minute()*60 + at.Second()
				}
				if second, ok := s.timeOfDay(from); ok {
					return time.Date(y, m, day, 0, 0, second, 0, time.UTC), true
				}
			}
		}
	}
	return time.Time{}, false
}

// lastYear is the last one of which the package knows.
const lastYear = 9999

// daysOf are the days of a month that fit, as bits.
func (s Schedule) daysOf(year int, month time.Month) uint64 {
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
	weekday := func(day int) time.Weekday { return (first + time.Weekday(day-1)) % 7 }
	fit := s.day & (1<<(last+1) - 1)
	if s.days.last {
		fit = 0
		if day := last - s.back; day > 0 {
			fit = 1 << day
		}
	}
	if s.days.working && fit != 0 {
		fit = 1 << nearestWorkingDay(bits.TrailingZeros64(fit), last, weekday)
	}
	for rest := fit; rest != 0; rest &= rest - 1 {
		day := bits.TrailingZeros64(rest)
		if s.weekday&(1<<weekday(day)) == 0 || s.nth > 0 && (day-1)/7+1 != s.nth || s.days.lastWeekday && day+7 <= last {
			fit &^= 1 << day
		}
	}
	return fit &^ s.except[monthsOf(year, month)]
}

func monthsOf(year int, month time.Month) int { return year*12 + int(month) }

// nearestWorkingDay is the nearest day of the same month that is neither Saturday nor Sunday.
func nearestWorkingDay(day, last int, weekday func(day int) time.Weekday) int {
	switch weekday(day) {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		if day == last {
			return day - 2
		}
		return day + 1
	}
	return day
}

// timeOfDay is the first second of a day, from one on, that fits.
func (s Schedule) timeOfDay(from int) (second int, ok bool) {
	hour, minute, sec := from/3600, from/60%60, from%60
	for hours := s.hour >> hour << hour; hours != 0; hours &= hours - 1 {
		h := bits.TrailingZeros64(hours)
		if h > hour {
			minute, sec = 0, 0
		}
		for minutes := s.minute >> minute << minute; minutes != 0; minutes &= minutes - 1 {
			m := bits.TrailingZeros64(minutes)
			if h > hour || m > minute {
				sec = 0
			}
			if seconds := s.second >> sec << sec; seconds != 0 {
				return h*3600 + m*60 + bits.TrailingZeros64(seconds), true
			}
		}
	}
	return 0, false
}

// Next gives the first time after a time that an expression names, and an error if
// it is not valid or names no time in the coming years. With the zero time it only
// checks.
func Next(expr string, after time.Time) (time.Time, error) {
	s, err := Parse(expr)
	if err != nil {
		return time.Time{}, err
	}
	if after.IsZero() {
		after = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	next, ok := s.Next(after)
	if !ok {
		return time.Time{}, bad("cron expression %q names no time that ever comes", strings.TrimSpace(expr))
	}
	return next, nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf(format+`; write second, minute, hour, day of month, month and day of week, such as "0 0 8 * * MON-FRI"`, args...)
}
