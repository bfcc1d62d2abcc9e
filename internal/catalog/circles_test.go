package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/workflow"
)

// Who closes a circle of definitions that start each other, by an activity or by an event, is told when it is published, with the
// place; also in a dry run, and by its id as it is being published.
func TestACircleOverDefinitionsIsToldAtPublishing(t *testing.T) {
	b := newBundle(t)
	n, other := b.node(), b.node()
	told := func(by *node, src string, dry bool) []string {
		t.Helper()
		res, err := by.Publish(t.Context(), catalog.PublishRequest{Source: []byte(src), Publish: true, DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, w := range res.Warnings {
			if w.Code == "endless-loop" {
				lines = append(lines, strings.Split(w.Detail, ":")[0]+" at "+workflow.Problems{w}.Error())
			}
		}
		return lines
	}
	wants := func(what string, got []string, want string) {
		t.Helper()
		if want == "" && len(got) > 0 || want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	wants("a, which is the first", told(n, "id: a\nroot:\n  - event: go\n    trigger: true\n  - dispatchWorkflow: b\n", false), "")
	closes := "id: b\nroot:\n  - writeLine: x\n  - publishEvent: go\n"
	for _, dry := range []bool{true, false} {
		got := told(other, closes, dry)
		wants("b, which publishes what starts a", got, "publishes event go, which starts a, which starts b again")
		wants("and its place", got, "line 4")
	}
	wants("a again, with another text", told(n, "id: a\nroot:\n  - event: go\n    trigger: true\n  - writeLine: x\n  - dispatchWorkflow: b\n", false), "starts b, which publishes event go, which starts a again")
	wants("a, without its trigger", told(n, "id: a\nroot:\n  - event: go\n  - dispatchWorkflow: b\n", false), "")
}
