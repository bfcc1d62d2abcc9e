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
		variable, activity string
		bound              bool
	}{
		{`"typeName": "DateTime"`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "getDueDate().getFullYear()"}}`, true},
		{`"typeName": "DateTimeOffset", "isArray": true`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "variables[k]"}}`, true},
		{`"typeName": "DateTime"`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "CSharp", "value": "Variables.Due"}}`, true},
		{`"typeName": "DateTime"`, `"type": "Elsa.RunJavaScript", "script": {"typeName": "String", "expression": {"type": "Literal", "value": "getDue()"}}`, true},
		{`"typeName": "String"`, `"type": "Elsa.RunJavaScript", "script": {"typeName": "String", "expression": {"type": "Literal", "value": "getDue()"}}`, false},
		{`"typeName": "DateTime"`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Liquid", "value": "{{ Variables.Due }}"}}`, false},
		{`"typeName": "Object", "value": "{\"a\": 1}"`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}`, true},
		{`"typeName": "Object", "value": "5"`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}`, true},
		{`"typeName": "Object", "value": "a text"`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}`, false},
		{`"typeName": "Object", "value": {"a": 1}`, `"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}`, false},
	} {
		def, _ := elsajson.Read(fmt.Appendf(nil, `{"definitionId": "x", "variables": [{"id": "v", "name": "due_date", %s}], "root": {"id": "w", %s}}`, c.variable, c.activity), "", activities.Default())
		if err := elsajson.Bound(def); (err != nil) != c.bound {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
