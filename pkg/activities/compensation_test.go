package activities_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// does is a step that writes its id, and "-id" when it is undone.
func does(id string) *workflow.Activity {
	return port(named(id, line(id)), workflow.UndoPort, line("-"+id))
}

// undoing is a step whose undo is this.
func undoing(id string, undo *workflow.Activity) *workflow.Activity {
	return port(named(id, line(id)), workflow.UndoPort, undo)
}

func scopeOf(id string, kids ...*workflow.Activity) *workflow.Activity {
	return body(named(id, act("Scope", nil)), kids...)
}

func final(text string) *workflow.Activity {
	return act("Fail", inputs{"message": lit(text)})
}

// What is done is undone in the reverse order of when it was done, wherever it was.
func TestAFailureUndoesWhatIsDone(t *testing.T) {
	t.Parallel()
	loop := body(act("ForEach", inputs{"items": lit([]any{"a", "b"})}), undoing("each", lineOf(expr(func(s engine.Scope) (any, error) {
		v, _ := s.Variable("CurrentValue")
		why, _ := s.Variable("Error")
		return "-" + engine.Text(v) + " " + engine.Text(why), nil
	}))))
	for name, c := range map[string]struct {
		root *workflow.Activity
		then []string
		want string
	}{
		"in order":                   {seq(does("a"), does("b"), line("c"), faultOf("no")), nil, "a b c -b -a"},
		"nothing was done":           {seq(line("x"), faultOf("no"), does("a")), nil, "x"},
		"what failed is not":         {seq(does("a"), port(named("b", faultOf("no")), "undo", line("-b"))), nil, "a -a"},
		"a loop, as it was":          {seq(loop, faultOf("no")), nil, "each each -b no -a no"},
		"by when it was done":        {seq(act("Parallel", nil, seq(wait("w"), does("a")), seq(does("b"), wait("v"), does("c"))), faultOf("no")), []string{"w", "v"}, "b a c -c -a -b"},
		"a branch that waits":        {act("Parallel", nil, seq(does("a"), wait("w"), line("never")), seq(does("b"), wait("v"), faultOf("no"))), []string{"v"}, "a b -b -a"},
		"a block stands for its own": {seq(does("a"), port(named("block", seq(does("b"), does("c"))), "undo", line("-block")), faultOf("no")), nil, "a b c -block -a"},
		"a block that is not done":   {seq(does("a"), port(named("block", seq(does("b"), faultOf("no"))), "undo", line("-block"))), nil, "a b -b -a"},
		"a scope that is done":       {seq(does("a"), scopeOf("s", does("b")), does("c"), faultOf("no")), nil, "a b c -c -b -a"},
		"a scope that is done later": {seq(act("Parallel", nil, scopeOf("s", does("a"), wait("w")), seq(wait("v"), does("b"))), faultOf("no")), []string{"v", "w"}, "a b -b -a"},
		"a scope that fails first":   {seq(does("a"), scopeOf("s", does("b"), faultOf("no"))), nil, "a b -b -a"},
		"a scope that goes on":       {seq(does("a"), port(scopeOf("s", does("b"), faultOf("no")), "onUndone", line("so")), line("z")), nil, "a b -b so z"},
		"what onUndone does":         {seq(port(scopeOf("s", does("a"), faultOf("no")), "onUndone", does("o")), line("z"), wait("u"), named("later", faultOf("no"))), []string{"u"}, "a -a o z -o"},
		"onUndone that was left":     {seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, port(scopeOf("s", does("a"), faultOf("no")), "onUndone", seq(does("o"), wait("w"))), wait("v")), line("z"), wait("u"), named("later", faultOf("no"))), []string{"v", "u"}, "a -a o z -o"},
		"a break in an undo":         {body(act("ForEach", inputs{"items": lit([]any{1})}), scopeOf("s", does("a"), undoing("b", seq(act("Break", nil), line("-b"))), faultOf("no"))), nil, "a b -a"},
		"a complete in an undo":      {seq(does("a"), undoing("b", seq(act("If", inputs{"condition": lit(true)}), act("Complete", nil), line("-b"))), faultOf("no")), nil, "a b -a"},
		"a complete by hand":         {seq(does("a"), undoing("b", act("Complete", nil)), act("Compensate", nil), line("z"), faultOf("no")), nil, "a b -a z"},
		"a scope that was left":      {seq(body(act("ForEach", inputs{"items": lit([]any{1, 2})}), scopeOf("s", does("a"), act("Break", nil))), line("z"), faultOf("no")), nil, "a z -a"},
		"a race that was lost":       {seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, scopeOf("s", does("a"), wait("w")), wait("v")), does("b"), faultOf("no")), []string{"v"}, "a b -b -a"},
		"for good":                   {seq(does("a"), final("no")), nil, "a -a"},
		"by hand":                    {seq(does("a"), does("b"), act("Compensate", nil), line("z"), does("c"), faultOf("no")), nil, "a b -b -a z c -c"},
		"by hand, one":               {seq(does("a"), does("b"), act("Compensate", inputs{"activities": lit("a")}), faultOf("no")), nil, "a b -a -b"},
		"by hand, nothing":           {seq(act("Compensate", nil), does("a"), faultOf("no")), nil, "a -a"},
		"by hand, and it is left":    {seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, seq(does("a"), undoing("b", seq(wait("w"), line("-b"))), act("Compensate", nil)), wait("v")), line("z"), wait("u")), []string{"v", "w", "u"}, "a b z -b -a"},
		"what waits":                 {seq(does("a"), undoing("b", seq(wait("w"), line("-b"))), does("c"), faultOf("no")), []string{"w"}, "a b c -c -b -a"},
		"a finish is no failure":     {seq(does("a"), act("Finish", nil)), nil, "a"},
		"a complete is no failure":   {seq(does("a"), act("Complete", nil)), nil, "a"},
		"a retry in it counts once":  {seq(retried(named("r", seq(does("a"), faultOf("no"))), inputs{"attempts": lit(1)})), nil, "a -a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, commit := range []string{"", "ActivityExecutedStrict", "ActivityExecutingStrict"} {
				d := root(c.root)
				d.Options.CommitStrategy = commit
				b := start(t, d)
				for _, w := range c.then {
					b.resume(w, nil)
				}
				if got := strings.Join(b.lines, " "); got != c.want {
					t.Errorf("%s: lines %q, want %q; incidents %v", commit, got, c.want, b.header.Incidents)
				}
				if strings.Contains(name, "no failure") || name == "by hand, and it is left" || name == "a scope that goes on" {
					b.wantStatus(workflow.Finished)
				} else if b.wantStatus(workflow.Faulted); len(b.header.Incidents) != 1 {
					t.Errorf("incidents %v", b.header.Incidents)
				}
			}
		})
	}
}

// After an undoing a retry asks. Then the instance begins again, with other keys: what was undone is done by other calls.
func TestARetryAfterAnUndoingAsks(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]*workflow.Activity{"a fault": faultOf("no"), "for good": final("no")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pay, back := &failing{}, &failing{}
			b := start(t, root(seq(port(pay.activity("pay"), "undo", back.activity("back")), wait("w"), end)))
			b.resume("w", nil)
			b.wantStatus(workflow.Faulted)
			if in := b.header.Incidents[0]; !strings.Contains(in.Message, "no (undone: pay)") || in.Final != (name == "for good") {
				t.Errorf("incident %+v", in)
			}
			for _, alt := range []workflow.Alteration{retryOf(""), retryOf("pay")} {
				if out, problems := b.alter(nil, alt); out != engine.Undone || len(problems) != 1 || !strings.Contains(problems[0].Detail, "what it did was undone (pay), and would be done again") {
					t.Errorf("outcome %s %v", out, problems)
				}
			}
			if out := b.command(workflow.CommandRetry); out != engine.Undone {
				t.Errorf("outcome %s", out)
			}
			b.altered(workflow.Alteration{Type: workflow.AlterRetry, Again: true}).wantStatus(workflow.Suspended)
			b.resume("w", nil)
			b.wantStatus(workflow.Faulted)
			if len(pay.keys) != 2 || pay.keys[0] == pay.keys[1] || len(back.keys) != 2 || back.keys[0] == back.keys[1] {
				t.Errorf("keys of what was done %v, and undone %v", pay.keys, back.keys)
			}
		})
	}
}

// A retry around a scope tries again what was undone, with other keys, and keeps those of what was not.
func TestARetryAroundAScope(t *testing.T) {
	t.Parallel()
	for name, undone := range map[string]bool{"undone": true, "nothing to undo": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pay, ship := &failing{}, &failing{left: 1, err: &engine.FaultError{Code: "stock", Message: "no"}}
			call := pay.activity("pay")
			if undone {
				port(call, "undo", line("-pay"))
			}
			b := start(t, root(retried(scopeOf("s", call, ship.activity("ship")), inputs{"delay": lit("1s"), "on": lit("stock")})))
			b.wantStatus(workflow.Suspended).pass(1).wantStatus(workflow.Finished)
			if same := pay.keys[0] == pay.keys[1]; len(pay.keys) != 2 || same == undone || undone != slices.Contains(b.lines, "-pay") {
				t.Errorf("keys %v, lines %v", pay.keys, b.lines)
			}
		})
	}
}

// What cannot be undone is an incident, at which the rest stops. A retry goes on there, with the same key; a skip says that
// it is undone. No retry around the scope takes the failure.
func TestWhatCannotBeUndoneIsAnIncident(t *testing.T) {
	t.Parallel()
	for name, alt := range map[string]workflow.Alteration{"retried": retryOf(""), "skipped": skipOf("back")} {
		for _, around := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				back := &failing{left: 2}
				a := scopeOf("s", does("a"), undoing("b", back.activity("back")), does("c"), faultOf("broke"))
				if around {
					a = retried(a, inputs{"attempts": lit(3), "delay": lit("1s")})
				}
				b := start(t, root(a)).wantStatus(workflow.Faulted).wantLines("a", "b", "c", "-c")
				if in := b.header.Incidents; len(in) != 1 || in[0].ActivityID != "back" {
					t.Fatalf("incidents %+v", in)
				}
				if name == "retried" {
					b.altered(alt).wantStatus(workflow.Faulted)
				}
				b.altered(alt)
				if around {
					b.wantStatus(workflow.Suspended)
				} else {
					b.wantStatus(workflow.Faulted)
				}
				b.wantLines("a", "b", "c", "-c", "-a")
				if !back.oneKey() {
					t.Errorf("keys %v", back.keys)
				}
			})
		}
	}
}

// A cancel undoes what was done, and ends the instance then; a second one changes nothing, a delete ends it at once.
func TestACancelUndoesWhatIsDone(t *testing.T) {
	t.Parallel()
	def := func(last *workflow.Activity) *workflow.Activity {
		return act("Parallel", nil, seq(does("a"), scopeOf("s", undoing("b", seq(wait("back"), last)), wait("w"))), wait("v"), act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("c"), "waitForCompletion": lit(true)}))
	}
	b := start(t, root(def(line("-b"))))
	for range 2 { // the second one changes nothing
		if out := b.command(workflow.CommandCancel); out != engine.Applied {
			t.Fatalf("outcome %s", out)
		}
		b.wantStatus(workflow.Suspended).wantLines("a", "b")
		if got := b.bookmarks(); !slices.Equal(got, []string{"back"}) || len(b.canceled) != 1 {
			t.Errorf("waits at %v, cancelled %v", got, b.canceled)
		}
	}
	b.resume("back", nil)
	b.wantStatus(workflow.Cancelled).wantLines("a", "b", "-b", "-a")
	began := slices.DeleteFunc(slices.Clone(b.journal), func(it workflow.JournalItem) bool { return it.Event != workflow.EventUndoing })
	if len(b.header.Incidents) > 0 || len(b.header.Bookmarks) > 0 || len(b.canceled) != 1 || len(began) != 1 {
		t.Errorf("%+v, cancelled %v", b.header, b.canceled)
	}

	b = start(t, root(def(line("-b"))))
	b.command(workflow.CommandCancel)
	b.command(workflow.CommandDelete)
	b.wantStatus(workflow.Cancelled).wantLines("a", "b")

	b = start(t, root(def(line("-b")))) // a delete undoes nothing
	b.command(workflow.CommandDelete)
	b.wantStatus(workflow.Cancelled).wantLines("a", "b")

	b = start(t, root(seq(wait("w"), does("a")))) // nothing was done
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled).wantLines()

	b = start(t, root(def((&failing{left: 1}).activity("back-b"))))
	b.altered(workflow.Alteration{Type: workflow.AlterCancel}).wantStatus(workflow.Suspended)
	b.resume("back", nil)
	b.wantStatus(workflow.Faulted).wantLines("a", "b")
	b.altered(retryOf("")).wantStatus(workflow.Cancelled).wantLines("a", "b", "-a")
}

// A cancel while a failure is undone: that goes on, and the instance ends as cancelled.
func TestACancelWhileItIsUndone(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(does("a"), undoing("b", seq(wait("back"), line("-b"))), faultOf("no")))).wantStatus(workflow.Suspended)
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Suspended)
	if got := b.bookmarks(); !slices.Equal(got, []string{"back"}) {
		t.Errorf("it is undone at %v", got)
	}
	b.resume("back", nil)
	b.wantStatus(workflow.Cancelled).wantLines("a", "b", "-b", "-a")
}

// With ContinueWithIncidents the rest goes on, so nothing is undone but for good or by hand.
func TestWithContinueWithIncidentsNothingIsUndone(t *testing.T) {
	t.Parallel()
	d := root(act("Parallel", nil, seq(does("a"), faultOf("no")), seq(wait("w"), final("gone"))))
	d.Options.IncidentStrategy = "ContinueWithIncidents"
	b := start(t, d).wantStatus(workflow.Suspended).wantLines("a")
	b.resume("w", nil)
	b.wantStatus(workflow.Faulted).wantLines("a", "-a")
}

// An undo takes the results of its activity, and of what is in it, as they were.
func TestAnUndoSeesResultsAsTheyWere(t *testing.T) {
	t.Parallel()
	task := named("t", act("RunTask", inputs{"taskName": lit("t")}))
	task.Outputs = map[string]string{"result": "n"}
	block := port(named("block", seq(task)), "undo", seq(lineOf(varExpr("n")), lineOf(varExpr("own")), act("SetVariable", inputs{"variable": lit("seen"), "value": lit(true)})))
	block.Variables = []workflow.Variable{{Name: "own", Type: "Object", Value: "mine"}}
	d := root(seq(block, act("SetVariable", inputs{"variable": lit("n"), "value": lit("other")}), faultOf("no")))
	d.Variables = []workflow.Variable{{Name: "n", Type: "Object"}, {Name: "seen", Type: "Boolean"}}
	d.Outputs = []workflow.Output{{Name: "seen", Value: &workflow.Expression{Kind: goExpr, Value: func(s engine.Scope) (any, error) { v, _ := s.Variable("seen"); return v, nil }}}}
	b := start(t, d)
	b.resume("t", map[string]any{"result": "first"})
	b.wantStatus(workflow.Faulted).wantLines("first", "mine")
	if !strings.Contains(string(b.state), `"seen":true`) {
		t.Errorf("the undo set no variable of the workflow: %s", b.state)
	}
}

// What is known of undos when a definition is published.
func TestUndosThatCannotBe(t *testing.T) {
	t.Parallel()
	used := usable("child", seq(does("a")))
	for name, c := range map[string]struct {
		def  *workflow.Definition
		code string
	}{
		"in an undo":           {root(undoing("a", seq(does("b")))), "undo-in-undo"},
		"in what is used":      {root(useOf("child", nil)), "undo-in-used"},
		"a finish in an undo":  {root(undoing("a", seq(act("Finish", nil)))), "finish-in-undo"},
		"nothing to undo":      {root(act("Compensate", nil)), "nothing-to-undo"},
		"no such activity":     {root(seq(does("pay"), act("Compensate", inputs{"activities": lit([]any{"pai"})}))), "unknown-activity"},
		"no activity":          {root(seq(does("pay"), act("Compensate", inputs{"activities": lit(3)}))), "bad-literal"},
		"beside what is used":  {root(seq(port(useOf("plain", nil), "undo", line("-")))), ""},
		"in a scope":           {root(scopeOf("s", does("a"), act("Compensate", nil))), ""},
		"its name is a branch": {root(seq(port(line("a"), "undone", line("b")))), "unknown-branch"},
	} {
		_, problems := engine.Compile(c.def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}, Resolve: func(ref workflow.DefinitionRef) (*workflow.Definition, bool) {
			if ref.ID == "plain" {
				return usable("plain", line("x")), true
			}
			return used, ref.ID == "child"
		}})
		if c.code == "" && len(problems) > 0 || c.code != "" && !slices.ContainsFunc(problems, func(p workflow.Problem) bool { return p.Code == c.code }) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// A definition that is used as an activity is undone by what stands beside it.
func TestWhatIsUsedIsUndoneFromOutside(t *testing.T) {
	t.Parallel()
	use := port(named("use", useOf("child", nil)), "undo", line("-child"))
	start(t, root(seq(use, faultOf("no"))), withDefinitions(usable("child", line("in")))).wantStatus(workflow.Faulted).wantLines("in", "-child")
}

// An instance takes its steps to another version, if they can be undone there.
func TestStepsAreMigrated(t *testing.T) {
	t.Parallel()
	was := root(named("r", seq(does("pay"), named("w", wait("w")), faultOf("no"))))
	b := start(t, was)
	gone := root(named("r", seq(named("pay", line("pay")), does("other"), named("w", wait("w")), faultOf("no"))))
	if out, problems := b.alter(map[int]*engine.Program{2: programFor(t, gone, 2)}, migrateTo(2)); out != engine.Refused || !strings.Contains(problems.Err().Error(), "has no undo there") {
		t.Fatalf("outcome %s: %v", out, problems)
	}
	now := root(named("r", seq(undoing("charge", line("back")), named("w", wait("w")), faultOf("no"))))
	if out, problems := b.alter(map[int]*engine.Program{2: programFor(t, now, 2)}, migrateTo(2, "pay", "charge")); out != engine.Applied {
		t.Fatalf("outcome %s: %v", out, problems)
	}
	b.resume("w", nil)
	b.wantStatus(workflow.Faulted).wantLines("pay", "back")
}

// What undoes a step is one call to the outside, also when it begins again in another place; and so is what was done with
// one key.
func TestAnUndoKeepsItsKey(t *testing.T) {
	t.Parallel()
	back := &failing{}
	undo := seq(back.activity("back"), wait("w"))
	b := start(t, root(seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, seq(undoing("a", undo), act("Compensate", nil)), wait("v")), line("z"))))
	b.resume("v", nil) // the compensate is left, and the scope goes on with it
	b.wantStatus(workflow.Suspended).wantLines("a", "z")
	b.resume("w", nil)
	if b.wantStatus(workflow.Finished); len(back.keys) != 2 || !back.oneKey() {
		t.Errorf("keys %v", back.keys)
	}

	pay, refund := &failing{}, &failing{}
	once := start(t, root(retried(named("r", seq(port(pay.activity("pay"), "undo", refund.activity("refund")), faultOf("no"))), inputs{"attempts": lit(2), "delay": lit("1s")})))
	once.pass(1).wantStatus(workflow.Faulted)
	if len(pay.keys) != 2 || !pay.oneKey() || len(refund.keys) != 1 {
		t.Errorf("keys of what was done %v, and undone %v", pay.keys, refund.keys)
	}
}

// An instance of so many places that it would be loaded for its end only is loaded as a whole: it undoes first.
func TestAWideOneUndoes(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(does("a"), wait("w"))))
	if _, err := engine.LoadEnding(b.prog, b.header, strings.NewReader(string(b.state)), b.env); !errors.Is(err, engine.ErrAtWork) {
		t.Errorf("it was loaded for its end: %v", err)
	}
	plain := start(t, root(seq(line("a"), wait("w"))))
	if _, err := engine.LoadEnding(plain.prog, plain.header, strings.NewReader(string(plain.state)), plain.env); err != nil {
		t.Error(err)
	}
}

// cut is a call that is interrupted, and notes whether that ended it.
type cut struct {
	burst   *engine.Burst
	spared  bool
	cutting bool // what the burst was ended by took the call away
}

func (c *cut) Execute(ctx context.Context, _ *engine.Execution) error {
	c.spared = c.burst.Interrupt()
	c.burst.End(workflow.CommandCancel)
	c.cutting = ctx.Err() != nil
	c.burst.End(workflow.CommandDelete)
	return ctx.Err()
}

// A cancel more, while an instance undoes since it is to be cancelled, does not cut the call of an undo. A delete does.
func TestASecondCancelCutsNoCall(t *testing.T) {
	t.Parallel()
	back := &cut{}
	b := start(t, root(seq(undoing("a", named("back", activities.Inline(back.Execute))), wait("w"))))
	back.burst = b.load()
	if out, err := back.burst.Run(t.Context(), workflow.Command{ID: "c", Kind: workflow.CommandCancel}); out != engine.Interrupted || err != nil || !back.spared || back.cutting {
		t.Errorf("%s %v, spared %v, cut by a cancel %v", out, err, back.spared, back.cutting)
	}
}
