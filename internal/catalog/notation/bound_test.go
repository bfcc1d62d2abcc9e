package notation_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/pkg/activities"
)

// A definition is not written in a notation in which it would be another one, in either direction.
func TestWhatWouldBeAnotherDefinitionIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to notation.Notation
		src      string
		refused  string
	}{
		"a date that a script reads":        {notation.YAML, notation.JSON, "id: x\nvariables: {due: {type: DateTime}}\nroot:\n  - writeLine: {text: {js: variables.due}}\n", "a Date to them in Elsa's JSON only"},
		"a date that none reads":            {notation.YAML, notation.JSON, "id: x\nvariables: {due: {type: DateTime}}\nroot:\n  - writeLine: ${{ variables.due }}\n", ""},
		"the text of JSON":                  {notation.YAML, notation.JSON, "id: x\nvariables: {v: {type: Object, value: '{\"a\": 1}'}}\nroot:\n  - writeLine: x\n", "a text in Elsa's JSON only"},
		"Elsa's date that a script reads":   {notation.JSON, notation.YAML, `{"definitionId": "x", "variables": [{"id": "due", "name": "due", "typeName": "DateTime"}], "root": {"type": "Elsa.WriteLine", "id": "w", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "getDue()"}}}}`, "a Date to them in Elsa's JSON only"},
		"the same to the notation it is in": {notation.JSON, notation.JSON, `{"definitionId": "x", "variables": [{"id": "due", "name": "due", "typeName": "DateTime"}], "root": {"type": "Elsa.WriteLine", "id": "w", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "getDue()"}}}}`, ""},
	} {
		def, problems := notation.Read(c.from, []byte(c.src), "", activities.Default())
		if bad, _ := problems.Split(); len(bad) > 0 {
			t.Fatalf("%s: %v", name, bad)
		}
		switch _, err := notation.Write(c.to, def, activities.Default()); {
		case c.refused == "" && err != nil, c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
