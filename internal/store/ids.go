package store

import "github.com/weft-run/weft/pkg/workflow"

// What a stimulus is made into has ids that derive from its own, so that it is made once, and
// that what became of it can be told from the keys.

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
