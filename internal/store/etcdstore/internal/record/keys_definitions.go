package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// definitionKeys are the keys of definitions. Below definition/ are heads only, so
// that a sweep, a list and a watch of the heads read nothing else.
type definitionKeys struct{ root string }

// Triggers is what the triggers of a hash begin with.
func (k definitionKeys) Triggers(hash string) string { return k.root + "trigger/" + hash + "/" }

// Trigger holds a trigger.
func (k definitionKeys) Trigger(hash, definition, activity string) string {
	return k.Triggers(hash) + definition + "/" + Encode(activity)
}

// Routes is what routes begin with.
func (k definitionKeys) Routes() string { return k.root + "route/" }

// Route holds a route.
func (k definitionKeys) Route(method, template string) string {
	return k.Routes() + method + "/" + Encode(template)
}

// Crons is what the schedules of a shard begin with.
func (k definitionKeys) Crons(shard int) string { return fmt.Sprintf("%scron/%02x/", k.root, shard) }

// Cron holds the next occurrence of a schedule.
func (k definitionKeys) Cron(definition, activity string, due time.Time) string {
	return k.Crons(TimerShard(definition)) + Millis(due) + "/" + definition + "/" + Encode(activity)
}

// Definitions is what the heads of definitions begin with.
func (k definitionKeys) Definitions() string { return k.root + "definition/" }

// Definition is what the head of a definition begins with.
func (k definitionKeys) Definition(id string) string { return k.Definitions() + id + "/" }

// Head holds the head of a definition.
func (k definitionKeys) Head(id string) string { return k.Definition(id) + "head" }

// Body holds one version.
func (k definitionKeys) Body(id string, n int) string { return fmt.Sprintf("%s%08d", k.Bodies(id), n) }

// Bodies is what the versions of a definition begin with.
func (k definitionKeys) Bodies(id string) string { return k.AllBodies() + id + "/" }

// AllBodies is what all versions begin with.
func (k definitionKeys) AllBodies() string { return k.root + "definition-version/" }

// retired says that nothing begins with a version any more.
func (k definitionKeys) Retirements() string { return k.root + "definition-retired/" }

// Retired says that nothing begins with a version.
func (k definitionKeys) Retired(id string, n int) string {
	return fmt.Sprintf("%s%s/%08d", k.Retirements(), id, n)
}

// use says that version n of a definition runs a version of another as an activity.
// The consumer comes first, so that it goes with a range of bodies.
func (k definitionKeys) Uses() string { return k.root + "definition-use/" }

// UsesOf is what the uses by a version begin with.
func (k definitionKeys) UsesOf(id string, n int) string {
	return fmt.Sprintf("%s%s/%08d/", k.Uses(), id, n)
}

// Use says that a version uses another one.
func (k definitionKeys) Use(id string, n int, used UsedVersion) string {
	return fmt.Sprintf("%s%s/%08d", k.UsesOf(id, n), used.ID, used.Version)
}

// UsedVersion is a version that another one uses.
type UsedVersion struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// Content says that this content was published under this id, once and for all.
func (k definitionKeys) Content(id, hash string) string {
	return k.root + "definition-content/" + id + "/" + Encode(hash)
}

// VersionIDs and versionID find a version by Elsa's id of it.
func (k definitionKeys) VersionIDs(versionID string) string {
	return k.root + "definition-ref/" + Encode(versionID) + "/"
}

// VersionID says of which definition a version with this id is.
func (k definitionKeys) VersionID(versionID, id string) string { return k.VersionIDs(versionID) + id }

// Indexed lists the trigger and route keys of a definition.
func (k definitionKeys) Indexed(id string) string { return k.root + "definition-index/" + id }

// CronOwner gives the definition's id inside a cron key.
func (k definitionKeys) CronOwner(key string) string {
	parts := strings.Split(strings.TrimPrefix(key, k.root), "/") // cron, shard, due, definition, activity
	if len(parts) != 5 {
		return ""
	}
	return parts[3]
}

// Running are the ranges of index entries of a definition's running instances.
func (k Keys) Running(id string) []string {
	var ranges []string
	for _, sub := range SubStatuses {
		if sub.Status() == workflow.StatusRunning {
			ranges = append(ranges, k.IndexOf(sub, id))
		}
	}
	return ranges
}
