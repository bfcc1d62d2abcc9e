package value_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// standard is what encoding/json writes without escapes for HTML, with what is not
// UTF-8 as the character that stands for it: the text of an escape changes when it
// is read and written again.
func standard(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `\ufffd`, "\ufffd"), err
}

type (
	inner struct {
		Name  string `json:"name"`
		Count int    `json:"count,omitempty"`
		Burst string
	}
	lower  struct{ Deep []inner }
	plain  struct{ A, B int }
	plains []plain
	name   string

	byValue   struct{}
	byPointer struct{}
	byText    struct{ n int }

	tree struct {
		Kids []*tree `json:"kids,omitempty"`
		By   map[string]tree
	}
	embedding struct {
		inner
		*lower
		Burst string `json:"Burst,omitempty"` // in front of the inner one
		None  *inner
	}
	clashing struct {
		plain
		Other struct{ A int }
		twin
	}
	twin struct{ A int }
	self struct {
		*self
		N int
	}
	tagged struct {
		Text   string        `json:",omitempty"`
		Skip   chan int      `json:"-"`
		Quoted int           `json:"q,string"`
		Zero   time.Time     `json:"zero,omitzero"`
		None   time.Time     `json:"none,omitempty"`
		Named  plain         `json:"named,omitzero"`
		Odd    string        `json:"o&d"`
		Wait   time.Duration `json:"wait"`
	}
	all struct {
		Bool   bool            `json:"b,omitempty"`
		Int    int8            `json:"i,omitempty"`
		Uint   uint64          `json:"u,omitempty"`
		Float  float64         `json:"f,omitempty"`
		Small  float32         `json:"s,omitempty"`
		Text   string          `json:"t,omitempty"`
		Name   name            `json:"n,omitempty"`
		Any    any             `json:"a,omitempty"`
		Face   error           `json:"e,omitempty"`
		Ptr    *string         `json:"p,omitempty"`
		List   []int           `json:"l,omitempty"`
		Empty  []int           `json:"empty"`
		Array  [2]int          `json:"y,omitempty"`
		Bytes  []byte          `json:"x,omitempty"`
		Raw    json.RawMessage `json:"r,omitempty"`
		Map    map[string]int  `json:"m,omitempty"`
		Names  map[name]string
		Nums   map[int]string
		Texts  map[byText]string
		At     time.Time
		AtPtr  *time.Time
		Number json.Number
		V      byValue
		P      byPointer
		PP     *byPointer
		T      byText
		hidden int
	}
)

func (v byValue) MarshalJSON() ([]byte, error) { return []byte(`{ "value" : "<&>" }`), nil }

func (v *byPointer) MarshalJSON() ([]byte, error) { return []byte(`{"pointer":1}`), nil }

func (v byText) MarshalText() ([]byte, error) { return []byte("text <&>"), nil }

var _ encoding.TextMarshaler = byText{}

// Whatever type a value has, its JSON is that of encoding/json.
func TestMarshalWritesWhatTheStandardLibraryDoes(t *testing.T) {
	t.Parallel()
	text, at := "<\"\\\u2028\xff\x00\x7f\t>é\U0001F600", time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))
	full := all{
		Bool: true, Int: -8, Uint: math.MaxUint64, Float: 1e-9, Small: 0.1, Text: text, Name: "n", Any: map[string]any{"z": []any{int8(1), uint16(2), 1.5, nil}, "a": plains{{1, 2}}}, Face: errors.New("x"),
		Ptr: &text, List: []int{1}, Array: [2]int{3, 4}, Bytes: []byte("bytes"), Raw: json.RawMessage(" {\"b\" : 1.50, \"a\":\"\\u003c<\"} "), Map: map[string]int{"b": 1, "a": 2, text: 3},
		Names: map[name]string{"y": text, "x": ""}, Nums: map[int]string{10: "a", 9: "b"}, Texts: map[byText]string{{1}: "t"}, At: at, AtPtr: &at, Number: "12345678901234567890.10", PP: &byPointer{}, hidden: 1,
	}
	for _, v := range []any{
		nil, true, text, 1, int64(-1), uint8(9), float32(0.1), 0.1, 1e20, 1e21, -1e21, 1e-6, 1e-7, 1e-10, 1e100, 5e-324, math.MaxFloat64, math.Copysign(0, -1), json.Number(""), json.Number("1e400"), at, &at, time.Time{}, time.Minute,
		[]byte(nil), []byte{}, []int(nil), []string{}, [0]int{}, map[string]any(nil), map[string]any{}, map[string]int(nil), []any(nil), []any{}, (*plain)(nil), &text, new(any), json.RawMessage(nil), json.RawMessage("[ ]"),
		[]map[string]any{nil, {"b": 1, "a": 2}}, []byteList{{1, 2}}, struct{}{}, plains{{1, 2}, {}}, full, &full, all{}, &all{}, []all{full}, map[string]all{"x": full}, tagged{Odd: "x"}, &tagged{Zero: at, Named: plain{A: 1}},
		embedding{}, &embedding{inner: inner{Name: "n", Burst: "inner"}, lower: &lower{Deep: []inner{{Name: "d"}}}}, embedding{inner: inner{Burst: "inner"}, Burst: "outer"}, clashing{}, &self{N: 1, self: &self{N: 2}},
		tree{Kids: []*tree{{}, nil, {By: map[string]tree{"b": {}, "a": {}}}}}, byValue{}, &byValue{}, byPointer{}, &byPointer{}, (*byPointer)(nil), []byPointer{{}}, map[string]byPointer{"a": {}}, byText{}, map[byText]int{{}: 1},
		workflow.Definition{ID: "d", Root: &workflow.Activity{ID: "r", Inputs: map[string]workflow.Expression{"x": workflow.Lit(1)}}}, &workflow.Command{State: []byte("s")},
		math.NaN(), math.Inf(1), make(chan int), func() {}, json.Number("x"), json.RawMessage("{"), json.RawMessage{}, map[string]any{"x": []any{complex(1, 1)}}, struct{ F float64 }{math.NaN()}, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		all{Raw: json.RawMessage("nul")}, map[bool]int{true: 1},
	} {
		want, wrong := standard(v)
		got, err := value.Marshal(v)
		if (err != nil) != (wrong != nil) || err == nil && string(got) != want {
			t.Errorf("%T %+v:\ngot  %s, %v\nwant %s, %v", v, v, got, err, want, wrong)
		}
	}
}

type byteList []byte

// What is written can be read, also as deep as anything may be.
func TestMarshalIsAsDeepAsUnmarshal(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(any) any{
		"list": func(v any) any { return []any{v} }, "object": func(v any) any { return map[string]any{"a": v} }, "struct": func(v any) any { return struct{ A any }{v} },
		"slice": func(v any) any { return [][]any{{v}}[0:1] }, "pointer": func(v any) any { return map[string]*any{"a": &v} },
	} {
		v, levels := any("deep"), map[string]int{"slice": 2}[name]
		for depth := max(levels, 1); depth <= 10_010; depth += max(levels, 1) {
			if v = wrap(v); depth < 4_990 || depth > 5_010 && depth < 9_990 {
				continue
			}
			raw, err := value.Marshal(v)
			if wrong := err != nil; wrong != (depth > 10_000) && name != "pointer" || wrong && !errors.Is(err, value.ErrTooDeep) {
				t.Fatalf("%s, %d deep: %v", name, depth, err)
			}
			if err == nil {
				err = value.Unmarshal(raw, new(any))
			}
			if err != nil && depth <= 5_000 || err != nil && !errors.Is(err, value.ErrTooDeep) {
				t.Fatalf("%s, %d deep is not read: %v", name, depth, err)
			}
		}
	}
	var circle any
	circle = &circle
	if _, err := value.Marshal(circle); !errors.Is(err, value.ErrTooDeep) {
		t.Errorf("a circle: %v", err)
	}
	cycle := map[string]any{}
	cycle["again"], cycle["and"] = cycle, []any{cycle}
	if _, err := value.Marshal(cycle); !errors.Is(err, value.ErrTooDeep) {
		t.Errorf("a cycle: %v", err)
	}
}

// Values are written as encoding/json does it, and the same again after they were
// read, whatever numbers and texts are in them.
func TestMarshalIsDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := values().Draw(t, "value")
		if s, ok := sent.(map[string]any); ok {
			s[rapid.String().Draw(t, "name")] = string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}
		want, err := standard(sent)
		if err != nil {
			t.Fatal(err)
		}
		first, err := value.Marshal(sent)
		if err != nil || string(first) != want {
			t.Fatalf("got %s, %v; want %s", first, err, want)
		}
		var once, twice any
		if err := value.Unmarshal(first, &once); err != nil {
			t.Fatal(err)
		}
		second, err := value.Marshal(once)
		if err != nil {
			t.Fatal(err)
		}
		if err := value.Unmarshal(second, &twice); err != nil || !reflect.DeepEqual(once, twice) {
			t.Fatalf("%#v became %#v, %v", once, twice, err)
		}
		if third, err := value.Marshal(twice); err != nil || !bytes.Equal(second, third) {
			t.Fatalf("%s became %s, %v", second, third, err)
		}
	})
}

// A name is written once: one of two that are the same in JSON would be lost. What is
// read is written as the same bytes again, so names have the order of what is written.
func TestMarshalWritesNoNameTwice(t *testing.T) {
	t.Parallel()
	type texts map[string]string
	type holds struct{ Names texts }
	same := map[string]any{"\xff": 1, "\xfe": 2}
	for what, v := range map[string]any{
		"object": same, "nested": map[string]any{"a": same}, "in a list": []any{1, same}, "texts": texts{"\xff": "1", "\xfe": "2"}, "in a struct": &holds{texts{"a\xff": "", "a\xfe": ""}},
		"with the character": map[string]any{"\xff": 1, "\ufffd": 2}, "lists": map[name][]int{"\xff": nil, "\xfe": nil},
		"of another kind": map[byText]string{{1}: "", {2}: ""}, "in another kind": map[int]any{1: []any{same}},
	} {
		if raw, err := value.Marshal(v); !errors.Is(err, value.ErrSameName) {
			t.Errorf("%s: %s, %v", what, raw, err)
		}
	}
	for want, v := range map[string]any{
		"{\"a\":1,\"\ufffd\":2,\"\U0001f600\":3}":       map[string]any{"\xff": 2, "\U0001f600": 3, "a": 1},
		"{\"\ufffd\":\"2\",\"\U0001f600\":\"3\"}":       texts{"\xff": "2", "\U0001f600": "3"},
		"[{\"\ufffd\":{\"\ufffd\ufffd\":\"\ufffd(\"}}]": []any{map[string]any{"\xff": map[string]any{"\xff\xfe": "\xc3("}}},
	} {
		raw, err := value.Marshal(v)
		if err != nil || string(raw) != want {
			t.Errorf("got %s, %v; want %s", raw, err, want)
		}
		var read any
		if err := value.UnmarshalDistinct(raw, &read); err != nil {
			t.Fatal(err)
		}
		if again, err := value.Marshal(read); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%s became %s, %v", raw, again, err)
		}
	}
}

func TestUnmarshalDistinct(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"a":1,"a":2}`, `[{"b":{"a":1,"\u0061":2}}]`, "{\"\xff\":1,\"\xfe\":2}", `{"\ufffd":1,"\ud800":2}`} {
		var v any
		if err := value.UnmarshalDistinct([]byte(raw), &v); !errors.Is(err, value.ErrSameName) {
			t.Errorf("%q: %v, %v", raw, v, err)
		}
	}
}

// One replacement stands for each byte, as encoding/json has it.
func TestValidText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.SampledFrom([]byte("a\xff\xc3\xa9\xed\xa0\x80\xf0\x9f\x98"))).Draw(t, "bytes"))
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got := value.ValidText(s); got != want {
			t.Fatalf("%q became %q, want %q", s, got, want)
		}
	})
}
