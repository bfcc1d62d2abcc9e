package etcdstore

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

// A parent that is imported is told how its child has ended, also if only the archive has that.
func TestTheEndOfAChildInTheArchiveIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.bookmark("p", "w", "x")
	b.Payload = map[string]any{"childInstanceId": "c"}
	var failed error
	w.Conn.Archived = func(_ context.Context, id string) (*workflow.Instance, error) {
		return &workflow.Instance{ID: id, Status: workflow.StatusFinished, SubStatus: workflow.Finished, Output: map[string]any{"sum": 3.0}}, failed
	}
	for _, moved := range []bool{true, false} {
		ends, why, err := w.Instances.MissedEnds(w.ctx(), "p", []workflow.Bookmark{b}, moved, w.now)
		w.ok(err)
		if why != "" || len(ends) != 1 || ends[0].Input["WorkflowSubStatus"] != string(workflow.Finished) {
			t.Errorf("%q, %+v", why, ends)
		}
	}
	failed = errors.New("the archive is away")
	if _, _, err := w.Instances.MissedEnds(w.ctx(), "p", []workflow.Bookmark{b}, false, w.now); !errors.Is(err, failed) {
		t.Error(err)
	}
}
