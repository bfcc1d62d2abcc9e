package runtime

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Tasks lists the tasks that wait for an outside worker, the oldest first; name
// restricts them, without it they come name by name. A task's id is the id of its
// bookmark. A page may be shorter than its limit and have a next one.
func (r *Runtime) Tasks(ctx context.Context, name, cursor string, limit int) (Page[Task], error) {
	read := func(ctx context.Context, cursor string, limit int64) ([]etcdstore.Task, string, error) {
		return r.cfg.Reader.Tasks(ctx, name, cursor, limit)
	}
	return list(ctx, "tasks", cursor, limit, read, func(t etcdstore.Task) (Task, bool) {
		return Task{TaskID: t.Bookmark.ID, Name: t.Bookmark.Name, InstanceID: t.InstanceID, Payload: t.Bookmark.Metadata, CreatedAt: t.Bookmark.CreatedAt, Damaged: t.Damaged != "", Damage: t.Damaged}, true
	})
}

// CompleteTask hands the result of a task, or its error, to the instance that
// waits for it.
func (r *Runtime) CompleteTask(ctx context.Context, taskID string, result any, taskErr string, key *Key) (SendResult, error) {
	input := map[string]any{"result": result}
	if taskErr != "" {
		input = map[string]any{"error": taskErr}
	}
	res, err := r.ResumeBookmark(ctx, taskID, input, key)
	if c := workflow.CodeOf(err); c == workflow.CodeBookmarkNotFound || c == workflow.CodeInstanceNotFound {
		return res, workflow.Fail(workflow.CodeTaskNotFound, fmt.Sprintf("there is no task %q (any more)", taskID))
	}
	return res, err
}

func showTimer(d etcdstore.Due) TimerItem {
	return TimerItem{DueAt: d.At, Kind: "bookmark", InstanceID: d.Instance(), BookmarkID: d.Bookmark(), Damaged: d.Damaged != "", Damage: d.Damaged}
}
