package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// taskType is the activity type whose bookmarks are tasks.
const taskType = "Elsa.RunTask"

// Tasks lists the tasks that wait for an outside worker; name restricts them. A
// task's id is the id of its bookmark.
//
// A page may end within an instance. Its cursor is then the one that leads to
// that instance, and the last task: those of an instance are in the order of
// their ids, so that the cursor holds when the task is done meanwhile.
func (r *Runtime) Tasks(ctx context.Context, name, cursor string, limit int) (Page[Task], error) {
	page := Page[Task]{Items: []Task{}}
	raw, err := readCursor(cursor)
	if err != nil {
		return page, err
	}
	after, last, _ := strings.Cut(raw, "\n")
	within, _ := workflow.BookmarkInstance(last)
	for {
		items, next, err := r.cfg.Store.Instances(ctx, etcdstore.InstanceFilter{Status: workflow.StatusRunning}, after, int64(limitOf(limit)))
		if err != nil {
			return page, readFailed("tasks", err)
		}
		for i := range items {
			in := &items[i]
			slices.SortFunc(in.Bookmarks, func(a, b workflow.Bookmark) int { return strings.Compare(a.ID, b.ID) })
			for _, b := range in.Bookmarks {
				if b.ActivityType != taskType || name != "" && b.Name != name || in.ID == within && b.ID <= last {
					continue
				}
				if n := len(page.Items); n == limitOf(limit) {
					page.Next = writeCursor(after + "\n" + page.Items[n-1].TaskID)
					return page, nil
				}
				page.Items = append(page.Items, Task{TaskID: b.ID, Name: b.Name, InstanceID: in.ID, Payload: b.Metadata, CreatedAt: b.CreatedAt})
			}
			after = r.cfg.Store.RunningCursor(in)
		}
		page.Next = writeCursor(next)
		if next == "" || len(page.Items) == limitOf(limit) {
			return page, nil
		}
		after = next
	}
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
	kind := "bookmark"
	if d.IsQueueExpiry() {
		kind = "queue-expiry"
	}
	return TimerItem{DueAt: d.At, Kind: kind, InstanceID: d.Instance(), BookmarkID: d.Bookmark()}
}
