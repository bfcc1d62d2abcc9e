package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// A state with all that one can have. What it was once stays a line; for a field that is new a line is
// added, and -golden writes its file.
var (
	documentLater    = time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	documentLed      = &led{Node: "call", Key: "key-1"}
	documentBookmark = &workflow.Bookmark{
		ID: "i1~1", ActivityID: "event1", ActivityType: workflow.EventType, Name: "approved", Hash: "hashhashhashhashhashhashhashhash", Payload: workflow.EventPayload("approved"),
		ContextID: "x2", Callback: "resumed", KeepOnResume: true, DueAt: &documentLater, CreatedAt: documentLater, Metadata: map[string]any{"attempt": int64(2)},
	}
	documentResume = &resumeDoc{Bookmark: documentBookmark, Callback: "resumed", Input: documentValues}
	documentDone   = &completedDoc{Node: "call", ID: "x3", Tag: "trigger 0", Outcomes: []string{"Done", "no <1>"}, Key: "key-2", Led: documentLed}
	documentValues = map[string]any{"whole": int64(9007199254740993), "decimal": 0.1, "text": "<é & \u2028>", "nothing": nil, "list": []any{true, map[string]any{}}}
)

var goldenDocuments = map[string]*stateDoc{
	"document": {
		V: 1, Seq: 18, Started: true, Halted: true, Done: true, Ending: workflow.Cancelled, Props: documentValues, Trigger: "event1", TriggerUsed: true, TriggerInput: documentValues,
		Commands: []commandDoc{{ID: "start", Count: 12, Ords: map[string]int{"": 1, "call": 2}}},
		Executions: []executionDoc{{
			ID: "x1", Keyed: map[string]int{"call": 1}, Inner: "key-0", Number: 7, Parent: -1, Node: "root", Faulted: true, Tag: "back", Born: "start", Vars: documentValues,
			Hidden: map[string]bool{"text": true}, Scope: &scopeDoc{Inputs: documentValues, Outputs: documentValues, Results: map[string]map[string]any{"call": documentValues}, Last: "x"},
			Scratch: json.RawMessage(`{"next":1}`), Outcomes: []string{"Done"}, Results: documentValues, Key: "key-1", Led: documentLed,
			Broken: &callDoc{Kind: workResume, Resume: documentResume, Done: documentDone, As: "call", Raised: true}, Deferred: []completedDoc{*documentDone},
		}},
		Work: []workDoc{{
			Kind: workExecute, Node: "call", On: 1, Tag: "trigger 0", Vars: documentValues, Hidden: map[string]bool{"v": true}, Resume: documentResume, Done: documentDone,
			Key: "key-1", Inner: "key-0", Led: documentLed, As: "call", Cmd: 1, Commit: true,
		}},
		Bookmarks: []bookmarkDoc{{Bookmark: documentBookmark, On: 2, Child: "i2"}},
		Late:      []lateEnd{{Bookmark: "i1~2", Input: documentValues}},
		Cancel:    []string{"i3"},
	},
	"document-long": {
		V: 1, Commands: []commandDoc{{ID: "start", Count: 12, Before: 30_000}},
		Work: []workDoc{{Kind: workResume, On: 1, Resume: documentResume, Rest: true}},
	},
	"document-wide": {
		V: 2, Halted: true, Executions: []executionDoc{{ID: "x1", Parent: -1, Node: "root"}, {ID: "x2", Number: 7, Parent: 0, Node: "call"}},
		Bookmarks: []bookmarkDoc{{On: 7, Child: "i2"}}, Marks: []workflow.Bookmark{*documentBookmark},
	},
	"document-unwinding": {V: 1, Started: true, Unwinding: true},
	"document-final": {
		V: 1, Executions: []executionDoc{{ID: "x1", Parent: -1, Node: "root", Faulted: true, Broken: &callDoc{Kind: workExecute, Raised: true, Final: true}}},
	},
	"document-time": {
		V: 1, Commands: []commandDoc{{ID: "start", At: 1_800_000_000_123}}, Clock: 1_800_000_000_124,
		Executions: []executionDoc{{ID: "x1", Parent: -1, Node: "root", Times: map[string][]int64{"key-1": {1_800_000_000_125, 1_800_000_000_126}}, Seen: &seen{N: 2, At: 1_800_000_000_127}, Drawn: 3, Told: 1_800_000_000_128,
			Led: &led{Node: "call", Key: "key-1", Told: 1_800_000_000_129}, Broken: &callDoc{Kind: workChild, Done: &completedDoc{Node: "call", ID: "x3", Told: 1_800_000_000_130}, At: 1_800_000_000_131}}},
		Work: []workDoc{{Kind: workResume, On: 1, Resume: documentResume, Told: 1_800_000_000_132, Times: map[string][]int64{"key-2": {1_800_000_000_133}}}},
	},
}

// Each field of a state that a program wrote is read as it was meant, and written again as it was; no field
// is in no file. [TestGoldenStates] goes on with states that instances had.
func TestGoldenStateDocuments(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for file, is := range goldenDocuments {
		path := filepath.Join("testdata", "golden", file+".json")
		stored, err := os.ReadFile(path)
		if write := flag.Lookup("golden"); errors.Is(err, fs.ErrNotExist) && write != nil && write.Value.String() == "true" {
			if stored, err = workflow.Marshal(is); err == nil {
				err = os.WriteFile(path, append(stored, '\n'), 0o644)
			}
		}
		if err != nil {
			t.Fatalf("%v (go test -run Golden -golden writes it)", err)
		}
		stored = bytes.TrimSuffix(stored, []byte("\n"))
		got := &stateDoc{}
		if err := workflow.UnmarshalKnown(stored, got); err != nil || !reflect.DeepEqual(got, is) {
			t.Errorf("%s is %+v, %v; want %+v", path, got, err, is)
		}
		if again, err := workflow.Marshal(got); err != nil || !bytes.Equal(again, stored) {
			t.Errorf("%s is written as\n%s, %v\nand was\n%s", path, again, err, stored)
		}
		documentFields(seen, reflect.ValueOf(is))
	}
	for field, set := range seen {
		if !set {
			t.Errorf("the field %s is in no golden state", field)
		}
	}
	if len(seen) < 60 {
		t.Errorf("found %d fields", len(seen))
	}
}

// documentFields notes which fields of structs are anything but their zero value.
func documentFields(seen map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			documentFields(seen, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			documentFields(seen, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			seen[name] = seen[name] || !v.Field(i).IsZero()
			documentFields(seen, v.Field(i))
		}
	}
}
