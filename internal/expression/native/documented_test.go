package native

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

// What expr's language definition (v1.17.8) says of each operator and function, a fact a line, with values of ours: each holds here.
const documented = `
"a\tb" contains "\t"
"x" in ["x", "y"]
"k" in {"k": 1, "l": 2}
not ("m" in {"k": 1})
[5, 6, 7][0] == 5 and [5, 6, 7][-1] == 7
[5, 6, 7, 8, 9][1:4] == [6, 7, 8]
[5, 6, 7, 8, 9][1:-1] == [6, 7, 8]
[5, 6, 7, 8, 9][:3] == [5, 6, 7]
[5, 6, 7, 8, 9][3:] == [8, 9]
[5, 6][:] == [5, 6]
({"a": nil}).a?.b == nil
(({"a": nil}).a?.b ?? "none") == "none"
("A b" | lower() | split(" ")) == ["a", "b"]
2..4 == [2, 3, 4]
(let x = 21; x * 2) == 42
(let x = 6; let y = 7; x * y) == 42
filter(0..9, {# % 2 == 0}) == [0, 2, 4, 6, 8]
filter(["abc", "d"], len(#) > 2) == ["abc"]
filter([{"n": 1}, {"n": 2}], .n > 1) == [{"n": 2}]
trim("  x  ") == "x" and trim("__x__", "_") == "x"
trimPrefix("unit.kg", "unit.") == "kg"
trimSuffix("a.txt", ".txt") == "a"
upper("straße") == "STRASSE" or upper("straße") == "STRAßE"
lower("ÄB") == "äb"
split("a,b,c", ",") == ["a", "b", "c"] and split("a,b,c", ",", 2) == ["a", "b,c"]
splitAfter("a,b", ",") == ["a,", "b"]
replace("a-b-a", "a", "c") == "c-b-c"
repeat("ab", 2) == "abab"
indexOf("a b c", "c") == 4 and lastIndexOf("a b a", "a") == 4
hasPrefix("abc", "ab") and hasSuffix("abc", "bc")
duration("2h").Minutes() == 120
date("2024-02-29").Year() == 2024
date("2024-02-29 10:00:00", "2006-01-02 15:04:05", "Europe/Zurich").UTC().Hour() == 9
date("2024-07-01 00:00:00").In(timezone("Europe/Zurich")).Hour() == 2
date("2024-03-01") - date("2024-02-29") == duration("24h")
now() > now() - duration("1h")
max(3, 9) == 9 and min(3, 9) == 3 and abs(-4) == 4
ceil(1.2) == 2.0 and floor(1.8) == 1.0 and round(2.5) == 3.0
all([1, 2], # > 0) and any([1, 2], # > 1) and one([1, 2], # > 1) and none([1, 2], # > 2)
map([{"n": 1}], .n) == [1]
find([1, 5, 6], # > 4) == 5 and findIndex([1, 5, 6], # > 4) == 1
findLast([1, 5, 6], # > 4) == 6 and findLastIndex([1, 5, 6], # > 4) == 2
len(groupBy([1, 2, 3], # % 2)) == 2
count([1, 2, 3], # > 1) == 2 and count([true, false]) == 1
concat([1], [2, 3]) == [1, 2, 3]
flatten([1, [2, [3]]]) == [1, 2, 3]
uniq([2, 1, 2]) == [2, 1]
join(["a", "b"], "-") == "a-b" and join(["a", "b"]) == "ab"
reduce(1..4, #acc + #) == 10 and reduce(1..4, #acc + #, 5) == 15
sum([1, 2.5]) == 3.5 and sum([{"n": 1}, {"n": 2}], .n) == 3
mean([1, 2]) == 1.5 and median([3, 1, 2]) == 2.0
first([4, 5]) == 4 and last([4, 5]) == 5 and take([4, 5, 6], 2) == [4, 5]
first([]) == nil and last([]) == nil
reverse([1, 2, 3]) == [3, 2, 1]
sort([3, 1, 2]) == [1, 2, 3] and sort([3, 1, 2], "desc") == [3, 2, 1]
map(sortBy([{"n": 2}, {"n": 1}], .n), .n) == [1, 2] and map(sortBy([{"n": 1}, {"n": 2}], .n, "desc"), .n) == [2, 1]
type(1) == "int" and type("a") == "string" and type([]) == "array" and type({}) == "map" and type(nil) == "nil" and type(true) == "bool" and type(1.5) == "float"
int("12") == 12 and float("1.25") == 1.25 and string(12) == "12"
fromJSON('{"a": [1, 2]}').a[1] == 2 and fromJSON(toJSON({"a": 1})) == {"a": 1}
toBase64("Weft") == "V2VmdA==" and fromBase64("V2VmdA==") == "Weft"
fromPairs([["a", 1], ["b", 2]]) == {"a": 1, "b": 2}
len([1, 2]) == 2 and len({"a": 1}) == 1 and len("abc") == 3
get([4, 5], 1) == 5 and get({"a": 4}, "a") == 4 and get({"a": 4}, "b") == nil and get([1], 9) == nil
bitand(0b110, 0b011) == 0b010 and bitor(0b110, 0b011) == 0b111 and bitxor(0b110, 0b011) == 0b101
bitnand(0b110, 0b011) == 0b100 and bitnot(0b1010) == -0b1011
bitshl(0b101, 2) == 0b10100 and bitshr(0b10100, 2) == 0b101 and bitushr(-0b101, 2) == 4611686018427387902
0x1F == 31 and 0o17 == 15 and 1_000 == 1000 and 1e3 == 1000 and .5 == 0.5
2 ** 3 == 8 and 2 ^ 3 == 8 and 7 % 4 == 3
"ab" matches "^a.$" and not ("ab" matches "^b")
(true ? 1 : 2) == 1 and (nil ?? 3) == 3
not false and !false and (true && true || false)
1 < 2 and "a" < "b" and 1.0 == 1
`

// Otherwise than there, members are in the order of their names, there is no $env, and a zone cannot be kept.
func TestExprIsAsItIsDocumented(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	for line := range strings.Lines(strings.TrimSpace(documented)) {
		line = strings.TrimSpace(line)
		if v, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+line+" }}", s); err != nil || v != true {
			t.Errorf("%s: %v, %v", line, v, err)
		}
	}
	for source, want := range map[string]any{
		`join(keys({"name": "x", "age": 3}), ",")`: "age,name",
		`values({"name": "x", "age": 3})[0] == 3`:  true,
		`$env["inputs"]`:           nil,
		`timezone("UTC")`:          nil,
		`timezone("UTC").String()`: "UTC",
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if want == nil && err == nil || want != nil && got != want {
			t.Errorf("%s: %v, %v", source, got, err)
		}
	}
}
