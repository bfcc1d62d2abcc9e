package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What first-change.md has a reader spoil, run and add is there, and what it adds is not.
func TestTheFirstChangeCanBeMade(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	page := read(t, tree, "docs/first-change.md")
	spoil := regexp.MustCompile(`(?m)^sed -i\.bak 's/(.+)/.+/' (\S+)$`).FindStringSubmatch(page)
	if spoil == nil {
		t.Fatal("the page spoils nothing")
	}
	code := read(t, tree, spoil[2])
	if strings.Count(code, spoil[1]) != 1 || !strings.Contains(code, "func otherTag(") || strings.Contains(code, `"macro"`) {
		t.Errorf("%s is not as the page has it", spoil[2])
	}
	for _, m := range regexp.MustCompile(`go test (\./\S+) -run (\w+)`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(root + "/" + m[1]); err != nil {
			t.Error(err)
		}
	}
}
