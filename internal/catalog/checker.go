package catalog

import (
	"slices"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Checker finds the mistakes of a definition before it is published.
type Checker interface {
	// Check compiles def. It gives the program if there are no errors, and all problems,
	// warnings among them.
	Check(def *workflow.Definition, opts engine.Options, known *Known) (*engine.Program, workflow.Problems)
}

// compiles finds what is in the way of a program, and no other mistakes.
type compiles struct{}

func (compiles) Check(def *workflow.Definition, opts engine.Options, _ *Known) (*engine.Program, workflow.Problems) {
	return engine.Compile(def, opts)
}

// Known is what a catalogue knows beside a definition that is checked. It counts only as
// long as the call of [Checker.Check] lasts.
type Known struct{ r *resolver }

// Defined reports whether a definition of that id can be started, as far as it can be told.
func (k *Known) Defined(id string) bool {
	if slices.Contains(k.r.with, id) {
		return true
	}
	h, err := k.r.c.named(k.r.ctx, id)
	return err != nil || h != nil && h.Published != 0
}

// IDs are those of the definitions that can be started, as far as this node has heard.
func (k *Known) IDs() []string {
	ids := slices.Clone(k.r.with)
	for id, h := range k.r.c.table.Load().heads {
		if h.Published != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Child gives the definition that a start of that id runs now; nil if there is none that can be read, or if another
// one is about to be published.
func (k *Known) Child(id string) *workflow.Definition {
	if slices.Contains(k.r.with, id) {
		return nil
	}
	return startable(k.r.ctx, k.r.c, id)
}

// StartedBy gives the ids of the published definitions that an event starts.
func (k *Known) StartedBy(event string) []string {
	hash, err := workflow.Hash(workflow.EventType, workflow.EventPayload(event))
	if err != nil {
		return nil // one that is sent has one
	}
	ids, err := k.r.c.store.StartedBy(k.r.ctx, hash)
	if err != nil && k.r.err == nil {
		k.r.err = explain(err)
	}
	return ids
}
