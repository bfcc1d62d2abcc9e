package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// One finding that changed does not keep the others from being run, and is named at the end.
func TestAllFindingsAreRun(t *testing.T) {
	t.Parallel()
	run := func(scripts map[string]string) (out string, err error) {
		dir := t.TempDir()
		for name, script := range scripts {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := exec.CommandContext(t.Context(), "bash", "../../.ci/findings", dir).CombinedOutput()
		return string(raw), err
	}
	out, err := run(map[string]string{"a.sh": "exit 1", "b.sh": "echo b is as it was", "c.sh": "exit 2"})
	if err == nil || !strings.Contains(out, "b is as it was") || !strings.HasSuffix(out, "changed: a.sh c.sh\n") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(map[string]string{"a.sh": "exit 0"}); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(nil); err == nil {
		t.Errorf("none: %s", out)
	}
}
