package chaos

import (
	"math/rand/v2"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// offsets are how far the clock of a node may be off: within the 2 s that nodes
// bear, seconds beyond them, minutes, and more than a day.
var offsets = []time.Duration{time.Second, 3 * time.Second, 5 * time.Minute, 25 * time.Hour}

// drawOffset draws one, ahead or behind.
func drawOffset(r *rand.Rand) time.Duration {
	off := offsets[r.IntN(len(offsets))]
	if r.IntN(2) == 0 {
		return -off
	}
	return off
}

// farOff: what is due so far ahead was written by a node whose clock is off. Such
// an instance waits as long as that node thought right; nothing else may suffer.
const farOff = time.Minute

const (
	clockBound   = 3 * time.Second // how early the clocks of nodes that may fire can be, with some room
	longestDelay = time.Second     // of the definitions
)

// delayed reports whether an instance waits for a time that a wrong clock set, or
// for one that does.
func (h *history) delayed(id string) bool {
	for range 4 {
		l := h.instances[id]
		if l == nil {
			return false
		}
		next := ""
		for _, b := range l.last.Header.Bookmarks {
			if b.DueAt != nil && time.Until(*b.DueAt) > farOff {
				return true
			}
			if payload, _ := b.Payload.(map[string]any); payload["childInstanceId"] != nil {
				next, _ = payload["childInstanceId"].(string)
			}
		}
		if next == "" {
			return false
		}
		id = next
	}
	return false
}

// forgotten notes what is deleted long before its time: no round lasts as long as
// any record is kept.
func (h *history) forgotten(kind, name string) {
	if kind == "idem" {
		h.problem("forgotten", "%s is gone", name)
	}
}

// tooOld finds what was given up for its age in a round in which nothing is old.
func (e *evidence) tooOld(d *store.DeadLetter) {
	if d.Reason == workflow.DeadExpired && !e.tight {
		e.record.violate("expired-early", "%s of %s: %s", d.ID, d.CreatedAt, d.Detail)
	}
}

// checkPurges: what nobody deleted is there.
func (e *evidence) checkPurges() {
	if e.tight {
		return
	}
	asked := map[string]bool{}
	for _, c := range e.record.calls {
		if c.kind == "delete" && c.outcome != refused {
			asked[c.instance] = true
		}
	}
	for id, l := range e.history.instances {
		if l.deleted > 0 && !asked[id] && l.last.Header.Status == workflow.StatusFinished {
			e.record.violate("purged-early", "%s (%s) is gone", id, l.definition)
		}
	}
}
