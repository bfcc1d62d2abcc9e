package engine_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What an activity's code of a newer version saved, with a field that this code does
// not have, is no fault of the instance: the burst is refused, for another node.
func TestWhatNewerCodeOfAnActivitySavedIsLeft(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	b, err := engine.New(prog, "i", &workflow.Start{Trigger: "e1"}, time.Time{}, fuzzEnv)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart}
	for n := range 30 {
		done, err := b.Run(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		res, err := b.Result()
		if err != nil {
			t.Fatal(err)
		}
		b.Committed()
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
		if marks := res.Instance.Bookmarks; len(marks) > 0 && done == engine.Applied {
			cmd = workflow.Command{ID: "c", Kind: workflow.CommandResume, Bookmark: marks[n%len(marks)].ID}
		}
		newer := bytes.ReplaceAll(res.State, []byte(`"scratch":{`), []byte(`"scratch":{"newer":1,`))
		newer = bytes.ReplaceAll(newer, []byte(`"newer":1,}`), []byte(`"newer":1}`))
		other, err := engine.Load(prog, res.Instance, newer, fuzzEnv)
		if err != nil {
			t.Fatal(err)
		}
		switch _, err := other.Run(t.Context(), cmd); {
		case err == nil:
			if hd := other.Header(); len(hd.Incidents) > len(res.Instance.Incidents) && hd.SubStatus == workflow.Faulted {
				t.Errorf("command %d faulted it: %v", n, hd.Incidents)
			}
		case workflow.CodeOf(err) == workflow.CodeNotRunnable:
			refused++
		default:
			t.Errorf("command %d: %v", n, err)
		}
	}
	if refused == 0 {
		t.Error("no command met what was saved")
	}
}
