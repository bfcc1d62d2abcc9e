package catalog

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// notRunnable says that this node's program cannot run a stored version. The
// version is good, as the node that published it has checked: it needs another program.
func (c *Catalog) notRunnable(v *store.DefinitionVersion, problems workflow.Problems) error {
	lacks := problems[0].Detail
	if missing := engine.Lacking(v.Needs, c.abilities); len(missing) > 0 {
		lacks = "it lacks " + strings.Join(missing, ", ")
	}
	return &workflow.Error{Code: workflow.CodeNotRunnable, Needs: v.Needs,
		Detail: fmt.Sprintf("the program of this node cannot run version %d of definition %s: %s", v.Version, v.ID, lacks)}
}
