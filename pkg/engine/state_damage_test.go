package engine_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// realStates are the states of one instance from its start to its end.
func realStates(t testing.TB, prog *engine.Program) [][]byte {
	t.Helper()
	var out [][]byte
	for _, i := range realInstances(t, prog) {
		out = append(out, i.State)
	}
	return out
}

// realInstances are the commits of one instance.
func realInstances(t testing.TB, prog *engine.Program) []goldenInstance {
	t.Helper()
	b, err := engine.New(prog, "i", &workflow.Start{Trigger: "e1"}, time.Time{}, fuzzEnv)
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenInstance
	cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart}
	for range 30 {
		done, err := b.Run(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		res, err := b.Result()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, goldenInstance{res.Instance, res.State})
		b.Committed()
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
		if len(res.Instance.Bookmarks) > 0 && done == engine.Applied {
			cmd = workflow.Command{ID: "c", Kind: workflow.CommandResume, Bookmark: res.Instance.Bookmarks[len(out)%len(res.Instance.Bookmarks)].ID}
		}
	}
	return out
}

// TestDamagedStates changes a few places of real states: loading them gives an
// error or an instance that no command can make panic.
func TestDamagedStates(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	states := realStates(t, prog)
	kinds := []workflow.CommandKind{workflow.CommandContinue, workflow.CommandRetry, workflow.CommandCancel, workflow.CommandResume}
	rapid.Check(t, func(rt *rapid.T) {
		var tree any
		if err := json.Unmarshal(rapid.SampledFrom(states).Draw(rt, "state"), &tree); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			damage(rt, tree)
		}
		raw, err := json.Marshal(tree)
		if err != nil {
			rt.Fatal(err)
		}
		kind := rapid.SampledFrom(kinds).Draw(rt, "command")
		sub := rapid.SampledFrom([]workflow.SubStatus{workflow.Suspended, workflow.Executing, workflow.Faulted}).Draw(rt, "sub")
		tryState(t, prog, raw, kind, sub)
	})
}

// damage changes one place somewhere in the tree.
func damage(t *rapid.T, at any) {
	for {
		switch v := at.(type) {
		case map[string]any:
			if len(v) == 0 {
				return
			}
			k := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "key")
			if isBranch(v[k]) && rapid.IntRange(0, 3).Draw(t, "deeper") > 0 {
				at = v[k]
				continue
			}
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				delete(v, k)
			} else {
				v[k] = other(t)
			}
			return
		case []any:
			if len(v) == 0 {
				return
			}
			i := rapid.IntRange(0, len(v)-1).Draw(t, "index")
			if isBranch(v[i]) && rapid.IntRange(0, 5).Draw(t, "deeper") > 0 {
				at = v[i]
				continue
			}
			v[i] = v[rapid.IntRange(0, len(v)-1).Draw(t, "with")]
			return
		default:
			return
		}
	}
}

func isBranch(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func other(t *rapid.T) any {
	return rapid.SampledFrom([]any{
		nil, true, -1, 0, 1, 2, 7, 1.5, 1e30, "", "flow", "f1", "each", "used", "used/c1", "machine", "root", "bad", "execute", "resume", "child", "dispatch", "entry", "trigger 0", "trigger 9",
		map[string]any{}, []any{}, []any{1}, map[string]any{"node": "f1", "id": "x"},
	}).Draw(t, "value")
}
