package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/registry"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"
)

// goFlows are the workflows and activities of go-workflows, and what they did.
type goFlows struct {
	did   tally
	gates gates
	c     *client.Client
}

func goWorkflowsPeer(ctx context.Context, dir string, _ options) (*peer, error) {
	f := &goFlows{}
	quiet := sqlite.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler)))
	path := filepath.Join(dir, "workflows.db")
	f.c = client.New(sqlite.NewSqliteBackend(path, quiet))
	ctx, cancel := context.WithCancel(ctx)
	w, err := f.worker(ctx, sqlite.NewSqliteBackend(path, quiet), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	stop := func() {
		cancel()
		_ = w.WaitForCompletion()
	}
	return &peer{version: "1.4.2 (SQLite)", stop: stop, situations: []situation{
		{"1 the same start twice", f.twice},
		{"2, 3 the start again after the end, with another input", f.again},
		{"5 three events before the wait", func(ctx context.Context) (string, error) { return f.early(ctx, "late", 3) }},
		{"5 150 events before the wait, its channel was there", func(ctx context.Context) (string, error) { return f.early(ctx, "open", 150) }},
		{"6, 7 an event for nobody, and for one that has ended", f.nobody},
		{"8 the same event twice", func(ctx context.Context) (string, error) { return f.early(ctx, "late", 2, "same", "same") }},
		{"11 a worker stands still past its lock (1 s instead of 2 min, no heartbeat)", func(ctx context.Context) (string, error) { return f.paused(ctx, dir) }},
		{"13 a step that always fails", f.fails},
		{"14 cancel during a step", f.cancels},
		{"15 cancel of a parent", f.parent},
		{"17 other steps under a running workflow", func(ctx context.Context) (string, error) { return f.changed(ctx, dir) }},
		{"18 a worker that lacks the activity, or the workflow", f.lacks},
		{"19 a result of 8 MiB", f.large},
		{"20 100 activities at once, and at most 200 events (instead of 10,000)", func(ctx context.Context) (string, error) { return f.wide(ctx, dir) }},
	}}, nil
}

// worker starts one, with what all situations need.
func (f *goFlows) worker(ctx context.Context, b backend.Backend, o *worker.Options) (*worker.Worker, error) {
	w := worker.New(b, o)
	flows := map[string]any{
		"quick": func(_ workflow.Context, in string) (string, error) { f.did.add("quick"); return in, nil },
		"waits": func(ctx workflow.Context, _ string) (string, error) {
			v, _ := workflow.NewSignalChannel[string](ctx, "go").Receive(ctx)
			return v, nil
		},
		"child": func(ctx workflow.Context, _ string) (string, error) {
			f.did.add("child")
			err := workflow.Sleep(ctx, time.Hour)
			if ctx.Err() != nil {
				f.did.add("child cancelled")
			}
			return "", err
		},
		// late comes to the wait only when the step before it is through.
		"late": func(ctx workflow.Context, id string, n int) ([]string, error) {
			if _, err := call[string](ctx, "gate", id); err != nil {
				return nil, err
			}
			in := workflow.NewSignalChannel[string](ctx, "go")
			var got []string
			for range n {
				v, _ := in.Receive(ctx)
				got = append(got, v)
			}
			return got, nil
		},
		// open has its channel from the beginning, and takes from it after the step.
		"open": func(ctx workflow.Context, id string, n int) ([]string, error) {
			in := workflow.NewSignalChannel[string](ctx, "go")
			if _, err := call[string](ctx, "gate", id); err != nil {
				return nil, err
			}
			var got []string
			for range n {
				v, ok := in.ReceiveNonBlocking()
				if !ok {
					break
				}
				got = append(got, v)
			}
			return got, nil
		},
		"fails": func(ctx workflow.Context, _ string) (string, error) {
			if _, err := call[string](ctx, "count", "first"); err != nil {
				return "", err
			}
			return call[string](ctx, "fail", "second")
		},
		"steps": func(ctx workflow.Context, id string) (string, error) {
			if _, err := call[string](ctx, "gate", id); err != nil {
				return "", err
			}
			return call[string](ctx, "count", id+" second")
		},
		"parent": func(ctx workflow.Context, id string) (string, error) {
			return workflow.CreateSubWorkflowInstance[string](ctx, workflow.SubWorkflowOptions{InstanceID: id}, "child", "").Get(ctx)
		},
		"calls nothing": func(ctx workflow.Context, _ string) (string, error) { return call[string](ctx, "nowhere", "") },
		"large": func(ctx workflow.Context, _ string) (int, error) {
			s, err := call[string](ctx, "large", "")
			return len(s), err
		},
		"wide": func(ctx workflow.Context, _ string) (string, error) {
			var all []workflow.Future[string]
			for range 100 {
				all = append(all, workflow.ExecuteActivity[string](ctx, workflow.DefaultActivityOptions, "count", "wide"))
			}
			for _, one := range all {
				if _, err := one.Get(ctx); err != nil {
					return "", err
				}
			}
			return "all", nil
		},
	}
	acts := map[string]any{
		"gate": func(ctx context.Context, id string) (string, error) {
			n := f.did.add("gate " + id)
			err := f.gates.of(fmt.Sprint(id, n)).pass(ctx)
			f.did.add("left " + id)
			return fmt.Sprint("call ", n), err
		},
		"count": func(_ context.Context, what string) (string, error) { f.did.add(what); return what, nil },
		"fail":  func(_ context.Context, what string) (string, error) { f.did.add(what); return "", errors.New("no") },
		"large": func(context.Context, string) (string, error) { return strings.Repeat("x", 8<<20), nil },
	}
	for name, flow := range flows {
		if err := w.RegisterWorkflow(flow, registry.WithName(name)); err != nil {
			return nil, err
		}
	}
	for name, act := range acts {
		if err := w.RegisterActivity(act, registry.WithName(name)); err != nil {
			return nil, err
		}
	}
	return w, w.Start(ctx)
}

func call[R any](ctx workflow.Context, activity, arg string) (R, error) {
	return workflow.ExecuteActivity[R](ctx, workflow.DefaultActivityOptions, activity, arg).Get(ctx)
}

func (f *goFlows) start(ctx context.Context, id, flow string, args ...any) (*workflow.Instance, error) {
	return f.c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: id}, flow, args...)
}

func (f *goFlows) result(ctx context.Context, in *workflow.Instance) (string, error) {
	return client.GetWorkflowResult[string](ctx, f.c, in, 60*time.Second)
}

func (f *goFlows) twice(ctx context.Context) (string, error) {
	if _, err := f.start(ctx, "t1", "waits", "a"); err != nil {
		return "", err
	}
	_, err := f.start(ctx, "t1", "waits", "a")
	return "the second: " + short(err), nil
}

func (f *goFlows) again(ctx context.Context) (string, error) {
	var got []string
	for _, in := range []string{"one", "two"} {
		i, err := f.start(ctx, "a1", "quick", in)
		if err != nil {
			return "", err
		}
		r, err := f.result(ctx, i)
		if err != nil {
			return "", err
		}
		got = append(got, r)
	}
	return fmt.Sprintf("ran %d times, results %v", f.did.of("quick"), got), nil
}

func (f *goFlows) early(ctx context.Context, flow string, n int, events ...string) (string, error) {
	for i := len(events); i < n; i++ {
		events = append(events, fmt.Sprint(i+1))
	}
	id := fmt.Sprint(flow, n)
	in, err := f.start(ctx, id, flow, id, n)
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate "+id) == 1 }); err != nil {
		return "", err
	}
	for _, e := range events {
		if err := f.c.SignalWorkflow(ctx, id, "go", e); err != nil {
			return "", err
		}
	}
	close(f.gates.of(id + "1").opened)
	got, err := client.GetWorkflowResult[[]string](ctx, f.c, in, 60*time.Second)
	if err != nil {
		return "", err
	}
	if len(got) > 5 {
		return fmt.Sprintf("%d sent, %d received, the last is %s", len(events), len(got), got[len(got)-1]), nil
	}
	return fmt.Sprintf("sent %v, received %v", events, got), nil
}

func (f *goFlows) nobody(ctx context.Context) (string, error) {
	in, err := f.start(ctx, "n1", "quick", "x")
	if err != nil {
		return "", err
	}
	if _, err := f.result(ctx, in); err != nil {
		return "", err
	}
	return fmt.Sprintf("nobody: %s; ended: %s", short(f.c.SignalWorkflow(ctx, "n0", "go", "x")), short(f.c.SignalWorkflow(ctx, "n1", "go", "x"))), nil
}

// paused has two workers on a store of their own: the first takes the step and says nothing more.
func (f *goFlows) paused(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	path := filepath.Join(dir, "paused.db")
	quick := sqlite.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler)), backend.WithActivityLockTimeout(time.Second))
	o := worker.DefaultOptions
	o.ActivityHeartbeatInterval, o.MaxParallelActivityTasks = time.Hour, 1
	if _, err := f.worker(ctx, sqlite.NewSqliteBackend(path, quick), &o); err != nil {
		return "", err
	}
	c := client.New(sqlite.NewSqliteBackend(path, quick))
	in, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: "p1"}, "steps", "p1")
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the first call", func() bool { return f.did.of("gate p1") == 1 }); err != nil {
		return "", err
	}
	other := o // this one says that it lives
	other.ActivityHeartbeatInterval = 200 * time.Millisecond
	if _, err := f.worker(ctx, sqlite.NewSqliteBackend(path, quick), &other); err != nil {
		return "", err
	}
	if err := until(ctx, "the second call", func() bool { return f.did.of("gate p1") == 2 }); err != nil {
		return "", err
	}
	close(f.gates.of("p11").opened) // the first one comes back, after the lock was taken from it
	taken := !holds(ctx, 3*time.Second, func() bool { return f.did.of("p1 second") == 0 })
	close(f.gates.of("p12").opened)
	_, err = client.GetWorkflowResult[string](ctx, c, in, 60*time.Second)
	return fmt.Sprintf("the step was called %d times; the first call's late answer was taken: %v; the workflow: %s", f.did.of("gate p1"), taken, short(err)), nil
}

func (f *goFlows) fails(ctx context.Context) (string, error) {
	in, err := f.start(ctx, "f1", "fails", "")
	if err != nil {
		return "", err
	}
	_, err = f.result(ctx, in)
	return fmt.Sprintf("step before: %d calls; failing step: %d calls; the workflow: %s", f.did.of("first"), f.did.of("second"), short(err)), nil
}

func (f *goFlows) cancels(ctx context.Context) (string, error) {
	in, err := f.start(ctx, "c1", "steps", "c1")
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate c1") == 1 }); err != nil {
		return "", err
	}
	if err := f.c.CancelWorkflowInstance(ctx, in); err != nil {
		return "", err
	}
	goesOn := holds(ctx, 3*time.Second, func() bool { return f.did.of("left c1") == 0 })
	close(f.gates.of("c11").opened)
	_, err = f.result(ctx, in)
	return fmt.Sprintf("after 3 s the step goes on: %v; then the next step: %d calls; the workflow: %s", goesOn, f.did.of("c1 second"), short(err)), nil
}

func (f *goFlows) parent(ctx context.Context) (string, error) {
	in, err := f.start(ctx, "pa1", "parent", "ch1")
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the child waits", func() bool { return f.did.of("child") > 0 }); err != nil {
		return "", err
	}
	if err := f.c.CancelWorkflowInstance(ctx, in); err != nil {
		return "", err
	}
	cancelled := holds(ctx, 3*time.Second, func() bool { return f.did.of("child cancelled") > 0 })
	state, err := f.c.GetWorkflowInstanceState(ctx, in)
	return fmt.Sprintf("after 3 s the child was cancelled: %v; the parent has ended: %v", cancelled, state == core.WorkflowInstanceStateFinished), err
}

// changed has a workflow wait on a worker, and go on with one whose first step is another.
func (f *goFlows) changed(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "changed.db")
	quiet := sqlite.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler)), backend.WithStickyTimeout(time.Second))
	program := func(first string) (stop func(), err error) {
		ctx, cancel := context.WithCancel(ctx)
		w := worker.New(sqlite.NewSqliteBackend(path, quiet), nil)
		stop = func() { cancel(); _ = w.WaitForCompletion() }
		err = errors.Join(w.RegisterWorkflow(func(ctx workflow.Context, _ string) (string, error) {
			if _, err := call[string](ctx, first, first); err != nil {
				return "", err
			}
			v, _ := workflow.NewSignalChannel[string](ctx, "go").Receive(ctx)
			return v, nil
		}, registry.WithName("changed")),
			w.RegisterActivity(func(_ context.Context, what string) (string, error) { f.did.add("changed " + what); return what, nil }, registry.WithName(first)),
			w.Start(ctx))
		return stop, err
	}
	c := client.New(sqlite.NewSqliteBackend(path, quiet))
	stop, err := program("a")
	if err != nil {
		return "", err
	}
	in, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: "x1"}, "changed", "")
	if err == nil {
		err = until(ctx, "the step ran", func() bool { return f.did.of("changed a") == 1 })
		holds(ctx, time.Second, func() bool { return true }) // until it waits
	}
	stop()
	if err != nil {
		return "", err
	}
	if stop, err = program("b"); err != nil {
		return "", err
	}
	defer stop()
	if err := c.SignalWorkflow(ctx, "x1", "go", "on"); err != nil {
		return "", err
	}
	_, err = client.GetWorkflowResult[string](ctx, c, in, 60*time.Second)
	return "the workflow has ended: " + short(err), nil
}

func (f *goFlows) lacks(ctx context.Context) (string, error) {
	in, err := f.start(ctx, "l1", "calls nothing", "")
	if err != nil {
		return "", err
	}
	_, activity := f.result(ctx, in)
	in, err = f.start(ctx, "l2", "no such workflow", "")
	if err != nil {
		return "", err
	}
	_, flow := f.result(ctx, in)
	return fmt.Sprintf("no activity: %s; no workflow: %s", short(activity), short(flow)), nil
}

func (f *goFlows) large(ctx context.Context) (string, error) {
	in, err := f.start(ctx, "la1", "large", "")
	if err != nil {
		return "", err
	}
	n, err := client.GetWorkflowResult[int](ctx, f.c, in, 60*time.Second)
	return fmt.Sprintf("%d bytes arrived, %s", n, short(err)), nil
}

func (f *goFlows) wide(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "wide.db")
	few := sqlite.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler)), backend.WithMaxHistorySize(200))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := f.worker(ctx, sqlite.NewSqliteBackend(path, few), nil)
	if err != nil {
		return "", err
	}
	defer func() { cancel(); _ = w.WaitForCompletion() }()
	c := client.New(sqlite.NewSqliteBackend(path, few))
	in, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: "w1"}, "wide", "")
	if err != nil {
		return "", err
	}
	r, err := client.GetWorkflowResult[string](ctx, c, in, 60*time.Second)
	return fmt.Sprintf("%d were called; the workflow: %q, %s", f.did.of("wide"), r, short(err)), nil
}
