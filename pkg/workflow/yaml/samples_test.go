package yaml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Two samples that are fixed, word for word: others rely on them.
const (
	orderApproval = `id: order-approval
name: Order approval
inputs:
  orderId: {type: string}
  amount: {type: number}
variables:
  decision: {type: object}
outputs:
  approvedBy: ${{ variables.decision?.by }}
root:
  - correlate: ${{ inputs.orderId }}
  - writeLine: Order ${{ inputs.orderId }} over ${{ inputs.amount }}
  - if: ${{ inputs.amount > 1000 }}
    then:
      - event: approved                 # POST /api/v1/events/approved {"correlationId": "…", "payload": {…}}
        result: decision
        timeout: 48h                    # written for a Fork (first one wins) with a Delay
        onTimeout:
          - fault: not approved in time
  - sendHttpRequest: {method: POST, url: "https://ship.internal/orders", content: "${{ {order: inputs.orderId} }}"}
`
	greeting = `id: greeting
inputs:
  formal: {type: boolean}
root:
  flowchart:
    start: ask
    activities:
      ask: {flowDecision: "${{ inputs.formal }}"}
      formal: {writeLine: Good day}
      casual: {writeLine: Hi}
    connections: [ask.True -> formal, ask.False -> casual]
`
)

func inputs(pairs ...any) map[string]workflow.Expression {
	m := map[string]workflow.Expression{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1].(workflow.Expression)
	}
	return m
}

func read(t *testing.T, src string) *workflow.Definition {
	t.Helper()
	def, problems := yaml.Read([]byte(src), "sample.yaml", testTypes(t))
	for _, p := range problems {
		t.Errorf("%s: %s\n%s", p.Place, p.Detail, p.Excerpt)
	}
	if t.Failed() {
		t.FailNow()
	}
	return def
}

func TestOrderApproval(t *testing.T) {
	t.Parallel()
	value := workflow.Tmpl("${{ variables.decision?.by }}")
	want := &workflow.Definition{
		ID: "order-approval", Name: "Order approval",
		Inputs:    []workflow.Input{{Name: "orderId", Type: "String"}, {Name: "amount", Type: "Double"}},
		Variables: []workflow.Variable{{Name: "decision", Type: "Object"}},
		Outputs:   []workflow.Output{{Name: "approvedBy", Value: &value}},
		Root: &workflow.Activity{ID: "root", Type: "Elsa.Sequence", Activities: []*workflow.Activity{
			{ID: "correlate1", Type: "Elsa.Correlate", Inputs: inputs("correlationId", workflow.Tmpl("${{ inputs.orderId }}"))},
			{ID: "writeLine1", Type: "Elsa.WriteLine", Inputs: inputs("text", workflow.Tmpl("Order ${{ inputs.orderId }} over ${{ inputs.amount }}"))},
			{ID: "if1", Type: "Elsa.If", Inputs: inputs("condition", workflow.Tmpl("${{ inputs.amount > 1000 }}")), Ports: map[string]*workflow.Activity{
				"then": {ID: "if1.then", Type: "Elsa.Sequence", Activities: []*workflow.Activity{{
					ID: "if1.then.event1.timeout", Type: "Elsa.Fork", Inputs: inputs("joinMode", workflow.Lit("WaitAny")), Activities: []*workflow.Activity{
						{ID: "if1.then.event1", Type: "Elsa.Event", Inputs: inputs("eventName", workflow.Lit("approved")), Outputs: map[string]string{"result": "decision"}},
						{ID: "if1.then.event1.onTimeout", Type: "Elsa.Sequence", Activities: []*workflow.Activity{
							{ID: "if1.then.event1.timeout.delay", Type: "Elsa.Delay", Inputs: inputs("timeSpan", workflow.Lit("48h"))},
							{ID: "if1.then.event1.onTimeout.fault1", Type: "Elsa.Fault", Inputs: inputs("message", workflow.Lit("not approved in time"))},
						}},
					},
				}}},
			}},
			{ID: "sendHttpRequest1", Type: "Elsa.SendHttpRequest", Inputs: inputs(
				"method", workflow.Lit("POST"), "url", workflow.Lit("https://ship.internal/orders"), "content", workflow.Tmpl("${{ {order: inputs.orderId} }}"))},
		}},
	}
	def := read(t, orderApproval)
	if d := diff(want, def); d != "" {
		t.Fatal(d)
	}
	event := def.Root.Activities[2].Ports["then"].Activities[0].Activities[0]
	if p := event.Place; p.Line != 15 || p.Column != 9 || p.File != "sample.yaml" {
		t.Errorf("place of the event: %v", p)
	}
	if p := event.Inputs["eventName"].Place; p.Line != 15 || p.Column != 16 {
		t.Errorf("place of the event's name: %v", p)
	}
	out, err := yaml.Write(def, testTypes(t))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "      - event: approved\n        result: decision\n        timeout: 48h\n        onTimeout:\n          - fault: not approved in time\n") {
		t.Errorf("the timeout was not recognised:\n%s", out)
	}
}

func TestGreeting(t *testing.T) {
	t.Parallel()
	want := &workflow.Definition{
		ID:     "greeting",
		Inputs: []workflow.Input{{Name: "formal", Type: "Boolean"}},
		Root: &workflow.Activity{ID: "root", Type: "Elsa.Flowchart", Start: "ask",
			Activities: []*workflow.Activity{
				{ID: "ask", Type: "Elsa.FlowDecision", Inputs: inputs("condition", workflow.Tmpl("${{ inputs.formal }}"))},
				{ID: "formal", Type: "Elsa.WriteLine", Inputs: inputs("text", workflow.Lit("Good day"))},
				{ID: "casual", Type: "Elsa.WriteLine", Inputs: inputs("text", workflow.Lit("Hi"))},
			},
			Connections: []workflow.Connection{{Source: "ask", SourcePort: "True", Target: "formal"}, {Source: "ask", SourcePort: "False", Target: "casual"}},
		},
	}
	if d := diff(want, read(t, greeting)); d != "" {
		t.Error(d)
	}
}

// goodRoots are roots with the ids and types that come out, parents first.
var goodRoots = []struct{ name, src, want string }{
	{"one activity", "root: {writeLine: hi}", "root:WriteLine"},
	{"a list", "root: [{writeLine: a}, {finish: }, break]", "root:Sequence writeLine1:WriteLine finish1:Finish break1:Break"},
	{"given ids", "root:\n  - {writeLine: a, id: first}\n  - writeLine: b\n  - {id: third, if: true, then: {writeLine: c}, else: [{writeLine: d}]}", "root:Sequence first:WriteLine writeLine2:WriteLine third:If third.else:Sequence third.else.writeLine1:WriteLine third.then.writeLine1:WriteLine"},
	{"a list in a list", "root: [[{writeLine: a}], {sequence: [{writeLine: b}]}]", "root:Sequence sequence1:Sequence sequence1.writeLine1:WriteLine sequence2:Sequence sequence2.writeLine1:WriteLine"},
	{"a fork", "root:\n  fork:\n    - [{event: a}]\n    - delay: 5s\n  joinMode: WaitAny", "root:Fork sequence1:Sequence sequence1.event1:Event delay1:Delay"},
	{"a fork in a mapping", "root:\n  fork:\n    joinMode: WaitAll\n    branches: [{event: a}]", "root:Fork event1:Event"},
	{"a switch", "root:\n  - switch:\n      - when: ${{ 1 }}\n        then: {writeLine: a}\n      - {label: B, when: false, do: [finish]}\n    default: {writeLine: c}\n    mode: MatchAny",
		"root:Sequence switch1:Switch switch1.default.writeLine1:WriteLine switch1.case1.writeLine1:WriteLine switch1.case2:Sequence switch1.case2.finish1:Finish"},
	{"status codes", "root:\n  - sendHttpRequest: {url: http://a}\n    expectedStatusCodes:\n      200: {writeLine: ok}\n      404: [finish]\n    timeout: {writeLine: late}\n    failedToConnect: break",
		"root:Sequence sendHttpRequest1:SendHttpRequest sendHttpRequest1.failedToConnect.break1:Break sendHttpRequest1.timeout.writeLine1:WriteLine sendHttpRequest1.case1.writeLine1:WriteLine sendHttpRequest1.case2:Sequence sendHttpRequest1.case2.finish1:Finish"},
	{"loops", "root:\n  - for: {start: 1, end: 3}\n    body: {writeLine: a}\n  - forEach: [1, 2]\n    body: [break]\n  - while: ${{ true }}\n    body: break",
		"root:Sequence for1:For for1.body.writeLine1:WriteLine forEach1:ForEach forEach1.body:Sequence forEach1.body.break1:Break while1:While while1.body.break1:Break"},
	{"the main branch", "root: [{flowNode: {writeLine: a}}, {flowNode: [break]}]", "root:Sequence flowNode1:FlowNode flowNode1.body.writeLine1:WriteLine flowNode2:FlowNode flowNode2.body:Sequence flowNode2.body.break1:Break"},
	{"a state machine", "root:\n  stateMachine:\n    initial: A b\n    states:\n      A b:\n        entry: {writeLine: x}\n        transitions:\n          - {on: {event: go}, when: true, then: [finish], to: C}\n      C: {final: true}\n      D:",
		"root:StateMachine A-b.entry.writeLine1:WriteLine A-b.transition1.on.event1:Event A-b.transition1.then:Sequence A-b.transition1.then.finish1:Finish"},
	{"definitions", "root:\n  - workflow: child-one\n    inputs: {message: hi}\n  - workflow: {id: child-one, version: 2, message: hi}\n  - ChildOne: {message: hi}\n    workflow: {id: c1, versionId: v1}\n  - ChildOne:",
		"root:Sequence childOne1:ChildOne childOne2:ChildOne childOne3:ChildOne childOne4:ChildOne"},
	{"a custom type", "root: [{acme.Ship: {order: {a: 1}, carrier: x}, result: r}]", "root:Sequence ship1:acme.Ship"},
	{"the full name", "root: [{Elsa.WriteLine: x}]", "root:Sequence writeLine1:WriteLine"},
	{"a timeout in a flowchart", "root:\n  flowchart:\n    start: wait\n    activities:\n      wait: {event: x, timeout: 1h}\n      end: {writeLine: e}\n    connections: [wait -> end]",
		"root:Flowchart wait.timeout:Fork wait:Event wait.onTimeout:Sequence wait.timeout.delay:Delay end:WriteLine"},
	{"retries", "root:\n  - {writeLine: a, retry: 3}\n  - event: b\n    retry: {attempts: 5, delay: 2s, on: [503, slow]}\n    timeout: 1h\n    onGiveUp: {writeLine: c}\n  - retry: {}\n    sequence: [{writeLine: d}]\n    onGiveUp: []\n  - retryPolicy: {attempts: 2, body: {writeLine: e}}",
		"root:Sequence writeLine1.retry:RetryPolicy writeLine1:WriteLine event1.retry:RetryPolicy event1.timeout:Fork event1:Event event1.onTimeout:Sequence event1.timeout.delay:Delay event1.onGiveUp:Sequence event1.onGiveUp.writeLine1:WriteLine " +
			"sequence1.retry:RetryPolicy sequence1:Sequence sequence1.writeLine1:WriteLine sequence1.onGiveUp:Sequence retryPolicy1:RetryPolicy retryPolicy1.body.writeLine1:WriteLine"},
	{"a retry in a flowchart", "root:\n  flowchart:\n    start: call\n    activities:\n      call: {event: x, retry: 2, timeout: 1h}\n      end: {writeLine: e}\n    connections: [call -> end]",
		"root:Flowchart call.retry:RetryPolicy call.timeout:Fork call:Event call.onTimeout:Sequence call.timeout.delay:Delay end:WriteLine"},
	{"anchors and merges", "root:\n  - &w {writeLine: a, name: n}\n  - *w\n  - {<<: *w, name: m}", "root:Sequence writeLine1:WriteLine writeLine2:WriteLine writeLine3:WriteLine"},
}

func TestTreesAndTheirIDs(t *testing.T) {
	t.Parallel()
	for _, c := range goodRoots {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			def := read(t, "id: x\n"+c.src)
			var got []string
			workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
				got = append(got, a.ID+":"+strings.TrimPrefix(a.Type, "Elsa."))
				return true
			})
			if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
				t.Error(d)
			}
			out, err := yaml.Write(def, testTypes(t))
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(def, read(t, string(out))); d != "" {
				t.Errorf("%s\n%s", d, out)
			}
			if strings.Contains(c.src, "retry:") && (!strings.Contains(string(out), "retry: {") || strings.Contains(string(out), "body:") && !strings.Contains(c.src, "body:")) {
				t.Errorf("the retry was not recognised:\n%s", out)
			}
			if c.name != "given ids" && strings.Contains(string(out), " id: ") && !strings.Contains(c.src, "id: c") {
				t.Errorf("derived ids were written:\n%s", out)
			}
		})
	}
}

func TestInputsTakeEveryKindOfExpression(t *testing.T) {
	t.Parallel()
	def := read(t, `id: x
root:
  - writeLine: 007
  - writeLine: 1.10
  - writeLine: 2026-01-02
  - writeLine: "${{ 1 }} and ${{ 2 }}"
  - writeLine: {javascript: "getX()"}
  - writeLine: {liquid: "{{ x }}"}
  - writeLine: {variable: v}
  - writeLine: {input: i}
  - writeLine: {literal: "${{ as it is }}"}
  - setVariable: {variable: v, value: 7}
  - setVariable: {variable: v, value: {a: [1, true, null, x]}}
  - setVariable: {variable: v, value: {a: "${{ 1 }}"}}
  - setVariable: {variable: v, value: {object: {javascript: data}}}
  - setVariable: {variable: v, value: {expression: {type: Secret, value: k}}}
  - flowFork: [One, Two]
  - writeLine:
      text: {csharp: "1"}
`)
	e := func(kind string, v any) workflow.Expression { return workflow.Expression{Kind: kind, Value: v} }
	want := []workflow.Expression{
		workflow.Lit("007"), workflow.Lit("1.10"), workflow.Lit("2026-01-02"), workflow.Tmpl("${{ 1 }} and ${{ 2 }}"), workflow.JS("getX()"),
		e(workflow.Liquid, "{{ x }}"), e(workflow.VariableOf, "v"), e(workflow.InputOf, "i"), workflow.Lit("${{ as it is }}"),
		workflow.Lit(7.0), e(workflow.Object, map[string]any{"a": []any{1.0, true, nil, "x"}}), workflow.Tmpl(map[string]any{"a": "${{ 1 }}"}),
		e(workflow.Object, map[string]any{"javascript": "data"}), e("Secret", "k"), e(workflow.Object, []any{"One", "Two"}), e(workflow.CSharp, "1"),
	}
	for i, a := range def.Root.Activities {
		got := a.Inputs["text"]
		for _, name := range []string{"value", "branches"} {
			if v, ok := a.Inputs[name]; ok {
				got = v
			}
		}
		if d := cmp.Diff(want[i], got, same); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
}

func TestDeclarationsAndOptions(t *testing.T) {
	t.Parallel()
	def := read(t, `id: x
inputs: {a: string, b: {type: "integer[]", required: true, default: [1]}, c: , d: {type: list, storage: memory}}
variables: {n: 3, ok: true, s: {type: string, value: hi}, l: "string[]", i: Int32}
outputs: {a: string, b: "${{ 1 }}", c: {type: number, value: 4}, d: {x: "${{ 1 }}"}, e: fixed}
outcomes: [Good, Bad]
options: {activation: singleton, incidents: ContinueWithIncidents, commit: Periodic, commitInterval: 30s, usableAsActivity: yes, autoUpdate: true, catchUp: one, logging: exclude, flowcharts: token}
root: []
`)
	b, c, d, e := workflow.Tmpl("${{ 1 }}"), workflow.Lit(4.0), workflow.Tmpl(map[string]any{"x": "${{ 1 }}"}), workflow.Lit("fixed")
	want := &workflow.Definition{
		ID:     "x",
		Inputs: []workflow.Input{{Name: "a", Type: "String"}, {Name: "b", Type: "Int64", IsArray: true, Required: true, Default: []any{1.0}}, {Name: "c"}, {Name: "d", Type: "Object", IsArray: true, StorageDriver: "Memory"}},
		Variables: []workflow.Variable{{Name: "n", Type: "Double", Value: 3.0}, {Name: "ok", Type: "Boolean", Value: true}, {Name: "s", Type: "String", Value: "hi"},
			{Name: "l", Type: "String", IsArray: true}, {Name: "i", Type: "Int32"}},
		Outputs:  []workflow.Output{{Name: "a", Type: "String"}, {Name: "b", Value: &b}, {Name: "c", Type: "Double", Value: &c}, {Name: "d", Value: &d}, {Name: "e", Value: &e}},
		Outcomes: []string{"Good", "Bad"},
		Options: workflow.Options{ActivationStrategy: "Singleton", IncidentStrategy: "ContinueWithIncidents", CommitStrategy: "Periodic", CommitInterval: "30s",
			UsableAsActivity: true, AutoUpdate: true, CatchUp: "one", LogPersistence: "Exclude"},
		CustomProperties: map[string]any{"Flowchart:ExecutionMode": "TokenBased"},
		Root:             &workflow.Activity{ID: "root", Type: "Elsa.Sequence"},
	}
	if d := diff(want, def); d != "" {
		t.Error(d)
	}
}
