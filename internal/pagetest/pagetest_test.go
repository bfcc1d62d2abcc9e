package pagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noting is a test that may fail.
type noting struct {
	testing.TB
	said string
}

func (n *noting) Errorf(format string, args ...any) { n.said = fmt.Sprintf(format, args...) }

func TestAStaleFileIsToldAndWritten(t *testing.T) { //nolint:paralleltest // it sets the flag
	file := filepath.Join(t.TempDir(), "page.md")
	stale := func() bool {
		n := &noting{TB: t}
		Current(n, file, "new")
		return strings.Contains(n.said, "page.md is stale")
	}
	if !stale() {
		t.Error("a file that is not there is current")
	}
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !stale() {
		t.Error("an old file is current")
	}
	*update = true
	Current(t, file, "new")
	*update = false
	if stale() {
		t.Error("a file that was just written is stale")
	}
}
