package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestCancelBurnsBookmarksAndListsChildren(t *testing.T) {
	t.Parallel()
	def := root(act("Parallel", nil, wait("ev"), act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("free")})))
	b := start(t, def).wantStatus(workflow.Suspended)
	if len(b.header.Bookmarks) != 2 || len(b.children) != 2 {
		t.Fatalf("bookmarks %v, children %v", b.bookmarks(), b.children)
	}
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled)
	if len(b.last.Burned) != 2 || len(b.last.Cancel) != 1 || b.last.Cancel[0] != b.children[0].InstanceID {
		t.Errorf("burned %v, cancel %v", b.last.Burned, b.last.Cancel)
	}
	if out := b.command(workflow.CommandCancel); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
}

func TestCancelOfAFaultedInstance(t *testing.T) {
	t.Parallel()
	b := start(t, root(act("Fault", nil))).wantStatus(workflow.Faulted)
	// It has ended, and a cancel does not take its retry away.
	if out := b.command(workflow.CommandCancel); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Faulted)
	if out := b.command(workflow.CommandRetry); out != engine.Applied {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Faulted)
	if len(b.header.Incidents) != 2 {
		t.Errorf("incidents %v", b.header.Incidents)
	}
	b.command(workflow.CommandDelete)
	b.wantStatus(workflow.Cancelled)
}

// A retry is for what has faulted, also within an instance that goes on.
func TestARetryOfWhatIsNotFaulted(t *testing.T) {
	t.Parallel()
	b := start(t, root(act("Event", inputs{"eventName": lit("go")}))).wantStatus(workflow.Suspended)
	if out := b.command(workflow.CommandRetry); out != engine.NotFaulted {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Suspended)
	b.resume("go", nil)
	b.wantStatus(workflow.Finished)
	if out := b.command(workflow.CommandRetry); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
}

func TestCancelOfManyChildrenGoesInSlices(t *testing.T) {
	t.Parallel()
	items := make([]any, 250)
	for i := range items {
		items[i] = i
	}
	b := start(t, root(act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("child"), "items": lit(items), "waitForCompletion": lit(true)})))
	b.wantStatus(workflow.Suspended)
	if len(b.children) != 250 || b.commits != 2 || len(b.header.Bookmarks) != 250 {
		t.Fatalf("%d children in %d commits, %d bookmarks", len(b.children), b.commits, len(b.header.Bookmarks))
	}
	b.commits = 0
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled)
	if len(b.canceled) != 250 || b.commits != 2 || len(b.last.Cancel) != 50 {
		t.Errorf("%d cancelled in %d commits, %d in the last", len(b.canceled), b.commits+1, len(b.last.Cancel))
	}
}

func TestACancelledBranchCancelsTheChildItWaitsFor(t *testing.T) {
	t.Parallel()
	def := root(seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), act("Delay", inputs{"timeSpan": lit("1h")})), line("on")))
	b := start(t, def)
	b.resume("delay", nil)
	b.wantStatus(workflow.Finished).wantLines("on")
	if len(b.canceled) != 1 || b.canceled[0] != b.children[0].InstanceID {
		t.Errorf("cancelled %v", b.canceled)
	}
	// A child that this very burst would have started is not started at all.
	def = root(act("Fork", inputs{"joinMode": lit("WaitAny")}, act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), line("first")))
	if b = start(t, def).wantStatus(workflow.Finished); len(b.children) != 0 || len(b.canceled) != 0 || len(b.last.Created) != 0 {
		t.Errorf("children %v, cancelled %v, created %v", b.children, b.canceled, b.last.Created)
	}
}

func TestInterruptStopsAtTheNextActivity(t *testing.T) {
	t.Parallel()
	var burst *engine.Burst
	stop := activities.Inline(func(context.Context, *engine.Execution) error { burst.Interrupt(); return nil })
	def := &workflow.Definition{ID: "d", Root: seq(line("a"), stop, line("b"))}
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default()})
	if problems != nil {
		t.Fatal(problems)
	}
	var lines []string
	env := engine.Env{Now: nowT0, Lines: func(s string) { lines = append(lines, s) }}
	burst, _ = engine.New(prog, "i", &workflow.Start{}, t0, env)
	out, err := burst.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart})
	if out != engine.Interrupted || err != nil || fmt.Sprint(lines) != "[a]" {
		t.Fatalf("%s %v %v", out, err, lines)
	}
	res, _ := burst.Result()
	if res.Instance.SubStatus != workflow.Executing {
		t.Errorf("status %s", res.Instance.SubStatus)
	}
	// Another node goes on, with a cancel or without.
	next, err := engine.Load(prog, res.Instance, res.State, env)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := next.Run(t.Context(), workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}); out != engine.Applied || fmt.Sprint(lines) != "[a b]" {
		t.Errorf("%s %v", out, lines)
	}
	if out, _ := burst.Run(t.Context(), workflow.Command{ID: "c", Kind: workflow.CommandCancel}); out != engine.Applied || burst.Header().SubStatus != workflow.Cancelled {
		t.Errorf("%s %s", out, burst.Header().SubStatus)
	}
}

// calling is an activity that is interrupted in each of its calls. It waits for the end of
// the context of the first one only.
type calling struct {
	waits bool // it makes its call as it is resumed
	burst *engine.Burst
	keys  []string
}

func (c *calling) Execute(ctx context.Context, x *engine.Execution) error {
	if c.waits {
		_, err := x.Wait(engine.Wait{Name: "w"})
		return err
	}
	return c.call(ctx, x)
}

func (c *calling) Resume(ctx context.Context, x *engine.Execution, _ engine.Resume) error {
	return c.call(ctx, x)
}

func (c *calling) call(ctx context.Context, x *engine.Execution) error {
	c.keys = append(c.keys, x.IdempotencyKey())
	if _, err := x.Wait(engine.Wait{Name: "undone"}); err != nil {
		return err
	}
	c.burst.Interrupt()
	if len(c.keys) == 1 {
		<-ctx.Done()
		return fmt.Errorf("the call was cut: %w", ctx.Err())
	}
	x.Unwait(func(workflow.Bookmark) bool { return true })
	return ctx.Err()
}

// Who goes on makes an interrupted call again, before all else and with its key, and does
// not interrupt it again.
func TestAnInterruptedCallIsTheNextWithItsKey(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		for _, elsewhere := range []bool{false, true} {
			t.Run(fmt.Sprintf("resumed %t, elsewhere %t", waits, elsewhere), func(t *testing.T) {
				t.Parallel()
				c := &calling{waits: waits}
				reg := activities.Default()
				if err := reg.Register(workflow.Descriptor{Type: "test.Calling"}, c); err != nil {
					t.Fatal(err)
				}
				around := "Parallel" // the line is in the schedule already
				if waits {
					around = "Sequence"
				}
				def := &workflow.Definition{ID: "d", Root: act(around, nil, &workflow.Activity{Type: "test.Calling"}, line("b"))}
				prog, problems := engine.Compile(def, engine.Options{Registry: reg})
				if problems != nil {
					t.Fatal(problems)
				}
				var lines []string
				env := engine.Env{Now: nowT0, Lines: func(s string) { lines = append(lines, s) }}
				run := func(cmd workflow.Command, want engine.Outcome) engine.Result {
					t.Helper()
					if out, err := c.burst.Run(t.Context(), cmd); out != want || err != nil {
						t.Fatalf("%s: %s %v", cmd.Kind, out, err)
					}
					res, err := c.burst.Result()
					if err != nil {
						t.Fatal(err)
					}
					return res
				}
				c.burst, _ = engine.New(prog, "i", &workflow.Start{}, t0, env)
				cmd := workflow.Command{ID: "s", Kind: workflow.CommandStart}
				if waits {
					run(cmd, engine.Applied)
					c.burst.Committed()
					cmd = workflow.Command{ID: "r", Kind: workflow.CommandResume, Bookmark: c.burst.Header().Bookmarks[0].ID}
				}
				res := run(cmd, engine.Interrupted)
				if res.Instance.SubStatus != workflow.Executing || len(res.Instance.Bookmarks) > 0 || len(res.Instance.Incidents) > 0 {
					t.Fatalf("it left %+v", res.Instance)
				}
				env.Stopped = engine.StoppedIn(c.burst)
				if c.burst.Committed(); elsewhere {
					var err error
					if c.burst, err = engine.Load(prog, res.Instance, res.State, env); err != nil {
						t.Fatal(err)
					}
				} else if !c.burst.Renew(prog, env) {
					t.Fatal("it is not renewed")
				}
				run(workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}, engine.Interrupted) // at the boundary behind the call
				if len(c.keys) != 2 || c.keys[0] != c.keys[1] || c.keys[0] == "" || len(lines) > 0 {
					t.Fatalf("calls with %q, lines %v", c.keys, lines)
				}
				res = run(workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}, engine.Applied)
				if res.Instance.SubStatus != workflow.Finished || len(lines) != 1 {
					t.Errorf("%s, lines %v", res.Instance.SubStatus, lines)
				}
			})
		}
	}
}

// brokenOnce fails at first, and is interrupted as it is tried again.
type brokenOnce struct {
	burst *engine.Burst
	keys  []string
}

func (r *brokenOnce) Execute(ctx context.Context, x *engine.Execution) error {
	switch r.keys = append(r.keys, x.IdempotencyKey()); len(r.keys) {
	case 1:
		return errors.New("out of order")
	case 2:
		r.burst.Interrupt()
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// A retry makes the call with the key of before in an execution of its own: interrupted, it is made again with that key
// too, and not with one of that execution.
func TestAnInterruptedCallOfARetryKeepsItsKey(t *testing.T) {
	t.Parallel()
	r := &brokenOnce{}
	reg := activities.Default()
	if err := reg.Register(workflow.Descriptor{Type: "test.Retried"}, r); err != nil {
		t.Fatal(err)
	}
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: act("Sequence", nil, &workflow.Activity{ID: "call", Type: "test.Retried"})}, engine.Options{Registry: reg})
	if problems != nil {
		t.Fatal(problems)
	}
	env := engine.Env{Now: nowT0}
	r.burst, _ = engine.New(prog, "i", &workflow.Start{}, t0, env)
	run := func(id string, kind workflow.CommandKind, want engine.Outcome) {
		t.Helper()
		if out, err := r.burst.Run(t.Context(), workflow.Command{ID: id, Kind: kind}); out != want || err != nil {
			t.Fatalf("%s: %s %v", kind, out, err)
		}
		if _, err := r.burst.Result(); err != nil {
			t.Fatal(err)
		}
		env.Stopped = engine.StoppedIn(r.burst)
		if r.burst.Committed(); !r.burst.Renew(prog, env) {
			t.Fatal("it is not renewed")
		}
	}
	run("s", workflow.CommandStart, engine.Applied)
	run("again", workflow.CommandRetry, engine.Interrupted)
	run(workflow.ContinueID, workflow.CommandContinue, engine.Applied)
	if len(r.keys) != 3 || r.keys[0] == "" || r.keys[1] != r.keys[0] || r.keys[2] != r.keys[0] {
		t.Errorf("calls with %q", r.keys)
	}
}

// An interrupt that comes as a call is about to begin ends it too.
func TestAnInterruptBetweenTwoActivities(t *testing.T) {
	t.Parallel()
	var burst *engine.Burst
	told := false
	call := activities.Inline(func(ctx context.Context, _ *engine.Execution) error {
		select {
		case <-ctx.Done():
			told = true
			return context.Cause(ctx)
		case <-time.After(10 * time.Second):
			return nil
		}
	})
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: seq(call, line("never"))}, engine.Options{Registry: activities.Default()})
	if problems != nil {
		t.Fatal(problems)
	}
	env := engine.Env{Now: nowT0, Barrier: func(context.Context) error { burst.Interrupt(); return nil }}
	burst, _ = engine.New(prog, "i", &workflow.Start{}, t0, env)
	out, err := burst.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart})
	if out != engine.Interrupted || err != nil || !told || engine.StoppedIn(burst).Activity == "" {
		t.Fatalf("%s %v, told %t, %+v", out, err, told, engine.StoppedIn(burst))
	}
	if out, _ := burst.Run(t.Context(), workflow.Command{ID: "c", Kind: workflow.CommandCancel}); out != engine.Applied || burst.Header().SubStatus != workflow.Cancelled {
		t.Errorf("%s %s", out, burst.Header().SubStatus)
	}
}
