package filter

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// dateFilters take a time: one of the scope, seconds since 1970, or a text.
var dateFilters = map[string]Filter{
	"date": {1, 1, func(c *Call) (any, error) {
		t, ok := timeOf(c.Of, c.Now)
		if !ok {
			return c.Of, nil // as it is
		}
		f, err := c.argText(0)
		if err != nil || f == "" {
			return c.Of, err
		}
		if len(f) > 256 || longPadding.MatchString(f) {
			return nil, fmt.Errorf("the date format %q is too long", evaluation.Excerpt(f))
		}
		return strftime(f, t), nil
	}},
	"time_zone": {1, 1, func(c *Call) (any, error) {
		t, ok := timeOf(c.Of, c.Now)
		if !ok {
			return nil, nil
		}
		name, err := c.argText(0)
		if err != nil {
			return nil, err
		}
		zone, err := evaluation.Zone(name)
		if err != nil {
			return nil, err
		}
		if t = t.In(zone); t.Year() < 0 || t.Year() > 9999 {
			return nil, fmt.Errorf("a time of the year %d has no text; years have up to four digits", t.Year())
		}
		return t, nil
	}},
}

// longPadding is padding beyond reason.
var longPadding = regexp.MustCompile(`%[-_^#0]*[1-9]\d{2}`)

// mostSeconds are those from 1970 to what JavaScript takes as the last time; a number beyond is none.
const mostSeconds = 8_640_000_000_000

// timeOf reads a time; not ok for what is none. "now" and "today" are the time of the scope, which stands still.
func timeOf(v any, now func() time.Time) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case int64:
		return time.Unix(v, 0).UTC(), -mostSeconds <= v && v <= mostSeconds
	case float64:
		whole := math.Floor(v)
		return time.Unix(int64(whole), int64((v-whole)*1000)*int64(time.Millisecond)).UTC(), math.Abs(v) <= mostSeconds
	case string:
		text := strings.TrimSpace(v)
		if strings.EqualFold(text, "now") || strings.EqualFold(text, "today") {
			return now().UTC(), true
		}
		if strings.Trim(text, "0123456789") == "" {
			seconds, err := strconv.ParseInt(text, 10, 64)
			return time.Unix(seconds, 0).UTC(), err == nil && seconds <= mostSeconds
		}
		return readTime(text)
	}
	return time.Time{}, false
}
