package activities_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func usable(id string, r *workflow.Activity) *workflow.Definition {
	return &workflow.Definition{ID: id, Version: 3, Root: r, Options: workflow.Options{UsableAsActivity: true}}
}

func useOf(id string, in inputs) *workflow.Activity {
	return &workflow.Activity{Type: workflow.UpperFirst(id), Inputs: in, Ref: &workflow.DefinitionRef{ID: id}}
}

func TestADefinitionUsedAsAnActivity(t *testing.T) {
	t.Parallel()
	child := usable("child", seq(
		lineOf(expr(func(s engine.Scope) (any, error) {
			in, _ := s.Input("Input1")
			_, outer := s.Variable("outer")
			_, only := s.Input("OnlyParent")
			return fmt.Sprint("Child: ", in, " ", outer, " ", only), nil
		})),
		act("SetVariable", inputs{"variable": lit("mine"), "value": lit("x")}),
		wait("ev"),
		act("SetOutput", inputs{"outputName": lit("Out1"), "outputValue": varExpr("mine")}),
		act("Complete", inputs{"outcomes": lit("Special")}),
		line("never"),
	))
	child.Inputs = []workflow.Input{{Name: "Input1", Required: true}}
	child.Outputs = []workflow.Output{{Name: "Out1"}}
	child.Outcomes = []string{"Special", "Other"}
	child.Variables = []workflow.Variable{{Name: "mine"}}
	use := named("use", useOf("child", inputs{"input1": lit("Bar")}))
	use.Outputs = map[string]string{"out1": "got"}
	def := root(flow("p -> use, use.Special -> e, use -> no", named("p", lineOf(inputExpr("Input1"))), use, named("e", lineOf(varExpr("got"))), say("no")))
	def.Inputs = []workflow.Input{{Name: "Input1"}, {Name: "OnlyParent"}}
	def.Variables = []workflow.Variable{{Name: "outer"}, {Name: "got"}}
	b := start(t, def, withInput(map[string]any{"Input1": "Foo", "OnlyParent": 1}), withDefinitions(child)).wantStatus(workflow.Suspended)
	b.wantLines("Foo", "Child: Bar false false")
	if b.header.Bookmarks[0].ActivityID != "use/event1" {
		t.Errorf("bookmark of %s", b.header.Bookmarks[0].ActivityID)
	}
	b.resume("ev", nil)
	b.wantStatus(workflow.Finished).wantLines("Foo", "Child: Bar false false", "x")
	if b.header.Output != nil {
		t.Errorf("output %v", b.header.Output)
	}
	if u := b.prog.Uses(); len(u) != 1 || u[0] != (engine.Use{DefinitionID: "child", Version: 3}) {
		t.Errorf("uses %v", u)
	}
}

func TestInputsOfAUsedDefinitionAreTheSameAfterACommit(t *testing.T) {
	t.Parallel()
	look := lineOf(expr(func(s engine.Scope) (any, error) {
		var all []string
		for _, name := range []string{"wait", "at", "n"} {
			v, _ := s.Input(name)
			all = append(all, fmt.Sprintf("%T %v", v, v))
		}
		return strings.Join(all, ", "), nil
	}))
	again := *look
	child := usable("sub", seq(look, wait("go"), &again, act("Delay", inputs{"timeSpan": inputExpr("wait")}), act("StartAt", inputs{"dateTime": inputExpr("at")})))
	child.Inputs = []workflow.Input{{Name: "wait", Type: "TimeSpan"}, {Name: "at", Type: "DateTimeOffset"}, {Name: "n", Type: "Double"}}
	b := start(t, root(useOf("sub", inputs{"wait": lit("48h"), "at": lit("2026-03-05T01:00:00+01:00"), "n": lit(5)})), withDefinitions(child))
	b.resume("go", nil)
	want := "string 48h0m0s, string 2026-03-05T00:00:00Z, int64 5"
	b.wantLines(want, want).wantStatus(workflow.Suspended)
	for _, due := range []time.Time{t0.Add(48 * time.Hour), time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)} {
		if len(b.header.Bookmarks) != 1 || !b.header.Bookmarks[0].DueAt.Equal(due) {
			t.Fatalf("bookmarks %+v, want one that is due at %s", b.header.Bookmarks, due)
		}
		b.run(workflow.Command{ID: b.id("resume"), Kind: workflow.CommandResume, Bookmark: b.header.Bookmarks[0].ID})
	}
	b.wantStatus(workflow.Finished)
}

func TestDefinitionsThreeLevelsDeep(t *testing.T) {
	t.Parallel()
	atom := usable("atom", line("Atom"))
	atom.VersionID = "v-atom"
	molecule := usable("molecule", seq(useOf("atom", nil), useOf("atom", nil), &workflow.Activity{Type: "Atom", Ref: &workflow.DefinitionRef{VersionID: "v-atom"}}))
	matter := root(flow("a -> b, b -> c", named("a", useOf("molecule", nil)), named("b", useOf("molecule", nil)), named("c", &workflow.Activity{Type: "molecule"})))
	b := start(t, matter, withDefinitions(atom, molecule)).wantStatus(workflow.Finished)
	if strings.Join(b.lines, "") != strings.Repeat("Atom", 9) {
		t.Errorf("lines %v", b.lines)
	}
}

func TestABreakStaysInItsDefinition(t *testing.T) {
	t.Parallel()
	child := usable("child", seq(line("c"), act("Break", nil), line("d")))
	start(t, root(body(act("For", inputs{"end": lit(1)}), useOf("child", nil))), withDefinitions(child)).wantLines("c", "c").wantStatus(workflow.Finished)
}

func TestProblemsOfUsedDefinitions(t *testing.T) {
	t.Parallel()
	a, b := usable("a", seq(useOf("b", nil))), usable("b", seq(useOf("a", nil)))
	plain := &workflow.Definition{ID: "plain", Root: line("x")}
	broken := usable("broken", seq(act("WriteLine", inputs{"texd": lit(1)}), act("Nothing", nil)))
	needs := usable("needs", line("x"))
	needs.Inputs = []workflow.Input{{Name: "Order", Required: true}}
	at := workflow.Place{Line: 3, Column: 5}
	u := useOf("broken", nil)
	u.Place = at
	def := &workflow.Definition{ID: "def", Root: seq(useOf("a", nil), useOf("plain", nil), useOf("gone", nil), u, useOf("needs", inputs{"ordre": lit(1)}))}
	_, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
		for _, d := range []*workflow.Definition{a, b, plain, broken, needs} {
			if d.ID == ref.ID {
				return d, true
			}
		}
		return nil, false
	}})
	wantProblem(t, problems, "cyclic-definition", "def → a → b → a")
	wantProblem(t, problems, "not-usable-as-activity", "plain")
	wantProblem(t, problems, "unknown-definition", "gone")
	wantProblem(t, problems, "unknown-input", "texd")
	wantProblem(t, problems, "unknown-activity-type", "Elsa.Nothing")
	wantProblem(t, problems, "missing-input", "order")
	wantProblem(t, problems, "unknown-input", `"ordre" (did you mean order?)`)
	for _, p := range problems {
		if strings.Contains(p.Detail, "texd") && p.Place != at {
			t.Errorf("place %v", p.Place)
		}
	}
	// Definitions that use each other many times over stop at a limit.
	defs := map[string]*workflow.Definition{}
	for i := range 12 {
		kids := []*workflow.Activity{line("x")}
		for range 10 {
			if i > 0 {
				kids = append(kids, useOf(fmt.Sprint("d", i-1), nil))
			}
		}
		defs[fmt.Sprint("d", i)] = usable(fmt.Sprint("d", i), seq(kids...))
	}
	_, problems = engine.Compile(defs["d11"], engine.Options{Registry: activities.Default(), Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
		d, ok := defs[ref.ID]
		return d, ok
	}})
	wantProblem(t, problems, "too-many-activities", "20000")
	if len(problems) > 100 {
		t.Errorf("%d problems", len(problems))
	}
}
