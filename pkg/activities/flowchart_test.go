package activities_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// flow makes a flowchart from activities with ids and connections written as
// "a.Port -> b".
func flow(connections string, kids ...*workflow.Activity) *workflow.Activity {
	f := act("Flowchart", nil, kids...)
	for _, c := range strings.FieldsFunc(connections, func(r rune) bool { return r == ',' || r == '\n' }) {
		from, to, _ := strings.Cut(strings.TrimSpace(c), "->")
		src, port, _ := strings.Cut(strings.TrimSpace(from), ".")
		f.Connections = append(f.Connections, workflow.Connection{Source: src, SourcePort: port, Target: strings.TrimSpace(to)})
	}
	return f
}

func say(id string) *workflow.Activity { return named(id, line(id)) }

func join(id, mode string) *workflow.Activity {
	return named(id, act("FlowJoin", inputs{"mode": lit(mode)}))
}

func decide(id string, cond workflow.Expression) *workflow.Activity {
	return named(id, act("FlowDecision", inputs{"condition": cond}))
}

func fork(id string, branches ...any) *workflow.Activity {
	return named(id, act("FlowFork", inputs{"branches": lit(branches)}))
}

func pause(id string) *workflow.Activity { return named(id, wait(id)) }

// counting makes an expression that counts a variable up and tells whether it
// reached n.
func reached(n int64) workflow.Expression {
	return expr(func(s engine.Scope) (any, error) {
		v, _ := s.Variable("n")
		i, _ := v.(int64)
		return i+1 >= n, s.SetVariable("n", i+1)
	})
}

func TestFlowchart(t *testing.T) {
	t.Parallel()
	no := lit(false)
	cases := map[string]struct {
		flow    *workflow.Activity
		resume  []string // in this order; all others after
		lines   string
		token   string // lines of the token engine, if they differ
		pending string // bookmarks left before the first resume
	}{
		"a chain":                     {flow: flow("a -> b, b -> c", say("a"), say("b"), say("c")), lines: "a b c"},
		"nothing in it":               {flow: flow("")},
		"no way from the first":       {flow: flow("", say("a"), say("b")), lines: "a"},
		"starts where nothing leads":  {flow: flow("b -> a", say("a"), say("b")), lines: "b a"},
		"starts at Start":             {flow: flow("s -> b", say("a"), say("b"), named("s", act("Start", nil))), lines: "b"},
		"a decision":                  {flow: flow("d.True -> a, d.False -> b", decide("d", lit("true")), say("a"), say("b")), lines: "a"},
		"fork without join":           {flow: flow("f.x -> a, f.y -> b", fork("f", "x", "y"), say("a"), say("b")), lines: "a b"},
		"fork with one branch only":   {flow: flow("f.x -> a, f.z -> b", fork("f", "x"), say("a"), say("b")), lines: "a"},
		"implicit join runs once":     {flow: flow("s -> a, s -> b, a -> c, b -> c", say("s"), say("a"), say("b"), say("c")), lines: "s a b c"},
		"join waits for all":          {flow: flow("s -> a, s -> b, a -> j, b -> j, j -> c", say("s"), say("a"), say("b"), join("j", "WaitAll"), say("c")), lines: "s a b c"},
		"join waits for the slow one": {flow: flow("s -> a, s -> b, a -> j, b -> j, j -> c", say("s"), say("a"), pause("b"), join("j", "WaitAll"), say("c")), lines: "s a c", pending: "b"},
		"join of any cancels others": {
			flow:  flow("s -> a, s -> b, a -> j, b -> j, j -> c", say("s"), pause("a"), pause("b"), join("j", "WaitAny"), say("c")),
			lines: "s c", pending: "a b", resume: []string{"b"},
		},
		"join of any withdraws what is scheduled": {
			flow:  flow("s -> j1, s -> j2, j1 -> j3, j2 -> j3, j3 -> e", say("s"), join("j1", "WaitAny"), join("j2", "WaitAny"), join("j3", "WaitAny"), say("e")),
			lines: "s e",
		},
		"what else a cancelled branch leads to waits no more for it": {
			flow: flow("s -> slow, s -> fast, s -> other, slow -> first, fast -> first, slow -> z, other -> z",
				say("s"), pause("slow"), say("fast"), say("other"), join("first", "WaitAny"), say("z")),
			lines: "s fast other z",
		},
		"what else a cancelled branch leads to has waited for it only": {
			flow: flow("s -> other, s -> slow, s -> fast, slow -> mid, mid -> first, fast -> first, mid -> z, other -> z",
				say("s"), pause("slow"), say("fast"), say("other"), say("mid"), join("first", "WaitAny"), say("z")),
			lines: "s other fast z",
		},
		"a loop around a join of any, with a join in a branch": {
			flow: flow("s -> h, h -> a, h -> b, h -> c, a -> m, b -> m, m -> j, c -> j, j -> d, d.False -> h, d.True -> e",
				named("s", act("Start", nil)), say("h"), pause("a"), pause("b"), pause("c"), say("m"), join("j", "WaitAny"), decide("d", reached(2)), say("e")),
			// In the second round b comes before a: m waits for both.
			lines: "h h m e", pending: "a b c", resume: []string{"a", "c", "b", "a"},
		},
		"a join of any beside the way back": {
			flow: flow("s -> h, h -> d, d.False -> j, d.False -> h, d.True -> e, j -> x",
				named("s", act("Start", nil)), say("h"), decide("d", reached(3)), join("j", "WaitAny"), say("x"), say("e")),
			lines: "h h x h x e",
		},
		"a join of any runs once": {
			flow:  flow("s -> j, s -> k, k -> j, j -> e", say("s"), say("k"), join("j", "WaitAny"), say("e")),
			lines: "s e", token: "*",
		},
		"join of all is dead when a branch is dead": {
			flow:  flow("d.True -> a, d.False -> b, a -> j, b -> j, j -> c", decide("d", no), say("a"), say("b"), join("j", "WaitAll"), say("c")),
			lines: "b",
		},
		"join of the active ignores dead branches": {
			flow:  flow("d.True -> a, d.False -> b, a -> j, b -> j, j -> c", decide("d", no), say("a"), say("b"), join("j", "WaitAllActive"), say("c")),
			lines: "b c", token: "b", // a token join needs every connection
		},
		"a dead path is passed over": {
			flow:  flow("d.True -> a, a -> b, b -> x, d.False -> x, x -> e", decide("d", no), say("a"), say("b"), say("x"), say("e")),
			lines: "x e",
		},
		"End ends everything": {
			flow:  flow("s -> a, s -> b, a -> e", say("s"), say("a"), pause("b"), named("e", act("End", nil))),
			lines: "s a",
		},
		"a loop by a backward connection": {
			flow:  flow("s -> a, a -> d, d.False -> b, b -> a, d.True -> c", named("s", act("Start", nil)), say("a"), decide("d", reached(3)), say("b"), say("c")),
			lines: "a b a b a c",
		},
		"a loop around a join": {
			flow: flow("s -> f, f -> a, f -> b, a -> j, b -> j, j -> d, d.False -> f, d.True -> e",
				named("s", act("Start", nil)), say("f"), say("a"), say("b"), join("j", "WaitAll"), decide("d", reached(3)), say("e")),
			lines: "f a b f a b f a b e",
		},
		"a loop around a join of any": {
			flow: flow("s -> f, f -> a, f -> b, a -> j, b -> j, j -> d, d.False -> f, d.True -> e",
				named("s", act("Start", nil)), say("f"), say("a"), pause("b"), join("j", "WaitAny"), decide("d", reached(3)), say("e")),
			lines: "f a f a f a e",
		},
		"a loop around a dead path": {
			flow: flow("s -> a, a -> x, x.True -> p, x.False -> q, p -> m, q -> m, m -> d, d.False -> a, d.True -> e",
				named("s", act("Start", nil)), say("a"), decide("x", no), say("p"), say("q"), say("m"), decide("d", reached(2)), say("e")),
			lines: "a q m a q m e",
		},
		"a loop to itself": {
			flow:  flow("s -> d, d.False -> d, d.True -> e", named("s", act("Start", nil)), decide("d", reached(4)), say("e")),
			lines: "e",
		},
		"a nested flowchart": {
			flow:  flow("a -> n, n -> b", say("a"), named("n", port(act("FlowNode", nil), "body", flow("x -> y", say("x"), say("y")))), say("b")),
			lines: "a x y b",
		},
		"a braid": {
			flow: flow("w1 -> w2, w2 -> w4, w3 -> w5, w1 -> w3, w5 -> w7, w2 -> w5, w6 -> d2, w3 -> w6, w8 -> w9, d2 -> w8, w5 -> w8, d1 -> w7, w7 -> w9, w4 -> d1",
				say("w1"), say("w2"), say("w3"), say("w4"), say("w5"), say("w6"), say("w8"), say("w7"), say("w9"), pause("d1"), pause("d2")),
			lines: "w1 w2 w3 w4 w5 w6 w7 w8 w9", token: "*", pending: "d1 d2",
		},
		"switch of the first": {
			flow: flow("s.One -> a, s.Two -> b, s.Default -> c", named("s", &workflow.Activity{Type: "Elsa.FlowSwitch", Cases: []workflow.Case{
				{Label: "One", Condition: lit("false")}, {Label: "Two", Condition: lit(true)}, {Label: "Default", Condition: lit(true)},
			}}), say("a"), say("b"), say("c")),
			lines: "b",
		},
		"switch of any": {
			flow: flow("s.One -> a, s.Two -> b, s.Default -> c", named("s", &workflow.Activity{Type: "Elsa.FlowSwitch", Inputs: inputs{"mode": lit("matchany")}, Cases: []workflow.Case{
				{Label: "One", Condition: lit("True")}, {Label: "Two", Condition: lit(true)},
			}}), say("a"), say("b"), say("c")),
			lines: "a b",
		},
		"switch by default": {
			flow: flow("s.One -> a, s.Default -> c", named("s", &workflow.Activity{Type: "Elsa.FlowSwitch", Cases: []workflow.Case{
				{Label: "One", Condition: lit("false")},
			}}), say("a"), say("c")),
			lines: "c",
		},
	}
	for name, c := range cases {
		for _, mode := range []string{"CounterBased", "TokenBased"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				def := root(c.flow)
				def.Variables = []workflow.Variable{{Name: "n", Type: "Int32", Value: 0}}
				b := start(t, def, withProperty("Flowchart:ExecutionMode", mode))
				if got := strings.Join(b.bookmarks(), " "); c.pending != "" && got != c.pending {
					t.Errorf("waits for %q, want %q", got, c.pending)
				}
				for _, r := range c.resume {
					b.resume(r, nil)
				}
				b.untilEnd()
				want := c.lines
				if mode == "TokenBased" && c.token != "" {
					want = c.token
				}
				if got := strings.Join(b.lines, " "); got != want && want != "*" {
					t.Errorf("lines %q, want %q; incidents %v", got, want, b.header.Incidents)
				}
				b.wantStatus(workflow.Finished)
			})
		}
	}
}

func TestTokenMergeModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"":         "s a b c",
		"Stream":   "s a b c",
		"Merge":    "s a b c",
		"Converge": "s a b c",
		"Cascade":  "s a b c c",
		"Race":     "s a c",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := say("c")
			c.MergeMode = mode
			f := flow("s -> a, s -> b, a -> c, b -> c", say("s"), say("a"), say("b"), c)
			f.CustomProperties = map[string]any{"Flowchart:ExecutionMode": "TokenBased"}
			b := start(t, root(f)).wantStatus(workflow.Finished)
			if got := strings.Join(b.lines, " "); got != want {
				t.Errorf("lines %q, want %q", got, want)
			}
		})
	}
}

func TestFlowchartStartsAtTheTriggerThatWasMet(t *testing.T) {
	t.Parallel()
	one, two := pause("one"), pause("two")
	one.CanStart, two.CanStart = true, true
	f := flow("one -> a, two -> b, a -> e, b -> e", one, two, say("a"), say("b"), say("e"))
	for trigger, want := range map[string]string{"one": "a e", "two": "b e", "": ""} {
		b := start(t, root(f), withTrigger(trigger, nil))
		if got := strings.Join(b.lines, " "); got != want {
			t.Errorf("trigger %q: lines %q, want %q", trigger, got, want)
		}
	}
}

func TestFlowchartRefusesALoopEnteredFromItsSide(t *testing.T) {
	t.Parallel()
	f := flow("s -> a, s -> b, a -> b, b -> c, c -> a", say("s"), say("a"), say("b"), say("c"))
	b := start(t, root(f)).wantStatus(workflow.Faulted)
	if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, "enters a loop from its side") {
		t.Errorf("incidents %v", b.header.Incidents)
	}
}

func TestFlowchartOf10000Activities(t *testing.T) {
	t.Parallel()
	var kids []*workflow.Activity
	var cons []string
	for i := range 10_000 {
		kids = append(kids, named(fmt.Sprintf("n%d", i), act("FlowNode", nil)))
		if i > 0 {
			cons = append(cons, fmt.Sprintf("n%d -> n%d", i-1, i))
		}
	}
	start(t, root(flow(strings.Join(cons, ","), kids...)), withEnv(func(e *engine.Env) { e.Limits.Activities = 20_000 })).wantStatus(workflow.Finished)
	// A dead path as long as this is passed over without recursion.
	kids = append([]*workflow.Activity{decide("d", lit(false))}, kids...)
	b := start(t, root(flow(strings.Join(append(cons, "d.True -> n0, d.False -> yes, n9999 -> yes"), ","), append(kids, say("yes"))...)))
	b.wantStatus(workflow.Finished).wantLines("yes")
}

func TestFlowchartProblems(t *testing.T) {
	t.Parallel()
	f := flow("a -> c, x -> a", say("a"), say("b"))
	f.Start = "bb"
	f.Activities[1].MergeMode = "Sideways"
	problems := compileProblems(t, root(f))
	wantProblem(t, problems, "unknown-connection", `leads to "c"`)
	wantProblem(t, problems, "unknown-connection", `leads to "x"`)
	wantProblem(t, problems, "unknown-start", `"bb"`)
	wantProblem(t, problems, "bad-literal", "Sideways")
}

func compileProblems(t *testing.T, def *workflow.Definition) workflow.Problems {
	t.Helper()
	def.ID = "def"
	_, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	return problems
}

func wantProblem(t *testing.T, problems workflow.Problems, code, text string) {
	t.Helper()
	for _, p := range problems {
		if p.Code == code && strings.Contains(p.Detail, text) {
			return
		}
	}
	t.Errorf("no problem %s with %q in:\n%v", code, text, problems)
}
