package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// raw is an activity of an embedder: it gives what it got from somewhere, and tells in a
// second call what it has of that.
type raw struct {
	do   func(x *engine.Execution)
	told *string
}

type kept struct{ Names map[string]string }

func (r raw) Execute(_ context.Context, x *engine.Execution) error {
	r.do(x)
	_, err := x.Wait(engine.Wait{Name: "w\xff", Callback: "back\xff", Payload: map[string]any{"k\xff": "\xfe"}})
	return err
}

func (r raw) Resume(_ context.Context, x *engine.Execution, got engine.Resume) error {
	v, _ := x.Variable("v")
	*r.told = fmt.Sprintf("%q %q %q %q", v, engine.Scratch[kept](x).Names, got.Callback, got.Input)
	return nil
}

// runRaw starts the activity, and resumes it in the burst that is kept and in one that is loaded.
func runRaw(t *testing.T, do func(x *engine.Execution)) (first engine.Result, keptTold, loadedTold string) {
	t.Helper()
	var told string
	reg := activities.Default()
	if err := reg.Register(workflow.Descriptor{Type: "acme.Raw", Outputs: []workflow.OutputDescriptor{{Name: "out"}}}, raw{do, &told}); err != nil {
		t.Fatal(err)
	}
	root := &workflow.Activity{Type: "Elsa.Sequence", Variables: []workflow.Variable{{Name: "v"}}, Activities: []*workflow.Activity{{ID: "raw", Type: "acme.Raw"}}}
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: root}, engine.Options{Registry: reg})
	if problems != nil {
		t.Fatal(problems)
	}
	b, err := engine.New(prog, "i", &workflow.Start{}, time.Time{}, fuzzEnv)
	if err != nil {
		t.Fatal(err)
	}
	run := func(b *engine.Burst, cmd workflow.Command) engine.Result {
		if _, err := b.Run(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
		res, err := b.Result()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workflow.Marshal(res); err != nil {
			t.Fatalf("what it came to cannot be committed: %v", err)
		}
		return res
	}
	first = run(b, workflow.Command{ID: "s", Kind: workflow.CommandStart})
	if len(first.Instance.Bookmarks) == 0 {
		return first, "", ""
	}
	header, err := workflow.Marshal(first.Instance)
	if err != nil {
		t.Fatal(err)
	}
	var h workflow.Instance
	if err := workflow.Unmarshal(header, &h); err != nil {
		t.Fatal(err)
	}
	other, err := engine.Load(prog, h, first.State, fuzzEnv)
	if err != nil {
		t.Fatal(err)
	}
	b.Committed()
	resume := workflow.Command{ID: "r", Kind: workflow.CommandResume, Bookmark: h.Bookmarks[0].ID, Input: map[string]any{"in": "\xff"}}
	x := run(b, resume)
	keptTold = told
	y := run(other, resume)
	if !bytes.Equal(x.State, y.State) {
		t.Errorf("kept:   %s\nloaded: %s", x.State, y.State)
	}
	return first, keptTold, told
}

// What an activity gives that is not UTF-8 is the same in a burst that is kept and in
// one that is loaded.
func TestTextsOfActivitiesAreValid(t *testing.T) {
	t.Parallel()
	first, inMemory, loaded := runRaw(t, func(x *engine.Execution) {
		value := map[string]any{"\xff": []any{map[string]string{"a\xfe": "\xc3("}}}
		x.SetOutput("out", value)
		x.SetWorkflowOutput("o", "\xff")
		x.SetInstanceName("n\xff")
		x.SetOutcomes("o\xff")
		x.Journal("Raw", "text\xff", value)
		if err := x.SetVariable("v", value); err != nil {
			t.Error(err)
		}
		engine.Scratch[kept](x).Names = map[string]string{"\xff": "\xff"}
	})
	if inMemory != loaded || inMemory == "" || strings.Contains(inMemory, `\x`) {
		t.Errorf("kept %s\nloaded %s", inMemory, loaded)
	}
	if name := first.Instance.Name; name != "n\ufffd" {
		t.Errorf("the instance is named %q", name)
	}
}

// Names that would become the same are an incident, and no commit that cannot be made.
func TestNamesThatAreTheSameAreAnIncident(t *testing.T) {
	t.Parallel()
	same := map[string]any{"\xff": 1, "\xfe": 2}
	for what, do := range map[string]func(x *engine.Execution){
		"output":          func(x *engine.Execution) { x.SetOutput("out", same) },
		"workflow output": func(x *engine.Execution) { x.SetWorkflowOutput("o", []any{same}) },
		"its name":        func(x *engine.Execution) { x.SetWorkflowOutput("\xff", 1) },
		"journal":         func(x *engine.Execution) { x.Journal("Raw", "", same) },
		"variable": func(x *engine.Execution) {
			if err := x.SetVariable("v", map[string]string{"\xff": "", "\xfe": ""}); err != nil {
				panic(err)
			}
		},
		"name of a variable": func(x *engine.Execution) {
			if err := x.SetVariable("\xff", 1); err != nil {
				panic(err)
			}
		},
	} {
		first, _, _ := runRaw(t, do)
		if list := first.Instance.Incidents; len(list) != 1 || !strings.Contains(list[0].Message, "same in JSON") && !strings.Contains(list[0].Message, "not valid UTF-8") {
			t.Errorf("%s: %+v", what, list)
		}
	}
}
