package store

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// What something is made into has ids that derive from its own, so that it is made once, and
// that what became of it can be told from the keys. Nodes of two versions make the same ones:
// each function here is in internal/store/etcdstore/testdata/golden/keys.txt.

// TargetCommand is the id of the command that a stimulus with several targets sends to a
// bookmark.
func TargetCommand(stimulus, bookmark string) string {
	return "to-" + workflow.DeriveID(stimulus, bookmark)
}

// TriggeredStart is the id of the command by which a stimulus starts an instance by a trigger.
func TriggeredStart(stimulus, definition, activity string) string {
	return "start-" + workflow.DeriveID(stimulus, definition, activity)
}

// TriggeredInstance is the id of that instance.
func TriggeredInstance(stimulus, definition, activity string) string {
	return workflow.DeriveID("triggered", stimulus, definition, activity)
}

// GatedItem is the id of the queue item that waits to start an instance, where its stimulus
// starts several.
func GatedItem(instance string) string { return "gated-" + instance }

// ChildEndCommand is the id of the command that tells a waiting parent of its child's end.
func ChildEndCommand(bookmark, child string) string {
	return "end-" + workflow.DeriveID(bookmark, child)
}

// CancelCommand is the id of the command by which an instance cancels its child.
func CancelCommand(parent, child string) string {
	return "cancel-" + workflow.DeriveID(parent, child)
}

// TimerCommand is the id of the command that a timer becomes.
func TimerCommand(bookmark string) string { return "timer-" + workflow.DeriveID(bookmark) }

// PlaceCommand is the id of the command that tells an instance that it has its place of a limit.
func PlaceCommand(bookmark string) string { return "place-" + workflow.DeriveID(bookmark) }

// TaskCommand is the id of the command that tells an instance that time has ended its task.
func TaskCommand(bookmark string) string { return "task-" + workflow.DeriveID(bookmark) }

// JobCommand is the id of the command that a job gives an instance.
func JobCommand(job, instance string) string { return "job-" + workflow.DeriveID(job, instance) }

// Again is the id under which a stimulus, or a command, goes back to wait, as what it was for
// is not there any more.
func Again(id, of string) string { return "again-" + workflow.DeriveID(id, of) }

// ScheduledInstance is the id of the instance that an occurrence of a schedule starts.
func ScheduledInstance(definition, activity string, due time.Time) string {
	return workflow.DeriveID("scheduled", definition, activity, due.UTC().Format(time.RFC3339Nano))
}

// KeyedInstance is the id of the instance that is started with a caller's key of this name.
func KeyedInstance(key string) string { return workflow.DeriveID("instance", key) }

// KeyedJob is the id of the job that is created with a caller's key of this name.
func KeyedJob(key string) string { return workflow.DeriveID("job", key) }

// KeyName is the name of a caller's Idempotency-Key, of which there is one for each scope: a
// route with its path parameters, and a caller. The names of one key begin alike, so that all
// that was asked for with it is found by the key alone.
func KeyName(scope, value string) string {
	return KeyPrefix(value) + workflow.DeriveID("key", scope, value)
}

// KeyPrefix is what the names of a key begin with in every scope. It has 65 bits: another
// key of the same is not to be expected, and would be shown beside it.
func KeyPrefix(value string) string { return workflow.DeriveID("value", value)[:13] }

// Replayed begins the ids of replays of dead letters.
const Replayed = "replay-"
