package commits

import (
	"context"

	"github.com/weft-run/weft/pkg/workflow"
)

// Claimed tells whether a task is claimed so.
func (s *Instances) Claimed(ctx context.Context, task string, c *workflow.TaskClaim) (bool, error) {
	is, err := s.conn.WorkerClaims().Of(ctx, task, c)
	return is != nil && is.Revision == c.Revision, err
}
