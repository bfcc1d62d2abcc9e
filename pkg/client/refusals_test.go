package client

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// A node remembers the newest of what a fence refused, and nothing else.
func TestRefusalsAreTheNewest(t *testing.T) {
	t.Parallel()
	commit := func(i int) *store.Commit {
		return &store.Commit{Fence: &store.Fence{Revision: 7}, After: store.Record{Header: workflow.Instance{ID: fmt.Sprint(i % 10)}, Seq: int64(i)}}
	}
	for _, count := range []int{0, 1, mostRefusals - 1, mostRefusals, mostRefusals + 1, 2*mostRefusals + 5} {
		n := &Node{}
		for i := range count {
			n.refusals.note(commit(i), fmt.Errorf("commit: %w", store.ErrFenced))
			n.refusals.note(commit(-1), nil)
			n.refusals.note(commit(-2), errors.New("no answer"))
			unlocked := commit(-3)
			unlocked.Fence = nil
			n.refusals.note(unlocked, store.ErrFenced)
		}
		all := n.Refusals("")
		if len(all) != min(count, mostRefusals) {
			t.Fatalf("of %d it remembers %d", count, len(all))
		}
		for i, r := range all {
			if r.Sequence != int64(count-1-i) {
				t.Fatalf("of %d, number %d from the end is %d", count, i, r.Sequence)
			}
		}
		for _, r := range n.Refusals("3") {
			if r.InstanceID != "3" {
				t.Errorf("of another instance: %+v", r)
			}
		}
	}
}
