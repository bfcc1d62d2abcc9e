package elsajson_test

import (
	"fmt"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

// Another notation has no Dates, so what reads one would be another definition there.
func TestWhatOnlyElsasJSONSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ, kind, text string
		bound           bool
	}{
		{"DateTime", "JavaScript", "getDue().getFullYear()", true},
		{"DateTimeOffset", "JavaScript", "variables.due", true},
		{"DateTime", "JavaScript", "1 + 1", false},
		{"String", "JavaScript", "getDue()", false},
		{"DateTime", "Liquid", "{{ Variables.Due }}", false},
	} {
		def, problems := elsajson.Read(fmt.Appendf(nil, `{"definitionId": "x", "variables": [{"id": "v", "name": "Due", "typeName": %q}],
			"root": {"id": "w", "type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": %q, "value": %q}}}}`, c.typ, c.kind, c.text), "", activities.Default())
		if err := elsajson.Bound(def); len(problems) > 0 || (err != nil) != c.bound {
			t.Errorf("%+v: %v, %v", c, err, problems)
		}
	}
}
