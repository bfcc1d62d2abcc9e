package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// fuzzDefinition waits at many kinds of places.
func fuzzDefinition() *workflow.Definition {
	lit, act := workflow.Lit, func(id, typ string, in map[string]workflow.Expression, kids ...*workflow.Activity) *workflow.Activity {
		return &workflow.Activity{ID: id, Type: "Elsa." + typ, Inputs: in, Activities: kids}
	}
	event := func(id string) *workflow.Activity {
		return act(id, "Event", map[string]workflow.Expression{"eventName": lit(id)})
	}
	flow := act("flow", "Flowchart", nil, event("f1"), event("f2"), act("f3", "FlowJoin", nil))
	flow.Connections = []workflow.Connection{{Source: "f1", Target: "f2"}, {Source: "f1", Target: "f3"}, {Source: "f2", Target: "f3"}, {Source: "f3", Target: "f1"}}
	each := act("each", "ForEach", map[string]workflow.Expression{"items": lit([]any{1, 2.5, "x"})})
	each.Ports = map[string]*workflow.Activity{"body": event("e1")}
	par := act("par", "ParallelForEach", map[string]workflow.Expression{"items": lit([]any{1, 2})})
	par.Ports = map[string]*workflow.Activity{"body": event("p1")}
	machine := act("machine", "StateMachine", nil)
	machine.States = []workflow.State{{Name: "A", Transitions: []workflow.Transition{{To: "B", Trigger: event("t1")}}}, {Name: "B", Entry: event("b1")}}
	used := &workflow.Activity{ID: "used", Type: "Child", Ref: &workflow.DefinitionRef{ID: "child"}}
	bulk := act("bulk", "BulkDispatchWorkflows", map[string]workflow.Expression{"workflowDefinitionId": lit("c"), "items": lit([]any{1, 2}), "waitForCompletion": lit(true)})
	fault := act("s", "Sequence", nil, event("s1"), act("bad", "Fault", nil))
	return &workflow.Definition{ID: "d", Root: act("root", "Parallel", nil, flow, each, par, machine, used, bulk, fault), Variables: []workflow.Variable{{ID: "vid", Name: "v", Value: 1.5}},
		Options: workflow.Options{CommitStrategy: "ActivityExecutedStrict"}}
}

func fuzzProgram(t testing.TB) *engine.Program {
	t.Helper()
	child := &workflow.Definition{ID: "child", Options: workflow.Options{UsableAsActivity: true}, Root: &workflow.Activity{ID: "c1", Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("c1")}}}
	prog, problems := engine.Compile(fuzzDefinition(), engine.Options{Registry: activities.Default(), Resolve: func(workflow.DefinitionRef) (*workflow.Definition, bool) { return child, true }})
	if problems != nil {
		t.Fatal(problems)
	}
	return prog
}

var fuzzEnv = engine.Env{Now: func() time.Time { return time.Unix(1_800_000_000, 0).UTC() }, Head: func(string) (int, bool) { return 1, true }, Limits: engine.Limits{Activities: 200}}

// FuzzState: whatever bytes come as a state, loading them gives an error or an
// instance; that survives a round trip, and no command makes it panic.
func FuzzState(f *testing.F) {
	prog := fuzzProgram(f)
	b, err := engine.New(prog, "i", &workflow.Start{Trigger: "e1", Properties: map[string]any{"a": []any{1, nil}}}, time.Time{}, fuzzEnv)
	if err != nil {
		f.Fatal(err)
	}
	cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart}
	for i := range 30 {
		res, err := b.Result()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(res.State)
		b.Committed()
		out, err := b.Run(f.Context(), cmd)
		if err != nil {
			f.Fatal(err)
		}
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
		if h := b.Header(); out == engine.Applied && len(h.Bookmarks) > 0 {
			cmd = workflow.Command{ID: fmt.Sprint("c", i), Kind: workflow.CommandResume, Bookmark: h.Bookmarks[i%len(h.Bookmarks)].ID}
		}
	}
	f.Add([]byte(`{"v":1,"started":true,"executions":[{"id":"x","parent":-1,"node":""},{"id":"y","parent":0,"node":"root"}],"work":[{"kind":"execute","node":"flow","on":1,"cmd":0}],"commands":[{"id":"a"}]}`))
	f.Fuzz(func(t *testing.T, state []byte) {
		for _, kind := range []workflow.CommandKind{workflow.CommandContinue, workflow.CommandRetry, workflow.CommandCancel, workflow.CommandResume} {
			for _, sub := range []workflow.SubStatus{workflow.Suspended, workflow.Faulted} {
				tryState(t, prog, state, kind, sub)
			}
		}
	})
}

func tryState(t *testing.T, prog *engine.Program, state []byte, kind workflow.CommandKind, sub workflow.SubStatus) {
	t.Helper()
	h := workflow.Instance{ID: "i", DefinitionID: "d", SubStatus: sub, Status: sub.Status()}
	b, err := engine.Load(prog, h, state, fuzzEnv)
	if err != nil {
		return
	}
	one, err := b.Result()
	if err != nil {
		return // a scratch or number that JSON reads and does not write
	}
	again, err := engine.Load(prog, one.Instance, one.State, fuzzEnv)
	if err != nil {
		t.Fatalf("what was encoded is not read: %v\n%s", err, one.State)
	}
	if two, err := again.Result(); err != nil || string(two.State) != string(one.State) {
		t.Fatalf("a round trip changed the state (%v)\n%s\n%s", err, one.State, two.State)
	}
	cmd := workflow.Command{ID: "f", Kind: kind}
	if kind == workflow.CommandResume && len(one.Instance.Bookmarks) > 0 {
		cmd.Bookmark = one.Instance.Bookmarks[0].ID
	}
	for range 20 {
		out, err := b.Run(t.Context(), cmd)
		if workflow.CodeOf(err) == workflow.CodeNotRunnable {
			return // a scratch that its activity does not know, which only it can see: the burst is left to another node
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Result(); err != nil {
			return
		}
		if out != engine.CommitFirst {
			return
		}
		b.Committed()
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	for state, want := range map[string]string{
		``:                         "not readable",
		`{"v":99}`:                 "format 99, and the program of this node reads format 1 and 2",
		`{"v":99,"newer":true}`:    "format 99, and the program of this node reads format 1 and 2",
		`{"v":1,"newer":true}`:     "unknown field \"newer\"", // it would be lost with the next commit
		`{"v":1,"late":[{"x":1}]}`: "unknown field \"x\"",
		`{"v":1,"executions":[{"id":"x","parent":-1,"node":"gone"}]}`: `activity "gone", which this version of the definition does not have`,
		`{"v":1,"executions":[{"id":"x","parent":5,"node":"flow"}]}`:  "no place in the tree",
		`{"v":1,"work":[{"kind":"execute","cmd":0}]}`:                 "belongs to no command",
		`{"v":1,"bookmarks":[{"on":3}]}`:                              "no execution 3",
	} {
		_, err := engine.Load(prog, workflow.Instance{ID: "i"}, json.RawMessage(state), fuzzEnv)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "load instance i") {
			t.Errorf("%s: %v", state, err)
		}
	}
}
