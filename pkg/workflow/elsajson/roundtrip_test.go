package elsajson

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

func TestExportEqualsImport(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"modern.json", "nested.json", "machine.json"} {
		for _, types := range []workflow.Types{testTypes(t), nil} {
			def, problems := Read(sample(t, name), name, types)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			out, err := Write(def, types)
			if err != nil {
				t.Fatal(err)
			}
			a, _, _ := jsontree.Parse(sample(t, name))
			b, _, perr := jsontree.Parse(out)
			if perr != nil || !a.Same(b) {
				t.Errorf("%s (types %v): export differs\n%s", name, types != nil, out)
			}
		}
	}
}

func TestExportOfOldSpellingsReadsTheSame(t *testing.T) {
	t.Parallel()
	def := readSample(t, "legacy.json")
	out, err := Write(def, testTypes(t))
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Read(out, "", testTypes(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if again.ID != def.ID || len(again.Root.Connections) != 1 || !again.Root.Activities[1].CanStart {
		t.Errorf("%s", out)
	}
	root, _, _ := jsontree.Parse(out)
	if v := root.Get("root").Get("applicationProperties"); v == nil {
		t.Errorf("unknown fields are gone:\n%s", out)
	}
}

func TestAChangedFieldIsWrittenAndItsOldSourceIsNot(t *testing.T) {
	t.Parallel()
	def := readSample(t, "modern.json")
	in := byID(t, def, "in")
	in.Inputs["requestTimeout"] = workflow.Lit("00:00:10") // was an explicit null
	in.Inputs["exposeRequestTooLargeOutcome"] = workflow.Lit(true)
	in.CanStart = false
	def.Variables[0].StorageDriver = "Memory"
	def.Options.CommitStrategy = "ActivityExecuted"
	def.Root.Connections = def.Root.Connections[:1]
	out, err := Write(def, testTypes(t))
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Read(out, "", testTypes(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := byID(t, again, "in")
	if got.Inputs["requestTimeout"].Value != "00:00:10" || got.Inputs["exposeRequestTooLargeOutcome"].Value != true || got.CanStart {
		t.Errorf("%+v", got)
	}
	if again.Variables[0].StorageDriver != "Memory" || again.Options.CommitStrategy != "ActivityExecuted" || len(again.Root.Connections) != 1 {
		t.Errorf("%+v", again)
	}
	if len(got.Extra) == 0 || got.Metadata["displayText"] != "Take" {
		t.Errorf("the rest is gone: %+v", got)
	}
}

func TestNodeIDsAreComputedAnew(t *testing.T) {
	t.Parallel()
	def := readSample(t, "modern.json")
	def.Root.ID = "renamed"
	def.Root.Extra["nodeId"] = []byte(`"Workflow9:renamed"`)
	def.Root.Activities[0].ID = "first"
	out, _ := Write(def, testTypes(t))
	root, _, _ := jsontree.Parse(out)
	first := root.Get("root").Get("activities").Items[0]
	if got := first.Get("nodeId").Text; got != "Workflow9:renamed:first" {
		t.Error(got)
	}
}

// FuzzRead: nothing panics, and what reads also writes and reads again as the
// same.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"modern.json", "legacy.json", "nested.json", "machine.json"} {
		f.Add(sample(f, name))
	}
	f.Add([]byte(`{ "00":"0", "DefinitionId": "","usableAsActivity":true,"Root": {"Type": "0"}}`))
	for _, c := range badInputs {
		f.Add([]byte(c.src))
	}
	files, _ := filepath.Glob(filepath.Join("testdata", "*.json"))
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	types := testTypes(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		Unwrap(src)
		Looks(src)
		for _, types := range []workflow.Types{types, nil} {
			def, problems := Read(src, "fuzz.json", types)
			for _, p := range problems {
				if p.Code == "" || p.Detail == "" || p.Place.File == "" {
					t.Fatalf("a problem without code, detail or place: %+v", p)
				}
			}
			if len(problems) > 0 {
				continue
			}
			out, err := Write(def, types)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > workflow.MaxSource {
				continue // nodeIds and indents may pass the limit
			}
			back, problems := Read(out, "fuzz.json", types)
			if len(problems) > 0 {
				t.Fatalf("%v\n%s", problems, out)
			}
			again, err := Write(back, types)
			if err != nil || string(again) != string(out) {
				t.Fatalf("written twice, it differs (%v):\n%s\n%s", err, out, again)
			}
			if d := cmp.Diff(stripped(def), stripped(back), unplaced); d != "" {
				t.Fatalf("%s\n%s", d, out)
			}
		}
	})
}

// stripped gives a definition without the kept sources, which the forms of what
// was not kept (older spellings) have no part in.
func stripped(def *workflow.Definition) *workflow.Definition {
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		a.Extra = nil
		return true
	})
	def.Extra, def.Options.Extra = nil, nil
	return def
}
