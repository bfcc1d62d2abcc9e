package js

import (
	"reflect"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A variable that Elsa's JSON declares as a date is a Date to its scripts, and a text to all others.
func TestVariablesThatAreDates(t *testing.T) {
	t.Parallel()
	const due, offset = "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1234567+02:00"
	scope := func() *expressiontest.Scope {
		return &expressiontest.Scope{
			Vars:  map[string]any{"due": due, "offset": offset, "list": []any{due, nil, int64(3), "no time"}, "nothing": nil, "word": "soon", "plain": due},
			Dates: []string{"due", "offset", "list", "nothing", "word"},
		}
	}
	for source, want := range map[string]any{
		"getDue().getFullYear()":                            int64(2026),
		"variables.due.getTime()":                           int64(1767323045000),
		"getVariable('due') instanceof Date":                true,
		"getOffset().toISOString()":                         "2026-01-02T01:04:05.123Z",
		"getDue()":                                          due,
		"getNothing() === null":                             true,
		"getWord().length":                                  int64(4),
		"typeof getPlain()":                                 "string",
		"getList()[0].getUTCDate() + getList()[2]":          int64(5),
		"getList()[3]":                                      "no time",
		"setDue(new Date(0)); getDue().getFullYear()":       int64(1970),
		"setDue('2027-01-01'); getDue().getFullYear()":      int64(2027),
		"const d = getDue(); d.setFullYear(2030); getDue()": due,
		"Object.values({...variables}).length":              int64(6),
		"const Date = 5; getVariable('due').getFullYear()":  int64(2026),
	} {
		s := scope()
		c, err := Evaluator{}.Compile(workflow.Expression{Kind: workflow.JavaScript, Value: source})
		if err != nil {
			t.Fatal(source, err)
		}
		got, err := c.Eval(t.Context(), s)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v; want %#v", source, got, err, want)
		}
		if s.Vars["offset"] != offset || !reflect.DeepEqual(s.Vars["list"], scope().Vars["list"]) {
			t.Errorf("%s: reading changed the variables: %v", source, s.Vars)
		}
	}
	s := scope()
	c, err := Evaluator{}.Compile(workflow.Expression{Kind: workflow.JavaScript, Value: "getList().push(getDue()); setDue(new Date(1)); 0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Eval(t.Context(), s); err != nil || !reflect.DeepEqual(s.Vars["list"], []any{due, nil, int64(3), "no time", due}) || s.Vars["due"] != "1970-01-01T00:00:00.001Z" {
		t.Errorf("%v, %v", s.Vars, err)
	}
}

func TestNamesThatBeginWithGet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source           string
		more, undeclared bool
		found, warning   bool
	}{
		{"getOrder()", false, true, true, false},
		{"getOrder()", true, true, true, true},
		{"getOrder()", true, false, false, false},
		{"getConfig('a')", true, false, true, false},
		{"createEventTriggerUrl('a')", true, true, true, false},
		{"getWorkflowDefinitionVersionId() + getGuidString()", true, true, false, false},
		{"getTotal()", true, true, false, false},
	} {
		names := &engine.Names{Variables: map[string]string{"total": ""}, MoreInputs: c.more, Undeclared: c.undeclared}
		found, _ := Evaluator{}.Check(workflow.Expression{Kind: workflow.JavaScript, Value: c.source}, names)
		if len(found) > 1 || len(found) == 1 != c.found || c.found && found[0].Warning != c.warning {
			t.Errorf("%+v: %+v", c, found)
		}
	}
}
