package client

import (
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// seat is what an owner has of the node's [admission.Slots].
type seat struct {
	loaded  int             // bytes that taking the instance brought
	placed  func()          // told when there is a place; nil: nobody is
	place   *admission.Slot // nil: none was taken yet
	refused bool            // there is none: only what ends the instance is run
	ending  bool            // what ends the instance was run, and needs more commits
}

// enter takes a place for the burst of work, once for an owner; false if there is none. What only ends
// the instance needs none, nor does what comes after its end.
func (o *owner) enter(x *burst, work *batch) bool {
	if o.seat.place != nil || work.ending || x.before != nil && finished(x.before) {
		return true
	}
	w := admission.Slot{In: admission.Bulkhead{Definition: x.definition, Recovered: o.taken.recovered}, Bytes: o.weigh(work)}
	mailed := len(work.mail) > 0 || len(o.inbox.runningMail()) > 0
	mayWait := !mailed && o.own.Fence() == nil // nobody is kept from the instance
	if !o.n.slots.Enter(o.id, w, mailed) && !(mayWait && o.n.slots.Await(o.ctx, o.desk.rings(), o.id, w)) {
		return false
	}
	o.seat.place = &w
	if o.seat.placed != nil {
		o.seat.placed()
	}
	return true
}

// ends tells whether a command ends the instance, or is what is left of that.
func (s *seat) ends(c *workflow.Command) bool {
	return ends(c.Kind) || s.ending && c.Kind == workflow.CommandContinue
}

// finished tells whether an instance will not run again, unless an import comes.
func finished(r *store.Record) bool {
	return r.Header.Status == workflow.StatusFinished && r.Header.SubStatus != workflow.Faulted
}

// burstBytes is what a burst takes in memory, about, itself with its goroutines; its values
// and those of its commands come on top, which take more than their JSON. Measured with 400
// bursts that hung and had next to no values: 33 KB each, half of it stacks.
const burstBytes = 32 << 10

// weigh estimates the bytes that a burst works on.
func (o *owner) weigh(work *batch) int64 {
	size := int64(o.seat.loaded)
	for _, w := range work.hands {
		size += int64(engine.Weigh(w.cmd.Input) + len(w.cmd.State))
		if w.cmd.Start != nil {
			size += int64(engine.Weigh(w.cmd.Start.Input))
		}
	}
	return burstBytes + warm.ValueBytes*size
}

// Waits reports whether an instance waits for a place on this node, so that there is
// no use in working its mailbox.
func (n *Node) Waits(id string) bool { return n.slots.Waits(id) }

// Sweep forgets those who wait for a place and have no mail any more, calls those
// for whom there is one, and tells how full the node is.
func (n *Node) Sweep(mailed map[string]bool) admission.Crowd {
	c := n.slots.Keep(mailed)
	c.WaitQuarantine = n.quarantine.Keep(mailed)
	return c
}
