package activities_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func machine() *workflow.Definition {
	open := expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("open"); return v, nil })
	m := act("StateMachine", nil)
	m.Initial = "New"
	m.Outputs = map[string]string{"currentState": "state"}
	m.States = []workflow.State{
		{Name: "Done", Final: true, Entry: line("enter done")},
		{Name: "New", Entry: line("enter new"), Exit: line("exit new"), Transitions: []workflow.Transition{
			{Name: "pay", To: "Paid", Trigger: wait("paid"), Condition: open, Action: line("thanks")},
			{Name: "stop", To: "Done", Trigger: wait("stop")},
		}},
		{Name: "Paid", Transitions: []workflow.Transition{{To: "Done", Condition: lit(false)}, {To: "Ship"}}},
		{Name: "Ship", Transitions: []workflow.Transition{{To: "Done", Trigger: wait("shipped")}}},
	}
	def := root(seq(m, line("over")))
	def.Variables = []workflow.Variable{{Name: "open", Type: "Boolean", Value: "False"}, {Name: "state"}}
	def.Outputs = []workflow.Output{{Name: "state", Value: ptr(varExpr("state"))}}
	return def
}

func TestStateMachine(t *testing.T) {
	t.Parallel()
	b := start(t, machine()).wantStatus(workflow.Suspended).wantLines("enter new")
	b.resume("paid", nil) // the condition does not hold: it waits again
	b.wantStatus(workflow.Suspended).wantLines("enter new")
	if len(b.header.Bookmarks) != 2 {
		t.Errorf("bookmarks %v", b.bookmarks())
	}
	b.resume("stop", nil)
	b.wantStatus(workflow.Finished).wantLines("enter new", "exit new", "enter done", "over")

	def := machine()
	def.Variables[0].Value = "True"
	b = start(t, def)
	b.resume("paid", nil)
	b.wantStatus(workflow.Suspended).wantLines("enter new", "thanks", "exit new")
	if got := b.bookmarks(); len(got) != 1 || got[0] != "shipped" {
		t.Errorf("bookmarks %v", got)
	}
	b.resume("shipped", nil)
	b.wantStatus(workflow.Finished).wantLines("enter new", "thanks", "exit new", "enter done", "over")
	if b.header.Output["state"] != "Done" {
		t.Errorf("output %v", b.header.Output)
	}
}

func TestStateMachineProblems(t *testing.T) {
	t.Parallel()
	m := act("StateMachine", nil)
	m.Initial = "Nwe"
	m.States = []workflow.State{{Name: "New", Transitions: []workflow.Transition{{To: "Old"}}}, {Name: "New"}, {}}
	p := compileProblems(t, root(seq(m, act("StateMachine", nil))))
	wantProblem(t, p, "unknown-state", `"Nwe" is no state of stateMachine1 (did you mean New?)`)
	wantProblem(t, p, "unknown-state", `"Old"`)
	wantProblem(t, p, "bad-state", `"New"`)
	wantProblem(t, p, "bad-state", `""`)
	wantProblem(t, p, "bad-state", "no states")
}
