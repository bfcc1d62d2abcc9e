package catalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"

	"github.com/weft-run/weft/pkg/store"
)

// cronParser reads six fields, seconds first, with L, W and # as Elsa does.
var cronParser = cron.MustNewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow |
	cron.DomL | cron.DomW | cron.DowNth | cron.DowLast)

// CheckCron tells what is wrong with a cron expression. Expressions have six
// fields, seconds first, and are in UTC.
func CheckCron(expression string) error {
	_, err := parseCron(expression)
	return err
}

func parseCron(expression string) (cron.Schedule, error) {
	expression = strings.TrimSpace(expression)
	if n := len(strings.Fields(expression)); n != 6 || strings.Contains(expression, "=") {
		return nil, fmt.Errorf("cron expression %q has %d fields; it needs six: second, minute, hour, day of month, month, day of week (UTC)", expression, n)
	}
	s, err := cronParser.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("cron expression %q: %w", expression, err)
	}
	return s, nil
}

// Next gives the first occurrence of a schedule after a time, and false if there
// is none any more. It is pure: equal arguments give equal results. A timer's
// occurrences lie one interval apart from the one that is given.
func Next(e *store.CronEntry, after time.Time) (time.Time, bool) {
	after = after.UTC()
	switch e.Kind {
	case store.ScheduleCron:
		s, err := parseCron(e.Expression)
		if err != nil {
			return time.Time{}, false
		}
		next := s.Next(after)
		return next, !next.IsZero()
	case store.ScheduleTimer:
		if e.Interval <= 0 {
			return time.Time{}, false
		}
		return after.Add(e.Interval), true
	case store.ScheduleStartAt:
		if e.At == nil || !e.At.After(after) {
			return time.Time{}, false
		}
		return e.At.UTC(), true
	}
	return time.Time{}, false
}
