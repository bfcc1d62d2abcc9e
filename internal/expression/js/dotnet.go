package js

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/google/uuid"
)

// The members of .NET's types that Elsa's scripts use. A TimeSpan is a text object in .NET's constant form, with the members
// that scripts read; it is kept as that text. Dates are JavaScript's own, and names of enums are texts, as in Elsa 3.9.
var dotnet = map[string]map[string]hostFunction{
	"TimeSpan": {
		"FromDays":         spanOf(24 * time.Hour),
		"FromHours":        spanOf(time.Hour),
		"FromMinutes":      spanOf(time.Minute),
		"FromSeconds":      spanOf(time.Second),
		"FromMilliseconds": spanOf(time.Millisecond),
		"FromTicks":        spanOf(tick),
	},
	"Guid":           {"NewGuid": newGUID, "Parse": parseGUID},
	"DateTime":       {},
	"DateTimeOffset": {},
}

// dotnetValues are members that are no functions, made when they are read.
var dotnetValues = map[string]map[string]func(x *scriptRun) goja.Value{
	"TimeSpan":           {"Zero": func(x *scriptRun) goja.Value { return x.timeSpan(0) }},
	"Guid":               {"Empty": func(x *scriptRun) goja.Value { return x.vm.ToValue(uuid.Nil.String()) }},
	"DateTime":           {"UtcNow": utcNow, "Now": utcNow},
	"DateTimeOffset":     {"UtcNow": utcNow, "Now": utcNow},
	"LogPersistenceMode": named("Inherit", "Include", "Exclude"),
	"WorkflowStatus":     named("Running", "Finished"),
	"WorkflowSubStatus":  named("Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted"),
	"ActivityStatus":     named("Pending", "Running", "Completed", "Canceled", "Faulted"),
}

func named(names ...string) map[string]func(x *scriptRun) goja.Value {
	out := map[string]func(x *scriptRun) goja.Value{}
	for _, n := range names {
		out[n] = func(x *scriptRun) goja.Value { return x.vm.ToValue(n) }
	}
	return out
}

// tick is the precision of a TimeSpan.
const tick = 100 * time.Nanosecond

func spanOf(unit time.Duration) hostFunction {
	return func(x *scriptRun, c goja.FunctionCall) goja.Value {
		n := c.Argument(0).ToFloat()
		ticks := n * float64(unit/tick)
		if math.IsNaN(n) || math.Abs(ticks) >= math.MaxInt64 {
			panic(x.vm.NewTypeError(fmt.Sprintf("a TimeSpan is a number of at most some 29,000 years, and not %s", text(c.Argument(0)))))
		}
		return x.timeSpan(int64(ticks))
	}
}

// timeSpan is so many ticks of 100 ns.
func (x *scriptRun) timeSpan(ticks int64) goja.Value {
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
	o := x.vm.ToValue(b.String()).ToObject(x.vm)
	for name, unit := range map[string]time.Duration{
		"TotalDays": 24 * time.Hour, "TotalHours": time.Hour, "TotalMinutes": time.Minute, "TotalSeconds": time.Second, "TotalMilliseconds": time.Millisecond,
	} {
		_ = o.DefineDataProperty(name, x.vm.ToValue(float64(ticks)/float64(unit/tick)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	for name, n := range map[string]uint64{"Days": days, "Hours": rest / 3600, "Minutes": rest / 60 % 60, "Seconds": rest % 60, "Milliseconds": part / uint64(time.Millisecond/tick)} {
		_ = o.DefineDataProperty(name, x.vm.ToValue(sign*float64(n)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	return o
}

func utcNow(x *scriptRun) goja.Value {
	now, err := x.vm.New(x.vm.Get("Date"), x.vm.ToValue(x.scope.Now().UnixMilli()))
	if err != nil {
		panic(err)
	}
	return now
}

// dotnetType is one of these types; nil: there is none of that name.
type dotnetType struct {
	x    *scriptRun
	name string
}

func (x *scriptRun) dotnet(name string) goja.Value {
	if dotnet[name] == nil && dotnetValues[name] == nil {
		return nil
	}
	return x.vm.NewDynamicObject(dotnetType{x, name})
}

func (t dotnetType) Get(key string) goja.Value {
	if fn, ok := dotnet[t.name][key]; ok {
		return t.x.vm.ToValue(func(c goja.FunctionCall) goja.Value { return fn(t.x, c) })
	}
	if value, ok := dotnetValues[t.name][key]; ok {
		return value(t.x)
	}
	panic(t.x.vm.NewTypeError(fmt.Sprintf("%s has no member %s here; docs/expressions.md lists those that there are", t.name, key)))
}

func (t dotnetType) Has(key string) bool {
	return dotnet[t.name][key] != nil || dotnetValues[t.name][key] != nil
}

func (dotnetType) Set(string, goja.Value) bool { return false }
func (dotnetType) Delete(string) bool          { return false }
func (dotnetType) Keys() []string              { return nil }
