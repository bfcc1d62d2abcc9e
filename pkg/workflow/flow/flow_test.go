package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/flow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
	"github.com/weft-run/weft/pkg/workflowtest"
)

type address struct{ Street, City flow.Value[string] }

type order struct {
	ID      flow.Value[string] `json:"orderId" required:"true"`
	Count   flow.Value[int]
	Items   flow.Value[[]string]
	To      address
	Express flow.Value[bool]
	When    flow.Value[time.Time]
}

type label struct {
	Text   flow.Value[string]
	Weight flow.Value[float64]
	Sent   address
}

var pack = flow.NewActivity("acme.Pack", func(_ context.Context, _ *engine.Execution, in order) (label, error) {
	if in.Count.Get() < 0 {
		return label{}, errors.New("less than nothing")
	}
	return label{Text: flow.Of(in.ID.Get() + " to " + in.To.City.Get()), Weight: flow.Of(float64(in.Count.Get()) * 1.5), Sent: in.To}, nil
})

func start[In, Out any](t *testing.T, w *flow.Workflow[In, Out], in In, mocks workflowtest.Mocks, others ...*workflow.Definition) *workflowtest.Test {
	t.Helper()
	if problems := w.Check(); len(problems) > 0 {
		t.Fatal(problems)
	}
	registry := activities.Default()
	if err := pack.Register(registry); err != nil {
		t.Fatal(err)
	}
	return workflowtest.Start(t, workflowtest.Config{Definition: w.Definition(), Others: others, Registry: registry, Input: w.Start(in).Input, Mocks: mocks})
}

func result[In, Out any](t *testing.T, w *flow.Workflow[In, Out], run *workflowtest.Test) Out {
	t.Helper()
	out, err := w.Result(run.Run().Instance())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var packing = flow.New("packing", func(s *flow.Steps, in order) label {
	total := flow.Var(s, "total", flow.Of(0))
	names := flow.Var(s, "names", flow.Of(""))
	flow.Each(s, in.Items, func(s *flow.Steps, item flow.Value[string]) {
		s.If(flow.Equal(item, flow.Of("stop")), func(s *flow.Steps) { s.Break() }).Else(func(s *flow.Steps) { s.Name(item) })
		names.Set(s, flow.Text("{}{};", names.Value, item))
		total.Set(s, flow.Plus(total.Value, flow.Of(1)))
	})
	s.While(flow.And(flow.Less(total.Value, in.Count), flow.Not(in.Express)), func(s *flow.Steps) {
		total.Set(s, flow.Plus(total.Value, flow.Of(10)))
	})
	packed := pack.Do(s, order{ID: in.ID, Count: total.Value, To: in.To})
	s.WriteLine(flow.Text("{}: {} ${{ kept }}", names.Value, flow.Len(in.Items)))
	return label{Text: packed.Text, Weight: packed.Weight, Sent: address{City: packed.Sent.City, Street: flow.Of("${{ as it is }}")}}
})

// What is built runs, with loops, variables, nested records, and texts that look like
// expressions.
func TestAFlowRuns(t *testing.T) {
	t.Parallel()
	run := start(t, packing, order{ID: flow.Of("o-1"), Count: flow.Of(5), Items: flow.Of([]string{"a", "b", "stop", "c"}), To: address{City: flow.Of("Rome")}, Express: flow.Of(false), When: flow.Of(time.Now())}, nil)
	run.Want(workflowtest.Expect{Status: workflow.Finished, Lines: []string{"a;b;: 4 ${{ kept }}"}})
	out := result(t, packing, run)
	if out.Text.Get() != "o-1 to Rome" || out.Weight.Get() != 18 || out.Sent.City.Get() != "Rome" || out.Sent.Street.Get() != "${{ as it is }}" {
		t.Errorf("%s %v %q %q", out.Text.Get(), out.Weight.Get(), out.Sent.City.Get(), out.Sent.Street.Get())
	}
}

// The body of a loop within a loop has both items, the outer one after it, too.
func TestLoopsWithinLoops(t *testing.T) {
	t.Parallel()
	type board struct {
		Files flow.Value[[]string]
		Ranks flow.Value[[]int]
	}
	w := flow.New("board", func(s *flow.Steps, in board) struct{} {
		flow.Each(s, in.Files, func(s *flow.Steps, file flow.Value[string]) {
			flow.Each(s, in.Ranks, func(s *flow.Steps, rank flow.Value[int]) {
				flow.Each(s, flow.Of([]string{"x", "y"}), func(s *flow.Steps, end flow.Value[string]) {
					s.WriteLine(flow.Text("{}{}{}", file, flow.Plus(rank, flow.Of(1)), end))
				})
				s.WriteLine(flow.Text("{}{}", file, rank))
			})
			s.WriteLine(file)
		})
		return struct{}{}
	})
	run := start(t, w, board{Files: flow.Of([]string{"a", "b"}), Ranks: flow.Of([]int{1, 2})}, nil)
	run.Want(workflowtest.Expect{Status: workflow.Finished, Lines: []string{
		"a2x", "a2y", "a1", "a3x", "a3y", "a2", "a", "b2x", "b2y", "b1", "b3x", "b3y", "b2", "b",
	}})
}

// What is known as the definition is built comes as it is, however deep it stands.
func TestLiteralsWithinRecords(t *testing.T) {
	t.Parallel()
	type notes struct {
		Lines flow.Value[[]string]
		By    flow.Value[map[string]any]
		Times flow.Value[int64]
	}
	type wrapped struct{ In notes }
	const odd = "${{ inputs.orderId }}"
	fixed := notes{flow.Of([]string{odd, "$" + odd}), flow.Of(map[string]any{"a": []any{odd, 1}}), flow.Of(int64(1)<<53 + 1)}
	inner := flow.New("inner", func(_ *flow.Steps, in wrapped) wrapped { return in })
	type done struct {
		Text, City flow.Value[string]
		Own, Child wrapped
	}
	w := flow.New("literals", func(s *flow.Steps, in order) done {
		packed := pack.Do(s, order{ID: in.ID, Count: flow.Of(1), To: address{City: flow.Of(odd), Street: in.ID}})
		return done{packed.Text, packed.Sent.Street, wrapped{fixed}, flow.Run(s, inner, wrapped{fixed})}
	})
	run := start(t, w, order{ID: flow.Of("o-1")}, nil, inner.Definition())
	run.Want(workflowtest.Expect{Status: workflow.Finished})
	out := result(t, w, run)
	if out.Text.Get() != "o-1 to "+odd || out.City.Get() != "o-1" {
		t.Errorf("%q %q", out.Text.Get(), out.City.Get())
	}
	for name, got := range map[string]notes{"own": out.Own.In, "child": out.Child.In} {
		if fmt.Sprint(got.Lines.Get(), got.By.Get(), got.Times.Get()) != fmt.Sprint(fixed.Lines.Get(), fixed.By.Get(), fixed.Times.Get()) {
			t.Errorf("%s: %v %v %v", name, got.Lines.Get(), got.By.Get(), got.Times.Get())
		}
	}
}

// A workflow runs another one, and reads its typed outputs; both wait for what is outside.
func TestAFlowWaits(t *testing.T) {
	t.Parallel()
	type answer struct {
		By    flow.Value[string]
		Where address
	}
	type done struct {
		Label, By, Where, Task flow.Value[string]
		Status                 flow.Value[int]
	}
	parent := flow.New("parent", func(s *flow.Steps, in order) done {
		child := flow.Run(s, packing, order{ID: in.ID, Count: flow.Of(0), Items: flow.Of([]string{}), To: address{City: flow.Of("Oslo")}})
		a := flow.Wait[answer](s, "decided", flow.ID("decision"), flow.Timeout(time.Hour, func(s *flow.Steps) { s.WriteLine(flow.Of("late")) }))
		task := flow.Task[flow.Value[string]](s, "sign", address{City: child.Sent.City})
		sent := s.Send(flow.HTTPRequest{URL: flow.Text("https://a.example/{}", in.ID), Content: flow.Expr[any]("{id: {}}", in.ID)}, flow.Retry(2, time.Minute))
		flow.Publish(s, "signed", answer{By: task})
		s.Parallel(func(s *flow.Steps) { s.Delay(time.Minute) }, func(s *flow.Steps) { s.Name(in.ID) })
		return done{child.Text, a.By, a.Where.City, task, sent.StatusCode}
	})
	for _, decided := range []bool{true, false} {
		run := start(t, parent, order{ID: flow.Of("o-7")}, workflowtest.Mocks{"sendHttpRequest": workflowtest.Reply{Outputs: map[string]any{"statusCode": 201}}}, packing.Definition())
		if decided {
			run.Event("decided", map[string]any{"by": "Ann", "where": map[string]any{"city": "Bonn"}})
		} else {
			run.Advance(time.Hour)
		}
		run.CompleteTask("sign", "signed by Bob")
		run.Advance(time.Minute)
		run.Want(workflowtest.Expect{Status: workflow.Finished, Calls: map[string][]map[string]any{"sendHttpRequest": {{"url": "https://a.example/o-7", "content": map[string]any{"id": "o-7"}}}}})
		out := result(t, parent, run)
		got := fmt.Sprint(out.Label.Get(), "|", out.By.Get(), "|", out.Where.Get(), "|", out.Task.Get(), "|", out.Status.Get())
		if want := map[bool]string{true: "o-7 to Oslo|Ann|Bonn|signed by Bob|201", false: "o-7 to Oslo|||signed by Bob|201"}[decided]; got != want {
			t.Errorf("decided %v: %s", decided, got)
		}
	}
}

// Fail writes a fault that is final, which runs as one.
func TestFailIsFinal(t *testing.T) {
	t.Parallel()
	w := flow.New("fails", func(s *flow.Steps, in order) label {
		s.Fail(flow.Text("{} was refunded", in.ID))
		return label{Text: in.ID, Weight: flow.Of(1.5)}
	})
	run := start(t, w, order{ID: flow.Of("o-7")}, nil)
	run.Want(workflowtest.Expect{Status: workflow.Faulted})
	out, err := yaml.Write(w.Definition(), activities.Default())
	if err != nil || !strings.Contains(string(out), "final: true") || !strings.Contains(string(out), "was refunded") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The checks of YAML look over what is built, and say which line of Go it is.
func TestMistakesHaveTheirLine(t *testing.T) {
	t.Parallel()
	w := flow.New("bad", func(s *flow.Steps, in order) label {
		s.WriteLine(flow.Expr[string]("upcase({})", in.ID))
		s.Finish()
		s.WriteLine(in.ID)
		s.Break()
		return label{}
	})
	problems := w.Check()
	text := problems.Error()
	for _, want := range []string{"unreachable", "break-outside-loop"} {
		found := false
		for _, p := range problems {
			found = found || p.Code == want && p.Place.File == "flow_test.go" && p.Place.Line > 100
		}
		if !found {
			t.Errorf("no %s at its line:\n%s", want, text)
		}
	}
	if !strings.Contains(text, "upcase") {
		t.Errorf("the function is not found missing:\n%s", text)
	}
	if w := flow.New("a/b", func(*flow.Steps, order) label { return label{} }); len(w.Check()) == 0 {
		t.Error("any id goes")
	}
}

// A definition that is built can be written and read, and is the same each time.
func TestAFlowIsPlainData(t *testing.T) {
	t.Parallel()
	registry := activities.Default()
	if err := pack.Register(registry); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Write(packing.Definition(), registry)
	if err != nil {
		t.Fatal(err)
	}
	back, problems := yaml.Read(out, "", registry)
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, out)
	}
	again, err := yaml.Write(back, registry)
	if err != nil || string(again) != string(out) {
		t.Errorf("%v\n%s\n%s", err, out, again)
	}
}

func TestSlipsOfTheProgramPanic(t *testing.T) {
	t.Parallel()
	for name, slip := range map[string]func(){
		"no record":         func() { flow.New("x", func(*flow.Steps, struct{ A string }) label { return label{} }) },
		"placeholders":      func() { flow.Text("{} {}", flow.Of(1)) },
		"placeholders more": func() { flow.Expr[int]("{}") },
		"read too early": func() {
			flow.New("x", func(_ *flow.Steps, in order) label { return label{Text: flow.Of(in.ID.Get())} })
		},
		"variable twice": func() {
			flow.New("x", func(s *flow.Steps, in order) label {
				flow.Var(s, "a", flow.Of(1))
				flow.Var(s, "a", flow.Of(1))
				return label{}
			})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			slip()
		}()
	}
}

// What starts instances, chooses, counts and gives up is built and runs.
func TestMoreSteps(t *testing.T) {
	t.Parallel()
	type done struct{ Child, Why flow.Value[string] }
	w := flow.New("more", func(s *flow.Steps, in order) done {
		s.Label("customer", in.ID)
		s.Switch(
			flow.When(flow.More(in.Count, flow.Of(10)), func(s *flow.Steps) { s.WriteLine(flow.Of("many")) }),
			flow.When(flow.More(in.Count, flow.Of(1)), func(s *flow.Steps) { s.WriteLine(flow.Of("some")) }),
		).Default(func(s *flow.Steps) { s.WriteLine(flow.Of("few")) })
		s.For(flow.Of(1), in.Count, func(s *flow.Steps, i flow.Value[int]) {
			s.For(flow.Of(1), i, func(s *flow.Steps, j flow.Value[int]) { s.WriteLine(flow.Text("{}.{}", i, j)) })
		})
		flow.Each(s, flow.Of([][]string{{"x", "y"}, {"z"}}), func(s *flow.Steps, lines flow.Value[[]string]) {
			packed := pack.Do(s, order{ID: flow.Expr[string]("{}[0]", lines), Count: flow.Of(1)})
			flow.Each(s, lines, func(s *flow.Steps, line flow.Value[string]) {
				s.Delay(time.Minute)
				s.WriteLine(flow.Text("{}: {}", packed.Text, line))
			})
		})
		why := flow.Var(s, "why", flow.Of(""))
		pack.Do(s, order{ID: in.ID, Count: flow.Of(-1)}, flow.Retry(2, time.Second), flow.GiveUp(func(s *flow.Steps, reason flow.Value[string]) { why.Set(s, reason) }))
		return done{Child: flow.Dispatch(s, packing, order{ID: in.ID}), Why: why.Value}
	})
	run := start(t, w, order{ID: flow.Of("o-1"), Count: flow.Of(2), Items: flow.Of([]string{"a", "b"})}, nil, packing.Definition())
	run.Run()
	for range 4 {
		run.Advance(time.Minute)
	}
	run.Want(workflowtest.Expect{Status: workflow.Finished, Lines: []string{"some", "1.1", "2.1", "2.2", "x to : x", "x to : y", "z to : z"}})
	out := result(t, w, run)
	if out.Child.Get() == "" || !strings.Contains(out.Why.Get(), "less than nothing") {
		t.Errorf("child %q, why %q", out.Child.Get(), out.Why.Get())
	}
}

// A workflow that something outside starts has its trigger first.
// Branches that race, rounds beside each other that keep their own results, links, times and retries.
func TestRacesAndRounds(t *testing.T) {
	t.Parallel()
	type done struct{ Won flow.Value[string] }
	w := flow.New("races", func(s *flow.Steps, in order) done {
		won := flow.Var(s, "won", flow.Of(""))
		s.FirstSuccess(
			func(s *flow.Steps) { pack.Do(s, order{ID: in.ID, Count: flow.Of(-1)}) },
			func(s *flow.Steps) { s.Delay(time.Minute); won.Set(s, flow.Of("second")) },
		)
		s.Race(
			func(s *flow.Steps) { flow.Wait[flow.Value[any]](s, "decided", flow.ID("decision")) },
			func(s *flow.Steps) { s.WriteLine(flow.ResumeURL("decision", "yes", 72*time.Hour)); s.Delay(time.Hour) },
		)
		flow.EachAtOnce(s, in.Items, func(s *flow.Steps, item flow.Value[string]) {
			packed := pack.Do(s, order{ID: item, Count: flow.Of(1)}, flow.RetryBy(flow.Retries{Attempts: 2, Delay: time.Second, Factor: 1, Jitter: 0.5, MaxDelay: time.Minute, MaxTime: time.Hour, On: []string{"5xx"}, NotOn: []string{"no"}, NewKeys: true}))
			s.Delay(time.Minute) // all rounds are between the two steps
			flow.Each(s, flow.Of([]string{"x", "y"}), func(s *flow.Steps, letter flow.Value[string]) {
				s.Delay(time.Minute)
				s.WriteLine(flow.Text("{} {} {}", item, letter, packed.Text))
			})
		})
		s.StartAt(flow.Of(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)))
		return done{Won: won.Value}
	})
	if problems := w.Check(); len(problems) > 0 {
		t.Fatal(problems)
	}
	run := start(t, w, order{ID: flow.Of("o-1"), Count: flow.Of(2), Items: flow.Of([]string{"a", "b"})}, nil)
	run.Run()
	run.Advance(time.Minute)
	run.Advance(time.Hour)
	for range 3 {
		run.Advance(time.Minute)
	}
	run.Want(workflowtest.Expect{Status: workflow.Finished, Lines: []string{"https://weft.test/links/test~5lf4ukn2705nc1c5eea06bri8o?outcome=yes", "a x a to ", "b x b to ", "a y a to ", "b y b to "}})
	if out := result(t, w, run); out.Won.Get() != "second" {
		t.Errorf("won: %q", out.Won.Get())
	}
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	type body struct{ Order flow.Value[string] }
	for name, begin := range map[string]func(s *flow.Steps){
		"event":   func(s *flow.Steps) { s.WriteLine(flow.Wait[body](s, "placed", flow.Trigger()).Order) },
		"cron":    func(s *flow.Steps) { s.Cron("0 0 8 * * MON-FRI", flow.Trigger()) },
		"timer":   func(s *flow.Steps) { s.Every(10*time.Minute, flow.Trigger()) },
		"startAt": func(s *flow.Steps) { s.StartAt(flow.Of(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)), flow.Trigger()) },
		"httpEndpoint": func(s *flow.Steps) {
			r := flow.Endpoint[body](s, "orders/{id}", []string{"POST"}, flow.Trigger())
			s.Respond(flow.Of(202), flow.Text("{} {}", flow.Expr[string](`{}["id"]`, r.Route), r.Body.Order))
		},
	} {
		w := flow.New("started", func(s *flow.Steps, _ struct{}) struct{} { begin(s); return struct{}{} })
		if problems := w.Check(); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		first := w.Definition().Root.Activities[0]
		if !first.CanStart || !strings.EqualFold(first.Type, "Elsa."+name) {
			t.Errorf("%s: %+v", name, first)
		}
	}
	w := flow.New("bad", func(s *flow.Steps, _ struct{}) struct{} { s.Cron("0 8 * * *", flow.Trigger()); return struct{}{} })
	if problems := w.Check(); len(problems) != 1 || problems[0].Code != "bad-cron" || problems[0].Place.File != "flow_test.go" {
		t.Errorf("a cron expression of five fields: %v", problems)
	}
}
