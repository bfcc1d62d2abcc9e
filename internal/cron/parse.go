package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// field is one of the six: its name, its least and largest number, and names of numbers.
type field struct {
	name        string
	least, most int
	names       []string // of least, least+1, …
}

var fields = []field{
	{"second", 0, 59, nil},
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{"day of week", 0, 7, []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

// macros are names of expressions.
var macros = map[string]string{
	"@every_second": "* * * * * *", "@every_minute": "0 * * * * *", "@hourly": "0 0 * * * *", "@daily": "0 0 0 * * *", "@midnight": "0 0 0 * * *",
	"@weekly": "0 0 0 * * 0", "@monthly": "0 0 0 1 * *", "@yearly": "0 0 0 1 1 *", "@annually": "0 0 0 1 1 *",
}

// Parse returns an error that says what is wrong with an expression, in which field, and what it
// should look like.
func Parse(expr string) (Schedule, error) {
	except, text, err := cutDates(strings.TrimSpace(expr))
	if err != nil {
		return Schedule{}, err
	}
	zone, text, err := cutZone(text)
	if err != nil {
		return Schedule{}, err
	}
	if strings.HasPrefix(text, "@") {
		known, ok := macros[strings.ToLower(text)]
		if !ok {
			return Schedule{}, bad("cron expression %q: there is no such name; there are @every_second, @every_minute, @hourly, @daily, @weekly, @monthly and @yearly", workflow.Shorten(text))
		}
		text = known
	}
	parts := strings.Fields(text)
	if len(parts) != len(fields) {
		return Schedule{}, bad("cron expression %q has %d fields, and not 6", workflow.Shorten(text), len(parts))
	}
	s := Schedule{zone: zone, except: except, often: strings.ContainsAny(strings.Join(parts[:3], ""), "*?-/")}
	into := []*uint64{&s.second, &s.minute, &s.hour, &s.day, &s.month, &s.weekday}
	for i, f := range fields {
		var err error
		switch rest := strings.ToUpper(parts[i]); {
		case f.name == "day of month" && (strings.HasPrefix(rest, "L") || strings.HasSuffix(rest, "W")):
			err = s.dayOfMonth(f, rest)
		case f.name == "day of week" && (strings.HasSuffix(rest, "L") || strings.Contains(rest, "#")):
			err = s.dayOfWeek(f, rest)
		default:
			*into[i], err = f.bits(rest)
		}
		if err != nil {
			return Schedule{}, bad("cron expression %q: %s: %w", workflow.Shorten(text), f.name, err)
		}
	}
	if s.weekday&(1<<7) != 0 { // Sunday is 0 and 7
		s.weekday |= 1
	}
	return s, nil
}

// MaxDates is how many dates an expression may leave out.
const MaxDates = 1000

// Except puts dates before an expression, each as 2026-12-24, on which it names no time.
func Except(dates []string, expr string) string {
	if len(dates) == 0 {
		return expr
	}
	return "NOT=" + strings.Join(dates, ",") + " " + expr
}

// cutDates reads the dates before the rest of an expression; nil: there are none.
func cutDates(text string) (except map[int]uint64, rest string, err error) {
	list, found := strings.CutPrefix(text, "NOT=")
	if !found {
		return nil, text, nil
	}
	list, rest, _ = strings.Cut(list, " ")
	dates := strings.Split(list, ",")
	if len(dates) > MaxDates {
		return nil, "", fmt.Errorf("it leaves out %d dates, and may leave out %d", len(dates), MaxDates)
	}
	except = map[int]uint64{}
	for _, date := range dates {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return nil, "", fmt.Errorf("%q is no date; dates are left out as 2026-12-24", workflow.Shorten(date))
		}
		except[monthsOf(at.Year(), at.Month())] |= 1 << at.Day()
	}
	return except, strings.TrimSpace(rest), nil
}

// cutZone reads the zone before the fields, as in TZ=Europe/Berlin or CRON_TZ=Europe/Berlin; nil is UTC.
func cutZone(text string) (zone *time.Location, rest string, err error) {
	name, found := strings.CutPrefix(strings.TrimPrefix(text, "CRON_"), "TZ=")
	if !found {
		return nil, text, nil
	}
	name, rest, _ = strings.Cut(name, " ")
	zone, err = Zone(name)
	return zone, strings.TrimSpace(rest), err
}

// Zone finds a zone; nil is UTC. The zone of the process is none: it may be another one on another node.
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("there is no time zone %q; zones have names such as Europe/Berlin", workflow.Shorten(name))
	}
	if zone == time.UTC {
		zone = nil
	}
	return zone, nil
}

// dayOfMonth reads L, L-3, LW, L-3W and 15W.
func (s *Schedule) dayOfMonth(f field, text string) error {
	rest, working := strings.CutSuffix(text, "W")
	s.days.working = working
	back, last := strings.CutPrefix(rest, "L")
	if !last {
		day, err := f.number(rest)
		s.day = 1 << day
		return err
	}
	s.days.last = true
	if back == "" {
		return nil
	}
	n, ok := strings.CutPrefix(back, "-")
	i, err := digits(n)
	if !ok || err != nil || i > f.most-1 {
		return fmt.Errorf("%q is not L, LW or L-1 to L-%d, with or without W", workflow.Shorten(text), f.most-1)
	}
	s.back = i
	return nil
}

// dayOfWeek reads 5L, FRIL, 1#2 and MON#2.
func (s *Schedule) dayOfWeek(f field, text string) (err error) {
	name, nth, numbered := strings.Cut(text, "#")
	if numbered {
		if s.nth, err = digits(nth); err != nil || s.nth < 1 || s.nth > 5 {
			return fmt.Errorf("behind # stands 1 to 5, and not %q", workflow.Shorten(nth))
		}
	} else {
		name, s.days.lastWeekday = strings.CutSuffix(text, "L")
	}
	day, err := f.number(name)
	s.weekday = 1 << day
	return err
}

// bits reads a list of numbers, ranges and steps.
func (f field) bits(text string) (out uint64, err error) {
	if text[0] == '*' || text[0] == '?' {
		return f.steps(f.least, f.most, text[1:])
	}
	for part := range strings.SplitSeq(text, ",") {
		bounds, step, stepped := strings.Cut(part, "/")
		if stepped {
			step = "/" + step
		}
		low, high, isRange := strings.Cut(bounds, "-")
		first, err := f.number(low)
		if err != nil {
			return 0, err
		}
		last := first
		switch {
		case isRange:
			last, err = f.number(high)
		case stepped:
			last = f.most
		}
		if err != nil {
			return 0, err
		}
		bits, err := f.steps(first, last, step)
		if err != nil {
			return 0, err
		}
		out |= bits
	}
	return out, nil
}

// steps is a range with a step, such as /5 or "". One that ends before it begins goes on at the least number.
func (f field) steps(first, last int, step string) (out uint64, err error) {
	by := 1
	if step != "" {
		n, ok := strings.CutPrefix(step, "/")
		if by, err = digits(n); !ok || err != nil || by < 1 || by > f.most {
			return 0, fmt.Errorf("a step is / with 1 to %d behind it, and not %q", f.most, workflow.Shorten(step))
		}
	}
	if last < first {
		size := f.most - f.least + 1
		if f.name == "day of week" {
			size-- // one Sunday
		}
		last += size
		for i := first; i <= last; i += by {
			out |= 1 << (f.least + (i-f.least)%size)
		}
		return out, nil
	}
	for i := first; i <= last; i += by {
		out |= 1 << i
	}
	return out, nil
}

// number reads a number or a name.
func (f field) number(text string) (int, error) {
	if i := slices.Index(f.names, text); i >= 0 {
		return f.least + i, nil
	}
	if i, err := digits(text); err == nil && i >= f.least && i <= f.most {
		return i, nil
	}
	names := ""
	if f.names != nil {
		names = fmt.Sprintf(", or %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	if text == "H" {
		names += "; H wants a seed, which there is none of: write a number"
	}
	return 0, fmt.Errorf("%q is not %d to %d%s", workflow.Shorten(text), f.least, f.most, names)
}

// digits reads a number of one or two digits.
func digits(text string) (int, error) {
	if len(text) == 0 || len(text) > 2 || text[0] < '0' || text[0] > '9' {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(text)
}
