package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/answers"
	"github.com/weft-run/weft/pkg/workflowtest/crash"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// startAnd starts the instance, and lets hours pass.
func startAnd(hours int) crash.Play {
	return func(r *trial.Run, _ *trial.Bounds) []string {
		if err := errors.Join(r.Start(), r.Advance(time.Duration(hours)*time.Hour)); err != nil {
			return []string{err.Error()}
		}
		return nil
	}
}

// failures wants all failures to have part, or none if it is "".
func failures(t *testing.T, rep *crash.Report, part string) {
	t.Helper()
	got := strings.Join(rep.Failures(), "\n\n")
	if (part == "") != (got == "") || !strings.Contains(got, part) {
		t.Errorf("want %q, and what is wrong is %q", part, got)
	}
}

func TestWhatIsRightIsNotReported(t *testing.T) {
	t.Parallel()
	const post = "sendHttpRequest: {url: 'https://a.test', method: POST}\n"
	for _, of := range []struct{ name, root string }{
		{"a loop that waits, with a retry", "- for: {start: 1, end: 2, step: 1}\n    body:\n      - " + post + "        retry: {attempts: 3}\n      - delay: 1h\n"},
		{"a loop whose branch waits", "- for: {start: 1, end: 2, step: 1}\n    body:\n      - sendHttpRequest: {url: 'https://a.test', method: POST, failedToConnect: {delay: 1h}}\n      - delay: 1h\n"},
		{"a request that is sent on", "- sendHttpRequest: {url: 'https://a.test/moved', method: POST, content: {a: 1}}\n    retry: {attempts: 3}\n"},
		{"a loop that asks again with GET", "- for: {start: 1, end: 3, step: 1}\n    body:\n      - sendHttpRequest: {url: 'https://a.test', failedToConnect: {writeLine: again}}\n  - while: \"${{ variables.n < 1 }}\"\n    body:\n      - sendHttpRequest:\n          url: 'https://a.test'\n          failedToConnect: {writeLine: again}\n          expectedStatusCodes:\n            200: {setVariable: {variable: n, value: 1}}\n"},
	} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			def := definition(t, activities.Default(), "id: d\nvariables: {n: {type: number, default: 0}}\nroot:\n  "+of.root)
			moved := answers.Answer{URL: "https://a.test/moved", Status: 307, Headers: map[string]string{"Location": "https://a.test"}}
			failures(t, try(t, trial.Config{Definition: def, HTTP: answers.Answers{moved, {Status: 200}}}, startAnd(3)), "")
		})
	}
}

func TestALoopThatAsksAgainWithAnotherKey(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), `
id: d
variables: {n: {type: number, default: 0}}
root:
  - while: "${{ variables.n < 1 }}"
    body:
      - sendHttpRequest:
          url: https://a.test
          method: POST
          failedToConnect: {writeLine: again}
          expectedStatusCodes:
            200: {setVariable: {variable: n, value: 1}}
`)
	failures(t, try(t, trial.Config{Definition: def, HTTP: answers.Answers{{Status: 200}}}, start), "is called again with another Idempotency-Key")
}

// asks makes requests of its own, so many at once.
type asks struct {
	method string
	key    bool
	times  int
}

func (a asks) Execute(ctx context.Context, x *engine.Execution) error {
	client, err := x.HTTP()
	if err != nil {
		return err
	}
	errs := make([]error, a.times)
	var wait sync.WaitGroup
	for i := range a.times {
		wait.Go(func() {
			req, err := http.NewRequestWithContext(ctx, a.method, fmt.Sprintf("https://a.test/%d", i), http.NoBody)
			if err != nil {
				errs[i] = err
				return
			}
			if a.key {
				req.Header.Set("Idempotency-Key", fmt.Sprint(x.IdempotencyKey(), i))
			}
			resp, err := client.Do(req)
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				err = resp.Body.Close()
			}
			errs[i] = err
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func TestRequestsOfAnActivityOfOnesOwn(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		asks
		want string
	}{
		{asks{"POST", true, 1}, ""},
		{asks{"POST", true, 8}, ""},
		{asks{"POST", false, 1}, "is called again without an Idempotency-Key"},
		{asks{"GET", false, 1}, ""},
	} {
		t.Run(fmt.Sprint(of.asks), func(t *testing.T) {
			t.Parallel()
			r := registry(t, of.asks)
			def := definition(t, r, "id: d\nroot:\n  - acme.Ship: o\n    retry: {attempts: 3}\n")
			rep := try(t, trial.Config{Registry: r, Definition: def, HTTP: answers.Answers{{Status: 200}}}, start)
			if rep.Calls != of.times {
				t.Errorf("%d calls", rep.Calls)
			}
			failures(t, rep, of.want)
		})
	}
}

// waits calls the outside before its wait, and behind it.
type waits struct{ asks }

func (w waits) Execute(ctx context.Context, x *engine.Execution) error {
	if err := w.asks.Execute(ctx, x); err != nil {
		return err
	}
	due := x.Clock().Add(time.Hour)
	_, err := x.Wait(engine.Wait{DueAt: &due})
	return err
}

func (w waits) Resume(ctx context.Context, x *engine.Execution, _ engine.Resume) error {
	return w.asks.Execute(ctx, x)
}

func TestCallsBehindAWaitAreAmongThePoints(t *testing.T) {
	t.Parallel()
	r := registry(t, waits{asks{"POST", true, 1}})
	def := definition(t, r, "id: d\nroot:\n  - acme.Ship: o\n    retry: {attempts: 3}\n")
	rep := try(t, trial.Config{Registry: r, Definition: def, HTTP: answers.Answers{{Status: 200}}}, startAnd(1))
	if rep.Calls != 2 || rep.Points != 8 {
		t.Errorf("%d calls, %d points", rep.Calls, rep.Points)
	}
}

func TestALoopIsAskedToBeSaved(t *testing.T) {
	t.Parallel()
	const strict = "with options: {commit: ActivityExecutedStrict}"
	for commit, want := range map[string]bool{"WorkflowExecuted": true, "ActivityExecuted": false, "ActivityExecutedStrict": false} {
		def := definition(t, activities.Default(), "id: d\noptions: {commit: "+commit+"}\nroot:\n  - for: {start: 1, end: 3, step: 1}\n    body:\n      - sendHttpRequest: {url: 'https://a.test', method: POST}\n        retry: {attempts: 3}\n")
		rep := try(t, trial.Config{Definition: def, HTTP: answers.Answers{{Status: 200}}}, start)
		failures(t, rep, "")
		if got := strings.Contains(strings.Join(rep.Notes(), "\n"), strict); got != want {
			t.Errorf("%s: %q", commit, rep.Notes())
		}
	}
}

// Of more failures than runs, each activity has each kind at each moment.
func TestOfTooManyFailuresEachSortIsTaken(t *testing.T) {
	t.Parallel()
	r := registry(t, shipped{})
	// Seven failures for each call: each seventh of them alone would be of one sort.
	def := definition(t, r, "id: d\nroot:\n  - for: {start: 1, end: 140, step: 1}\n    body: {acme.Ship: o}\n  - acme.Ship: last\n")
	rep, err := crash.Try(t.Context(), trial.Config{Registry: r, Definition: def}, nil, 142, start)
	if err != nil || rep.Runs > 142 || rep.Runs < 130 {
		t.Fatalf("%+v, %v", rep, err)
	}
	for _, activity := range []string{"for1.body", "ship1"} {
		lost := false
		for _, d := range rep.Differs {
			lost = lost || d.Kind == trial.LostAnswer && strings.Contains(strings.ToLower(d.Activity), activity)
		}
		if !lost {
			t.Errorf("no answer of %s was lost: %+v", activity, rep.Differs)
		}
	}
}

func TestALongCaseHasFewerRuns(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), "id: d\nroot:\n  - for: {start: 1, end: 400, step: 1}\n    body: {sendHttpRequest: {url: 'https://a.test'}}\n")
	cfg := trial.Config{Definition: def, Mocks: trial.Mocks{"sendHttpRequest": trial.Reply{Outputs: map[string]any{"statusCode": 200}}}}
	rep, err := crash.Try(t.Context(), cfg, nil, 100, start)
	if err != nil || rep.Points != 1201 || rep.Runs > 41 || rep.Left != 2*1201+400-rep.Runs {
		t.Errorf("%d points, %d runs, %d left out, %v", rep.Points, rep.Runs, rep.Left, err)
	}
}

// The node that stood still makes the call that it was at, with its key, and no further one.
func TestALateCall(t *testing.T) {
	t.Parallel()
	for _, sends := range []bool{false, true} {
		def := definition(t, activities.Default(), "id: d\nroot:\n  - sendHttpRequest: {url: 'https://a.test', method: POST}\n    id: a\n  - sendHttpRequest: {url: 'https://b.test', method: POST}\n    id: b\n")
		cfg := trial.Config{Definition: def, Mocks: trial.Mocks{"sendHttpRequest": trial.Reply{Outputs: map[string]any{"statusCode": 200}}}}
		if sends {
			cfg.Mocks, cfg.HTTP = nil, answers.Answers{{Status: 200}}
		}
		r, err := trial.New(trial.Failing(cfg, &trial.Failure{Point: 0, Kind: trial.Pause}))
		if err != nil {
			t.Fatal(err)
		}
		if problems := start(r, nil); problems != nil {
			t.Fatal(problems)
		}
		_, calls := trial.Noted(r)
		var made []string
		keys := map[string]string{}
		for _, c := range calls {
			made = append(made, c.Activity)
			if key := keys[c.Activity]; key != "" && key != c.Key {
				t.Errorf("%s is called with %s and %s", c.Activity, key, c.Key)
			}
			keys[c.Activity] = c.Key
		}
		if got := strings.Join(made, " "); got != "a b a" {
			t.Errorf("real %t: the calls are %s", sends, got)
		}
	}
}

func TestLinesOfANodeThatDiesAreGone(t *testing.T) {
	t.Parallel()
	r := registry(t, shipped{})
	def := definition(t, r, "id: d\nroot:\n  - writeLine: a\n  - acme.Ship: o\n    retry: {attempts: 2}\n  - writeLine: b\n")
	failures(t, try(t, trial.Config{Registry: r, Definition: def}, start), "")
}

func TestALostAnswerTakesNoneOfTheMock(t *testing.T) {
	t.Parallel()
	def := definition(t, activities.Default(), "id: d\nvariables: {n: number}\noutputs: {n: \"${{ variables.n }}\"}\nroot:\n  - sendHttpRequest: {url: 'https://a.test', method: POST}\n    id: a\n    retry: {attempts: 2}\n    outputs: {statusCode: n}\n")
	reply := func(n int) trial.Reply { return trial.Reply{Outputs: map[string]any{"statusCode": n}} }
	rep := try(t, trial.Config{Definition: def, Mocks: trial.Mocks{"a": trial.Replies{reply(201), reply(202)}}}, start)
	if failures(t, rep, ""); len(rep.Differs) > 0 {
		t.Errorf("%+v", rep.Differs)
	}
}

func TestSecretsAreNotTold(t *testing.T) {
	t.Parallel()
	r := registry(t, &forgetful{})
	def := definition(t, r, "id: d\nvariables: {l: string}\nroot:\n  - acme.Ship: o\n    result: l\n  - sendHttpRequest: {url: 'https://a.test', method: POST, content: \"${{ secrets.k + variables.l }}\"}\n")
	rep := try(t, trial.Config{Registry: r, Definition: def, HTTP: answers.Answers{{Status: 200}}, Secrets: map[string]string{"k": "TOPSECRET"}}, start)
	told := strings.Join(append(rep.Failures(), rep.Notes()...), "\n")
	if !strings.Contains(told, "body: first ***k***") || strings.Contains(told, "TOPSECRET") {
		t.Error(told)
	}
}

func TestActivitiesOfAChildAreToldApart(t *testing.T) {
	t.Parallel()
	const call = "  - sendHttpRequest: {url: 'https://a.test', method: POST}\n    id: a\n    retry: {attempts: 2}\n"
	def := definition(t, activities.Default(), "id: d\nroot:\n"+call+"  - executeWorkflow: c\n")
	child := definition(t, activities.Default(), "id: c\nroot:\n"+call)
	rep := try(t, trial.Config{Definition: def, Others: []*workflow.Definition{child}, HTTP: answers.Answers{{Status: 200}}}, start)
	failures(t, rep, "")
	notes := strings.Join(rep.Notes(), "\n")
	for _, name := range []string{"a may be", "a of c may be"} {
		if !strings.Contains(notes, name) {
			t.Errorf("%q is not in %s", name, notes)
		}
	}
}
