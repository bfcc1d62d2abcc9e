package native

import (
	"reflect"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What stands in for a builtin takes all that the builtin takes: ranges and parts of texts, keys of any kind, single numbers.
func TestStandInsTakeWhatBuiltinsTake(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["ps"] = []any{map[string]any{"n": int64(5), "ok": true}, map[string]any{"n": int64(6), "ok": true}, map[string]any{"n": int64(5), "ok": true}}
	s.In["k"], s.In["f"], s.In["o"] = int64(5), 5.0, map[string]any{"a": int64(1)}
	for source, want := range map[string]any{
		`map(inputs.ps, len(groupBy(inputs.ps, .n)[.n]))`:                                                              []any{int64(2), int64(1), int64(2)},
		`let g = groupBy(inputs.ps, .n); map(keys(g), len(g[#]))`:                                                      []any{int64(2), int64(1)},
		`let g = groupBy(inputs.ps, .n); [len(g[inputs.k]), len(g[inputs.f]), len(g[5]), len(g["5"]), len(get(g, 5))]`: []any{int64(2), int64(2), int64(2), int64(2), int64(2)},
		`let g = groupBy(inputs.ps, .ok); [len(g[true]), len(g[false])]`:                                               []any{int64(3), int64(0)},
		`let g = groupBy(inputs.ps, .n); [5 in g, inputs.k in g, inputs.f in g, 7 in g]`:                               []any{true, true, true, false},
		`groupBy(1..2, #) == groupBy(1..2, #) and [groupBy(1..2, #)] == [{"1": [1], "2": [2]}]`:                        true,
		`[mean(1, 2, 3), median(1, 2, 6), mean(5), mean([1, 2], 3)]`:                                                   []any{int64(2), int64(2), int64(5), int64(2)},
		`[get(1..3, 0), get(1..3, -1), get(1..3, 3), "a,b" | split(",") | get(1)]`:                                     []any{int64(1), int64(3), nil, "b"},
		`get(inputs.o, nil)`:                                          nil,
		`fromPairs(map(["a=1", "b=2"], split(#, "=")))`:               map[string]any{"a": "1", "b": "2"},
		`[uniq(split("a,b,a", ",")), uniq(1..2), uniq([1..2, 1..2])]`: []any{[]any{"a", "b"}, []any{int64(1), int64(2)}, []any{[]any{int64(1), int64(2)}}},
		`join(1..3, ",")`:                                             "1,2,3",
		`[[1..3] == [1..3], [1..2] == [[1, 2]], [split("a", ",")] == [["a"]], {"a": 1..3} == {"a": 1..2}]`:        []any{true, true, true, false},
		`[nil in inputs.o, inputs.nothing in inputs.o, "a" in inputs.o]`:                                          []any{false, false, true},
		`[int(now().Month()), duration("1us").Nanoseconds(), duration("0"), duration("+5m")]`:                     []any{int64(1), int64(1000), "0s", "5m0s"},
		`let g = groupBy(inputs.ps, .n); [len(g?.[inputs.k]), g?.[6]?.[0].n, g?.["5"]?.[inputs.k - 5].n, g?.[7]]`: []any{int64(2), int64(6), int64(5), nil},
		`[inputs.nothing?.a?.[inputs.k].b.c, inputs.nothing?.[inputs.k]?.[0].b, inputs.ps?.[inputs.k - 5]?.n]`:    []any{nil, nil, int64(5)},
		`inputs.nothing?.[inputs.k].b ?? "none"`:                                                                  "none",
		`[[1, 2][inputs.k - 4], [1, 2][-1], {"a": 1}["a"], inputs.o["a"]]`:                                        []any{int64(2), int64(2), int64(1), int64(1)},
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
}

// What runs is not reported before it runs.
func TestLiteralsThatRunAreNoMistakes(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`duration("1d12h")`, `duration("PT5M")`, `duration("1.12:00:00")`, `duration("0")`, `int(" 12 ")`, `float(" 2.5 ")`} {
		source = "${{ " + source + " }}"
		if _, err := expressiontest.Eval(t.Context(), Evaluator{}, source, expressiontest.Example()); err != nil {
			t.Error(err)
		}
		if found, _ := (Evaluator{}).Check(workflow.Expression{Kind: workflow.Expr, Value: source}, &engine.Names{}); len(found) > 0 {
			t.Errorf("%s: %v", source, found)
		}
	}
}
