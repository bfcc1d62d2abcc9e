package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v     any
		alias string
		want  string // type:value, or error:…
	}{
		{"4", "Int32", "int64:4"}, {" 4 ", "Int64", "int64:4"}, {4.0, "Int32", "int64:4"}, {"4.0", "Int32", "int64:4"}, {4.5, "Int32", "error:4.5 is not a whole number"}, {"x", "Int32", `error:"x" is not a whole number`}, {true, "Int32", "int64:1"},
		{"True", "Boolean", "bool:true"}, {"false", "Boolean", "bool:false"}, {"", "Boolean", "bool:false"}, {1, "Boolean", "bool:true"}, {"maybe", "Boolean", "error:"}, {[]any{}, "Boolean", "error:"},
		{"1.5", "Double", "float64:1.5"}, {2, "Double", "float64:2"}, {"NaN", "Double", "error:"},
		{5, "String", "string:5"}, {2.5, "String", "string:2.5"}, {1234567.89, "String", "string:1234567.89"}, {0.00001, "String", "string:0.00001"}, {1e21, "String", "string:1e+21"}, {true, "String", "string:true"}, {map[string]any{"b": 1, "a": "<"}, "String", `string:{"a":"<","b":1}`},
		{"00:00:05", "TimeSpan", "time.Duration:5s"}, {5, "TimeSpan", "error:"}, {time.Minute, "TimeSpan", "time.Duration:1m0s"},
		{"2026-01-31T08:00:00+01:00", "DateTimeOffset", "time.Time:2026-01-31 07:00:00 +0000 UTC"}, {"2026-01-31", "DateTime", "time.Time:2026-01-31 00:00:00 +0000 UTC"}, {"later", "DateTime", "error:"},
		{253_402_300_799_999, "DateTime", "time.Time:9999-12-31 23:59:59.999 +0000 UTC"}, {1_767_225_600_000_000, "DateTime", "error:1767225600000000 is not a time in the years 0 to 9999; a number counts milliseconds"}, {-1_767_225_600_000_000, "DateTime", "error:"},
		{"9999-12-31T23:59:59-01:00", "DateTime", "error:"}, {"0000-01-01T00:00:00+01:00", "DateTime", "error:"},
		{"OK", "HttpStatusCode", "int64:200"}, {"notfound", "HttpStatusCode", "int64:404"}, {"418", "HttpStatusCode", "int64:418"}, {99, "HttpStatusCode", "error:"},
		{`["a", 2]`, "String[]", "[]interface {}:[a 2]"}, {"GET", "String[]", "[]interface {}:[GET]"}, {[]string{"x"}, "String[]", "[]interface {}:[x]"}, {5, "String[]", "error:"}, {"[x", "String[]", "error:"},
		{`[1]`, "Object[]", "[]interface {}:[1]"}, {"x", "Object[]", "error:"}, {map[string]any{}, "Object[]", "error:"},
		{"x", "Object", "string:x"}, {int8(3), "Anything", "int64:3"}, {nil, "Int32", "<nil>:<nil>"},
	} {
		got, err := engine.Convert(c.v, c.alias)
		text := fmt.Sprintf("%T:%v", got, got)
		if err != nil {
			text = "error:" + err.Error()
		}
		if text != c.want && !(strings.HasPrefix(c.want, "error:") && strings.HasPrefix(text, c.want)) {
			t.Errorf("Convert(%v, %s) = %s, want %s", c.v, c.alias, text, c.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "48h": 48 * time.Hour, "1d": 24 * time.Hour, "1d12h": 36 * time.Hour, "-5m": -5 * time.Minute, "0s": 0, "1.5h": 90 * time.Minute,
		"00:00:05": 5 * time.Second, "1.12:30:00": 36*time.Hour + 30*time.Minute, "00:05": 5 * time.Minute, "00:00:00.2500000": 250 * time.Millisecond, "-00:00:01": -time.Second,
		"PT5M": 5 * time.Minute, "P1DT2H": 26 * time.Hour, "PT0.5S": 500 * time.Millisecond, "P2W": 14 * 24 * time.Hour, "-PT1S": -time.Second,
	} {
		if got, err := value.ParseDuration(s); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "5", "0", "soon", "00:60:00", "24:00:00", "P", "PT", "P1Y", "P1M", "1d2", "d", "99999999.00:00:00", "1h PT5M", "00:00:05x"} {
		if got, err := value.ParseDuration(s); err == nil {
			t.Errorf("ParseDuration(%q) = %s", s, got)
		}
	}
	for s, long := range map[string]bool{
		"106751d": false, "106752d": true, "100000d": false, "-200000d": true, "1d9999999h": true, "2562047h": false, "2562048h": true, "9999999999s": true, "P20000W": true, "PT9999999999S": true, "99999999.00:00:00": true, "1e9h": false, "9999999x": false,
	} {
		if _, err := value.ParseDuration(s); err != nil && strings.Contains(err.Error(), "too long a duration") != long || err == nil && long {
			t.Errorf("ParseDuration(%q): %v", s, err)
		}
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	type point struct{ X, Y float64 }
	for _, c := range []struct {
		v    any
		want string
	}{
		{1, "int64 1"}, {1.0, "int64 1"}, {1.5, "float64 1.5"}, {math.NaN(), "<nil> <nil>"}, {math.Inf(1), "<nil> <nil>"}, {uint64(math.MaxUint64), "json.Number 18446744073709551615"},
		{json.Number("9007199254740993"), "int64 9007199254740993"}, {json.Number("1e3"), "int64 1000"}, {math.Copysign(0, -1), "int64 0"},
		{point{1, 2.5}, "map[string]interface {} map[X:1 Y:2.5]"}, {[]int{1}, "[]interface {} [1]"}, {time.Second, "string 1s"}, {map[string]any(nil), "<nil> <nil>"},
	} {
		got, err := engine.Normalize(c.v)
		if text := fmt.Sprintf("%T %v", got, got); err != nil || text != c.want {
			t.Errorf("Normalize(%v) = %s, %v; want %s", c.v, text, err, c.want)
		}
	}
	loop := map[string]any{}
	loop["me"] = []any{loop}
	for _, v := range []any{loop, func() {}, make(chan int), map[string]any{"f": func() {}}} {
		if _, err := engine.Normalize(v); err == nil {
			t.Errorf("no error for %T", v)
		}
	}
}

// Names and texts are as they are after they were saved, and no value of an object gets lost by that.
func TestNormalizeMakesTextsValid(t *testing.T) {
	t.Parallel()
	type key string
	type point struct{ Names map[string]int }
	same := map[string]any{"\xff": 1, "\xfe": 2}
	for what, v := range map[string]any{
		"object": same, "nested": map[string]any{"a": same}, "in a list": []any{same}, "with the character": map[string]any{"\xff": 1, "\ufffd": 2},
		"texts": map[string]string{"\xff": "", "\xfe": ""}, "kind of text": map[key]int{"\xff": 1, "\xfe": 2}, "struct": []point{{map[string]int{"\xff": 1, "\xfe": 2}}},
		"JSON": json.RawMessage("{\"\xff\":1,\"\xfe\":2}"),
	} {
		if n, err := engine.Normalize(v); !errors.Is(err, workflow.ErrSameName) {
			t.Errorf("%s became %q, %v", what, n, err)
		}
	}
	// JSON that somebody else wrote is read as JSON is.
	if n, err := engine.Normalize(json.RawMessage(`{"a":1,"\u0061":2}`)); err != nil || !reflect.DeepEqual(n, map[string]any{"a": int64(2)}) {
		t.Errorf("JSON with a name twice became %v, %v", n, err)
	}
	names := rapid.OneOf(rapid.StringN(0, 3, -1), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3), func(b []byte) string { return string(b) }))
	var value func(int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		text := rapid.Map(names, func(s string) any { return s })
		if depth > 2 {
			return text
		}
		return rapid.OneOf(text,
			rapid.Map(rapid.SliceOfN(value(depth+1), 0, 3), func(l []any) any { return append([]any{}, l...) }),
			rapid.Map(rapid.MapOfN(names, names, 0, 3), func(m map[string]string) any { return m }),
			rapid.Map(rapid.MapOfN(names, value(depth+1), 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) { // what it becomes is what is loaded of it
		v := value(0).Draw(t, "value")
		raw, wrong := workflow.Marshal(v)
		before, err := engine.Normalize(v)
		if errors.Is(err, workflow.ErrSameName) != errors.Is(wrong, workflow.ErrSameName) {
			t.Fatalf("Normalize: %v, Marshal: %v", err, wrong)
		}
		if err != nil {
			return
		}
		var loaded any
		if err := workflow.Unmarshal(raw, &loaded); err != nil || !reflect.DeepEqual(loaded, before) {
			t.Fatalf("%q is loaded as %q, %v", before, loaded, err)
		}
	})
}

// Text that is valid costs nothing.
func TestNormalizeKeepsValidText(t *testing.T) {
	text := any("käse")
	if n := testing.AllocsPerRun(10, func() { _, _ = engine.Normalize(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNumbersKeepTheirKind: whatever goes into the state comes out the same.
func TestNumbersKeepTheirKind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, v := range []any{rapid.Int64().Draw(t, "int"), rapid.Float64().Draw(t, "float")} {
			before, err := engine.Normalize(v)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(before)
			if err != nil {
				t.Fatal(err)
			}
			if after, err := engine.Normalize(json.RawMessage(raw)); err != nil || after != before {
				t.Fatalf("%T %v became %T %v (%v)", before, before, after, after, err)
			}
		}
	})
}
