// Package publish finds the mistakes of definitions as they are published: it gives
// internal/authoring/check to the catalogue, which does not know it.
//
// Guaranteed: what is found is what check finds for anybody else, with what the catalogue
// knows of other definitions. It is for who wires a catalogue, and for tests of one.
package publish

import (
	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Checker is a [catalog.Checker].
type Checker struct{}

// Check compiles def and finds its mistakes, as [check.Definition] does.
func (Checker) Check(def *workflow.Definition, opts engine.Options, known *catalog.Known) (*engine.Program, workflow.Problems) {
	return check.Definition(def, check.Options{Options: opts, Defined: known.Defined, IDs: known.IDs, Child: known.Child, Starts: known.StartedBy})
}
