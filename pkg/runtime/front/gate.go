package front

import (
	"context"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Gate tells the gate that a start has to pass; nil for none. It is the
// client.Config's Gate, for children that instances start.
func Gate(ctx context.Context, c *catalog.Catalog, st *workflow.Start) (*store.Gate, error) {
	head, err := c.Head(ctx, st.DefinitionID)
	if err != nil {
		return nil, err
	}
	return store.GateOf(head.Activation, st), nil
}
