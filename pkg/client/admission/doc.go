// Package admission decides what a node runs beside what.
//
// Guaranteed: a definition has no more bursts than [Limits] allow, and one at least; those
// that hang keep no other definition from running; a command that is one death short of
// being poison runs beside no other such; who waits is woken when there is room. Not
// guaranteed: anything about other nodes, each of which decides for itself, nor exact
// bytes of memory, which are estimates.
package admission

import (
	"cmp"
	"errors"
)

// ErrCrowded says that this node runs as many bursts of the instance's definition
// as it may, or as its memory allows. Nothing was done: the command waits best in
// the instance's mailbox.
var ErrCrowded = errors.New("this node runs as many bursts of the definition as it may")

// Wake is told who has a place now. It may not block.
type Wake interface {
	// Again is told which instance has a place here now, for what lies in its mailbox, and whether it was taken over.
	Again(instance string, recovered bool)
}

// Limits bound the bursts that a node runs at once, most of which wait for the
// outside.
type Limits struct {
	PerDefinition int   // bursts of one definition; as many again of what is taken over
	Bytes         int64 // of what all bursts work on, as estimated
}

// DefaultLimits are those that stand for zero fields.
func DefaultLimits() Limits { return Limits{PerDefinition: 200, Bytes: 256 << 20} }

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{cmp.Or(l.PerDefinition, d.PerDefinition), cmp.Or(l.Bytes, d.Bytes)}
}

// Crowd tells how full a node is.
type Crowd struct {
	Bursts int
	Bytes  int64 // that they work on
	// Instances that wait for a place here, in their mailboxes or, for a moment, in hand: since
	// there are Limits.PerDefinition of theirs, or since the memory that theirs may have is
	// full.
	WaitDefinition, WaitMemory int
	WaitQuarantine             int // instances with a command that waits until no other suspect runs here
}
