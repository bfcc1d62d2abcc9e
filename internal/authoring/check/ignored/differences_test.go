package ignored_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/check/ignored"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

// chart is a flowchart: activities as id:type, with further fields behind a space; connections as from>to or from.port>to.
func chart(list, connections string) string {
	var all, cons []string
	for item := range strings.SplitSeq(list, "; ") {
		head, fields, _ := strings.Cut(item, " ")
		id, typ, _ := strings.Cut(head, ":")
		if fields != "" {
			fields = ", " + fields
		}
		all = append(all, fmt.Sprintf(`{"id": %q, "type": "Elsa.%s"%s}`, id, typ, fields))
	}
	for item := range strings.FieldsSeq(connections) {
		from, to, _ := strings.Cut(item, ">")
		source, port, _ := strings.Cut(from, ".")
		cons = append(cons, fmt.Sprintf(`{"source": {"activity": %q, "port": %q}, "target": {"activity": %q, "port": "In"}}`, source, port, to))
	}
	return `{"id": "f", "type": "Elsa.Flowchart", "activities": [` + strings.Join(all, ", ") + `], "connections": [` + strings.Join(cons, ", ") + `]}`
}

// started is a flowchart that says where it begins.
func started(chart, start string) string {
	return strings.TrimSuffix(chart, "}") + `, "start": "` + start + `"}`
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	input := func(name, typ, value string) string {
		return fmt.Sprintf(`%q: {"typeName": %q, "expression": {"type": "Literal", "value": %s}}`, name, typ, value)
	}
	call := func(wait string) string {
		return `{"id": "call", "type": "Elsa.ExecuteWorkflow", ` + input("workflowDefinitionId", "String", `"child"`) + wait + `}`
	}
	script := func(text string) string {
		return `{"id": "s", "type": "Elsa.RunJavaScript", ` + input("script", "String", strconv.Quote(text)) + `}`
	}
	const lines = "s:Start; a:WriteLine; b:WriteLine; j:FlowJoin"
	const event = `"eventName": {"typeName": "String", "expression": {"type": "Literal", "value": "go"}}`
	machine := func(trigger string) string {
		return `{"id": "m", "type": "Elsa.StateMachine", "initialState": "A", "states": [{"name": "A"}, {"name": "B"}], "transitions": [{"from": "A", "to": "B"` + trigger + `}]}`
	}
	for name, c := range map[string]struct {
		root, of string // of which activity there is a difference; "": of none
	}{
		"a list that a script changes": {script(`getVariable('l').push(1)`), "s"},
		"a list that an input changes": {`{"id": "s", "type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": "variables.l.sort()[0]"}}}`, "s"},
		"a list that a getter gives":   {script(`return getOrders().reverse()`), "s"},
		"a list under a name": {script(`const l = getVariable("l");
if (l.length < 3) { l.push(1) }`), "s"},
		"a list that is set":                     {script(`const l = getVariable("l"); l.push(1); setVariable("l", l)`), ""},
		"a list that a setter sets":              {script(`const l = getL(); l.push(1); setL(l);`), ""},
		"a list that is set as a member":         {script(`let l = variables.l; l.push(1); variables.l = l`), ""},
		"a copy of a list":                       {script(`const l = [...getVariable("l")]; l.sort(); return l`), ""},
		"a list of the script":                   {script(`const l = []; l.push(getVariable("l").length); return l`), ""},
		"a member of a variable":                 {script(`getVariable("o").items.push(1)`), ""},
		"a call that says nothing":               {call(""), "call"},
		"a call that does not wait":              {call(`, ` + input("waitForCompletion", "Boolean", `"false"`)), "call"},
		"a call that waits":                      {call(`, ` + input("waitForCompletion", "Boolean", `true`)), ""},
		"a call that may wait":                   {call(`, "waitForCompletion": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "1 == 1"}}`), ""},
		"a call in a branch":                     {`{"id": "i", "type": "Elsa.If", "then": ` + call("") + `}`, "call"},
		"two branches that do not wait":          {chart(lines, "s.Done>a s.Done>b a.Done>j b.Done>j"), "j"},
		"an outcome with two names":              {chart(lines, "s.Done>a s.>b a.Done>j b.Done>j"), "j"},
		"to the join itself":                     {chart(lines, "s.Done>j s.Done>b b.Done>j"), "j"},
		"a fork":                                 {chart(`s:FlowFork "branches": {"typeName": "String[]", "expression": {"type": "Object", "value": "[\"x\", \"y\"]"}}; a:WriteLine; b:WriteLine; j:FlowJoin`, "s.x>a s.y>b a.Done>j b.Done>j"), "j"},
		"one of two that waits":                  {chart("s:Start; a:WriteLine; b:Event "+event+"; j:FlowJoin", "s.Done>a s.Done>b a.Done>j b.Done>j"), "j"},
		"two that wait":                          {chart("s:Start; a:Event "+event+"; b:Event "+event+"; j:FlowJoin", "s.Done>a s.Done>b a.Done>j b.Done>j"), ""},
		"two that wait further on":               {chart("s:Start; a:WriteLine; b:WriteLine; c:Event "+event+"; d:Event "+event+"; j:FlowJoin", "s.Done>a s.Done>b a.Done>c b.Done>d c.Done>j d.Done>j"), ""},
		"the ways of a decision":                 {chart("s:FlowDecision; a:WriteLine; b:WriteLine; j:FlowJoin", "s.True>a s.False>b a.Done>j b.Done>j"), ""},
		"one branch that leads elsewhere":        {chart(lines, "s.Done>a s.Done>b a.Done>j"), ""},
		"a join that waits for all":              {chart(lines+" "+input("mode", "FlowJoinMode", `"WaitAll"`), "s.Done>a s.Done>b a.Done>j b.Done>j"), ""},
		"a join that says that it waits for any": {chart(lines+" "+input("mode", "FlowJoinMode", `"WaitAny"`), "s.Done>a s.Done>b a.Done>j b.Done>j"), "j"},
		"a round":                                {chart("s:Start; a:WriteLine; b:FlowDecision; j:FlowJoin", "s.Done>j j.Done>b b.True>a a.Done>j"), ""},
		"a break in a parallel loop":             {`{"id": "p", "type": "Elsa.ParallelForEach", "body": {"id": "i", "type": "Elsa.If", "then": {"id": "b", "type": "Elsa.Break"}}}`, "b"},
		"a break in a loop in a parallel loop":   {`{"id": "p", "type": "Elsa.ParallelForEach", "body": {"id": "w", "type": "Elsa.While", "body": {"id": "b", "type": "Elsa.Break"}}}`, ""},
		"a break in a loop":                      {`{"id": "w", "type": "Elsa.ForEach", "body": {"id": "b", "type": "Elsa.Break"}}`, ""},
		"a start that nothing else says":         {started(chart(lines, "s.Done>a a.Done>b b.Done>j"), "a"), "f"},
		"a start where Elsa begins":              {started(chart("a:WriteLine; b:WriteLine", "b.Done>a"), "b"), ""},
		"a start beside a flag":                  {started(chart(`a:WriteLine; b:WriteLine "customProperties": {"canStartWorkflow": true}`, "b.Done>a"), "a"), "f"},
		"a start in a round":                     {started(chart("a:WriteLine; b:WriteLine", "a.Done>b b.Done>a"), "b"), "f"},
		"a transition without a trigger":         {machine(""), "m"},
		"a transition with one":                  {machine(`, "trigger": {"id": "e", "type": "Elsa.Event", ` + event + `}`), ""},
	} {
		def, problems := elsajson.Read([]byte(`{"definitionId": "x", "root": `+c.root+`}`), "x.json", activities.Default())
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		got := ignored.Differences(def)
		if len(got) > 1 || len(got) == 1 != (c.of != "") || len(got) == 1 && got[0].Activity.ID != c.of {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
