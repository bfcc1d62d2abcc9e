package filter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/osteele/tuesday"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// dateFilters take a time: one of the scope, seconds since 1970, or a text.
var dateFilters = map[string]Filter{
	"date": {0, 1, func(c *Call) (any, error) {
		t, ok := timeOf(c.Of, c.Now)
		if !ok {
			return c.Of, nil // as it is
		}
		f, err := c.argTextOr(0, "%a, %b %d, %y")
		if err != nil || f == "" {
			return c.Of, err
		}
		if len(f) > 256 || longPadding.MatchString(f) {
			return nil, fmt.Errorf("the date format %q is too long", evaluation.Excerpt(f))
		}
		return tuesday.Strftime(f, t)
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
		return t.In(zone), nil
	}},
}

// longPadding is padding beyond reason.
var longPadding = regexp.MustCompile(`%[-_^#:0]*\d{3}`)

var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 -07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02", time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC,
	"January 2, 2006", "Jan 2, 2006", "02 January 2006", "02 Jan 2006",
}

// timeOf reads a time; not ok for what is none. "now" and "today" are the time of the scope, which stands still.
func timeOf(v any, now func() time.Time) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case int64:
		return time.Unix(v, 0).UTC(), true
	case float64:
		return time.Unix(int64(v), 0).UTC(), true
	case string:
		text := strings.TrimSpace(v)
		if strings.EqualFold(text, "now") || strings.EqualFold(text, "today") {
			return now().UTC(), true
		}
		if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
			return time.Unix(seconds, 0).UTC(), true
		}
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}
