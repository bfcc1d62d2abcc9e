package write

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// timeout writes the timeout of a Fork beside the activity that has it.
func (w *writer) timeout(m *yaml.Node, fork *workflow.Activity) {
	late := fork.Activities[1]
	put(m, "timeout", w.expression(late.Activities[0].Inputs[wrap.TimeSpan], wrap.DelayInput(w.types)))
	if len(late.Activities) > 1 {
		put(m, "onTimeout", w.children(late.Activities[1:], late.ID))
	}
}
