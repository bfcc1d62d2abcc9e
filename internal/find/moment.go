package find

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Times before the first are no times of an instance, and those that are longer ago than
// the longest are none either.
var firstTime = time.Unix(0, 0).UTC()

const longestAgo = 100 * 365 * 24 * time.Hour

var errMoment = errors.New("it takes a time such as 2026-11-22T10:00:00Z or 2026-11-22, or how long ago, such as 90s, 30m, 2h, 1d or 1w2d")

// parseMoment reads a time, or how long ago it is.
func parseMoment(s string) (Moment, error) {
	if ago, ok := parseAgo(s); ok {
		if ago <= 0 || ago > longestAgo {
			return Moment{}, fmt.Errorf("%s ago is not from 1s to 100 years ago", s)
		}
		return Moment{Ago: ago}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			if t.Before(firstTime) {
				return Moment{}, fmt.Errorf("%s is before 1970", s)
			}
			return Moment{At: t.UTC()}, nil
		}
	}
	return Moment{}, fmt.Errorf("%w; and not %q", errMoment, s)
}

var units = []struct {
	name byte
	is   time.Duration
}{{'w', 7 * 24 * time.Hour}, {'d', 24 * time.Hour}, {'h', time.Hour}, {'m', time.Minute}, {'s', time.Second}}

// parseAgo reads whole numbers with units, each unit once and the longest first. What is longer
// than the longest is as long as something that is.
func parseAgo(s string) (total time.Duration, ok bool) {
	next := 0
	for s != "" {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		if digits == 0 || digits == len(s) {
			return 0, false
		}
		i := next
		for i < len(units) && units[i].name != s[digits] {
			i++
		}
		if i == len(units) {
			return 0, false
		}
		n, err := strconv.ParseInt(s[:digits], 10, 64)
		if err != nil || n > int64(longestAgo/units[i].is) {
			n = int64(longestAgo/units[i].is) + 1
		}
		total += time.Duration(n) * units[i].is
		s, next, ok = s[digits+1:], i+1, true
	}
	return total, ok
}

// writeAgo writes whole seconds so that [parseAgo] reads them.
func writeAgo(d time.Duration) string {
	var out strings.Builder
	for _, u := range units {
		if n := d / u.is; n > 0 {
			fmt.Fprintf(&out, "%d%c", n, u.name)
			d %= u.is
		}
	}
	return out.String()
}
