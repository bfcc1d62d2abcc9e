package native

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

// What docs/expressions.md says under "What ${{ }} means".
func TestExprMeans(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["o"] = map[string]any{"z": 2.5, "a": int64(1), "k": nil, "b": "x"}
	s.In["l"] = []any{int64(0), 0.0, int64(1017), "1017"}
	s.In["n"], s.In["nothing"] = int64(5), nil
	s.In["big"] = json.Number(strings.Repeat("9", 30))
	for source, want := range map[string]any{
		`keys(inputs.o)`:                                     []any{"a", "b", "k", "z"},
		`values(inputs.o)`:                                   []any{int64(1), "x", nil, 2.5},
		`toPairs(inputs.o)`:                                  []any{[]any{"a", int64(1)}, []any{"b", "x"}, []any{"k", nil}, []any{"z", 2.5}},
		`fromPairs(toPairs(inputs.o)) == inputs.o`:           true,
		`groupBy(inputs.l, #)`:                               map[string]any{"0": []any{int64(0), int64(0)}, "1017": []any{int64(1017), "1017"}},
		`groupBy(inputs.l, #)[1017]`:                         []any{int64(1017), "1017"},
		`keys(groupBy([3, 1, 2], # > 1))`:                    []any{"false", "true"},
		`groupBy([{id: newId()}], .id != nil)[true][0].id`:   "id-1",
		`toJSON(groupBy([1], "a"))`:                          "{\n  \"a\": [\n    1\n  ]\n}",
		`inputs.o == {"a": 1, "b": "x", "z": 2.5, "k": nil}`: true,
		`{"a": 1} == {"a": 1.0} and [1] == [1.0] and {"a": [inputs.n]} in [{"a": [5]}]`: true,
		`{"a": 1} == {"a": "1"}`:                                                     false,
		`len(uniq([{"a": inputs.n}, {"a": 5}, {"a": 5.0}]))`:                         int64(1),
		`findIndex([{"a": inputs.n}], # == {"a": 5})`:                                int64(0),
		`["Grüße"[0:3], "Grüße"[-2:], "Grüße"[9:], "abc"[1:], [1, 2, 3][-2:]]`:       []any{"Grü", "ße", "", "bc", []any{int64(2), int64(3)}},
		`[indexOf("Grüße", "ß"), lastIndexOf("üü", "ü"), indexOf("a", "b")]`:         []any{int64(3), int64(1), int64(-1)},
		`[round(9007199254740993), floor(-2.5), ceil(2.1), round(-2.5)]`:             []any{int64(9007199254740993), int64(-3), int64(3), int64(-3)},
		`[int(1.9), int(" 12 "), float("2.5")]`:                                      []any{int64(1), int64(12), 2.5},
		`date("2026-07-01T12:00:00Z").In(timezone("Europe/Berlin")).Format("15:04")`: "14:00",
		`date("2026-07-01").ISOWeek()`:                                               int64(27),
		`[duration("1d"), duration("PT5M"), duration("1.12:00:00")]`:                 []any{"24h0m0s", "5m0s", "36h0m0s"},
		`toJSON(duration("1h"))`:                                                     `"1h0m0s"`,
		`[get({a: 1}, "b"), get([1], 5), get([1, 2], -1), get(nil, "a")]`:            []any{nil, nil, int64(2), nil},
		`take([1, 2], 5)`: []any{int64(1), int64(2)},
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if source == `groupBy([{id: newId()}], .id != nil)[true][0].id` {
			if _, ok := got.(string); !ok {
				t.Errorf("%s: %v, %v", source, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v; want %#v", source, got, err, want)
		}
	}
	for source, has := range map[string]string{
		`1 / 0`:                  "1 is divided by zero",
		`inputs.n % 0`:           "5 is divided by zero",
		`7.5 / (inputs.n - 5)`:   "divided by zero",
		`1e308 * 10`:             "larger than any number",
		`int(1e21)`:              "int gives whole numbers of 64 bits",
		`int(inputs.big)`:        "int gives whole numbers of 64 bits",
		`int("x")`:               "int takes a number",
		`float("1e400")`:         "float takes a number",
		`map(inputs.nothing, #)`: "map takes a list, and not nil; write ?? []",
		`filter(inputs.o, true)`: "filter takes a list, and not an object; write values(…) or keys(…)",
		`concat([1], nil)`:       "concat takes a list, and not nil",
		`upper(nil)`:             "it takes text, and is given nil",
		`timezone("Nowhere")`:    "no time zone",
		`timezone("")`:           "no time zone",
		`duration("5 minutes")`:  "is not a duration",
		`now().Date()`:           "three values",
		`"a" matches 0`:          "needs a regular expression as text",
		`take([1], -1)`:          "take takes a whole number from 0",
		`fromPairs([1])`:         "pairs",
		`round(1.5, 1)`:          "round takes one value, and not 2",
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if err == nil || !strings.Contains(err.Error(), has) {
			t.Errorf("%s: %v; want %q", source, err, has)
		}
	}
}
