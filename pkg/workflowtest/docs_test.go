package workflowtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflowtest"
)

// The sample of docs/testing.md runs as it is printed.
func TestThePageTellsTheTruth(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	sample, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no sample")
	}
	definition, err := os.ReadFile("../../examples/order-approval.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"order-approval.yaml": string(definition), "sample.test.yaml": sample})
	workflowtest.CheckFiles(t, workflowtest.FileOptions{}, filepath.Join(dir, "sample.test.yaml"))
}
