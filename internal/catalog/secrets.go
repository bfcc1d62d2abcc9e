package catalog

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// missingSecrets are the secrets that a definition names and this node cannot
// read. A node without secrets cannot tell, and says so in its log: reading one is
// then an incident where it runs.
func (c *Catalog) missingSecrets(ctx context.Context, prog *engine.Program) workflow.Problems {
	uses := prog.Secrets()
	if c.cfg.Secrets == nil {
		if len(uses) > 0 {
			c.log.WarnContext(ctx, "definition reads secrets, and this node has none to check their names against; see --secrets-dir",
				slog.String("definitionId", prog.Definition().ID), slog.String("secret", uses[0].Name))
		}
		return nil
	}
	var problems workflow.Problems
	for _, u := range uses {
		if _, ok := c.cfg.Secrets().Get(u.Name); !ok {
			problems = append(problems, workflow.Problem{Code: "unknown-secret", Place: u.Place,
				Detail: fmt.Sprintf("%s reads the secret %s, which this node does not have; put a file of that name into its --secrets-dir", u.What, u.Name)})
		}
	}
	return problems
}
