// Package cron reads the cron expressions of definitions.
//
// They have six fields, seconds first, with L, W and # as Elsa has them, and are in
// UTC: an expression means the same on each node, in any time zone.
// It guarantees that equal arguments give equal results; it has no clock.
package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

var parser = cron.MustNewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
	cron.DomL | cron.DomW | cron.DowNth | cron.DowLast)

// Schedule is the times that an expression names. Make it with [Parse].
type Schedule struct{ times cron.Schedule }

// Parse returns an error that says what is wrong with an expression, and what it
// should look like.
func Parse(expr string) (Schedule, error) {
	expr = strings.TrimSpace(expr)
	if strings.Contains(expr, "=") { // the parser's own way to name a zone
		return Schedule{}, bad("cron expression %q: time zones are not supported, times are UTC", expr)
	}
	times, err := parser.Parse(expr)
	if err != nil {
		return Schedule{}, bad("cron expression %q: %w", expr, err)
	}
	return Schedule{times}, nil
}

// Next gives the first time after a time, and false if the expression names none
// in the coming years.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	next := s.times.Next(after.UTC())
	return next, !next.IsZero()
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
