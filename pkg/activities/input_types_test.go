package activities_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// An input is what its type says, or the start is refused with its name: also a time and a duration, which are kept as
// they were written, and each item of a list.
func TestInputsAreOfTheirTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ   string
		array bool
		value any
		says  string // "": it fits
	}{
		{"DateTimeOffset", false, "2026-01-31T08:00:00Z", ""},
		{"DateTimeOffset", false, "2026-01-31", ""},
		{"DateTimeOffset", false, 1_770_000_000_000, ""},
		{"DateTimeOffset", false, nil, ""},
		{"DateTimeOffset", false, "soon", "a time such as"},
		{"DateTimeOffset", false, "", "a time such as"},
		{"DateTimeOffset", false, "2026-02-30T08:00:00Z", "a time such as"},
		{"DateTimeOffset", false, true, "a time such as"},
		{"TimeSpan", false, "90s", ""},
		{"TimeSpan", false, "PT5M", ""},
		{"TimeSpan", false, "1.12:30:00", ""},
		{"TimeSpan", false, "soon", "duration"},
		{"TimeSpan", false, map[string]any{}, "duration"},
		{"DateTimeOffset", true, []any{"2026-01-31", nil}, ""},
		{"DateTimeOffset", true, []any{"2026-01-31", "soon"}, "item 1"},
		{"Int64", true, []any{1, "2"}, ""},
		{"Int64", true, []any{1, "x"}, "item 1"},
		{"Object", false, "soon", ""},
	} {
		def := root(seq(line("x")))
		def.ID = "d"
		def.Inputs = []workflow.Input{{Name: "at", Type: c.typ, IsArray: c.array}}
		prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		got := prog.CheckInput(map[string]any{"at": c.value})
		if (len(got) == 0) != (c.says == "") || c.says != "" && (!strings.Contains(got.Error(), c.says) || got[0].Place.Pointer != "/input/at") {
			t.Errorf("%s (list: %v) %v: %v, want %q", c.typ, c.array, c.value, got, c.says)
		}
	}
}
