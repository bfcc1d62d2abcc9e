package etcdstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// definitionKeys are the keys of definitions. Below definition/ are heads only, so
// that a sweep, a list and a watch of the heads read nothing else.
type definitionKeys struct{ root string }

func (k definitionKeys) triggers(hash string) string { return k.root + "trigger/" + hash + "/" }
func (k definitionKeys) trigger(hash, definition, activity string) string {
	return k.triggers(hash) + definition + "/" + encode(activity)
}
func (k definitionKeys) routes() string { return k.root + "route/" }
func (k definitionKeys) route(method, template string) string {
	return k.routes() + method + "/" + encode(template)
}
func (k definitionKeys) crons(shard int) string { return fmt.Sprintf("%scron/%02x/", k.root, shard) }
func (k definitionKeys) cron(definition, activity string, due time.Time) string {
	return k.crons(timerShard(definition)) + millis(due) + "/" + definition + "/" + encode(activity)
}
func (k definitionKeys) definitions() string         { return k.root + "definition/" }
func (k definitionKeys) definition(id string) string { return k.definitions() + id + "/" }
func (k definitionKeys) head(id string) string       { return k.definition(id) + "head" }

// body holds one version.
func (k definitionKeys) body(id string, n int) string { return fmt.Sprintf("%s%08d", k.bodies(id), n) }
func (k definitionKeys) bodies(id string) string      { return k.allBodies() + id + "/" }
func (k definitionKeys) allBodies() string            { return k.root + "definition-version/" }

// retired says that nothing begins with a version any more.
func (k definitionKeys) retirements() string { return k.root + "definition-retired/" }
func (k definitionKeys) retired(id string, n int) string {
	return fmt.Sprintf("%s%s/%08d", k.retirements(), id, n)
}

// use says that version n of a definition runs a version of another as an activity.
// The consumer comes first, so that it goes with a range of bodies.
func (k definitionKeys) uses() string { return k.root + "definition-use/" }
func (k definitionKeys) usesOf(id string, n int) string {
	return fmt.Sprintf("%s%s/%08d/", k.uses(), id, n)
}
func (k definitionKeys) use(id string, n int, used usedVersion) string {
	return fmt.Sprintf("%s%s/%08d", k.usesOf(id, n), used.ID, used.Version)
}

// usedVersion is a version that another one uses.
type usedVersion struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// content says that this content was published under this id, once and for all.
func (k definitionKeys) content(id, hash string) string {
	return k.root + "definition-content/" + id + "/" + encode(hash)
}

// versionIDs and versionID find a version by Elsa's id of it.
func (k definitionKeys) versionIDs(versionID string) string {
	return k.root + "definition-ref/" + encode(versionID) + "/"
}
func (k definitionKeys) versionID(versionID, id string) string { return k.versionIDs(versionID) + id }

// indexed lists the trigger and route keys of a definition.
func (k definitionKeys) indexed(id string) string { return k.root + "definition-index/" + id }

// cronOwner gives the definition's id inside a cron key.
func (k definitionKeys) cronOwner(key string) string {
	parts := strings.Split(strings.TrimPrefix(key, k.root), "/") // cron, shard, due, definition, activity
	if len(parts) != 5 {
		return ""
	}
	return parts[3]
}

// running are the ranges of index entries of a definition's running instances.
func (k keys) running(id string) []string {
	var ranges []string
	for _, sub := range subStatuses {
		if sub.Status() == workflow.StatusRunning {
			ranges = append(ranges, k.indexOf(sub, id))
		}
	}
	return ranges
}
