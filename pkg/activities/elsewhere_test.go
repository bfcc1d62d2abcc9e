package activities_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// What stands in for an activity of Elsa's is named only as long as that is none here.
func TestWhatIsHereHasNothingInstead(t *testing.T) {
	t.Parallel()
	for _, d := range activities.Default().All() {
		if way := names.InsteadOf(d.Type); way != "" {
			t.Errorf("%s is an activity, and the page says%s", d.Type, way)
		}
	}
	for typ, is := range map[string]bool{"Elsa.BpmnProcess": true, "elsa.bpmnProcess": true, "BpmnProcess": false, "Acme.BpmnProcess": false, "Elsa.": false, "": false} {
		if (names.InsteadOf(typ) != "") != is {
			t.Errorf("%q: %q", typ, names.InsteadOf(typ))
		}
	}
}
