package branch

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
)

// EveryNode takes back all that ran below an activity.
func EveryNode(*engine.Node) bool { return true }

// OneBranch is what activities share that run one branch of several.
type OneBranch struct{}

// Rewind takes a branch in the place of the one that was taken.
func (OneBranch) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	x.Retract(EveryNode)
	x.Schedule(child, engine.Child{})
	return nil
}
