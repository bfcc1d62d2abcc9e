package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// A task is a bookmark, and lies in one of two lists: free, or taken by a worker. Both have the same order and the same
// places.

// TakenKeys are the keys of tasks that a worker has.
type TakenKeys struct{ root string }

// Tasks are the free ones of one name; "": of all.
func (k Keys) Tasks(name string) string { return k.Root + "task/" + taskName(name) }

// Tasks are those of one name that a worker has; "": of all.
func (k TakenKeys) Tasks(name string) string { return k.root + "task-taken/" + taskName(name) }

func taskName(name string) string {
	if name == "" {
		return ""
	}
	return Encode(name[:min(len(name), MaxTaskName)]) + "/"
}

// Task is the entry of a free task. The oldest comes first.
func (k Keys) Task(b *workflow.Bookmark) string { return k.Tasks("") + TaskPlace(b) }

// Task holds the claim of a task.
func (k TakenKeys) Task(b *workflow.Bookmark) string { return k.Tasks("") + TaskPlace(b) }

// TaskPlace is where a task lies in the list of all that are free, and of all that are taken.
func TaskPlace(b *workflow.Bookmark) string {
	id, local := workflow.SplitBookmarkID(b.ID)
	name := taskName(b.Name)
	if b.Name == "" {
		name = Encode("") + "/"
	}
	return name + Millis(b.CreatedAt) + "/" + id + "/" + Encode(local)
}

// Claimed is the task of a claim, as far as its keys need it.
func Claimed(task string, c *workflow.TaskClaim) *workflow.Bookmark {
	return &workflow.Bookmark{ID: task, ActivityType: workflow.TaskType, Name: c.Name, CreatedAt: c.Created}
}

// TaskOf is what a place says of its task: its name, as far as the key holds it, when it was made, and its id. False: it is none.
func TaskOf(place string) (workflow.Bookmark, bool) {
	parts := strings.Split(place, "/")
	if len(parts) != 4 {
		return workflow.Bookmark{}, false
	}
	return workflow.Bookmark{ID: workflow.BookmarkID(parts[2], Decode(parts[3])), ActivityType: workflow.TaskType,
		Name: Decode(parts[0]), CreatedAt: FromMillis(parts[1])}, true
}

// MaxTaskName is how many bytes of a task's name its key holds.
const MaxTaskName = 200

// Leases is what the entries of claims begin with whose leases end, of a shard.
func (k TakenKeys) Leases(shard int) string {
	return fmt.Sprintf("%stask-lease/%02x/", k.root, shard)
}

// Lease is the entry of a claim. Claims of one task that end in one millisecond share it.
func (k TakenKeys) Lease(task string, until time.Time) string {
	return k.Leases(TimerShard(task)) + Millis(until) + "/" + Encode(task)
}
