package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/temporaltest"
)

const queue = "situations"

// temporalFlows are Temporal's workflows and activities, and what they did.
type temporalFlows struct {
	did   tally
	gates gates
	c     client.Client
}

func temporalPeer(context.Context, string, options) (*peer, error) {
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	ts := temporaltest.NewServer(temporaltest.WithBaseClientOptions(client.Options{Logger: quiet}),
		temporaltest.WithBaseServerOptions(temporal.WithLogger(log.NewNoopLogger())))
	f := &temporalFlows{c: ts.GetDefaultClient()}
	w := f.worker(queue, nil)
	if err := w.Start(); err != nil {
		ts.Stop()
		return nil, err
	}
	stop := func() {
		w.Stop()
		ts.Stop()
	}
	return &peer{version: "1.30.8, Go SDK 1.38.0 (SQLite)", stop: stop, situations: []situation{
		{"1 the same start twice", f.twice},
		{"2, 3 the start again after the end, with another input", f.again},
		{"5 three events before the wait", func(ctx context.Context) (string, error) { return f.early(ctx, 3) }},
		{"5 150 events before the wait", func(ctx context.Context) (string, error) { return f.early(ctx, 150) }},
		{"6, 7 an event for nobody, and for one that has ended", f.nobody},
		{"8 the same event twice", func(ctx context.Context) (string, error) { return f.early(ctx, 2, "same", "same") }},
		{"13 a step that always fails", f.fails},
		{"14 cancel during a step without heartbeat", f.cancels},
		{"15 a parent that is cancelled, and one that is terminated", f.parents},
		{"17 other steps under a running workflow", f.changed},
		{"18 a worker that lacks the activity, or the workflow", f.lacks},
		{"19 a result of 3 MiB", f.large},
		{"20 2,001 activities at once", f.wide},
	}}, nil
}

func (f *temporalFlows) worker(queue string, changed func(workflow.Context, string) (string, error)) worker.Worker {
	w := worker.New(f.c, queue, worker.Options{})
	flow := func(name string, fn any) { w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name}) }
	act := func(name string, fn any) { w.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name}) }
	flow("quick", func(_ workflow.Context, in string) (string, error) { f.did.add("quick"); return in, nil })
	flow("waits", f.waits)
	flow("late", f.late)
	flow("fails", func(ctx workflow.Context, _ string) (string, error) {
		if _, err := run(ctx, "count", "first"); err != nil {
			return "", err
		}
		return run(ctx, "fail", "second")
	})
	flow("steps", func(ctx workflow.Context, id string) (string, error) {
		if _, err := run(ctx, "gate", id); err != nil {
			return "", err
		}
		return run(ctx, "count", id+" second")
	})
	flow("parent", func(ctx workflow.Context, id string) (string, error) {
		var r string
		err := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id}), "waits", "").Get(ctx, &r)
		return r, err
	})
	flow("calls nothing", func(ctx workflow.Context, _ string) (string, error) { return run(ctx, "nowhere", "") })
	flow("large", func(ctx workflow.Context, _ string) (int, error) {
		s, err := run(ctx, "large", "")
		return len(s), err
	})
	flow("wide", func(ctx workflow.Context, n int) (string, error) {
		var all []workflow.Future
		for range n {
			all = append(all, workflow.ExecuteActivity(with(ctx), "count", "wide"))
		}
		for _, one := range all {
			if err := one.Get(ctx, nil); err != nil {
				return "", err
			}
		}
		return "all", nil
	})
	if changed != nil {
		flow("changed", changed)
	}
	act("gate", func(ctx context.Context, id string) (string, error) {
		f.did.add("gate " + id)
		err := f.gates.of(id).pass(ctx)
		f.did.add("left " + id)
		return id, err
	})
	act("count", func(_ context.Context, what string) (string, error) { f.did.add(what); return what, nil })
	act("fail", func(_ context.Context, what string) (string, error) { f.did.add(what); return "", errors.New("no") })
	act("large", func(context.Context, string) (string, error) {
		f.did.add("large")
		return strings.Repeat("x", 3<<20), nil
	})
	return w
}

func with(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
}

func run(ctx workflow.Context, activity, arg string) (string, error) {
	var r string
	err := workflow.ExecuteActivity(with(ctx), activity, arg).Get(ctx, &r)
	return r, err
}

func (f *temporalFlows) waits(ctx workflow.Context, _ string) (string, error) {
	var v string
	s := workflow.NewSelector(ctx)
	s.AddReceive(workflow.GetSignalChannel(ctx, "go"), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &v) })
	s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	s.Select(ctx)
	return v, ctx.Err()
}

// late comes to the wait only when the step before it is through.
func (f *temporalFlows) late(ctx workflow.Context, id string, n int) ([]string, error) {
	if _, err := run(ctx, "gate", id); err != nil {
		return nil, err
	}
	var got []string
	for range n {
		var v string
		workflow.GetSignalChannel(ctx, "go").Receive(ctx, &v)
		got = append(got, v)
	}
	return got, nil
}

func (f *temporalFlows) start(ctx context.Context, id, flow string, args ...any) (client.WorkflowRun, error) {
	return f.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, flow, args...)
}

func (f *temporalFlows) twice(ctx context.Context) (string, error) {
	one, err := f.start(ctx, "t1", "waits", "first")
	if err != nil {
		return "", err
	}
	two, err := f.start(ctx, "t1", "waits", "other")
	if err != nil {
		return "the second: " + short(err), nil
	}
	_, asked := f.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "t1", TaskQueue: queue, WorkflowExecutionErrorWhenAlreadyStarted: true}, "waits", "other")
	return fmt.Sprintf("the second, with another input: no error, it is the first's run: %v; with WorkflowExecutionErrorWhenAlreadyStarted: %s", one.GetRunID() == two.GetRunID(), short(asked)), nil
}

func (f *temporalFlows) again(ctx context.Context) (string, error) {
	var got []string
	for _, in := range []string{"one", "two"} {
		r, err := f.start(ctx, "a1", "quick", in)
		if err != nil {
			return "", err
		}
		var s string
		if err := r.Get(ctx, &s); err != nil {
			return "", err
		}
		got = append(got, s)
	}
	return fmt.Sprintf("ran %d times, results %v", f.did.of("quick"), got), nil
}

func (f *temporalFlows) early(ctx context.Context, n int, events ...string) (string, error) {
	for i := len(events); i < n; i++ {
		events = append(events, fmt.Sprint(i+1))
	}
	id := fmt.Sprint("e", n)
	r, err := f.start(ctx, id, "late", id, n)
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate "+id) == 1 }); err != nil {
		return "", err
	}
	for _, e := range events {
		if err := f.c.SignalWorkflow(ctx, id, "", "go", e); err != nil {
			return "", err
		}
	}
	close(f.gates.of(id).opened)
	var got []string
	if err := r.Get(ctx, &got); err != nil {
		return "", err
	}
	if n > 5 {
		return fmt.Sprintf("%d sent, %d received, the last is %s", len(events), len(got), got[len(got)-1]), nil
	}
	return fmt.Sprintf("sent %v, received %v", events, got), nil
}

func (f *temporalFlows) nobody(ctx context.Context) (string, error) {
	r, err := f.start(ctx, "n1", "quick", "x")
	if err != nil {
		return "", err
	}
	if err := r.Get(ctx, nil); err != nil {
		return "", err
	}
	return fmt.Sprintf("nobody: %s; ended: %s", short(f.c.SignalWorkflow(ctx, "n0", "", "go", "x")), short(f.c.SignalWorkflow(ctx, "n1", "", "go", "x"))), nil
}

func (f *temporalFlows) fails(ctx context.Context) (string, error) {
	if _, err := f.start(ctx, "f1", "fails", ""); err != nil {
		return "", err
	}
	began := time.Now()
	if err := until(ctx, "the step is tried 5 times", func() bool { return f.did.of("second") >= 5 }); err != nil {
		return "", err
	}
	took := time.Since(began)
	st, err := f.status(ctx, "f1")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("step before: %d calls; failing step: 5 calls within %.0f s; the workflow is %s", f.did.of("first"), took.Seconds(), st), f.c.TerminateWorkflow(ctx, "f1", "", "seen")
}

func (f *temporalFlows) status(ctx context.Context, id string) (enums.WorkflowExecutionStatus, error) {
	d, err := f.c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return 0, err
	}
	return d.WorkflowExecutionInfo.Status, nil
}

func (f *temporalFlows) cancels(ctx context.Context) (string, error) {
	r, err := f.start(ctx, "c1", "steps", "c1")
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate c1") == 1 }); err != nil {
		return "", err
	}
	if err := f.c.CancelWorkflow(ctx, "c1", ""); err != nil {
		return "", err
	}
	ended := r.Get(ctx, nil)
	goesOn := holds(ctx, 3*time.Second, func() bool { return f.did.of("left c1") == 0 })
	close(f.gates.of("c1").opened)
	return fmt.Sprintf("the workflow: %s; 3 s later the step goes on: %v", short(ended), goesOn), nil
}

func (f *temporalFlows) parents(ctx context.Context) (string, error) {
	var said []string
	for _, way := range []string{"cancelled", "terminated"} {
		child := "child of the " + way
		if _, err := f.start(ctx, way, "parent", child); err != nil {
			return "", err
		}
		if err := until(ctx, "the child runs", func() bool {
			st, err := f.status(ctx, child)
			return err == nil && st == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
		}); err != nil {
			return "", err
		}
		end := f.c.CancelWorkflow
		if way == "terminated" {
			end = func(ctx context.Context, id, run string) error { return f.c.TerminateWorkflow(ctx, id, run, "seen") }
		}
		if err := end(ctx, way, ""); err != nil {
			return "", err
		}
		var st enums.WorkflowExecutionStatus
		err := until(ctx, "the child ends", func() bool {
			var err error
			st, err = f.status(ctx, child)
			return err == nil && st != enums.WORKFLOW_EXECUTION_STATUS_RUNNING
		})
		if err != nil {
			return "", err
		}
		said = append(said, fmt.Sprintf("%s: its child is %s", way, st))
	}
	return strings.Join(said, "; "), nil
}

// changed has a workflow wait on a worker, and go on with one whose first step is another.
func (f *temporalFlows) changed(ctx context.Context) (string, error) {
	program := func(first string) worker.Worker {
		return f.worker("changed", func(ctx workflow.Context, _ string) (string, error) {
			if _, err := run(ctx, "count", first); err != nil {
				return "", err
			}
			if first == "b" {
				if _, err := run(ctx, "fail", "never"); err != nil {
					return "", err
				}
			}
			return f.waits(ctx, "")
		})
	}
	w := program("a")
	if err := w.Start(); err != nil {
		return "", err
	}
	r, err := f.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "x1", TaskQueue: "changed"}, "changed", "")
	if err != nil {
		w.Stop()
		return "", err
	}
	err = until(ctx, "the step ran", func() bool { return f.did.of("a") == 1 })
	holds(ctx, time.Second, func() bool { return true }) // until it waits
	w.Stop()
	if err != nil {
		return "", err
	}
	worker.PurgeStickyWorkflowCache()
	w = program("b")
	if err := w.Start(); err != nil {
		return "", err
	}
	if err := f.c.SignalWorkflow(ctx, "x1", "", "go", "on"); err != nil {
		w.Stop()
		return "", err
	}
	cause, err := f.failedTask(ctx, "x1")
	st, serr := f.status(ctx, "x1")
	w.Stop()
	if err := errors.Join(err, serr); err != nil {
		return "", err
	}
	worker.PurgeStickyWorkflowCache()
	w = program("a")
	if err := w.Start(); err != nil {
		return "", err
	}
	defer w.Stop()
	var got string
	err = r.Get(ctx, &got)
	return fmt.Sprintf("the task fails (%s), the workflow is %s; with the old steps again: %q, %s", cause, st, got, short(err)), nil
}

// failedTask is why a task of a workflow failed.
func (f *temporalFlows) failedTask(ctx context.Context, id string) (cause string, err error) {
	err = until(ctx, "a task of the workflow fails", func() bool {
		it := f.c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for it.HasNext() {
			e, err := it.Next()
			if err != nil {
				return false
			}
			if a := e.GetWorkflowTaskFailedEventAttributes(); a != nil {
				cause = a.Cause.String()
				if a.Failure != nil && a.Failure.Message != "" {
					cause += ": " + strings.TrimPrefix(short(errors.New(a.Failure.Message)), "error: ")
				}
				return true
			}
		}
		return false
	})
	return cause, err
}

func (f *temporalFlows) lacks(ctx context.Context) (string, error) {
	if _, err := f.start(ctx, "l1", "calls nothing", ""); err != nil {
		return "", err
	}
	if _, err := f.start(ctx, "l2", "no such workflow", ""); err != nil {
		return "", err
	}
	var last string
	err := until(ctx, "the activity is tried twice", func() bool {
		d, err := f.c.DescribeWorkflowExecution(ctx, "l1", "")
		if err != nil || len(d.PendingActivities) == 0 || d.PendingActivities[0].Attempt < 3 {
			return false
		}
		last = d.PendingActivities[0].LastFailure.GetMessage()
		return true
	})
	if err != nil {
		return "", err
	}
	cause, err := f.failedTask(ctx, "l2")
	if err != nil {
		return "", err
	}
	one, err := f.status(ctx, "l1")
	if err != nil {
		return "", err
	}
	two, err := f.status(ctx, "l2")
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("no activity: tried again (%s), the workflow is %s; no workflow: its task fails (%s), it is %s", strings.TrimPrefix(short(errors.New(last)), "error: "), one, cause, two)
	return said, errors.Join(f.c.TerminateWorkflow(ctx, "l1", "", "seen"), f.c.TerminateWorkflow(ctx, "l2", "", "seen"))
}

func (f *temporalFlows) large(ctx context.Context) (string, error) {
	r, err := f.start(ctx, "la1", "large", "")
	if err != nil {
		return "", err
	}
	var n int
	err = r.Get(ctx, &n)
	var inner *sdk.ActivityError
	if errors.As(err, &inner) {
		err = inner.Unwrap()
	}
	return fmt.Sprintf("the step was called %d times; %s", f.did.of("large"), short(err)), nil
}

func (f *temporalFlows) wide(ctx context.Context) (string, error) {
	if _, err := f.start(ctx, "w1", "wide", 2001); err != nil {
		return "", err
	}
	cause, err := f.failedTask(ctx, "w1")
	if err != nil {
		return "", err
	}
	st, err := f.status(ctx, "w1")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d were called; the task fails (%s), the workflow is %s", f.did.of("wide"), cause, st), f.c.TerminateWorkflow(ctx, "w1", "", "seen")
}
