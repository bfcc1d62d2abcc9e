package docs

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// file is one of a tree that is made up for a check.
func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// finds fails a test of a check that does not say just what it should.
func finds(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
