package remote_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// What has finished is in a file, a line or a row each, with numbers as they are; what runs is not, and where something is
// wrong there is no file.
func TestExportForAnalysts(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("a.yaml", "id: exported\nlabels: {customer: acme}\ninputs: {n: {type: object}}\noutputs: {n: {type: object}}\nroot:\n  - if: ${{ inputs.n == 'waits' }}\n    then:\n      - event: export-go\n  - setOutput: {outputName: n, outputValue: \"${{ inputs.n }}\"}\n"))
	for i := range 3 {
		u.wants(0, "*", "run", "exported", "--id", fmt.Sprint("ex-", i), "--correlation", "x", "-i", "n=9007199254740993")
	}
	u.wants(0, "*", "run", "exported", "--id", "ex-waits", "-i", "n=waits")
	dir := t.TempDir()
	lines, table := filepath.Join(dir, "all.ndjson"), filepath.Join(dir, "all.parquet")
	u.refuses(2, "say which format", "archive", "export", "--out", filepath.Join(dir, "all"))
	u.refuses(2, "say where to", "archive", "export", "--format", "ndjson")
	u.refuses(3, "there is no word", "archive", "export", "no-such:word", "--out", lines)
	u.wants(0, lines+"  3 instances\n", "archive", "export", "def:exported", "--out", lines)
	u.wants(0, table+"  3 instances\n", "archive", "export", "def:exported", "--out", table)
	u.wants(0, "*", "archive", "export", "def:exported", "--out", "-")
	raw, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(raw)), "\n"); len(got) != 3 || !json.Valid([]byte(got[0])) || !strings.Contains(got[0], "9007199254740993") {
		t.Errorf("%q", got)
	}
	type row struct {
		InstanceID string            `parquet:"instance_id"`
		SubStatus  string            `parquet:"sub_status"`
		CreatedAt  time.Time         `parquet:"created_at,timestamp(millisecond)"`
		FinishedAt *time.Time        `parquet:"finished_at,optional,timestamp(millisecond)"`
		Labels     map[string]string `parquet:"labels"`
		Output     string            `parquet:"output"`
	}
	rows, err := parquet.ReadFile[row](table)
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		if r.SubStatus != "Finished" || r.Labels["customer"] != "acme" || r.Output != `{"n":9007199254740993}` || r.FinishedAt == nil || time.Since(r.CreatedAt) > time.Hour {
			t.Errorf("%+v", r)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want the two files", left, err)
	}
}
