package crash_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
	"github.com/weft-run/weft/pkg/workflowtest/answers"
	"github.com/weft-run/weft/pkg/workflowtest/crash"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// shipped is acme.Ship.
type shipped struct{}

func (shipped) Execute(_ context.Context, x *engine.Execution) error {
	x.SetOutput("label", "L-1")
	return nil
}

func registry(t *testing.T, a engine.Activity) *engine.Registry {
	t.Helper()
	r := activities.Default()
	d := workflow.Descriptor{Type: "Acme.Ship", Main: "order", Inputs: []workflow.InputDescriptor{{Name: "order", Type: "String"}, {Name: "note", Type: "String"}}, Outputs: []workflow.OutputDescriptor{{Name: "label", Type: "String"}}}
	if err := r.Register(d, a); err != nil {
		t.Fatal(err)
	}
	return r
}

func definition(t *testing.T, r *engine.Registry, src string) *workflow.Definition {
	t.Helper()
	def, problems := yaml.Read([]byte(src), "test.yaml", r)
	if problems != nil {
		t.Fatal(problems)
	}
	return def
}

// start starts the instance, and ends what the test does.
func start(r *trial.Run, _ *trial.Bounds) []string {
	if err := r.Start(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func try(t *testing.T, cfg trial.Config, play crash.Play) *crash.Report {
	t.Helper()
	rep, err := crash.Try(t.Context(), cfg, nil, crash.MaxRuns, play)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestEachPointIsTakenWithEachFailure(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name, root    string
		points, calls int
	}{
		{"no call", "- writeLine: a", 1, 0},
		{"one call", "- acme.Ship: o", 4, 1},
		{"two calls in one burst", "- acme.Ship: o\n  - acme.Ship: p", 7, 2},
		{"two calls, saved between them", "- acme.Ship: o\n  - acme.Ship: p", 11, 2},
		{"a wait", "- acme.Ship: o\n  - event: go", 4, 1},
		{"a loop", "- for: {start: 1, end: 3, step: 1}\n    body: {acme.Ship: o}", 10, 3},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			r := registry(t, shipped{})
			src := "id: d\nroot:\n  " + of.root + "\n"
			if strings.Contains(of.name, "saved") {
				src = "options: {commit: ActivityExecutedStrict}\n" + src
			}
			rep := try(t, trial.Config{Registry: r, Definition: definition(t, r, src)}, start)
			if rep.Calls != of.calls {
				t.Errorf("it made %d calls", rep.Calls)
			}
			if !strings.Contains(of.name, "saved") && rep.Points != of.points {
				t.Errorf("%d points", rep.Points)
			}
			if want := 2*rep.Points + rep.Calls; rep.Runs != want || rep.Left != 0 {
				t.Errorf("%d runs, %d left out; want %d", rep.Runs, rep.Left, want)
			}
			for _, d := range rep.Differs {
				if d.Kind != trial.LostAnswer {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

func TestACallMadeAgainHasItsKeyAndBody(t *testing.T) {
	t.Parallel()
	r := registry(t, shipped{})
	def := definition(t, r, "id: d\nroot:\n  - acme.Ship: {order: o, note: \"${{ newId() + string(now()) }}\"}\n  - acme.Ship: p\n")
	rep := try(t, trial.Config{Registry: r, Definition: def}, start)
	if len(rep.Repeated) != 2 {
		t.Fatalf("%+v", rep.Repeated)
	}
	for _, c := range rep.Repeated {
		if !c.SameKey || !c.SameBody {
			t.Errorf("%+v", c)
		}
	}
	if first := rep.Repeated[0]; !strings.Contains(first.Mend, "ActivityExecutedStrict") {
		t.Errorf("a call that is repeated for one behind it: %s", first.Mend)
	}
}

// forgetful says something else each time.
type forgetful struct{ times int }

func (f *forgetful) Execute(_ context.Context, x *engine.Execution) error {
	f.times++
	x.SetOutput("label", fmt.Sprint(f.times))
	return nil
}

func TestWhatIsOtherInARepeatIsFound(t *testing.T) {
	t.Parallel()
	r := registry(t, &forgetful{})
	def := definition(t, r, "id: d\nvariables: {l: string}\noutputs: {l: \"${{ variables.l }}\"}\nroot:\n  - acme.Ship: o\n    result: l\n  - acme.Ship: {order: p, note: \"${{ variables.l }}\"}\n")
	rep := try(t, trial.Config{Registry: r, Definition: def}, start)
	other := slices.IndexFunc(rep.Repeated, func(c crash.Repeated) bool { return c.SameKey && !c.SameBody })
	if other < 0 || len(rep.Repeated[other].Changes) != 1 || !strings.HasPrefix(rep.Repeated[other].Changes[0], "note: first ") {
		t.Errorf("%+v", rep.Repeated)
	}
	if !slices.ContainsFunc(rep.Differs, func(d crash.Difference) bool { return d.Fails && d.Kind == trial.Crash }) {
		t.Errorf("the end is another one: %+v", rep.Differs)
	}
	if len(rep.Failures()) == 0 {
		t.Error("nothing of it is wrong")
	}
}

func TestALostAnswer(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name, root string
		fails      bool
		differs    int
	}{
		{"without a way", "- sendHttpRequest: {url: 'https://a.test'}", true, 1},
		{"with a retry", "- sendHttpRequest: {url: 'https://a.test'}\n    retry: {attempts: 2}", false, 0},
		{"with retries within the attempt", "- sendHttpRequest: {url: 'https://a.test', retries: 1}", false, 0},
		{"with a retry around a block", "- sequence: [{sendHttpRequest: {url: 'https://a.test'}}]\n    retry: {attempts: 2}", false, 0},
		{"with a branch", "- sendHttpRequest: {url: 'https://a.test'}\n    failedToConnect: {writeLine: no}", false, 1},
		{"of a download without a way", "- downloadHttpFile: {url: 'https://a.test'}", true, 1},
		{"of a download with a retry", "- downloadHttpFile: {url: 'https://a.test'}\n    retry: {attempts: 2}", false, 0},
		{"of a download with a port", "- flowchart:\n      activities:\n        get: {downloadHttpFile: {url: 'https://a.test'}}\n        no: {writeLine: no}\n      connections:\n        - {from: get, port: Failed to connect, to: no}", false, 1},
	} {
		for _, sends := range []bool{false, true} {
			t.Run(fmt.Sprint(of.name, " ", sends), func(t *testing.T) {
				t.Parallel()
				r := activities.Default()
				cfg := trial.Config{Definition: definition(t, r, "id: d\nroot:\n  "+of.root+"\n")}
				reply := trial.Reply{Outputs: map[string]any{"statusCode": 200}}
				switch {
				case sends:
					cfg.HTTP = answers.Answers{{Status: 200}}
				case strings.Contains(of.root, "downloadHttpFile"):
					cfg.Mocks = trial.Mocks{"downloadHttpFile": reply}
				default:
					cfg.Mocks = trial.Mocks{"sendHttpRequest": reply}
				}
				rep := try(t, cfg, start)
				lost := slices.DeleteFunc(slices.Clone(rep.Differs), func(d crash.Difference) bool { return d.Kind != trial.LostAnswer })
				if len(lost) != of.differs || len(rep.Differs) != of.differs || (len(rep.Failures()) > 0) != of.fails {
					t.Errorf("%+v", rep)
				}
				for _, c := range rep.Repeated {
					if !c.SameKey || !c.SameBody {
						t.Errorf("%+v", c)
					}
				}
			})
		}
	}
}

func TestAttemptsWithOtherKeysAreFound(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), "id: d\nroot:\n  - sendHttpRequest: {url: 'https://a.test', method: POST}\n    retry: {attempts: 2, keys: new}\n")
	rep := try(t, trial.Config{Definition: def, HTTP: answers.Answers{{Status: 200}}}, start)
	if !slices.ContainsFunc(rep.Repeated, func(c crash.Repeated) bool { return !c.SameKey && strings.Contains(c.Mend, "keys: same") }) {
		t.Errorf("%+v", rep.Repeated)
	}
}

func TestAMockThatAnswersOneAfterTheOther(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), `
id: d
variables: {n: number}
outputs: {n: "${{ variables.n }}"}
root:
  - for: {start: 1, end: 3, step: 1}
    body:
      - sendHttpRequest: {url: "https://a.test"}
        outputs: {statusCode: n}
      - writeLine: "${{ string(variables.n) }}"
`)
	reply := func(n int) trial.Reply { return trial.Reply{Outputs: map[string]any{"statusCode": n}} }
	cfg := trial.Config{Definition: def, Mocks: trial.Mocks{"sendHttpRequest": trial.Replies{reply(201), reply(202), reply(203)}}}
	rep := try(t, cfg, start)
	for _, d := range rep.Differs {
		if d.Kind != trial.LostAnswer {
			t.Errorf("%+v", d)
		}
	}
}

func TestWhatIsSavedIsDoneOnce(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), `
id: d
root:
  - publishEvent: told
  - dispatchWorkflow: child
  - sendHttpRequest: {url: "https://a.test"}
  - delay: 1h
  - sendHttpRequest: {url: "https://b.test"}
`)
	cfg := trial.Config{
		Definition: def, HTTP: answers.Answers{{Status: 200}},
		Children: map[string]trial.Child{"child": {}},
	}
	rep := try(t, cfg, func(r *trial.Run, _ *trial.Bounds) []string {
		if err := errors.Join(r.Start(), r.Advance(time.Hour)); err != nil {
			return []string{err.Error()}
		}
		return nil
	})
	for _, d := range rep.Differs {
		if d.Kind != trial.LostAnswer {
			t.Errorf("%+v", d)
		}
	}
	if rep.Calls != 2 {
		t.Errorf("%+v", rep)
	}
}

func TestATestThatFailsAnyway(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), "id: d\nroot:\n  - writeLine: a\n")
	_, err := crash.Try(t.Context(), trial.Config{Definition: def}, nil, 10, func(*trial.Run, *trial.Bounds) []string { return []string{"no"} })
	if err == nil || !strings.Contains(err.Error(), "without a failure of a node: no") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := crash.Try(ctx, trial.Config{Definition: def}, nil, 10, start); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestMoreFailuresThanRuns(t *testing.T) {
	t.Parallel()
	r := registry(t, shipped{})
	def := definition(t, r, "id: d\nroot:\n  - for: {start: 1, end: 100, step: 1}\n    body: {acme.Ship: o}\n")
	rep, err := crash.Try(t.Context(), trial.Config{Registry: r, Definition: def}, nil, 20, start)
	if err != nil || rep.Runs != 20 || rep.Left != 2*rep.Points+rep.Calls-20 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if notes := rep.Notes(); !strings.Contains(notes[len(notes)-1], "20 of 702 failures") {
		t.Error(notes)
	}
}
