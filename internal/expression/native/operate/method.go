package operate

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/cron"
	"github.com/weft-run/weft/internal/expression/evaluation"
)

// methods of times and durations that are not here, are not there.
var (
	ofTimes     = words("Add AddDate After Before Compare Day Equal Format Hour In IsDST IsZero ISOWeek Local Location Minute Month Nanosecond Round Second String Sub Truncate UTC Unix UnixMicro UnixMilli UnixNano Weekday Year YearDay Zone")
	ofDurations = words("Abs Hours Microseconds Milliseconds Minutes Nanoseconds Round Seconds String Truncate")
	ofZones     = words("String")
)

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// Method is what a function of a time, a duration or a time zone gives. A month and a day of the week are numbers; name is
// MonthName or WeekdayName where their name is asked for.
func Method(of any, name string, args []any) (any, error) {
	var known map[string]bool
	switch of := of.(type) {
	case nil:
		return nil, fmt.Errorf("there is nothing that has %s: it is nil", name)
	case time.Time:
		switch name {
		case "MonthName":
			return of.Month().String(), nil
		case "WeekdayName":
			return of.Weekday().String(), nil
		case "ISOWeek":
			_, week := of.ISOWeek() // expr gives the first of two
			return week, nil
		case "Local":
			of, name = of.UTC(), "UTC" // the zone of a process would be another one elsewhere
		}
		known = ofTimes
		if known[name] {
			return call(reflect.ValueOf(of), name, args)
		}
	case time.Duration:
		known = ofDurations
	case *time.Location:
		known = ofZones
	default:
		return nil, fmt.Errorf("%s has no functions of its own, and so no %s", Kind(of), name)
	}
	if !known[name] {
		return nil, fmt.Errorf("%s has no function %s", Kind(of), name)
	}
	return call(reflect.ValueOf(of), name, args)
}

func call(of reflect.Value, name string, args []any) (any, error) {
	fn := of.MethodByName(name)
	if fn.Type().NumIn() != len(args) {
		return nil, fmt.Errorf("%s takes %d values, and not %d", name, fn.Type().NumIn(), len(args))
	}
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		var err error
		if in[i], err = argument(name, arg, fn.Type().In(i)); err != nil {
			return nil, err
		}
	}
	out := fn.Call(in)[0]
	if out.CanInt() && out.Type() != reflect.TypeFor[time.Duration]() {
		return int(out.Int()), nil
	}
	return out.Interface(), nil
}

func argument(name string, arg any, want reflect.Type) (reflect.Value, error) {
	v := reflect.ValueOf(arg)
	if v.IsValid() && v.Type() == want && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		return v, nil
	}
	what := "text"
	switch want {
	case reflect.TypeFor[*time.Location]():
		what = `a time zone, as in In(timezone("Europe/Berlin"))`
	case reflect.TypeFor[time.Time]():
		what = "a time"
	case reflect.TypeFor[time.Duration]():
		what = "a duration"
	case reflect.TypeFor[int]():
		if i, ok := evaluation.Index(arg); ok {
			return reflect.ValueOf(i), nil
		}
		what = "a whole number"
	}
	return v, fmt.Errorf("%s takes %s, and not %s", name, what, Kind(arg))
}

// Date reads what the clock of a zone shows, in a layout: at the jump if the clock leaves it out, the first time if it shows it
// twice. A text that says its own zone is in that.
func Date(layout, text string, zone *time.Location) (time.Time, error) {
	t, err := time.ParseInLocation(layout, text, zone)
	if err != nil {
		return t, err
	}
	utc, _ := time.ParseInLocation(layout, text, time.UTC) // as above
	other, _ := time.ParseInLocation(layout, text, elsewhere)
	if utc.Equal(other) {
		return t, nil
	}
	return cron.At(utc, zone).In(zone), nil
}

var elsewhere = time.FixedZone("", 3600)
