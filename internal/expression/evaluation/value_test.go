package evaluation

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// What comes out of an expression is what storage makes of it, so that it means the
// same before and after.
func TestACleanValueIsWhatStorageMakesOfIt(t *testing.T) {
	t.Parallel()
	type text string
	one := 1
	for _, v := range []any{
		nil, true, "", "<ä&>", 0, int8(-7), uint64(math.MaxUint64), int64(math.MaxInt64), 1.0, 0.1, 1e20, 1e300, math.Copysign(0, -1), float32(0.5),
		json.Number("9007199254740993"), json.Number("1.0"), json.Number("123456789012345678901234567890"),
		[]any{}, []any{1, []any{nil}}, []string{"a"}, [2]int{1, 2}, []any{map[string]any{"a": 1.5}},
		map[string]any{}, map[string]any{"a": map[string]int{"b": 2}}, map[string][]text{"a": {"x"}}, map[int]string{1: "a"}, &one, (*int)(nil), text("x"),
	} {
		raw, err := workflow.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := workflow.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got, err := Clean(v, 1<<20); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%T %v: got %#v, %v; want %#v", v, v, got, err, want)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	for v, want := range map[any]any{math.NaN(): nil, math.Inf(1): nil, at: "2026-01-02T02:04:05.000000006Z", time.Minute: "1m0s"} {
		if got, err := Clean(v, 1<<20); err != nil || got != want {
			t.Errorf("%v: got %v, %v", v, got, err)
		}
	}
}

// A value that is too large, too deep or contains itself ends as an error, and so does
// what has no form.
func TestCleanRefuses(t *testing.T) {
	t.Parallel()
	self := []any{nil}
	self[0] = self
	deep := func(n int) any {
		v := any("x")
		for range n {
			v = []any{v}
		}
		return v
	}
	for _, c := range []struct {
		name  string
		v     any
		limit int
		want  error
	}{
		{"itself", self, math.MaxInt, ErrDepth},
		{"as deep as may be", deep(MaxDepth), math.MaxInt, nil},
		{"deeper", deep(MaxDepth + 1), math.MaxInt, ErrDepth},
		{"as large as may be", strings.Repeat("x", 98), 100, nil},
		{"larger", strings.Repeat("x", 99), 100, ErrOutput},
		{"a long list", make([]any, 100), 100, ErrOutput},
		{"a typed list", make([]bool, 100), 100, ErrOutput},
		{"an object", map[string]any{strings.Repeat("x", 100): nil}, 100, ErrOutput},
		{"a typed object", map[string]int{strings.Repeat("x", 100): 1}, 100, ErrOutput},
	} {
		if _, err := Clean(c.v, c.limit); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, v := range []any{func() {}, struct{}{}, make(chan int), complex(1, 1), []any{func() {}}} {
		if got, err := Clean(v, math.MaxInt); err == nil {
			t.Errorf("%T became %v", v, got)
		}
	}
}
