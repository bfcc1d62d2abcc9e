package value_test

import (
	"encoding/json"
	"testing"
	"time"

	jsonx "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// BenchmarkMarshal writes the header of an instance that waits, beside what others
// need for the same.
func BenchmarkMarshal(b *testing.B) {
	options := jsonx.JoinOptions(jsonv1.DefaultOptionsV1())
	for _, by := range []struct {
		name    string
		marshal func(any) ([]byte, error)
	}{
		{"this", value.Marshal},
		{"standard", json.Marshal},
		{"v2", func(v any) ([]byte, error) { return jsonx.Marshal(v, options) }},
	} {
		b.Run(by.name, func(b *testing.B) {
			b.ReportAllocs()
			v := benchInstance()
			for b.Loop() {
				raw, err := by.marshal(v)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(raw)))
			}
		})
	}
}

// BenchmarkUnmarshal reads it.
func BenchmarkUnmarshal(b *testing.B) {
	raw, err := value.Marshal(benchInstance())
	if err != nil {
		b.Fatal(err)
	}
	for _, by := range []struct {
		name      string
		unmarshal func([]byte, any) error
	}{
		{"this", value.UnmarshalKnown},
		{"standard", json.Unmarshal}, // whose numbers are not exact
	} {
		b.Run(by.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if err := by.unmarshal(raw, new(workflow.Instance)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchInstance() *workflow.Instance {
	at := time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.UTC)
	return &workflow.Instance{
		ID: "0199f0aa-7c1e-7d2a-9d0e-6f1b8a6c2f10", DefinitionID: "order-approval", Version: 3, Status: workflow.StatusRunning,
		SubStatus: workflow.Suspended, CorrelationID: "order-4711", CreatedAt: at, UpdatedAt: at,
		Input:     map[string]any{"order": int64(4711), "total": 199.95, "customer": map[string]any{"name": "Ada", "id": int64(9007199254740993)}, "lines": []any{int64(1), int64(2), int64(3)}},
		Bookmarks: []workflow.Bookmark{{ID: "0199f0aa~1", ActivityID: "event1", ActivityType: workflow.EventType, Hash: "hashhashhashhashhashhashhashhash", Payload: workflow.EventPayload("approved"), ContextID: "x", CreatedAt: at}},
	}
}
