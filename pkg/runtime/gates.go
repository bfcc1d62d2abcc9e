package runtime

import (
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// HeldStart is the instance that an item which waited behind a gate starts.
func HeldStart(item *store.QueueItem, at time.Time, trace string) *etcdstore.NewInstance {
	p := triggerPlan(item.Held.Event, item.Held.Trigger, &item.Stimulus, at)
	p.trigger, p.gate, p.cmd.Trace = nil, &item.Held.Gate, trace
	return p.instance()
}
