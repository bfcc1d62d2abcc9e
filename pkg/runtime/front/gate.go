package front

import (
	"context"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Definitions are those of a catalog, for the instances of a [client.Node] and the children that they start.
type Definitions struct{ Catalog *catalog.Catalog }

var _ client.Definitions = Definitions{}

// Program finds a compiled version.
func (d Definitions) Program(ctx context.Context, definition string, version int) (*engine.Program, error) {
	program, _, err := d.Catalog.Program(ctx, definition, version)
	return program, err
}

// Gate tells the gate that a start has to pass; nil for none.
func (d Definitions) Gate(ctx context.Context, start *workflow.Start) (*store.Gate, error) {
	head, err := d.Catalog.Head(ctx, start.DefinitionID)
	if err != nil {
		return nil, err
	}
	return store.GateOf(head.Activation, start), nil
}
