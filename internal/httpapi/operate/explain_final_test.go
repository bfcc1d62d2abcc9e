package operate

import (
	"testing"

	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAnExplanationSaysWhichIncidentIsFinal(t *testing.T) {
	t.Parallel()
	v := viewExplanation(&explain.Explanation{Incidents: []explain.Incident{{Incident: workflow.Incident{Message: "refused", Final: true}, Open: true}, {Incident: workflow.Incident{Message: "late"}}}})
	if in := v.Incidents; !in[0].Final || !in[0].Open || in[1].Final {
		t.Errorf("incidents are shown as %+v", in)
	}
}
