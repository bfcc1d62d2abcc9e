package activities_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// executions groups a journal by execution, and says what does not fit: the items of
// one are about one activity with one parent, its first has its number, and its parent
// is an execution of the activity around it.
func executions(prog *engine.Program, items []workflow.JournalItem) (map[int64][]workflow.JournalItem, error) {
	out := map[int64][]workflow.JournalItem{}
	for _, it := range items {
		of := out[it.Execution]
		if len(of) == 0 && it.Execution != it.Sequence {
			return nil, fmt.Errorf("the first item of execution %d is %+v", it.Execution, it)
		}
		if len(of) > 0 && (of[0].ActivityID != it.ActivityID || of[0].Parent != it.Parent) {
			return nil, fmt.Errorf("execution %d is %+v, and %+v", it.Execution, of[0], it)
		}
		around, parent := prog.Node(it.ActivityID).Parent(), out[it.Parent]
		if len(parent) > 0 && around.Port(workflow.UndoPort) == prog.Node(it.ActivityID) { // it runs below who undoes
			around = prog.Node(parent[0].ActivityID)
			if typ := around.Type(); typ != workflow.ScopeType && typ != workflow.CompensateType {
				return nil, fmt.Errorf("%+v: %s does not undo", it, around.ID())
			}
		}
		if it.Parent == 0 && around.Parent() != nil || it.Parent > 0 && (len(parent) == 0 || parent[0].ActivityID != around.ID()) {
			return nil, fmt.Errorf("%+v: the activity around it is %s, its parent %+v", it, around.ID(), parent)
		}
		out[it.Execution] = append(of, it)
	}
	return out, nil
}

func TestRoundsOfALoopAreToldApart(t *testing.T) {
	t.Parallel()
	inner := named("inner", body(act("For", inputs{"end": lit(1)}), named("say", lineOf(varExpr("CurrentValue"))), named("ev", wait("go"))))
	outer := named("outer", body(act("ForEach", inputs{"items": lit([]any{"a", "b"})}), inner))
	fork := named("fork", act("Parallel", nil, named("left", seq(named("l", line("l")))), named("right", seq(named("r", act("Parallel", nil, named("rr", line("rr"))))))))
	b := start(t, root(seq(outer, fork)))
	b.untilEnd()
	b.wantStatus(workflow.Finished)
	all, err := executions(b.prog, b.journal)
	if err != nil {
		t.Fatal(err)
	}
	rounds, inners := map[int64]bool{}, map[int64]bool{}
	for number, items := range all {
		if last := items[len(items)-1]; last.Event != engine.EventCompleted {
			t.Errorf("execution %d ends with %+v", number, last)
		}
		switch items[0].ActivityID {
		case "say", "ev":
			rounds[items[0].Parent] = true // the body of a round has both
			inners[all[items[0].Parent][0].Parent] = true
		}
	}
	if len(rounds) != 4 || len(inners) != 2 {
		t.Errorf("%d rounds of %d inner loops in %+v", len(rounds), len(inners), b.journal)
	}
	if ev := all[b.numberOf("ev")]; len(ev) != 4 || ev[1].Event != engine.EventSuspended || ev[2].Event != engine.EventResumed || ev[1].Burst == ev[2].Burst {
		t.Errorf("the event's execution lasts over commits: %+v", ev)
	}
}

// numberOf is the first execution of an activity.
func (b *bench) numberOf(activity string) int64 {
	b.t.Helper()
	for _, it := range b.journal {
		if it.ActivityID == activity {
			return it.Execution
		}
	}
	b.t.Fatalf("%s is not in the journal", activity)
	return 0
}

func TestARetryIsAnExecutionOfItsOwn(t *testing.T) {
	t.Parallel()
	broken, keys := true, []string{}
	b := start(t, root(named("s", seq(named("bad", flaky(&broken, &keys)), line("x"))))).wantStatus(workflow.Faulted)
	broken = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished)
	all, err := executions(b.prog, b.journal)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, number := range slices.Sorted(maps.Keys(all)) {
		for _, it := range all[number] {
			if it.ActivityID == "bad" {
				events = append(events, fmt.Sprint(number, it.Parent == b.numberOf("s"), it.Event))
			}
		}
	}
	if fmt.Sprint(events) != "[2 trueStarted 2 trueFaulted 4 trueStarted 4 trueCompleted]" {
		t.Errorf("got %v", events)
	}
}

// told is what a reader of the journal knows of the variables: by execution and name.
type told struct {
	values map[int64]map[string]workflow.VariableChange
	items  []workflow.JournalItem
	left   bool // something was not told
}

func (v *told) read(r engine.Result) {
	v.items = append(v.items, r.Journal...)
	if r.Variables.Reset {
		clear(v.values)
	}
	for _, x := range r.Variables.Gone {
		delete(v.values, x)
	}
	for _, s := range r.Variables.Set {
		if v.values[s.Execution] == nil {
			v.values[s.Execution] = map[string]workflow.VariableChange{}
		}
		v.values[s.Execution][s.Name] = s
	}
	v.left = v.left || r.Variables.Left > 0
}

// check compares with what the state keeps. What is null, and what was not set, is
// one.
func (v *told) check(state []byte) error {
	var doc struct {
		Executions []struct {
			N    int64
			Vars map[string]any
		}
	}
	if err := workflow.Unmarshal(state, &doc); err != nil {
		return err
	}
	has := map[int64]map[string]any{}
	for _, x := range doc.Executions {
		if len(x.Vars) > 0 {
			has[x.N] = x.Vars
		}
	}
	for number, said := range v.values {
		for name, s := range said {
			value := has[number][name]
			if s.Clipped {
				if text, _ := s.Value.(string); !strings.HasPrefix(engine.Text(value), strings.TrimSuffix(text, "…")) {
					return fmt.Errorf("variable %s of %d begins with %v, and is %v", name, number, s.Value, value)
				}
			} else if !reflect.DeepEqual(value, s.Value) {
				return fmt.Errorf("variable %s of %d is said to be %v (%T), and is %v (%T)", name, number, s.Value, s.Value, value, value)
			}
			if s.By != 0 && !slices.ContainsFunc(v.items, func(it workflow.JournalItem) bool { return it.Execution == s.By }) {
				return fmt.Errorf("variable %s of %d was set by %d, which nothing is said of", name, number, s.By)
			}
		}
	}
	for number, vars := range has {
		for name, value := range vars {
			if _, said := v.values[number][name]; !said && value != nil {
				return fmt.Errorf("nothing is said of the variable %s of %d, which is %v", name, number, value)
			}
		}
	}
	return nil
}

// TestVariablesAreReadFromTheJournal runs random workflows, with loops, forks,
// children, faults and retries, and reads what the journal says after each commit.
func TestVariablesAreReadFromTheJournal(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("ä", 300)
	rapid.Check(t, func(t *rapid.T) {
		r := seq(port(line("x"), workflow.UndoPort, line("y")), genActivity(t, 3), genActivity(t, 3))
		number(t, r)
		workflow.Walk(r, func(a, _ *workflow.Activity, _ int) bool {
			switch a.Type {
			case "Elsa.SetVariable":
				name := rapid.SampledFrom([]string{"v", "w", "undeclared", "gone"}).Draw(t, "variable")
				if name == "undeclared" {
					*a = *named(a.ID, sets(name, rapid.IntRange(0, 9).Draw(t, "number")))
					break
				}
				a.Inputs["variable"] = lit(name)
				if rapid.IntRange(0, 3).Draw(t, "value") == 0 {
					a.Inputs["value"] = lit(rapid.SampledFrom([]any{nil, "text", big, []any{1, nil}, map[string]any{"k": big, "l": 1.5}, json.Number("1e400")}).Draw(t, "literal"))
				}
			case "Elsa.Sequence":
				if rapid.Bool().Draw(t, "scope") {
					a.Variables = []workflow.Variable{{Name: "v", Value: 7}, {Name: "w"}}
				}
			}
			return true
		})
		def := &workflow.Definition{ID: "d", Root: r, Variables: []workflow.Variable{{Name: "v", Value: 0}, {Name: "w"}, {Name: "gone", StorageDriver: "Memory"}}}
		def.Options.IncidentStrategy = rapid.SampledFrom([]string{"", "ContinueWithIncidents"}).Draw(t, "strategy")
		def.Options.CommitStrategy = rapid.SampledFrom([]string{"", "ActivityExecuted", "ActivityExecutedStrict"}).Draw(t, "commit")
		if rapid.IntRange(0, 15).Draw(t, "input") == 0 { // the workflow itself faults, and each retry begins it again
			def.Inputs = []workflow.Input{{Name: "missing", Required: true}}
		}
		prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
		if problems != nil {
			t.Fatal(problems)
		}
		known := &told{values: map[int64]map[string]workflow.VariableChange{}}
		c := course{prog: prog, seed: rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 12).Draw(t, "commands"), limits: engine.Limits{Activities: 300}}
		c.saw = func(r engine.Result) {
			known.read(r)
			if _, err := executions(prog, known.items); err != nil {
				t.Fatal(err)
			}
			if err := known.check(r.State); err != nil && !known.left {
				t.Fatal(err)
			}
		}
		history(t, c, rapid.Bool().Draw(t, "loaded"), false)
	})
}

// sets sets a variable, also one that nobody declared.
func sets(name string, v any) *workflow.Activity {
	return lineOf(expr(func(s engine.Scope) (any, error) { return "x", s.SetVariable(name, v) }))
}

func TestWhoSetAVariable(t *testing.T) {
	t.Parallel()
	loop := named("loop", body(act("ForEach", inputs{"items": lit([]any{"a"})}), named("ev", wait("go"))))
	byExpression := named("line", lineOf(expr(func(s engine.Scope) (any, error) { return "x", s.SetVariable("e", true) })))
	result := named("result", act("SetVariable", inputs{"variable": lit("v"), "value": lit(1)}))
	loop.Outputs = map[string]string{"currentValue": "item"}
	def := root(named("all", seq(byExpression, result, loop)))
	def.Variables = []workflow.Variable{{Name: "e"}, {Name: "v"}, {Name: "item"}, {Name: "constant", Value: "c"}, {Name: "null"}, {Name: "m", Value: "memory", StorageDriver: "Memory"}}
	b := start(t, def).wantStatus(workflow.Suspended)
	got := map[string]workflow.VariableChange{}
	for _, s := range b.last.Variables.Set {
		got[s.Name] = s
	}
	ev := b.numberOf("ev")
	for _, it := range b.journal {
		if it.Execution == ev {
			ev = it.Parent // the body of the round
			break
		}
	}
	want := map[string]workflow.VariableChange{
		"e":            {Name: "e", Value: true, By: b.numberOf("line")},
		"v":            {Name: "v", Value: int64(1), By: b.numberOf("result")},
		"item":         {Name: "item", Value: "a", By: b.numberOf("loop")},
		"constant":     {Name: "constant", Value: "c"},
		"CurrentValue": {Execution: ev, Name: "CurrentValue", Value: "a", By: b.numberOf("loop")},
		"CurrentIndex": {Execution: ev, Name: "CurrentIndex", Value: int64(0), By: b.numberOf("loop")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	b.resume("go", nil)
	if v := b.last.Variables; len(v.Set) != 0 || !slices.Equal(v.Gone, []int64{ev}) {
		t.Errorf("after the loop: %+v", v)
	}
}

// A value that its activity keeps out of the journal is kept out there too, whichever
// way it becomes a variable; secrets and links never are in it; large values, long
// names and many variables are cut off.
// An export of before the journal told variables does not say which of them it may tell: an
// import tells none of their values, until they are set again.
func TestAnImportThatDoesNotSayWhatIsHidden(t *testing.T) {
	t.Parallel()
	hidden := act("SetVariable", inputs{"variable": lit("card"), "value": lit("h1dden")})
	hidden.LogPersistence = "Exclude"
	round := body(act("ForEach", inputs{"items": lit([]any{"h1dden"})}), wait("go"))
	round.LogPersistence = "Exclude"
	def := root(seq(hidden, act("Parallel", nil, round, wait("more")), act("SetVariable", inputs{"variable": lit("card"), "value": lit("shown")}), wait("end")))
	def.Variables = []workflow.Variable{{Name: "card"}, {Name: "set", Value: "plain"}}
	b := start(t, def).wantStatus(workflow.Suspended)
	older := regexp.MustCompile(`,?"(hidden":\{[^}]*\}|n":[0-9]+|seq":[0-9]+)`).ReplaceAll(b.state, nil)
	if bytes.Contains(older, []byte(`"hidden":`)) || bytes.Equal(older, b.state) {
		t.Fatalf("%s", older)
	}
	burst, err := engine.Import(b.prog, b.header, older, b.env, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.keep(burst)
	if !b.last.Variables.Reset || len(b.last.Variables.Set) < 3 || slices.ContainsFunc(b.last.Variables.Set, func(c workflow.VariableChange) bool { return !c.Hidden || c.Value != nil }) {
		t.Errorf("an import tells %+v", b.last.Variables)
	}
	b.resume("go", nil)
	b.resume("more", nil)
	if set := b.last.Variables.Set; len(set) != 1 || set[0].Value != "shown" {
		t.Errorf("what is set again: %+v", set)
	}
	burst, err = engine.Import(b.prog, b.header, b.state, b.env, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.keep(burst); strings.Contains(fmt.Sprint(b.last.Variables), "h1dden") {
		t.Errorf("an import that says so tells %+v", b.last.Variables)
	}
}

func TestWhatIsNotToldOfVariables(t *testing.T) {
	t.Parallel()
	set := func(name string, v any) *workflow.Activity {
		return act("SetVariable", inputs{"variable": lit(name), "value": lit(v)})
	}
	hidden := set("hidden", "h1dden")
	hidden.LogPersistence = "Exclude"
	output := act("ForEach", inputs{"items": lit([]any{"h1dden"})})
	output.CustomProperties = map[string]any{"logPersistenceMode": map[string]any{"outputs": map[string]any{"currentValue": "Exclude"}}}
	output.Outputs = map[string]string{"currentValue": "output"}
	loop := body(act("ForEach", inputs{"items": lit([]any{"h1dden"})}), wait("go"))
	loop.LogPersistence = "Exclude"
	fromSecret := act("SetVariable", inputs{"variable": lit("made"), "value": expr(func(s engine.Scope) (any, error) { v, _ := s.Secret("key"); return len(v), nil })})
	token := func(n int) string { return "eyJiIjoi" + strings.Repeat("abcdefgh", n) + "." + strings.Repeat("s", 43) }
	within := lineOf(expr(func(s engine.Scope) (any, error) {
		v, _ := s.Secret("key")
		return nil, s.SetVariable("within", len(v))
	}))
	link, long := "https://weft.test/links/"+token(10), "see "+token(40)
	made := body(act("ForEach", inputs{"items": expr(func(s engine.Scope) (any, error) { return []any{}, s.SetVariable("besideOutput", "h1dden") })}), line("x"))
	made.CustomProperties = output.CustomProperties
	def := root(seq(made, hidden, body(output, line("x")), fromSecret, within, set("link", map[string]any{"in": []any{link}}), set("long", long), set("small", "s"), sets("\x00<b>\u202e", "x"), sets(strings.Repeat("n", 257), 1),
		set("controls", strings.Repeat("\x00", 256)), set("large", map[string]any{"text": strings.Repeat("ä", 1<<16)}), loop))
	for _, name := range []string{"hidden", "output", "made", "within", "besideOutput", "link", "long", "small", "controls", "large"} {
		def.Variables = append(def.Variables, workflow.Variable{Name: name})
	}
	def.Variables = append(def.Variables, workflow.Variable{Name: "later", Value: "a later-s3cret in it"})
	b := start(t, def, withEnv(func(e *engine.Env) {
		var err error
		if e.Secrets, err = secrets.New(map[string]string{"key": "other-s3cret", "later": "later-s3cret"}); err != nil {
			t.Fatal(err)
		}
	})).wantStatus(workflow.Suspended)
	got := map[string]workflow.VariableChange{}
	for _, s := range b.last.Variables.Set {
		got[s.Name] = s
		if raw, _ := json.Marshal(s.Value); len(raw) > 6*maxVariable+10 || !utf8.Valid(raw) {
			t.Errorf("%q has %d bytes: %q", s.Name, len(raw), raw)
		}
	}
	for _, name := range []string{"hidden", "output", "made", "within", "besideOutput", "CurrentValue"} {
		if s, there := got[name]; !there || !s.Hidden || s.Value != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if text := fmt.Sprint(b.last.Variables); strings.Contains(text, "h1dden") || strings.Contains(text, "s3cret in") || strings.Contains(text, "abcdefgh") || !strings.Contains(text, "a ***later*** in it") {
		t.Errorf("got %.2000s", text)
	}
	if s := got["large"]; !s.Clipped || len(s.Value.(string)) > maxVariable+len("…") {
		t.Errorf("large: %+v", s)
	}
	if s := got["controls"]; !s.Clipped {
		t.Errorf("controls: %+v", s)
	}
	if s := got["small"]; s.Clipped || s.Value != "s" || b.last.Variables.Left != 1 {
		t.Errorf("small: %+v; %d left", s, b.last.Variables.Left)
	}

	many := act("Sequence", nil)
	for i := range 130 {
		many.Activities = append(many.Activities, sets(fmt.Sprintf("v%03d", i), i))
	}
	b = start(t, root(seq(many, wait("go"))))
	if v := b.last.Variables; len(v.Set) != 100 || v.Left != 30 {
		t.Errorf("%d variables told, %d left", len(v.Set), v.Left)
	}
}

// maxVariable is the documented bound of a variable's value in the journal.
const maxVariable = 256

// What is too long for the journal is cut behind what is hidden in it: half of a secret or of a
// resume link would be found by nobody.
func TestWhatIsCutForTheJournalWasHiddenBefore(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-of-some-length-that-is-cut"
	link := "https://weft.test/links/eyJiIjoi" + strings.Repeat("abcdefgh", 10) + "." + strings.Repeat("s", 43)
	var texts []string
	for at := 2040 - len(secret); at <= 2060; at += 3 {
		texts = append(texts, strings.Repeat("x", at)+secret+" and more, so that it is cut: "+strings.Repeat("y", 100), strings.Repeat("x", at-10)+" "+link+strings.Repeat(" z", 100))
	}
	var steps []*workflow.Activity
	for _, text := range texts {
		steps = append(steps, line(text), lineOf(expr(func(engine.Scope) (any, error) { return text, nil })))
		if !strings.Contains(text, secret) { // an output with one is a fault
			steps = append(steps, act("SetOutput", inputs{"outputName": lit("o"), "outputValue": lit(text)}))
		}
	}
	def := root(seq(steps...))
	def.Outputs = []workflow.Output{{Name: "o"}}
	b := start(t, def, withEnv(func(e *engine.Env) {
		var err error
		if e.Secrets, err = secrets.New(map[string]string{"key": secret}); err != nil {
			t.Fatal(err)
		}
	}))
	if b.header.SubStatus != workflow.Finished {
		t.Fatalf("it is %s: %+v", b.header.SubStatus, b.header.Incidents)
	}
	raw, err := json.Marshal(b.journal)
	if err != nil {
		t.Fatal(err)
	}
	said := string(raw)
	if !strings.Contains(said, "***key***") || strings.Contains(said, secret[:4]) || strings.Contains(said, "abcdefgh") {
		i := max(strings.Index(said, secret[:4]), strings.Index(said, "abcdefgh"), 50)
		t.Errorf("the journal has a part of a secret or a link: …%s", said[i-50:min(len(said), i+100)])
	}
}
