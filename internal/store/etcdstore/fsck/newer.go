package fsck

import (
	"strings"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// IDsIn says which parts of a key, behind its kind, are ids of instances, definitions,
// bookmarks or webhooks; those below 0 count from the end. What is somebody's own text, as
// the value of a label, may look like any id and is not among them.
var IDsIn = map[string][]int{
	"bookmark": {2}, "by-correlation": {-1}, "by-parent": {0, -1}, "cancel": {0}, "cron": {2},
	"definition": {0}, "definition-content": {0}, "definition-index": {0}, "definition-ref": {-1}, "definition-retired": {0}, "definition-use": {0, 2}, "definition-version": {0},
	"finished": {-1}, "gate": {0}, "idem": {1}, "incident": {0, 1}, "incident-wanted": {0, 1}, "index": {1, -1}, "instance": {0}, "journal": {0}, "label": {-1},
	"lock": {1}, "mailbox": {1}, "queue": {1}, "queue-mark": {1}, "send": {-1}, "sent": {-1}, "task": {-2}, "timer": {-1}, "trigger": {1},
	"webhook": {0}, "webhook-at": {0}, "webhook-due": {0}, "webhook-failed": {0},
}

// OfNewer reports whether a key, below the root, is about an id with a tenant or a cell:
// only a newer program gives such ids, and what else it puts for them this one does not know.
func OfNewer(name string) bool {
	kind, rest, _ := strings.Cut(name, "/")
	parts := strings.Split(rest, "/")
	if kind == "idem" && parts[0] != "c" { // a caller's key
		return false
	}
	for _, i := range IDsIn[kind] {
		if i < 0 {
			i += len(parts)
		}
		if i < 0 || i >= len(parts) {
			continue
		}
		id := record.Decode(strings.TrimPrefix(parts[i], record.Addressed("")))
		if kind == "timer" {
			id, _ = workflow.SplitBookmarkID(id)
		}
		if workflow.Qualified(id) {
			return true
		}
	}
	return false
}

// leaveNewer leaves alone what does not fit as far as this program knows, and is about an id
// that it does not know: it is told, and not repaired.
func leaveNewer(found []*Finding) {
	for _, n := range found {
		if n.newer {
			n.Passing, n.Repair, n.Mend = true, "", nil
			n.Hint = "its id has a tenant or a cell, which this program does not know: run weft fsck of the version that wrote it"
		}
	}
}
