package write

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// retry writes the policy beside its activity.
func (w *writer) retry(m *yaml.Node, a *workflow.Activity) {
	settings := mapping()
	for _, in := range w.descriptor(a).Inputs {
		if e, ok := a.Inputs[in.Name]; ok {
			put(settings, in.Name, w.expression(e, in))
		}
	}
	if isSmall(settings) || len(settings.Content) == 0 {
		flow(settings)
	}
	put(m, notation.RetryKey, settings)
	if late := a.Ports[notation.GiveUpKey]; late != nil {
		put(m, notation.GiveUpKey, w.children(late.Activities, late.ID))
	}
}
