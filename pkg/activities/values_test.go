package activities_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestScopesOfVariables(t *testing.T) {
	t.Parallel()
	inner := seq(lineOf(varExpr("v")), act("SetVariable", inputs{"variable": lit("v"), "value": lit("changed")}), lineOf(varExpr("v")), lineOf(varExpr("o")))
	inner.Variables = []workflow.Variable{{ID: "id-2", Name: "v", Value: "inner"}}
	def := root(seq(inner, lineOf(varExpr("v")), act("SetVariable", inputs{"variable": lit("id-1"), "value": lit(7)}), lineOf(varExpr("v"))))
	def.Variables = []workflow.Variable{{ID: "id-1", Name: "v", Value: "outer"}, {Name: "o", Value: `{"a":[1,2.5]}`}}
	start(t, def).wantStatus(workflow.Finished).wantLines("inner", "changed", `{"a":[1,2.5]}`, "outer", "7")
	// The inner variable is not in scope outside.
	def = root(seq(inner, act("SetVariable", inputs{"variable": lit("id-2")})))
	def.Variables = []workflow.Variable{{Name: "o"}}
	wantProblem(t, compileProblems(t, def), "unknown-variable", "id-2")
}

func TestInitialValuesAndTypes(t *testing.T) {
	t.Parallel()
	var got []string
	show := expr(func(s engine.Scope) (any, error) {
		for _, n := range []string{"i", "b", "d", "o", "a", "t", "none"} {
			v, _ := s.Variable(n)
			got = append(got, fmt.Sprintf("%T:%v", v, v))
		}
		return nil, nil
	})
	def := root(lineOf(show))
	def.Variables = []workflow.Variable{
		{Name: "i", Type: "Int32", Value: "4"}, {Name: "b", Type: "Boolean", Value: "True"}, {Name: "d", Type: "Double", Value: "1.5"},
		{Name: "o", Value: `{"x":1}`}, {Name: "a", Type: "String", IsArray: true, Value: `["x"]`}, {Name: "t", Type: "TimeSpan", Value: "00:00:05"}, {Name: "none", Type: "Int32", Value: ""},
	}
	start(t, def).wantStatus(workflow.Finished)
	if want := "int64:4 bool:true float64:1.5 map[string]interface {}:map[x:1] []interface {}:[x] string:00:00:05 <nil>:<nil>"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	def.Variables = []workflow.Variable{{Name: "i", Type: "Int32", Value: "four"}, {Name: "t", Type: "TimeSpan", Value: "x"}, {Name: "i"}, {}}
	p := compileProblems(t, def)
	wantProblem(t, p, "bad-literal", `variable i: "four"`)
	wantProblem(t, p, "bad-literal", `variable t: "x"`)
	wantProblem(t, p, "bad-variable", `"i"`)
	wantProblem(t, p, "bad-variable", `""`)
}

func TestInputsStayAvailable(t *testing.T) {
	t.Parallel()
	def := root(seq(wait("ev"), lineOf(inputExpr("n")), lineOf(inputExpr("kept")), lineOf(inputExpr("lost")), lineOf(inputExpr("other")), lineOf(inputExpr("DEF"))))
	def.Inputs = []workflow.Input{
		{Name: "n", Type: "Int32"}, {Name: "kept"}, {Name: "lost", StorageDriver: "Elsa.Workflows.MemoryStorageDriver, Elsa"}, {Name: "def", Type: "Int32", Default: "3"},
	}
	b := start(t, def, withInput(map[string]any{"n": "5", "kept": 1.0, "lost": "x", "other": "y"})).wantStatus(workflow.Suspended)
	b.resume("ev", map[string]any{"payload": 1, "n": 99})
	b.wantStatus(workflow.Finished).wantLines("5", "1", "", "y", "3")
	if b.header.Input["n"] != int64(5) || b.header.Input["lost"] != nil {
		t.Errorf("input %v", b.header.Input)
	}
}

func TestBadInputFaultsTheStart(t *testing.T) {
	t.Parallel()
	def := root(line("x"))
	def.Inputs = []workflow.Input{{Name: "n", Type: "Int32"}, {Name: "must", Required: true}}
	b := start(t, def, withInput(map[string]any{"n": "five"})).wantStatus(workflow.Faulted).wantLines()
	if m := b.header.Incidents[0].Message; !strings.Contains(m, `"five" is not a whole number`) || !strings.Contains(m, "the input must is required") {
		t.Errorf("incident %q", m)
	}
	p := b.prog.CheckInput(map[string]any{"n": "five"})
	if len(p) != 2 || p[0].Place.Pointer != "/input/n" {
		t.Errorf("problems %v", p)
	}
	if p := b.prog.CheckInput(map[string]any{"n": "5", "must": false}); p != nil {
		t.Errorf("problems %v", p)
	}
	p = b.prog.CheckInput(map[string]any{"must": false, "mst": 1, "zz/~": 1})
	if len(p) != 2 || p[0].Code != "unknown-input" || p[0].Meant != "must" || p[1].Place.Pointer != "/input/zz~1~0" {
		t.Errorf("problems %+v", p)
	}
	if p := b.prog.CheckInput(map[string]any{"must": false, "zzzzzz": 1}); len(p) != 1 || !strings.Contains(p[0].Detail, "it has n, must") {
		t.Errorf("problems %v", p)
	}
	b.prog.Definition().Options.AdditionalInputs = true
	if p := b.prog.CheckInput(map[string]any{"must": false, "mst": 1}); p != nil {
		t.Errorf("problems %v", p)
	}
}

func TestOutputsAndLastResults(t *testing.T) {
	t.Parallel()
	d := named("d", act("FlowDecision", inputs{"condition": lit(true)}))
	d.Name = "Decide"
	def := root(seq(d, lineOf(expr(func(s engine.Scope) (any, error) {
		byID, _ := s.ActivityOutput("d", "")
		byName, _ := s.ActivityOutput("Decide", "Result")
		_, unknown := s.ActivityOutput("zz", "")
		return fmt.Sprint(byID, byName, unknown, s.LastResult()), nil // output
	})), wait("ev"), lineOf(workflow.Expression{Kind: workflow.JavaScript, Value: "getLastResult()"})))
	def.Variables = []workflow.Variable{{Name: "total"}}
	def.Outputs = []workflow.Output{{Name: "sum", Type: "Int32", Value: ptr(expr(func(s engine.Scope) (any, error) { return "42", nil }))}}
	b := start(t, def).wantLines("true true false true")
	b.resume("ev", nil)
	if b.wantStatus(workflow.Finished); b.header.Output["sum"] != int64(42) {
		t.Errorf("output %v", b.header.Output)
	}
	def.Outputs[0].Value = ptr(expr(func(engine.Scope) (any, error) { return nil, errors.New("no sum") }))
	b = start(t, def)
	b.resume("ev", nil)
	if b.wantStatus(workflow.Faulted); b.header.Incidents[0].Expression != "output sum: Go" {
		t.Errorf("incident %+v", b.header.Incidents[0])
	}
}

func TestMemoryVariablesLastForABurst(t *testing.T) {
	t.Parallel()
	def := root(seq(act("SetVariable", inputs{"variable": lit("m"), "value": lit("x")}), lineOf(varExpr("m")), wait("ev"), lineOf(varExpr("m"))))
	def.Variables = []workflow.Variable{{Name: "m", Value: "start", StorageDriver: "Memory"}}
	b := start(t, def)
	b.resume("ev", nil)
	b.wantLines("x", "start")
}

func TestCompileProblems(t *testing.T) {
	t.Parallel()
	at := workflow.Place{File: "f.yaml", Line: 7, Column: 3}
	place := func(a *workflow.Activity) *workflow.Activity { a.Place = at; return a }
	cs := act("WriteLine", inputs{"text": {Kind: workflow.CSharp, Value: "x", Place: at}})
	py := port(act("If", inputs{"condition": {Kind: workflow.Python, Value: "x"}}), "than", line("x"))
	target := wait("x")
	target.Outputs = map[string]string{"result": "nobdy", "other": "somebody"}
	def := root(seq(place(act("WriteLin", nil)), cs, py, named("same", line("a")), named("same", line("b")), target,
		act("WriteLine", inputs{"text": {Kind: "Ruby", Value: "x"}}), act("WriteLine", inputs{"text": {Kind: goExpr, Value: 5}}), named("a\nb", line("x"))))
	def.Variables = []workflow.Variable{{Name: "nobody"}}
	p := compileProblems(t, def)
	wantProblem(t, p, "unknown-activity-type", `"Elsa.WriteLin" (did you mean Elsa.WriteLine?)`)
	wantProblem(t, p, "unsupported-expression", "input text of writeLine writeLine1 is written in CSharp")
	wantProblem(t, p, "unsupported-expression", "input condition of if if1 is written in Python")
	wantProblem(t, p, "unknown-branch", `"than" (did you mean then?)`)
	wantProblem(t, p, "duplicate-id", `"same" is used twice`)
	wantProblem(t, p, "unknown-variable", `"nobdy", which is not in scope here; declare it (did you mean nobody?)`)
	wantProblem(t, p, "unknown-output", `"other"`)
	wantProblem(t, p, "unsupported-expression", `"Ruby"`)
	wantProblem(t, p, "bad-expression", "cannot compile int")
	wantProblem(t, p, "bad-id", `a\nb`)
	if len(p) != 10 || p[8].Place != at || p[9].Place != at {
		t.Errorf("%d problems:\n%v", len(p), p)
	}
	wantProblem(t, compileProblems(t, root(nil)), "missing-root", "no root")
}

func TestHostileTrees(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{150, 1_000, 10_000} {
		a := line("deep")
		for range depth {
			a = seq(a)
		}
		p := compileProblems(t, root(a))
		if depth < 200 {
			if p != nil {
				t.Error(p)
			}
			start(t, root(a)).wantLines("deep").wantStatus(workflow.Finished)
			continue
		}
		wantProblem(t, p, "nested-too-deep", "200 levels")
	}
	loop := seq()
	loop.Activities = []*workflow.Activity{loop, loop}
	wantProblem(t, compileProblems(t, root(loop)), "activity-used-twice", "contains itself")
	shared := line("x")
	wantProblem(t, compileProblems(t, root(seq(shared, shared))), "activity-used-twice", "occurs twice")
	var many []*workflow.Activity
	for range 25_000 {
		many = append(many, line("x"))
	}
	wantProblem(t, compileProblems(t, root(seq(many...))), "too-many-activities", "20000")
	if p := compileProblems(t, root(seq(many[:10_000]...))); p != nil {
		t.Error(p)
	}
}

func TestDerivedIDsAvoidGivenOnes(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(line("a"), named("writeLine1", line("b")), line("c"))))
	var ids []string
	for _, it := range b.journal {
		if it.Event == engine.EventWriteLine {
			ids = append(ids, it.ActivityID)
		}
	}
	if got := strings.Join(ids, " "); got != "writeLine2 writeLine1 writeLine3" {
		t.Errorf("ids %s", got)
	}
	if b.prog.Definition().Root.ID != "" {
		t.Error("the caller's definition was changed")
	}
}

func TestEveryDescriptorIsComplete(t *testing.T) {
	t.Parallel()
	reg := activities.Default()
	if len(reg.All()) < 43 {
		t.Errorf("%d activities", len(reg.All()))
	}
	for _, d := range reg.All() {
		if d.Description == "" || !strings.HasPrefix(d.Type, "Elsa.") {
			t.Errorf("%s has no description", d.Type)
		}
		for _, in := range d.Inputs {
			if in.Description == "" || in.Type == "" {
				t.Errorf("%s.%s has no description or type", d.Type, in.Name)
			}
		}
		for _, o := range d.Outputs {
			if o.Description == "" || o.Type == "" {
				t.Errorf("%s.%s has no description or type", d.Type, o.Name)
			}
		}
		if _, ok := d.Input(d.Main); d.Main != "" && !ok {
			t.Errorf("%s: main input %s does not exist", d.Type, d.Main)
		}
		if reg.ByShortName(d.ShortName()) != d || reg.ByType(strings.ToUpper(d.Type)) != d {
			t.Errorf("%s is not found by its names", d.Type)
		}
	}
	if reg.ByType("x") != nil || reg.ByShortName("x") != nil {
		t.Error("an unknown type was found")
	}
}

func TestAListIsNoText(t *testing.T) {
	t.Parallel()
	def := root(seq(act("SetVariable", inputs{"variable": lit("rows"), "value": lit("abc")})))
	def.Variables = []workflow.Variable{{Name: "rows", IsArray: true}}
	b := start(t, def).wantStatus(workflow.Faulted)
	if m := b.header.Incidents[0].Message; !strings.Contains(m, `"abc" is not a list`) {
		t.Errorf("incident %q", m)
	}
	def = root(seq(act("SetVariable", inputs{"variable": lit("rows"), "value": lit("[1, 2]")}), lineOf(expr(func(s engine.Scope) (any, error) { return len(s.Variables()["rows"].([]any)), nil }))))
	def.Variables = []workflow.Variable{{Name: "rows", IsArray: true}}
	def.Inputs = []workflow.Input{{Name: "items", Type: "Object", IsArray: true}}
	b = start(t, def).wantStatus(workflow.Finished).wantLines("2")
	if p := b.prog.CheckInput(map[string]any{"items": "abc"}); len(p) != 1 || p[0].Place.Pointer != "/input/items" {
		t.Errorf("problems %v", p)
	}
}
