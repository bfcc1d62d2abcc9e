package dotnet

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/pkg/workflow/value"
)

var times = map[string]func(h Host, c goja.FunctionCall) goja.Value{
	"date": func(h Host, c goja.FunctionCall) goja.Value { return h.converted("DateTime", c.Argument(0)) },
	"span": func(h Host, c goja.FunctionCall) goja.Value { return h.converted("TimeSpan", c.Argument(0)) },
	"day": func(h Host, c goja.FunctionCall) goja.Value {
		return h.dateOf(h.time(c.Argument(0)).Truncate(24 * time.Hour))
	},
	"ticks": func(h Host, c goja.FunctionCall) goja.Value { return h.VM.ToValue(h.ticks(c.Argument(0))) },
	"part": func(h Host, c goja.FunctionCall) goja.Value {
		t := h.time(c.Argument(1))
		if c.Argument(0).String() == "DayOfWeek" {
			return h.VM.ToValue(t.Weekday().String())
		}
		return h.VM.ToValue(map[string]int{"Year": t.Year(), "Month": int(t.Month()), "Day": t.Day(), "Hour": t.Hour(), "Minute": t.Minute(), "Second": t.Second(),
			"Millisecond": t.Nanosecond() / int(time.Millisecond), "DayOfYear": t.YearDay()}[c.Argument(0).String()])
	},
	"addTime": func(h Host, c goja.FunctionCall) goja.Value {
		unit := map[string]float64{"Days": 86_400_000, "Hours": 3_600_000, "Minutes": 60_000, "Seconds": 1000, "Milliseconds": 1}[c.Argument(0).String()]
		ms := math.RoundToEven(h.number(c.Argument(2)) * unit)
		if math.IsNaN(ms) || math.Abs(ms) > 1e15 {
			h.fail("this time is beyond the years 1 to 9999")
		}
		return h.dateOf(time.UnixMilli(h.time(c.Argument(1)).UnixMilli() + int64(ms)).UTC())
	},
	"addMonths": func(h Host, c goja.FunctionCall) goja.Value {
		t, n := h.time(c.Argument(0)), h.number(c.Argument(1))
		if math.Abs(n) > 120_000 {
			h.fail("this time is beyond the years 1 to 9999")
		}
		first := time.Date(t.Year(), t.Month()+time.Month(int(n)), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		return h.dateOf(first.AddDate(0, 0, min(t.Day(), last)-1))
	},
	"moved": func(h Host, c goja.FunctionCall) goja.Value {
		ms := h.ticks(c.Argument(2)) / int64(time.Millisecond/tick)
		if c.Argument(0).String() == "-" {
			ms = -ms
		}
		return h.dateOf(time.UnixMilli(h.time(c.Argument(1)).UnixMilli() + ms).UTC())
	},
	"between": func(h Host, c goja.FunctionCall) goja.Value {
		return h.span((h.time(c.Argument(0)).UnixMilli() - h.time(c.Argument(1)).UnixMilli()) * int64(time.Millisecond/tick))
	},
	"times": func(h Host, c goja.FunctionCall) goja.Value {
		a, b := h.ticks(c.Argument(1)), h.ticks(c.Argument(2))
		if c.Argument(0).String() == "-" {
			b = -b
		}
		return h.span(a + b)
	},
	"unix": func(h Host, c goja.FunctionCall) goja.Value {
		return h.VM.ToValue(math.Floor(float64(h.time(c.Argument(0)).UnixMilli()) / h.number(c.Argument(1))))
	},
	"newDate": func(h Host, c goja.FunctionCall) goja.Value {
		n := make([]int, 6)
		for i := range n {
			n[i] = int(h.number(c.Argument(i)))
		}
		t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
		if n[0] < 1 || t.Year() != n[0] || int(t.Month()) != n[1] || t.Day() != n[2] || t.Hour() != n[3] || t.Minute() != n[4] || t.Second() != n[5] {
			h.fail("there is no such time")
		}
		return h.dateOf(t)
	},
	"newSpan": func(h Host, c goja.FunctionCall) goja.Value {
		seconds := h.number(c.Argument(0))*86400 + h.number(c.Argument(1))*3600 + h.number(c.Argument(2))*60 + h.number(c.Argument(3))
		if math.Abs(seconds) > 9e9 {
			h.fail("this TimeSpan is too long")
		}
		return h.span(int64(seconds) * int64(time.Second/tick))
	},
}

// time is a date of JavaScript, or a text that is one.
func (h Host) time(v goja.Value) time.Time {
	if t, ok := v.Export().(time.Time); ok {
		return t.UTC()
	}
	if s, ok := v.(goja.String); ok {
		if t, ok := instant(s.String()); ok {
			return t
		}
	}
	h.fail("this is not a time: %s", h.excerpt(v))
	return time.Time{}
}

// instant reads a time as it is written in JSON; without an offset it is UTC.
func instant(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func (h Host) dateOf(t time.Time) goja.Value {
	if t.Year() < 1 || t.Year() > 9999 {
		h.fail("this time is beyond the years 1 to 9999")
	}
	out, err := h.VM.New(h.VM.Get("Date"), h.VM.ToValue(t.UnixMilli()))
	if err != nil {
		panic(err)
	}
	return out
}

// dotnetSpan is .NET's constant form.
var dotnetSpan = regexp.MustCompile(`^-?(\d{1,8}\.)?\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,7})?)?$`)

// ticks are those of a TimeSpan, which is a text.
func (h Host) ticks(v goja.Value) int64 {
	s := ""
	if !isNull(v) {
		s = v.String()
	}
	d, err := value.ParseDuration(s)
	if err != nil {
		h.fail("this is not a TimeSpan: %s", h.excerpt(v))
	}
	return int64(d / tick)
}

func (h Host) spanText(s string) goja.Value {
	d, err := value.ParseDuration(s)
	if err != nil {
		return nil
	}
	return h.span(int64(d / tick))
}

// parts of formats, longest first.
var dateParts = regexp.MustCompile(`\\.|'[^']*'|"[^"]*"|yyyy|yy|MMMM|MMM|MM?|dddd|ddd|dd?|HH?|hh?|mm?|ss?|f{1,7}|tt|.`)

func formatTime(t time.Time, format string) string {
	switch format {
	case "s":
		return t.Format("2006-01-02T15:04:05")
	case "u":
		return t.Format("2006-01-02 15:04:05Z")
	case "r", "R":
		return t.Format("Mon, 02 Jan 2006 15:04:05 GMT")
	}
	layouts := map[string]string{"yyyy": "2006", "yy": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "dddd": "Monday", "ddd": "Mon", "dd": "02", "d": "2", "HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5", "tt": "PM"}
	return dateParts.ReplaceAllStringFunc(format, func(part string) string {
		switch {
		case layouts[part] != "":
			return t.Format(layouts[part])
		case part == "H":
			return strconv.Itoa(t.Hour())
		}
		return written(part, t.Nanosecond()/100)
	})
}

// written is a part of a format that is a fraction of a second, in ticks, or stands for itself.
func written(part string, ticks int) string {
	switch {
	case part[0] == 'f':
		return fmt.Sprintf("%07d", ticks)[:len(part)]
	case part[0] == '\\' && len(part) > 1:
		return part[1:]
	case len(part) > 1 && (part[0] == '\'' || part[0] == '"'):
		return part[1 : len(part)-1]
	}
	return part
}

var spanParts = regexp.MustCompile(`\\.|'[^']*'|d{1,8}|hh?|mm?|ss?|f{1,7}`)

func (h Host) formatSpan(v goja.Value, format string) string {
	ticks := h.ticks(v)
	if format == "c" {
		return h.span(ticks).String()
	}
	left := ticks
	if left < 0 {
		left = -left
	}
	second := int64(time.Second / tick)
	n := map[byte]int64{'d': left / (86400 * second), 'h': left / (3600 * second) % 24, 'm': left / (60 * second) % 60, 's': left / second % 60}
	return spanParts.ReplaceAllStringFunc(format, func(part string) string {
		if value, ok := n[part[0]]; ok {
			return strings.Repeat("0", max(len(part)-len(strconv.FormatInt(value, 10)), 0)) + strconv.FormatInt(value, 10)
		}
		return written(part, int(left%second))
	})
}
