package etcdstore

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// The keys of definitions beside the heads. Below definition/ are heads only, so
// that a sweep, a list and a watch of the heads read nothing else.

// body holds one version.
func (k keys) body(id string, n int) string { return fmt.Sprintf("%s%08d", k.bodies(id), n) }
func (k keys) bodies(id string) string      { return k.allBodies() + id + "/" }
func (k keys) allBodies() string            { return k.root + "definition-version/" }

// retired says that nothing begins with a version any more.
func (k keys) retirements() string { return k.root + "definition-retired/" }
func (k keys) retired(id string, n int) string {
	return fmt.Sprintf("%s%s/%08d", k.retirements(), id, n)
}

// use says that version n of a definition runs a version of another as an activity.
// The consumer comes first, so that it goes with a range of bodies.
func (k keys) uses() string                   { return k.root + "definition-use/" }
func (k keys) usesOf(id string, n int) string { return fmt.Sprintf("%s%s/%08d/", k.uses(), id, n) }
func (k keys) use(id string, n int, used VersionRef) string {
	return fmt.Sprintf("%s%s/%08d", k.usesOf(id, n), used.ID, used.Version)
}

// content says that this content was published under this id, once and for all.
func (k keys) content(id, hash string) string {
	return k.root + "definition-content/" + id + "/" + encode(hash)
}

// versionIDs and versionID find a version by Elsa's id of it.
func (k keys) versionIDs(versionID string) string {
	return k.root + "definition-ref/" + encode(versionID) + "/"
}
func (k keys) versionID(versionID, id string) string { return k.versionIDs(versionID) + id }

// indexed lists the trigger and route keys of a definition.
func (k keys) indexed(id string) string { return k.root + "definition-index/" + id }

// running are the ranges of index entries of a definition's running instances.
func (k keys) running(id string) []string {
	var ranges []string
	for _, sub := range subStatuses {
		if sub.Status() == workflow.StatusRunning {
			ranges = append(ranges, k.index(sub)+id+"/")
		}
	}
	return ranges
}

// cronOwner gives the definition's id inside a cron key.
func (k keys) cronOwner(key string) string {
	parts := strings.Split(strings.TrimPrefix(key, k.root), "/") // cron, shard, due, definition, activity
	if len(parts) != 5 {
		return ""
	}
	return parts[3]
}
