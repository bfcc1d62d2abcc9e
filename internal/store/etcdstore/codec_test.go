package etcdstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// usualRecords are what the paths W1 and W2 of the bench write: an instance that waits,
// the journal of its first commit, and the command that starts one.
func usualRecords() map[string]any {
	at := time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.UTC)
	is := &store.Record{
		Seq: 1,
		Header: workflow.Instance{
			ID: "0199f0aa-7c1e-7d2a-9d0e-6f1b8a6c2f10", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning,
			SubStatus: workflow.Suspended, CorrelationID: "order-4711", CreatedAt: at, UpdatedAt: at,
			Input:     map[string]any{"order": int64(4711), "total": 199.95, "customer": map[string]any{"name": "Ada", "id": int64(9007199254740993)}, "lines": []any{int64(1), int64(2), int64(3)}},
			Bookmarks: []workflow.Bookmark{{ID: "0199f0aa~1", ActivityID: "event1", ActivityType: workflow.EventType, Hash: "hashhashhashhashhashhashhashhash", Payload: workflow.EventPayload("approved"), CreatedAt: at}},
		},
		State: []byte(`{"v":1,"seq":7,"started":true,"executions":[{"id":"a","parent":-1,"node":"root"},{"id":"b","parent":0,"node":"event1"}],"bookmarks":[{"on":1}]}`),
	}
	journal := &record.JournalEntry{
		Commit: "4f9d1c0a2b3e4d5f60718293a4b5c6d7", Seq: 1, Node: "node-1", Fence: 123456, Commands: []string{"0199f0aa7c1e"}, At: at, Took: 312, First: 1,
		Activities: [][]string{{"sequence1", "Elsa.Sequence"}, {"event1", workflow.EventType}},
		Items:      []record.JournalItem{{Activity: 1, Event: "Started"}, {Time: 12, Activity: 2, Parent: 1, Event: "Started"}, {Time: 25, Execution: 2, Event: "Suspended", Text: "approved"}},
	}
	command := &workflow.Command{ID: "0199f0aa7c1e", Kind: workflow.CommandStart, CreatedAt: at, Start: &workflow.Start{DefinitionID: "order-approval", Version: 3, Input: is.Header.Input}}
	return map[string]any{"record": is, "journal": journal, "command": command}
}

func BenchmarkEncode(b *testing.B) {
	for name, v := range usualRecords() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				raw, err := db.Encode(v)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(raw)))
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, v := range usualRecords() {
		raw, err := db.Encode(v)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := db.DecodeWhole(raw, reflect.New(reflect.TypeOf(v).Elem()).Interface()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Everything that is stored and holds values gives them back as they are.
func TestDecodeKeepsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(
			rapid.Map(rapid.Int64(), func(i int64) any { return i }),
			rapid.Map(rapid.Int64Range(1<<53-9, 1<<53+9), func(i int64) any { return i }),
			rapid.Map(rapid.Uint64Min(1<<63), func(u uint64) any { return workflow.Number(strconv.FormatUint(u, 10)) }),
			rapid.Map(rapid.Float64(), func(f float64) any { return workflow.Float(f) }),
			rapid.SampledFrom([]any{json.Number("123456789012345678901234567890"), json.Number("-1e400"), 1e20, 0.1}),
		).Draw(t, "number")
		text := strings.Repeat("x", rapid.SampledFrom([]int{0, db.CompressAbove}).Draw(t, "filler")) // compressed or not
		values := map[string]any{"n": number, "in": []any{map[string]any{"n": number}, number}, "text": text}
		stimulus := workflow.Stimulus{ActivityType: "Test", Payload: number, Input: values}
		command := workflow.Command{ID: "c", Kind: workflow.CommandStart, Input: values, Stimulus: &stimulus, Start: &workflow.Start{Input: values, Properties: values, TriggerInput: values}}
		instance := workflow.Instance{ID: "i", Input: values, Output: values, Bookmarks: []workflow.Bookmark{{ID: "b", Payload: number, Metadata: values}}}
		for _, v := range []any{
			&store.Record{Header: instance}, &command, &store.Send{ID: "s", Stimulus: stimulus}, &store.QueueItem{ID: "q", Stimulus: stimulus},
			&store.DeadLetter{ID: "d", Stimulus: &stimulus, Command: &command}, &store.Answer{Instance: &instance}, &record.JournalEntry{Items: []record.JournalItem{{Data: values}}, Set: []record.JournalSet{{Value: number}}},
		} {
			raw, err := db.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := db.Decode(raw, got); err != nil || !reflect.DeepEqual(got, v) {
				t.Fatalf("%T: got %+v, %v; want %+v", v, got, err, v)
			}
		}
	})
}

// Whatever a record holds, it is written as encoding/json writes it, read as what it
// was, and written again as the same bytes.
func TestRecordsAreWrittenAgainAsTheyWere(t *testing.T) {
	t.Parallel()
	kinds := map[reflect.Type]bool{}
	for _, g := range golden {
		kinds[reflect.TypeOf(g.is).Elem()] = true
	}
	for kind := range kinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				is := reflect.New(kind)
				fill(t, is.Elem(), 0)
				first := encoded(t, is.Interface())
				var b bytes.Buffer
				enc := json.NewEncoder(&b)
				enc.SetEscapeHTML(false)
				if err := enc.Encode(is.Interface()); err != nil {
					t.Fatal(err)
				}
				// What is not UTF-8 is written as the character that stands for it: its escape would be another text when it is written again.
				want := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `\ufffd`, "\ufffd")
				// A name that is not UTF-8 has its place by what is written of it, and encoding/json puts it by what it was.
				if moved := strings.Contains(want, "\ufffd") && sameValues(t, first, []byte(want)); string(first) != want && !moved {
					t.Fatalf("got\n%s\nwant\n%s", first, want)
				}
				once, twice := reflect.New(kind).Interface(), reflect.New(kind).Interface()
				if err := db.DecodeWhole(first, once); err != nil {
					t.Fatal(err)
				}
				second := encoded(t, once)
				if !bytes.Equal(first, second) {
					t.Fatalf("it was\n%s\nand is\n%s", first, second)
				}
				if err := db.Decode(second, twice); err != nil || !reflect.DeepEqual(once, twice) {
					t.Fatalf("%+v became %+v, %v", once, twice, err)
				}
			})
		})
	}
}

func sameValues(t *rapid.T, a, b []byte) bool {
	var x, y any
	if err := errors.Join(workflow.Unmarshal(a, &x), workflow.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return len(a) == len(b) && reflect.DeepEqual(x, y)
}

// anyText is a text, now and then one that is not UTF-8.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(0, 5, -1), rapid.SampledFrom([]string{"", "id-1", "<&>\"\\", "\u2028\u0000\b", "\xff\xc3\x28"}))
}

// anyValue is a value of a workflow, as [workflow.Unmarshal] gives them.
func anyValue(depth int) *rapid.Generator[any] {
	number := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(i int64) any { return i }), rapid.Map(rapid.Float64(), workflow.Float),
		rapid.Map(rapid.StringMatching(`-?[1-9][0-9]{0,40}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`), workflow.Number),
	)
	leaf := rapid.OneOf(number, rapid.Map(anyText(), func(s string) any { return s }), rapid.SampledFrom([]any{nil, true, false, []any{}, map[string]any{}}))
	if depth > 2 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(anyValue(depth+1), 0, 3), func(l []any) any { return append([]any{}, l...) }),
		rapid.Map(rapid.MapOfN(anyText(), anyValue(depth+1), 0, 3), func(m map[string]any) any { return m }))
}

// fill sets what is stored of v to anything.
func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		v.Set(reflect.ValueOf(at))
		return
	case json.RawMessage:
		raw, err := workflow.Marshal(anyValue(1).Draw(t, "raw"))
		if err != nil {
			t.Fatal(err)
		}
		v.SetBytes(raw)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Int64(), rapid.Just(int64(0))).Draw(t, "number"))
	case reflect.String:
		v.SetString(anyText().Draw(t, "text"))
	case reflect.Pointer:
		if depth < 8 && rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(t, v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), depth+1)
		}
	case reflect.Map:
		if rapid.Bool().Draw(t, "made") {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for range v.Len() + rapid.IntRange(0, 2).Draw(t, "entries") {
			if v.IsNil() {
				break
			}
			e := reflect.New(v.Type().Elem()).Elem()
			fill(t, e, depth+1)
			v.SetMapIndex(reflect.ValueOf(anyText().Draw(t, "name")), e)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(new(anyValue(0).Draw(t, "value"))).Elem())
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 100).Draw(t, "percent"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(t, v.Field(i), depth)
			}
		}
	default:
		t.Fatalf("a record has a %s", v.Type())
	}
}
