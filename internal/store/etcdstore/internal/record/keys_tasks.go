package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
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

// Task is the entry of a free task. Those of a name are in the order of their ranks: see [task.Rank].
func (k Keys) Task(b *workflow.Bookmark) string { return k.Tasks("") + TaskPlace(b) }

// PutTask puts the entry of a task of a definition that is free, and was not claimed before, with the limit that it has then.
func PutTask(k Keys, o *db.Ops, b *workflow.Bookmark, definition string) {
	past := store.PastOf(b, definition)
	o.Put(k.Task(b), past)
	for _, key := range k.People.Entries(b) {
		o.PutRaw(key, nil)
	}
	if !past.ClaimBy.IsZero() {
		terms := task.Of(b)
		k.Taken.PutLimit(o, b, store.LimitClaim, past.ClaimBy, terms.ClaimWithin)
	}
}

// KeysOf are the keys at which a task of an instance may lie, free or taken, with the limit for its first claim, and of one for
// people with its entries in their lists.
func (k TakenKeys) KeysOf(b *workflow.Bookmark) []string {
	keys := []string{Keys{Root: k.root}.Task(b), k.Task(b)}
	if limit := k.limitOf(b); limit != "" {
		keys = append(keys, limit)
	}
	return append(keys, PeopleKeys(k).Entries(b)...)
}

// limitOf is where the limit lies that a task has while nobody has claimed it; "": it has none.
func (k TakenKeys) limitOf(b *workflow.Bookmark) string {
	if by := task.ClaimBy(b); !by.IsZero() {
		return k.Limit(b.ID, store.LimitClaim, by)
	}
	return ""
}

// TaskKeys is how many keys a commit deletes with a task.
func TaskKeys(b *workflow.Bookmark) int {
	n := 2
	if !task.ClaimBy(b).IsZero() {
		n++
	}
	if p, ok := task.ForPeople(b); ok {
		n += 1 + max(1, len(p.Users)+len(p.Groups))
	}
	return n
}

// PutLimit puts the entry of a limit of a task, which is over at a time and was so long.
func (k TakenKeys) PutLimit(o *db.Ops, b *workflow.Bookmark, of store.TaskLimit, at time.Time, within time.Duration) {
	o.Put(k.Limit(b.ID, of, at), store.TaskLease{Task: b.ID, Name: b.Name, Created: task.Rank(b), Limit: of, Within: within})
}

// Task holds the claim of a task.
func (k TakenKeys) Task(b *workflow.Bookmark) string { return k.Tasks("") + TaskPlace(b) }

// TaskPlace is where a task lies in the list of all that are free, and of all that are taken.
func TaskPlace(b *workflow.Bookmark) string {
	id, local := workflow.SplitBookmarkID(b.ID)
	name := taskName(b.Name)
	if b.Name == "" {
		name = Encode("") + "/"
	}
	return name + Millis(task.Rank(b)) + "/" + id + "/" + Encode(local)
}

// Claimed is the task of a claim, as far as its keys need it.
func Claimed(task string, c *workflow.TaskClaim) *workflow.Bookmark {
	return &workflow.Bookmark{ID: task, ActivityType: workflow.TaskType, Name: c.Name, CreatedAt: c.Created}
}

// TaskOf is what a place says of its task: its name, as far as the key holds it, its rank as the time when it was made, and its id. False: it is none.
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

// Limit is the entry of a limit of a task, among the leases.
func (k TakenKeys) Limit(task string, of store.TaskLimit, at time.Time) string {
	return k.Lease(task, at) + "!" + string(of) // an encoded part has no !
}

// Lease is the entry of a claim. Claims of one task that end in one millisecond share it.
func (k TakenKeys) Lease(task string, until time.Time) string {
	return k.Leases(TimerShard(task)) + Millis(until) + "/" + Encode(task)
}
