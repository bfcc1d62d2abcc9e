package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The build inside a container needs a registry, so no test runs it. What makes
// such builds fail first is a directory that is not copied, and an older Go.
func TestTheImageIsBuiltFromAllThatItNeeds(t *testing.T) {
	t.Parallel()
	file, ignored := readFile(t, "Dockerfile"), readFile(t, ".dockerignore")
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}", "./cmd/weft")
	list.Dir, list.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var needed []string
	for dir := range strings.Lines(string(out)) {
		if rel, ok := strings.CutPrefix(strings.TrimSpace(dir), top+string(filepath.Separator)); ok {
			needed = append(needed, strings.Split(rel, string(filepath.Separator))[0])
		}
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	if len(needed) == 0 {
		t.Fatal("the node needs nothing of ours")
	}
	for _, dir := range needed {
		if !strings.Contains(file, "\nCOPY "+dir+" "+dir+"\n") {
			t.Errorf("the Dockerfile does not copy %s", dir)
		}
		if !strings.Contains(ignored, "\n!"+dir+"\n") {
			t.Errorf(".dockerignore hides %s", dir)
		}
	}
	for _, stamp := range []string{".stamped=${VERSION}", ".stampedCommit=${COMMIT}"} {
		if !strings.Contains(file, " -X github.com/weft-run/weft/internal/people/command"+stamp) {
			t.Errorf("the Dockerfile does not build with %s", stamp)
		}
	}
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "go.mod"))
	if language == nil || !strings.Contains(file, "\nFROM golang:"+language[1]+" AS build\n") {
		t.Errorf("the Dockerfile does not build with Go %v", language)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
