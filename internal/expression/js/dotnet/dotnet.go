package dotnet

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/google/uuid"

	"github.com/weft-run/weft/pkg/engine"
)

// Host is what the members ask the script's run for.
type Host struct {
	VM    *goja.Runtime
	Now   func() time.Time
	NewID func() uuid.UUID
}

// member makes a member of a type, when it is read.
type member func(h Host) goja.Value

// types are those that scripts find. Names of enums are texts, as in Elsa 3.9.
var types = map[string]map[string]member{
	"TimeSpan": {
		"FromDays":         spanOf(24 * time.Hour),
		"FromHours":        spanOf(time.Hour),
		"FromMinutes":      spanOf(time.Minute),
		"FromSeconds":      spanOf(time.Second),
		"FromMilliseconds": spanOf(time.Millisecond),
		"FromTicks":        spanOf(tick),
		"Zero":             func(h Host) goja.Value { return h.span(0) },
	},
	"Guid": {
		"NewGuid": function(func(h Host, _ goja.FunctionCall) goja.Value { return h.VM.ToValue(h.NewID().String()) }),
		"Parse":   function(parse),
		"Empty":   func(h Host) goja.Value { return h.VM.ToValue(uuid.Nil.String()) },
	},
	"CSharp":             csharp(),
	"DateTime":           {"UtcNow": Host.now, "Now": Host.now},
	"DateTimeOffset":     {"UtcNow": Host.now, "Now": Host.now},
	"LogPersistenceMode": enum("Inherit", "Include", "Exclude"),
	"WorkflowStatus":     enum("Running", "Finished"),
	"WorkflowSubStatus":  enum("Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted"),
	"ActivityStatus":     enum("Pending", "Running", "Completed", "Canceled", "Faulted"),
}

func function(fn func(h Host, c goja.FunctionCall) goja.Value) member {
	return func(h Host) goja.Value {
		return h.VM.ToValue(func(c goja.FunctionCall) goja.Value { return fn(h, c) })
	}
}

func enum(names ...string) map[string]member {
	out := map[string]member{}
	for _, n := range names {
		out[n] = func(h Host) goja.Value { return h.VM.ToValue(n) }
	}
	return out
}

// Has reports whether there is a type of that name.
func Has(name string) bool { return types[name] != nil }

// Type is a type for a script; nil: there is none of that name.
func Type(h Host, name string) goja.Value {
	if !Has(name) {
		return nil
	}
	return h.VM.NewDynamicObject(members{h, name})
}

type members struct {
	host Host
	of   string
}

func (m members) Get(key string) goja.Value {
	if value, ok := types[m.of][key]; ok {
		return value(m.host)
	}
	panic(m.host.VM.NewTypeError(fmt.Sprintf("%s has no member %s here; docs/expressions.md lists those that there are", m.of, key)))
}

func (m members) Has(key string) bool              { return types[m.of][key] != nil }
func (members) Set(string, goja.Value) bool        { return false }
func (members) Delete(string) bool                 { return false }
func (members) Keys() []string                     { return nil }
func parse(h Host, c goja.FunctionCall) goja.Value { return h.ParseGUID(c.Argument(0).String()) }

// ParseGUID is a GUID in its usual form.
func (h Host) ParseGUID(text string) goja.Value {
	id, err := uuid.Parse(text)
	if err != nil {
		panic(h.VM.NewTypeError("this is not a GUID"))
	}
	return h.VM.ToValue(id.String())
}

func (h Host) now() goja.Value { return h.Date(h.Now()) }

// Date is a Date.
func (h Host) Date(t time.Time) goja.Value {
	date, err := h.VM.New(h.VM.GlobalObject().Get("Date"), h.VM.ToValue(t.UnixMilli()))
	if err != nil {
		panic(err)
	}
	return date
}

// Dates is a variable that is declared as a date, or as a list of them: a text that is a time is a Date; in gives all else.
func (h Host) Dates(v any, in func(any) goja.Value) goja.Value {
	switch v := v.(type) {
	case string:
		at, err := engine.Convert(v, "DateTimeOffset")
		if t, ok := at.(time.Time); ok && err == nil {
			return h.Date(t)
		}
	case []any:
		items := make([]any, len(v))
		for i, e := range v {
			if items[i] = in(e); goja.IsString(items[i].(goja.Value)) {
				items[i] = h.Dates(e, in)
			}
		}
		return h.VM.NewArray(items...)
	}
	return in(v)
}

// tick is the precision of a TimeSpan.
const tick = 100 * time.Nanosecond

func spanOf(unit time.Duration) member {
	return function(func(h Host, c goja.FunctionCall) goja.Value {
		ticks := c.Argument(0).ToFloat() * float64(unit/tick)
		if math.IsNaN(ticks) || math.Abs(ticks) >= math.MaxInt64 {
			panic(h.VM.NewTypeError("a TimeSpan is a number, of at most some 29,000 years"))
		}
		return h.span(int64(ticks))
	})
}

// span is so many ticks: a text object in .NET's constant form, with the members that scripts read.
func (h Host) span(ticks int64) goja.Value {
	left, sign := uint64(max(ticks, -ticks)), 1.0
	var b strings.Builder
	if ticks < 0 {
		b.WriteByte('-')
		sign = -1
	}
	const second, day = uint64(time.Second / tick), uint64(24 * time.Hour / tick)
	days, rest, part := left/day, left%day/second, left%second
	if days > 0 {
		fmt.Fprintf(&b, "%d.", days)
	}
	fmt.Fprintf(&b, "%02d:%02d:%02d", rest/3600, rest/60%60, rest%60)
	if part > 0 {
		fmt.Fprintf(&b, ".%07d", part)
	}
	o := h.VM.ToValue(b.String()).ToObject(h.VM)
	set := func(name string, n float64) {
		_ = o.DefineDataProperty(name, h.VM.ToValue(n), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE) // of an object that nobody has yet
	}
	for name, unit := range map[string]time.Duration{
		"TotalDays": 24 * time.Hour, "TotalHours": time.Hour, "TotalMinutes": time.Minute, "TotalSeconds": time.Second, "TotalMilliseconds": time.Millisecond,
	} {
		set(name, float64(ticks)/float64(unit/tick))
	}
	for name, n := range map[string]uint64{"Days": days, "Hours": rest / 3600, "Minutes": rest / 60 % 60, "Seconds": rest % 60, "Milliseconds": part / uint64(time.Millisecond/tick)} {
		set(name, sign*float64(n))
	}
	return o
}
