package value_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// numberTexts draws numbers as JSON writes them: of every size that ids, counts,
// prices and measurements have, and what nobody sends.
func numberTexts() *rapid.Generator[string] {
	exponent := rapid.OneOf(rapid.IntRange(-3, 3), rapid.IntRange(-30, 30), rapid.IntRange(-400, 400))
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"0", "-0", "-0.0", "0e9", "1", "1.0", "1e0", "1e3", "1000", "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0",
			"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
			"123456789012345678901234567890", "1e20", "1E+20", "1e400", "-1e400", "1e-400", "1e99999999999", "1e-99999999999", "0.1", "0.30000000000000004", "0.12345678901234567890",
			"9007199254740993.5", "1.7976931348623157e308", "5e-324", "1152921504606846976", "1152921504606847000",
		}),
		rapid.Map(rapid.Int64(), func(i int64) string { return strconv.FormatInt(i, 10) }),
		rapid.Map(rapid.Int64Range(1<<53-100, 1<<53+100), func(i int64) string { return strconv.FormatInt(i, 10) }),
		rapid.Map(rapid.Uint64(), func(i uint64) string { return strconv.FormatUint(i, 10) }),
		rapid.StringMatching(`-?[1-9][0-9]{0,40}`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})\.[0-9]{1,25}`),
		rapid.Custom(func(t *rapid.T) string {
			return rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?[eE]`).Draw(t, "mantissa") + strconv.Itoa(exponent.Draw(t, "exponent"))
		}),
	)
}

// values draws values with such numbers in them.
func values() *rapid.Generator[any] {
	number := rapid.Map(numberTexts(), func(s string) any { return json.Number(s) })
	leaf := rapid.OneOf(number, rapid.SampledFrom([]any{nil, true, "9007199254740993", ""}))
	list := rapid.Map(rapid.SliceOfN(leaf, 0, 4), func(l []any) any { return append([]any{}, l...) })
	object := rapid.Map(rapid.MapOfN(rapid.StringN(0, 3, -1), rapid.OneOf(leaf, list), 0, 4), func(m map[string]any) any { return m })
	return rapid.OneOf(leaf, list, object)
}

// stored is a value after it was kept.
func stored(t *rapid.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Payload any }
	if err := value.Unmarshal([]byte(`{"Payload":`+string(raw)+`}`), &out); err != nil {
		t.Fatal(err)
	}
	return out.Payload
}

// A value is after any number of storages what it was after the first, and it
// hashes as it did when it was sent.
func TestStorageChangesNoValueAndNoHash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := values().Draw(t, "value")
		once := stored(t, sent)
		if twice := stored(t, once); !reflect.DeepEqual(once, twice) {
			t.Fatalf("%#v is %#v after it was stored again", once, twice)
		}
		want, err := workflow.Hash("Test", sent)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := workflow.Hash("Test", once); err != nil || got != want {
			t.Fatalf("%#v hashes to %s, %v after it was stored, to %s before", sent, got, err, want)
		}
	})
}

// A whole number is kept exactly, whatever its size and spelling; any other is
// the float64 that Go reads.
func TestNumbersKeepTheirValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := numberTexts().Filter(func(s string) bool { return !strings.Contains(s, "99999999999") }).Draw(t, "number")
		v, ok := value.ParseNumber(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := new(big.Rat).SetString(text)
		got, ok := new(big.Rat).SetString(string(raw))
		if f, err := strconv.ParseFloat(text, 64); !want.IsInt() && err == nil {
			want, _ = new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
		}
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s became %T %s", text, v, raw)
		}
		if want.IsInt() && want.Num().IsInt64() {
			if i, ok := v.(int64); !ok || i != want.Num().Int64() {
				t.Fatalf("%s is a %T", text, v)
			}
		}
	})
}

// A float64 is in values what its JSON is.
func TestFloatsAreWhatTheirJSONIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "float")
		if math.IsInf(f, 0) || math.IsNaN(f) {
			if v := value.Float(f); v != nil {
				t.Fatalf("%g is %v", f, v)
			}
			return
		}
		if got, want := value.Float(f), stored(t, f); got != want {
			t.Fatalf("%g is %#v, and after it was stored %#v", f, got, want)
		}
	})
}

func TestSpellingsOfANumberHashEqual(t *testing.T) {
	t.Parallel()
	for _, same := range [][]any{
		{json.Number("1"), json.Number("1.0"), json.Number("1e0"), int64(1), 1.0, uint8(1)},
		{json.Number("1e3"), json.Number("1000"), 1000},
		{json.Number("-0"), json.Number("0e7"), json.Number("0.000"), 0, math.Copysign(0, -1), json.Number("1e-400")},
		{json.Number("9007199254740993"), int64(9007199254740993), json.Number("9007199254740993.0"), json.Number("9007199254740993e0")},
		{json.Number("18446744073709551616"), json.Number("18446744073709551616.0"), json.Number("1844674407370955161.6e1")},
		{json.Number("0.12345678901234567890"), json.Number("0.123456789012345678901"), 0.12345678901234567890},
		{json.Number("1e400"), json.Number("10e399"), json.Number("1E+400")},
	} {
		want, err := workflow.Hash("Test", map[string]any{"n": same[0]})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range same[1:] {
			if got, err := workflow.Hash("Test", map[string]any{"n": v}); err != nil || got != want {
				t.Errorf("%v and %v hash to %s and %s, %v", same[0], v, want, got, err)
			}
		}
	}
	seen := map[string]string{}
	for _, text := range []string{"9007199254740992", "9007199254740993", "18446744073709551615", "18446744073709551616", "1e400", "1e401", "0.1", "0.2"} {
		hash, err := workflow.Hash("Test", json.Number(text))
		if err != nil || seen[hash] != "" {
			t.Errorf("%s hashes as %s does, %v", text, seen[hash], err)
		}
		seen[hash] = text
	}
}

// Texts that are no numbers are none, whatever Go would read.
func TestWhatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "-", "+1", ".5", "5.", "1 ", " 1", "1 2", "01", "0x10", "1_000", "Inf", "NaN", "true", "null", "1e", `"1"`} {
		if v, ok := value.ParseNumber(text); ok {
			t.Errorf("%q is %v", text, v)
		}
	}
}

// The JSON of a value has no escapes but JSON's own.
func TestMarshalWritesWhatPeopleRead(t *testing.T) {
	t.Parallel()
	got, err := value.Marshal(map[string]any{"a": "<b>&\u2028", "n": json.Number("18446744073709551616")})
	if want := `{"a":"<b>&\u2028","n":18446744073709551616}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if got, err := value.Marshal(func() {}); err == nil {
		t.Errorf("a function became %s", got)
	}
}
