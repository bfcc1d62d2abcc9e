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
	s.In["word"], s.In["words"], s.In["wide"] = "É😀", map[string]any{"a": "É😀"}, int64(9007199254740993)
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

		// months and days of the week
		`let d = date("2026-03-07"); [d.Weekday() in [0, 6], [d.Month()] == [3], d.Month() > 2, d.Month() == 3, 100 + d.Month()]`: []any{true, true, true, true, int64(103)},
		`let d = date("2026-03-07"); [uniq([d.Month(), 3]), d.Month().String(), d.Weekday().String(), string(d.Month())]`:         []any{[]any{int64(3)}, "March", "Saturday", "3"},
		`[inputs.nothing?.Month(), inputs.nothing?.a.Month().String(), now()?.Month().String()]`:                                  []any{nil, nil, "January"},

		// zones, and clocks that jump
		`date("07.03.2026", "02.01.2006", "UTC")`:                                           "2026-03-07T00:00:00Z",
		`date("2026-10-25 02:30", "2006-01-02 15:04", "Europe/Berlin")`:                     "2026-10-25T00:30:00Z",
		`date("2026-03-29 02:30", "2006-01-02 15:04", "Europe/Berlin")`:                     "2026-03-29T01:00:00Z",
		`date("2026-10-25 02:30 +01:00", "2006-01-02 15:04 -07:00", "Europe/Berlin")`:       "2026-10-25T01:30:00Z",
		`date("2026-10-25 02:30 CET", "2006-01-02 15:04 MST", "Europe/Berlin")`:             "2026-10-25T01:30:00Z",
		`date("2026-07-01 12:00", "2006-01-02 15:04", "Europe/Berlin").Format("15:04 -07")`: "12:00 +02",
		`now().Local().Format("-07:00") + now().Local().Location().String()`:                "+00:00UTC",

		// durations
		`let h = duration("1h"); [h * 1.5, 1.5 * h, h * 2, h / 2, h / duration("30m"), -h, abs(-h)]`:                     []any{"1h30m0s", "1h30m0s", "2h0m0s", "30m0s", int64(2), "-1h0m0s", "1h0m0s"},
		`let h = duration("1h"); [mean([h, 3 * h]), median([h, h, 2 * h]), sum([h, h]), max(h, 2 * h), min([h, 2 * h])]`: []any{"2h0m0s", "1h0m0s", "2h0m0s", "2h0m0s", "1h0m0s"},
		`now() + inputs.o.z * duration("1h")`: "2026-01-02T05:34:05.006Z",

		// texts by characters, places that are whole
		`[inputs.o.b[0], inputs.word[0], inputs.word[-1], "é😀"[1], inputs.word?.[0], inputs.words.a[0], inputs.words?.a[1]]`: []any{"x", "É", "😀", "😀", "É", "É", "😀"},
		`[[1, 2][1.0], inputs.l[2.0], 7.0 % 2, bitand(5.0, 3)]`:                                                              []any{int64(2), int64(1017), int64(1), int64(1)},

		// numbers that a float64 does not tell apart
		`[inputs.wide == 9007199254740992.0, inputs.wide in [9007199254740992.0], [inputs.wide] == [9007199254740992.0], {a: inputs.wide} == {a: 9007199254740992.0}]`: []any{false, false, false, false},
		`[inputs.wide > 9007199254740992.0, max(inputs.wide, 9007199254740992.0) == inputs.wide, len(uniq([inputs.wide, 9007199254740992.0, 9007199254740992]))]`:      []any{true, true, int64(2)},
		`sort([inputs.wide, 9007199254740992.0, 9007199254740992])[2] == inputs.wide`:                                                                                  true,
		`map(sortBy([{n: inputs.wide}, {n: 9007199254740992.0}], .n), .n == inputs.wide)`:                                                                              []any{false, true},
		`sortBy([1, 2, 3], #, "desc")`: []any{int64(3), int64(2), int64(1)},

		`let d = date("2026-03-07"); [d.IsZero(), d.IsDST(), duration("-1h").Abs(), d.AddDate(0, 1.0, 0), type(inputs.big), trim(" a ")]`: []any{false, false, "1h0m0s", "2026-04-07T00:00:00Z", "int", "a"},
		`len(uniq([date("2026-01-01T02:00:00+02:00"), date("2026-01-01T00:00:00Z")]))`:                                                    int64(1),
		`[{a: 1, a: 2}.a, {a: 1, (inputs.o.b): 2, x: 3}]`:                                                                                 []any{int64(2), map[string]any{"a": int64(1), "x": int64(3)}},
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
		`upper(nil)`:             "upper takes text, and not nil",
		`timezone("Nowhere")`:    "no time zone",
		`timezone("")`:           "no time zone",
		`duration("5 minutes")`:  "is not a duration",
		`now().Date()`:           "three values",
		`"a" matches 0`:          "needs a regular expression as text",
		`take([1], -1)`:          "take takes a whole number from 0",
		`fromPairs([1])`:         "pairs",
		`round(1.5, 1)`:          "round takes one value, and not 2",

		`int(duration("1h"))`:                       "int takes no duration; write .Seconds()",
		`duration("1h") * duration("1h")`:           "* takes no duration and duration",
		`duration("200000h") * 100`:                 "some 292 years",
		`duration("2000000h") * 1.5`:                "some 292 years",
		`date("9999-01-01") - date("0001-01-01")`:   "some 292 years",
		`[1, 2][inputs.o.z]`:                        "is a whole number, and not 2.5",
		`inputs.l[inputs.o.z]`:                      "is a whole number, and not 2.5",
		`inputs.l?.[inputs.o.z]`:                    "is a whole number, and not 2.5",
		`inputs.word[inputs.o.z]`:                   "is a whole number, and not 2.5",
		`inputs.l[-9]`:                              "there is nothing at -9: the list has 4 items",
		`inputs.word[2]`:                            "there is nothing at 2: the text has 2 characters",
		`1..inputs.o.z`:                             ".. takes a whole number, and not 2.5",
		`repeat("a", inputs.o.z)`:                   "repeat takes a whole number, and not 2.5",
		`split("a,b", ",", inputs.o.z)`:             "split takes a whole number, and not 2.5",
		`replace("aa", "a", "b", inputs.o.z)`:       "replace takes a whole number, and not 2.5",
		`timezone("Local")`:                         "no time zone",
		`date("2026-01-01", "2006-01-02", "Local")`: "no time zone",
		`12345678901234567890`:                      "whole numbers have 64 bits: 9223372036854775807 is the largest",
		`1e400`:                                     "the largest number is 1.7e308",
		`now().In("Europe/Berlin")`:                 `In takes a time zone, as in In(timezone("Europe/Berlin")), and not text`,
		`now().In(nil)`:                             "and not nil",
		`now().Location()`:                          "a time zone cannot be kept; write .String()",
		`now().Nope()`:                              "a time has no function Nope",
		`inputs.big + 1`:                            "does not fit in 64 bits",
		`now() > nil`:                               "> takes no time and nil",
		`now matches "x"`:                           "not on a function",
		`"abc" matches "(?=a)"`:                     "(?=…), is not there",
		`fromJSON("[1,]")`:                          "] is not expected here",
		`fromBase64("!!")`:                          "this is no base64",
		`5.5 % 2`:                                   "% takes whole numbers, and not 5.5 and 2",
		`bitand(5.5, 3)`:                            "bitand takes whole numbers, and not 5.5",
		`(-8) ** (1/3)`:                             "is no number",
		`trimPrefix(5, "a")`:                        "trimPrefix takes text, and not a number",
		`inputs.l.a`:                                "items of a list are chosen by a number",
		`now().Year == 2026`:                        "a function is equal to nothing; write () behind it",
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if err == nil || !strings.Contains(err.Error(), has) {
			t.Errorf("%s: %v; want %q", source, err, has)
		}
	}
}
