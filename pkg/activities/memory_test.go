package activities

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/activities/flowchart"
	"github.com/weft-run/weft/pkg/activities/limited"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/activities/undo"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var writeGolden = flag.Bool("golden", false, "write the golden files that are not there yet; those that are there stay")

// goldenMemory is what activities remember in the state of their instances, with each field set. What it was
// once stays a line; for a field that is new a line is added, and -golden writes its file.
var goldenMemory = map[string]any{
	"bulk": &bulkState{
		Items: []any{int64(1), "<x>"}, Index: 3, Definition: "child", Common: map[string]any{"amount": 0.5}, Key: "Item", Wait: true, Labels: map[string]string{"team": "north"},
		Finished: 4, Faulted: 2, Cancelled: 1,
	},
	"declared":  &declared.State{Attempt: 2, Last: "task ship failed: weather: rain"},
	"flowchart": &flowchart.State{Start: 1, Token: true, Seen: flowchart.Counts{1, 0, 2}, Paths: flowchart.Counts{3, 2}, Marks: []flowchart.Token{{Edge: 1}}},
	"for":       &forState{Next: 9223372036854775807, End: -3, Step: 2, Inclusive: true, Over: true},
	"forEach":   &forEachState{Items: []any{int64(1), 2.5, "x", nil, map[string]any{}}, Next: 2},
	"fork":      &forkState{Any: true, Wins: true, Failed: []string{"a: no"}},
	"limited":   &limited.State{Given: true, At: 77, Failed: &limited.Failure{Error: "call: no", Kept: retry.Kept{URL: "https://a.example", Status: 503, RetryAfter: time.Minute, Lasting: true}}},
	"machine":   &machineState{State: 2, Taken: 1},
	"parallel":  &parallelState{Items: []any{int64(1), "x"}, Next: 1000},
	"sequence":  &sequenceState{Next: 2, Break: true},
	"undo": &undo.State{
		Steps:   []undo.Step{{Step: engine.Step{ID: "x1", Number: 6, Seq: 7, Activity: "pay", Key: "key-1", Within: []string{"x2"}, Vars: map[string]any{"n": int64(1)}, Hidden: map[string]bool{"n": true}}, Now: true}},
		Running: "x1", Undone: []string{"ship"}, Ended: true, Outcomes: []string{"Done"}, Cancelled: true,
		Failed: &undo.Failure{Activity: "ship", Message: "no: <stock>", Code: "no", Category: "HTTP", Type: "System", Final: true, Kept: retry.Kept{URL: "https://a.example", Status: 503, Lasting: true}},
	},
	"retry": &retry.State{
		Attempts: 5, Delay: time.Second, Factor: 1.5, MaxDelay: time.Minute, MaxTime: time.Hour, On: []string{"Unreachable"}, NotOn: []string{"Refused"}, NewKeys: true,
		Key: "key-1", Inner: "key-0", Attempt: 2, Began: time.Date(2026, 11, 24, 9, 0, 0, 123456789, time.UTC), GaveUp: true, Over: "there was no time for another one",
		Jitter: 0.2, Seed: "key-2", Last: "no paper",
	},
}

// What an activity of any program remembered is read as it was meant, and written again as it was: instances
// go on with it after an upgrade.
func TestGoldenMemoryOfActivities(t *testing.T) {
	t.Parallel()
	for file, is := range goldenMemory {
		path := filepath.Join("testdata", "golden", file+".json")
		stored, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && *writeGolden {
			if stored, err = workflow.Marshal(is); err == nil {
				err = os.WriteFile(path, append(stored, '\n'), 0o644)
			}
		}
		if err != nil {
			t.Fatalf("%v (go test -run Golden -golden writes it)", err)
		}
		stored = bytes.TrimSuffix(stored, []byte("\n"))
		got := reflect.New(reflect.TypeOf(is).Elem()).Interface()
		if err := workflow.UnmarshalKnown(stored, got); err != nil || !reflect.DeepEqual(got, is) {
			t.Errorf("%s is %+v, %v; want %+v", path, got, err, is)
		}
		if again, err := workflow.Marshal(got); err != nil || !bytes.Equal(again, stored) {
			t.Errorf("%s is written as\n%s, %v\nand was\n%s", path, again, err, stored)
		}
		v := reflect.ValueOf(is).Elem()
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the field %s of %s is in no golden memory", v.Type().Field(i).Name, v.Type())
			}
		}
	}
}

// Each type that an activity keeps as its memory has a golden file.
func TestEveryMemoryIsGolden(t *testing.T) {
	t.Parallel()
	golden := map[string]bool{}
	for _, is := range goldenMemory {
		golden[reflect.TypeOf(is).Elem().String()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, below...)
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(source), "engine.Scratch[")[1:] {
			name, _, _ := strings.Cut(part, "]")
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if !strings.Contains(name, ".") {
				pkg := filepath.Base(filepath.Dir(file))
				if pkg == "." {
					pkg = "activities"
				}
				name = pkg + "." + name
			}
			if found++; !golden[name] {
				t.Errorf("%s: no memory of type %s is golden", file, name)
			}
		}
	}
	if found < len(golden) {
		t.Errorf("found %d uses of %d types", found, len(golden))
	}
}
