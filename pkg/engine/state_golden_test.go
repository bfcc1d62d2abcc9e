package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var writeGolden = flag.Bool("golden", false, "write the golden files that are not there yet; those that are there stay")

// goldenInstance is an instance as it was stored.
type goldenInstance struct {
	Header workflow.Instance `json:"header"`
	State  json.RawMessage   `json:"state"`
}

// States that programs wrote, each after so many commits of one instance: every
// later program reads them, writes them again as they were, and goes on with them.
// The files stay as they are. What is new in a state has a file of its own.
func TestGoldenStates(t *testing.T) {
	t.Parallel()
	prog := fuzzProgram(t)
	commits := realInstances(t, prog)
	for _, after := range []int{0, 2, 5, 8, 12} {
		path := filepath.Join("testdata", "golden", fmt.Sprintf("state-%02d.json", after))
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && *writeGolden {
			if raw, err = workflow.Marshal(commits[after]); err == nil {
				err = os.WriteFile(path, append(raw, '\n'), 0o644)
			}
		}
		if err != nil {
			t.Fatalf("%v (go test -run Golden -golden writes it)", err)
		}
		var was goldenInstance
		if err := workflow.UnmarshalKnown(raw, &was); err != nil {
			t.Fatal(err)
		}
		b, err := engine.Load(prog, was.Header, was.State, fuzzEnv)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		is, err := b.Result()
		if err != nil || !bytes.Equal(is.State, was.State) {
			t.Errorf("%s is written as\n%s, %v\nand was\n%s", path, is.State, err, was.State)
		}
		before := len(is.Journal)
		cmd := workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
		if len(was.Header.Bookmarks) > 0 {
			cmd = workflow.Command{ID: "more", Kind: workflow.CommandResume, Bookmark: was.Header.Bookmarks[0].ID}
		}
		if _, err := b.Run(t.Context(), cmd); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if is, err = b.Result(); err != nil || len(is.Journal) == before {
			t.Errorf("%s: nothing happened after it, %v", path, err)
		}
	}
}
