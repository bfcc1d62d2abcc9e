package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func body(a *workflow.Activity, kids ...*workflow.Activity) *workflow.Activity {
	return port(a, "body", seq(kids...))
}

// currentIs tells whether the loop's current value is v.
func currentIs(v any) workflow.Expression {
	return expr(func(s engine.Scope) (any, error) { c, _ := s.Variable("CurrentValue"); return c == v, nil })
}

func ifElse(cond workflow.Expression, then *workflow.Activity) *workflow.Activity {
	return port(act("If", inputs{"condition": cond}), "then", then)
}

func switchOn(mode string, conds ...any) *workflow.Activity {
	a := act("Switch", inputs{"mode": lit(mode)})
	for i, c := range conds {
		a.Cases = append(a.Cases, workflow.Case{Label: fmt.Sprint("c", i), Condition: lit(c), Activity: line(fmt.Sprint("c", i))})
	}
	return port(a, "default", line("default"))
}

func TestControlFlow(t *testing.T) {
	t.Parallel()
	cur := varExpr("CurrentValue")
	brk := func() *workflow.Activity { return act("Break", nil) }
	loopOf := func(in inputs) *workflow.Activity { return body(act("For", in), lineOf(cur)) }
	cases := map[string]struct {
		root *workflow.Activity
		want string
	}{
		"parallel takes turns":              {act("Parallel", nil, seq(line("a1"), line("a2")), seq(line("b1"), line("b2"))), "a1 b1 a2 b2"},
		"parallel of nothing":               {seq(act("Parallel", nil), line("x")), "x"},
		"fork waits for all":                {seq(act("Fork", nil, line("a"), seq(line("b1"), line("b2"))), line("x")), "a b1 b2 x"},
		"fork goes on with the first":       {seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, wait("never"), line("a")), line("x")), "a x"},
		"switch takes the first":            {switchOn("MatchFirst", false, true, true), "c1"},
		"switch takes every":                {switchOn("MatchAny", true, "False", "True"), "c0 c2"},
		"switch takes the default":          {switchOn("MatchAny", false), "default"},
		"switch without cases":              {act("Switch", nil), ""},
		"for counts up":                     {loopOf(inputs{"start": lit("1"), "end": lit(3)}), "1 2 3"},
		"for leaves out the end":            {loopOf(inputs{"start": lit(1), "end": lit(3), "outerBoundInclusive": lit("false")}), "1 2"},
		"for counts down":                   {loopOf(inputs{"start": lit(3), "end": lit(-1), "step": lit("-2")}), "3 1 -1"},
		"for the wrong way":                 {loopOf(inputs{"start": lit(3), "end": lit(1)}), ""},
		"for without a body":                {act("For", inputs{"end": lit(3)}), ""},
		"for to the last number":            {loopOf(inputs{"start": lit(int64(1<<63 - 2)), "end": lit(int64(1<<63 - 1))}), "9223372036854775806 9223372036854775807"},
		"for each":                          {body(act("ForEach", inputs{"items": lit([]any{"a", "b"})}), lineOf(cur), lineOf(varExpr("CurrentIndex"))), "a 0 b 1"},
		"for each of text":                  {body(act("ForEach", inputs{"items": lit(`["a","b"]`)}), lineOf(cur)), "a b"},
		"for each of nothing":               {body(act("ForEach", inputs{"items": lit([]any{})}), lineOf(cur)), ""},
		"for each, parallel":                {body(act("ParallelForEach", inputs{"items": lit([]any{"a", "b"})}), lineOf(cur), lineOf(varExpr("CurrentIndex"))), "a b 0 1"},
		"nested loops have their own value": {body(act("ForEach", inputs{"items": lit([]any{1, 2})}), body(act("ForEach", inputs{"items": lit([]any{"x", "y"})}), lineOf(cur)), lineOf(cur)), "x y 1 x y 2"},
		"while":                             {body(act("While", inputs{"condition": expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("n"); return v.(int64) < 2, nil })}), lineOf(varExpr("n")), act("SetVariable", inputs{"variable": lit("n"), "value": expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("n"); return v.(int64) + 1, nil })})), "0 1"},
		"while false":                       {body(act("While", nil), line("x")), ""},
		"break leaves the nearest loop": {
			body(act("ForEach", inputs{"items": lit([]any{1, 2})}), body(act("ForEach", inputs{"items": lit([]any{"x", "y", "z"})}), ifElse(currentIs("y"), brk()), lineOf(cur)), lineOf(cur)), "x 1 x 2",
		},
		"break from within a flowchart": {
			body(act("ForEach", inputs{"items": lit([]any{1, 2})}), flow("a -> b", say("a"), named("b", brk()))), "a",
		},
		"break leaves a parallel loop and cancels its rounds": {
			seq(body(act("ParallelForEach", inputs{"items": lit([]any{1, 2, 3})}), ifElse(currentIs(int64(2)), brk()), lineOf(cur)), line("x")), "1 x",
		},
		"break outside a loop ends the sequence": {seq(line("a"), brk(), line("b")), "a"},
		"complete completes the workflow":        {seq(line("a"), act("Complete", inputs{"outcomes": lit("X")}), line("b")), "a"},
		"complete completes a composite":         {seq(port(act("Composite", nil), "root", seq(line("a"), act("Complete", nil), line("b"))), line("c")), "a c"},
		"container":                              {act("Container", nil, line("a"), line("b")), "a b"},
		"finish ends everything":                 {act("Parallel", nil, wait("never"), seq(line("a"), act("Finish", nil), line("b")), seq(line("c"), line("d"), line("e"))), "a c"},
		"inline": {activities.Inline(func(_ context.Context, x *engine.Execution) error {
			x.WriteLine("from Go")
			return nil
		}), "from Go"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := root(c.root)
			def.Variables = []workflow.Variable{{Name: "n", Type: "Int32", Value: "0"}}
			b := start(t, def).wantStatus(workflow.Finished)
			if got := strings.Join(b.lines, " "); got != c.want {
				t.Errorf("lines %q, want %q; incidents %v", got, c.want, b.header.Incidents)
			}
			if len(b.header.Bookmarks) != 0 {
				t.Errorf("bookmarks %v", b.bookmarks())
			}
		})
	}
}

func TestActivitiesThatFault(t *testing.T) {
	t.Parallel()
	fail := expr(func(engine.Scope) (any, error) { return nil, errors.New("broken expression") })
	is := func(v any) workflow.Expression { return expr(func(engine.Scope) (any, error) { return v, nil }) }
	cases := map[string]struct {
		a          *workflow.Activity
		want       string
		expression string
	}{
		"fault":               {act("Fault", inputs{"message": lit("no good"), "code": lit("E1")}), "E1: no good", ""},
		"fault of nothing":    {act("Fault", nil), "fault", ""},
		"step 0":              {act("For", inputs{"step": is(0)}), "step is 0", ""},
		"while for ever":      {act("While", inputs{"condition": lit(true)}), "no body", ""},
		"expression":          {act("WriteLine", inputs{"text": fail}), "broken expression", "text: Go"},
		"condition":           {act("While", inputs{"condition": fail}), "broken expression", "condition: Go"},
		"case":                {&workflow.Activity{Type: "Elsa.FlowSwitch", Cases: []workflow.Case{{Label: "x", Condition: fail}}}, "broken expression", "condition of case x: Go"},
		"wrong type":          {act("For", inputs{"start": is("many")}), `"many" is not a whole number`, "start: Go"},
		"wrong option":        {act("Fork", inputs{"joinMode": is("WaitSome")}), "not one of WaitAll, WaitAny", "joinMode: Go"},
		"no value":            {act("Event", inputs{"eventName": is(nil)}), "required", "eventName: Go"},
		"not a list":          {act("ForEach", inputs{"items": is(map[string]any{})}), "{} is not a list", "items: Go"},
		"long event name":     {act("Event", inputs{"eventName": is(strings.Repeat("x", 300))}), "event name", ""},
		"long correlation id": {act("Correlate", inputs{"correlationId": is(strings.Repeat("x", 300))}), "correlation id", ""},
		"no HTTP":             {act("SendHttpRequest", inputs{"url": lit("http://localhost")}), "no outgoing HTTP", ""},
		"bad cron":            {act("Cron", inputs{"cronExpression": is("never")}), "cron expression", ""},
		"panic":               {activities.Inline(func(context.Context, *engine.Execution) error { panic("boom") }), "panic: boom", ""},
		"panic in expression": {act("WriteLine", inputs{"text": expr(func(engine.Scope) (any, error) { panic("boom") })}), "panic: boom", ""},
		"no JSON":             {act("SetVariable", inputs{"variable": lit("v"), "value": is(func() {})}), "no JSON form", "value: Go"},
		"variable's type":     {act("SetVariable", inputs{"variable": lit("v"), "value": lit("much")}), `variable v: "much" is not a whole number`, ""},
		"script":              {act("RunJavaScript", inputs{"script": lit("throw")}), "thrown", ""},
		"unknown child":       {act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("missing")}), `no published definition "missing"`, ""},
		"header":              {act("WriteHttpResponse", inputs{"responseHeaders": lit(map[string]any{"A": "b\r\nC: d"})}), `header "A" is not valid`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := root(seq(line("before"), named("bad", c.a), line("after")))
			def.Variables = []workflow.Variable{{Name: "v", Type: "Int32"}}
			b := start(t, def).wantStatus(workflow.Faulted).wantLines("before")
			if len(b.header.Incidents) != 1 {
				t.Fatalf("incidents %v", b.header.Incidents)
			}
			inc := b.header.Incidents[0]
			if inc.ActivityID != "bad" || !strings.Contains(inc.Message, c.want) || inc.Expression != c.expression {
				t.Errorf("incident %+v", inc)
			}
			if b.header.FinishedAt == nil || len(b.header.Bookmarks) != 0 {
				t.Errorf("header %+v", b.header)
			}
		})
	}
}

func TestBadLiteralsAreProblems(t *testing.T) {
	t.Parallel()
	p := compileProblems(t, root(seq(
		act("Delay", inputs{"timeSpan": lit("soon")}),
		act("If", inputs{"condition": lit("perhaps")}),
		act("Fork", inputs{"joinMode": lit("WaitSome")}),
		act("ForEach", inputs{"items": lit("abc")}),
		act("ForEach", nil),
		act("WriteHttpResponse", inputs{"statusCode": lit("Okay")}),
		act("StartAt", inputs{"dateTime": lit("noon")}),
		act("Cron", inputs{"cronExpression": lit("BadCronExpression")}),
		act("RunJavaScript", inputs{"script": lit("syntax error")}),
		act("SetVariable", inputs{"variable": lit("nobody"), "value": lit(1)}),
		act("WriteLine", inputs{"texd": lit("x")}),
		&workflow.Activity{Type: "Elsa.Inline", Inputs: inputs{"code": lit("x")}},
		act("BulkDispatchWorkflows", nil),
		act("PublishEvent", nil), act("RunTask", nil), act("Timer", nil), act("HttpEndpoint", nil), act("Correlate", nil), act("SetOutput", nil),
	)))
	for code, texts := range map[string][]string{
		"bad-literal": {`"soon" is not a duration`, `"perhaps" is not true or false`, `"WaitSome" is not one of`, `"abc" is not a list`, `"Okay" is not an HTTP status`, `"noon" is not a time`, "hold Go code"},
		"bad-cron":    {"BadCronExpression"}, "bad-expression": {"unexpected identifier"}, "unknown-variable": {"nobody"}, "unknown-input": {`"texd" (did you mean text?)`},
		"missing-input": {"forEach forEach2 needs the input items", "taskName", "interval", "path", "correlationId", "outputName", "workflowDefinitionId", "eventName"},
	} {
		for _, text := range texts {
			wantProblem(t, p, code, text)
		}
	}
	if len(p) != 20 {
		t.Errorf("%d problems:\n%v", len(p), p)
	}
}

func TestIncidentStrategies(t *testing.T) {
	t.Parallel()
	defWith := func(strategy string) *workflow.Definition {
		def := root(seq(line("Start"), act("Parallel", nil, seq(line("1a"), line("1b")), seq(line("2a"), act("Fault", nil), line("2b")))))
		def.Options.IncidentStrategy = strategy
		return def
	}
	start(t, defWith("")).wantStatus(workflow.Faulted).wantLines("Start", "1a", "2a", "1b")
	b := start(t, defWith("ContinueWithIncidents")).wantStatus(workflow.Suspended).wantLines("Start", "1a", "2a", "1b")
	if len(b.header.Incidents) != 1 {
		t.Errorf("incidents %v", b.header.Incidents)
	}
	b = start(t, defWith("Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core")).wantStatus(workflow.Suspended)
	if len(b.header.Bookmarks) != 0 {
		t.Error("bookmarks")
	}
}

func TestOneFaultyItemDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	def := root(body(act("ParallelForEach", inputs{"items": lit([]any{1, 2, 3})}), ifElse(currentIs(int64(2)), act("Fault", nil)), lineOf(varExpr("CurrentValue"))))
	def.Options.IncidentStrategy = "ContinueWithIncidents"
	start(t, def).wantStatus(workflow.Suspended).wantLines("1", "3")
}

func TestSwitchOutcomesAndNames(t *testing.T) {
	t.Parallel()
	def := root(seq(
		named("d", act("FlowDecision", inputs{"condition": lit("True")})),
		named("f", act("FlowFork", inputs{"branches": lit([]any{"A", "B"})})),
		named("s", &workflow.Activity{Type: "Elsa.FlowSwitch", Cases: []workflow.Case{{Label: "x", Condition: lit("true")}}}),
		named("js", act("RunJavaScript", inputs{"script": lit("setOutcome('Left')")})),
		named("i", act("If", inputs{"condition": lit(false)})),
		act("SetName", inputs{"value": lit("the name")}),
		act("Correlate", inputs{"correlationId": lit("c-1")}),
		act("SetOutput", inputs{"outputName": lit("o"), "outputValue": lit(5)}),
	))
	b := start(t, def).wantStatus(workflow.Finished)
	for id, want := range map[string][]string{"d": {"True"}, "f": {"A", "B"}, "s": {"x"}, "js": {"Left"}, "i": {"Done", "False"}} {
		if got := b.outcomes(id); !slices.Equal(got, want) {
			t.Errorf("%s: outcomes %v, want %v", id, got, want)
		}
	}
	if b.header.Name != "the name" || b.header.CorrelationID != "c-1" || b.header.Output["o"] != int64(5) {
		t.Errorf("header %+v", b.header)
	}
}

func TestScriptsRunFromLiteralsAndExpressions(t *testing.T) {
	t.Parallel()
	for _, e := range []workflow.Expression{lit("src"), workflow.JS("src"), expr(func(engine.Scope) (any, error) { return "src", nil })} {
		a := act("RunJavaScript", inputs{"script": e})
		a.Outputs = map[string]string{"result": "r"}
		def := root(seq(a, lineOf(varExpr("r"))))
		def.Variables = []workflow.Variable{{Name: "r"}}
		start(t, def).wantLines("src")
	}
}
