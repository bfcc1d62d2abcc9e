package etcdstore

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// BenchmarkDecode reads what the paths W1 and W2 read: the record of an instance
// that waits, and the command that starts one.
func BenchmarkDecode(b *testing.B) {
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	record := store.Record{
		Seq: 1,
		Header: workflow.Instance{
			ID: "0199f0aa-7c1e-7d2a-9d0e-6f1b8a6c2f10", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning,
			SubStatus: workflow.Suspended, CorrelationID: "order-4711", CreatedAt: at, UpdatedAt: at,
			Input:     map[string]any{"order": int64(4711), "total": 199.95, "customer": map[string]any{"name": "Ada", "id": int64(9007199254740993)}, "lines": []any{int64(1), int64(2), int64(3)}},
			Bookmarks: []workflow.Bookmark{{ID: "0199f0aa~1", ActivityID: "event1", ActivityType: workflow.EventType, Hash: "hashhashhashhashhashhashhashhash", Payload: workflow.EventPayload("approved")}},
		},
		State: []byte(`{"v":1,"seq":7,"started":true,"executions":[{"id":"a","parent":-1,"node":"root"},{"id":"b","parent":0,"node":"event1"}],"bookmarks":[{"on":1}]}`),
	}
	command := workflow.Command{ID: "0199f0aa7c1e", Kind: workflow.CommandStart, Start: &workflow.Start{DefinitionID: "order-approval", Version: 3, Input: record.Header.Input}}
	for name, v := range map[string]any{"record": record, "command": command} {
		raw, err := Encode(v)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if name == "record" {
					err = Decode(raw, &store.Record{})
				} else {
					err = Decode(raw, &workflow.Command{})
				}
				if err != nil {
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
		text := strings.Repeat("x", rapid.SampledFrom([]int{0, compressAbove}).Draw(t, "filler")) // compressed or not
		values := map[string]any{"n": number, "in": []any{map[string]any{"n": number}, number}, "text": text}
		stimulus := workflow.Stimulus{ActivityType: "Test", Payload: number, Input: values}
		command := workflow.Command{ID: "c", Kind: workflow.CommandStart, Input: values, Stimulus: &stimulus, Start: &workflow.Start{Input: values, Properties: values, TriggerInput: values}}
		instance := workflow.Instance{ID: "i", Input: values, Output: values, Bookmarks: []workflow.Bookmark{{ID: "b", Payload: number, Metadata: values}}}
		for _, v := range []any{
			&store.Record{Header: instance}, &command, &store.Send{ID: "s", Stimulus: stimulus}, &store.QueueItem{ID: "q", Stimulus: stimulus},
			&store.DeadLetter{ID: "d", Stimulus: &stimulus, Command: &command}, &store.Answer{Instance: &instance}, &workflow.JournalItem{Data: values},
		} {
			raw, err := Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := Decode(raw, got); err != nil || !reflect.DeepEqual(got, v) {
				t.Fatalf("%T: got %+v, %v; want %+v", v, got, err, v)
			}
		}
	})
}
