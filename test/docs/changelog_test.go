package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var versionHeading = regexp.MustCompile(`^## v\d+\.\d+\.\d+$`)

// A reader finds what a version brought, one line an entry; the first section is what a release build says of itself.
func TestTheChangelogIsByVersion(t *testing.T) {
	t.Parallel()
	heading, list := false, false
	for i, line := range strings.Split(read(t, os.DirFS(root), "CHANGELOG.md"), "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			if heading = true; !versionHeading.MatchString(line) {
				t.Errorf("CHANGELOG.md:%d: %q is no version: ## v1.2.3", i+1, line)
			}
		case strings.HasPrefix(line, "- "):
			if list = true; !heading {
				t.Errorf("CHANGELOG.md:%d: an entry before the first version", i+1)
			}
			if len(line) > 240 {
				t.Errorf("CHANGELOG.md:%d: an entry of %d bytes; at most 240, and a link to the page that tells more", i+1, len(line))
			}
		case strings.HasPrefix(line, " "):
			t.Errorf("CHANGELOG.md:%d: an entry of two lines", i+1)
		}
	}
	if !heading || !list {
		t.Error("CHANGELOG.md has no version, or no entry")
	}
}
