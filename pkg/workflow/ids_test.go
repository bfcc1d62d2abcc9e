package workflow_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

func TestIDsHaveAPathOfTheirOwn(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "...": true, ".a": true, "a..b": true, "-": true, "a:b_c-d.e": true, strings.Repeat("a", 128): true,
		".": false, "..": false, "": false, "a/b": false, "%2e": false, "a~b": false, "é": false, strings.Repeat("a", 129): false,
	} {
		if err := workflow.CheckID("it", id); (err == nil) != want {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Ids that are made are short, sort by when they were made, and are ids that a caller
// could choose, as those of 36 characters are that programs of before have made.
func TestNewIDsAreShortAndInTheOrderOfTheirTime(t *testing.T) {
	t.Parallel()
	before := ""
	for range 10_000 {
		id := workflow.NewID()
		if len(id) != 26 || len(workflow.DeriveID(id)) != 26 || workflow.CheckID("it", id) != nil || strings.Trim(id, "0123456789abcdefghijklmnopqrstuv") != "" {
			t.Fatalf("%q is no such id", id)
		}
		if !workflow.Generated(id) || !workflow.Generated(workflow.DeriveID(id)) {
			t.Fatalf("%q was not made here", id)
		}
		if id <= before {
			t.Fatalf("%q was made after %q", id, before)
		}
		before = id
	}
	if err := workflow.CheckID("it", "0199f0aa-7c1e-7d2a-9d0e-6f1b8a6c2f10"); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"", "a", "order-1", before + "0", before[1:], before[:25] + "w", before[:25] + "A", before[:25] + "-", before[:24] + "é", "0199f0aa-7c1e-7d2a-9d0e-6f1b8a6c2f10"} {
		if workflow.Generated(other) {
			t.Errorf("%q was made here", other)
		}
	}
}

// What ids may come to have before them is refused by name, wherever it stands, so that
// no id is taken that would then mean something else.
func TestTenantsAndCellsAreReserved(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"acme~order-1": "it has ~ at position 5, which is reserved: what stands before it will be a tenant", "~order": "will be a tenant", "order~": "will be a tenant",
		"07!order-1": "it has ! at position 3, which is reserved: what stands before it will be a cell", "07!acme~order-1": "will be a cell", "!": "will be a cell",
	} {
		if err := workflow.CheckID("it", id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestBookmarkIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		workflow.BookmarkID("order-1", "a"): {"order-1", "a"}, workflow.BookmarkID("07!acme~order-1", "a"): {"07!acme~order-1", "a"},
		"order-1": {"order-1", ""}, "order-1~": {"order-1", ""}, "": {"", ""},
	} {
		if instance, local := workflow.SplitBookmarkID(id); instance != want[0] || local != want[1] {
			t.Errorf("%q: %q and %q", id, instance, local)
		}
	}
	for id, ok := range map[string]bool{"order-1~a": true, "order-1~": false, "order-1": false, "~a": false, "acme~order-1~a": false} {
		if instance, is := workflow.BookmarkInstance(id); is != ok || ok && instance != "order-1" {
			t.Errorf("%q: %q, %v", id, instance, is)
		}
	}
}

// An id of a newer program is told from what is no id.
func TestQualified(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"acme~order-1": true, "07!order-1": true, "07!acme~order-1": true,
		"order-1": false, "": false, "~order": false, "order~": false, "!order": false, "07!~x": false, "a~b~c": false, "acme~07!x": false, "a~b c": false, "junk\x00~x": false,
	} {
		if got := workflow.Qualified(id); got != want {
			t.Errorf("%q: %t", id, got)
		}
		if want && workflow.CheckID("id", id) == nil {
			t.Errorf("%q is both taken and qualified", id)
		}
	}
}
