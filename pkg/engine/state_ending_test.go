package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// An instance that is loaded for its end only ends as any other, in either form of its state, also when that comes byte by
// byte.
func TestAnInstanceLoadedForItsEndEndsAsAnyOther(t *testing.T) {
	t.Parallel()
	prog, ended := fuzzProgram(t), 0
	for i, was := range realInstances(t, prog) {
		for form, env := range map[string]engine.Env{"one form": fuzzEnv, "the form for many places": wideEnv()} {
			for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
				if was.Header.Status != workflow.StatusRunning && kind == workflow.CommandCancel {
					continue
				}
				whole, err := engine.Load(prog, was.Header, was.State, env)
				if err != nil {
					t.Fatal(err)
				}
				written, err := whole.Result()
				if err != nil {
					t.Fatal(err)
				}
				brief, err := engine.LoadEnding(prog, written.Instance, iotest.OneByteReader(bytes.NewReader(written.State)), env)
				if errors.Is(err, engine.ErrAtWork) && bytes.Contains(written.State, []byte(`"commands"`)) {
					continue
				}
				if err != nil {
					t.Fatalf("after commit %d, %s: %v", i, form, err)
				}
				if _, err := brief.Result(); err == nil || !strings.Contains(err.Error(), "loaded for its end") {
					t.Errorf("before its end it is committed: %v", err)
				}
				ends := func(b *engine.Burst) engine.Result {
					if _, err := b.Run(t.Context(), workflow.Command{ID: "end", Kind: kind}); err != nil {
						t.Fatal(err)
					}
					r, err := b.Result()
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				a, b := ends(whole), ends(brief)
				b.Burned = a.Burned // its places are known to the store
				slices.Sort(a.Cancel)
				slices.Sort(b.Cancel)
				if ended++; !reflect.DeepEqual(a, b) {
					t.Errorf("after commit %d, %s, a %s leaves\n%+v\nand loaded for it\n%+v", i, form, kind, a, b)
				}
			}
		}
	}
	if ended < 30 {
		t.Errorf("%d ends were compared", ended)
	}
}

func TestLoadingForTheEndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	for state, want := range map[string]string{
		``:                                  "not readable",
		`[]`:                                "no object",
		`{"v":99}`:                          "format 99",
		`{"v":2,"newer":true}`:              `unknown field "newer"`,
		`{"v":2,"executions":[{"x":1}]}`:    `unknown field "x"`,
		`{"v":2,"bookmarks":[{"newer":1}]}`: `unknown field "newer"`,
		`{"v":2,"executions":[{"id":"x","parent":-1,"node":"gone"}]}`: `activity "gone"`,
		`{"v":2,"executions":[{"id":"x"`:                              "EOF",
	} {
		if _, err := engine.LoadEnding(prog, workflow.Instance{ID: "i"}, strings.NewReader(state), fuzzEnv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

// What an end keeps of an instance does not grow with the places where it waits: 100,000 of them take a few megabytes,
// of which the most are numbers that the journal tells. It runs alone, as it measures memory.
func TestAnEndTakesLittleMemoryAtAnyWidth(t *testing.T) {
	var state strings.Builder
	state.WriteString(`{"v":2,"seq":200000,"started":true,"executions":[{"id":"r","parent":-1,"node":""},{"id":"p","n":1,"parent":0,"node":"par"}`)
	const n = 100_000
	for i := range n {
		fmt.Fprintf(&state, `,{"id":"e%022d","n":%d,"parent":1,"node":"p1","vars":{"CurrentIndex":%d,"CurrentValue":"e%d"}}`, i, i+2, i, i)
	}
	state.WriteString(`],"bookmarks":[{"on":2}`)
	for i := range n - 1 {
		fmt.Fprintf(&state, `,{"on":%d}`, i+3)
	}
	state.WriteString("]}")
	prog := simpleEach(t)
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	b, err := engine.LoadEnding(prog, workflow.Instance{ID: "i", DefinitionID: "d", Status: workflow.StatusRunning, SubStatus: workflow.Suspended, CreatedAt: time.Unix(1, 0)}, strings.NewReader(state.String()), fuzzEnv)
	if err != nil {
		t.Fatal(err)
	}
	if took := int64(live()) - int64(before); took > 16<<20 {
		t.Errorf("it takes %d KiB", took>>10)
	}
	if _, err := b.Run(t.Context(), workflow.Command{ID: "end", Kind: workflow.CommandCancel}); err != nil {
		t.Fatal(err)
	}
	r, err := b.Result()
	if err != nil {
		t.Fatal(err)
	}
	last := r.Journal[len(r.Journal)-1].Text + r.Journal[len(r.Journal)-2].Text
	if len(r.Variables.Gone) != n || !strings.Contains(last, "have no line of their own") {
		t.Errorf("%d scopes are gone, and the journal ends with %q", len(r.Variables.Gone), last)
	}
	runtime.KeepAlive(b)
}

func simpleEach(t *testing.T) *engine.Program {
	t.Helper()
	par := &workflow.Activity{ID: "par", Type: "Elsa.ParallelForEach", Inputs: map[string]workflow.Expression{"items": workflow.Lit([]any{1, 2})},
		Ports: map[string]*workflow.Activity{"body": {ID: "p1", Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("e")}}}}
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: par}, engine.Options{Registry: activities.Default()})
	if problems != nil {
		t.Fatal(problems)
	}
	return prog
}
