package client

import (
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// seat is what an owner has of the node's [places].
type seat struct {
	loaded  int    // bytes that taking the instance brought
	placed  func() // told when there is a place; nil: nobody is
	place   *want  // nil: none was taken yet
	refused bool   // there is none: only what ends the instance is run
	ending  bool   // what ends the instance was run, and needs more commits
}

// enter takes a place for the burst of work, once for an owner; false if there is none. What only ends
// the instance needs none, nor does what comes after its end.
func (o *owner) enter(x *burst, work *batch) bool {
	if o.seat.place != nil || work.ending || x.before != nil && finished(x.before) {
		return true
	}
	w := want{in: compartment{x.definition, o.taken.recovered}, bytes: o.weigh(work)}
	mailed := len(work.mail) > 0 || len(o.inbox.runningMail()) > 0
	mayWait := !mailed && o.own.Fence() == nil // nobody is kept from the instance
	if !o.n.places.enter(o.id, w, mailed) && !(mayWait && o.n.places.await(o.ctx, o.desk.rings(), o.id, w)) {
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

// What a burst takes in memory, about: itself with its goroutines, and its values
// and those of its commands, which take more than their JSON. Measured with 400
// bursts that hung and had next to no values: 33 KB each, half of it stacks; with 60
// that had 160 KB of JSON each, all small values: 1.6 MB.
const (
	burstBytes = 32 << 10
	valueBytes = 10 // for each byte of JSON
)

// weigh estimates the bytes that a burst works on.
func (o *owner) weigh(work *batch) int64 {
	size := int64(o.seat.loaded)
	for _, w := range work.hands {
		size += int64(engine.Weigh(w.cmd.Input) + len(w.cmd.State))
		if w.cmd.Start != nil {
			size += int64(engine.Weigh(w.cmd.Start.Input))
		}
	}
	return burstBytes + valueBytes*size
}
