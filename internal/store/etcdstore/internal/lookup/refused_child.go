package lookup

import (
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// RefusedChild is the dead letter of a child that a commit could not start.
func RefusedChild(c *store.Commit, child *store.Child) store.DeadLetter {
	why := "there is or was one of this id"
	if child.Gate != nil {
		why += ", or another held its gate"
	}
	start := child.Command.Start
	return store.DeadLetter{ID: record.DeadID(child.ID, &child.Command), Reason: workflow.DeadChildRefused, InstanceID: child.ID, CreatedAt: c.At,
		Detail: fmt.Sprintf("instance %s dispatched it, of definition %s version %d with the correlation %q: %s. It cannot be replayed; start it again",
			c.After.Header.ID, start.DefinitionID, start.Version, start.CorrelationID, why)}
}
