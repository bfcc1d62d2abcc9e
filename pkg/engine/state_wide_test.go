package engine_test

import (
	"bytes"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// wideEnv has the state of every instance written in the form for many places.
func wideEnv() engine.Env {
	env := fuzzEnv
	env.Limits.Wide = -1
	return env
}

// The form for many places is the same instance: whatever it had come to, it is read from the one form as from the
// other, written as it was, and goes on alike.
func TestAStateInTheFormForManyPlacesIsTheSameInstance(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	forms, halted := 0, 0
	for i, was := range realInstances(t, prog) {
		load := func(state []byte, env engine.Env) *engine.Burst {
			b, err := engine.Load(prog, was.Header, state, env)
			if err != nil {
				t.Fatalf("after commit %d: %v\n%s", i, err, state)
			}
			return b
		}
		result := func(b *engine.Burst) engine.Result {
			r, err := b.Result()
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		wide := result(load(was.State, wideEnv()))
		if !bytes.HasPrefix(wide.State, []byte(`{"v":2,`)) {
			continue
		}
		forms++
		if was.Header.SubStatus == workflow.Faulted {
			halted++
		}
		if again := result(load(wide.State, wideEnv())); !bytes.Equal(again.State, wide.State) {
			t.Errorf("after commit %d the state is written as\n%s\nand was\n%s", i, again.State, wide.State)
		}
		if back := result(load(wide.State, fuzzEnv)); !bytes.Equal(back.State, was.State) {
			t.Errorf("after commit %d the state comes back as\n%s\nand was\n%s", i, back.State, was.State)
		}
		one, other := load(was.State, fuzzEnv), load(wide.State, wideEnv())
		for _, b := range []*engine.Burst{one, other} {
			cmd := workflow.Command{ID: "r", Kind: workflow.CommandRetry}
			if len(was.Header.Bookmarks) > 0 {
				cmd = workflow.Command{ID: "c", Kind: workflow.CommandResume, Bookmark: was.Header.Bookmarks[0].ID}
			}
			if _, err := b.Run(t.Context(), cmd); err != nil {
				t.Fatal(err)
			}
		}
		a, b := result(one), result(load(result(other).State, fuzzEnv))
		if !bytes.Equal(a.State, b.State) && a.Instance.SubStatus != workflow.Faulted {
			t.Errorf("after commit %d it goes on to\n%s\nand from the other form to\n%s", i, a.State, b.State)
		}
	}
	if forms < 10 || halted == 0 {
		t.Errorf("%d states of that form, %d of them halted", forms, halted)
	}
}

// A state in which a reference leads nowhere, or to two, is damaged.
func TestAStateInTheFormForManyPlacesRefersByNumbers(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	for state, want := range map[string]string{
		`{"v":2,"bookmarks":[{"on":3}]}`: "no execution 3",
		`{"v":2,"executions":[{"id":"x","parent":-1,"node":""},{"id":"y","n":2,"parent":5,"node":"root"}]}`:       "no execution 5",
		`{"v":2,"executions":[{"id":"x","n":1,"parent":-1,"node":""},{"id":"y","n":1,"parent":1,"node":"root"}]}`: "two executions 1",
		`{"v":3}`: "format 3",
	} {
		if _, err := engine.Load(prog, workflow.Instance{ID: "i"}, []byte(state), fuzzEnv); err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%s: %v", state, err)
		}
	}
}
