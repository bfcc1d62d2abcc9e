package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
)

// dbosFlows are DBOS's workflows, and what they did.
type dbosFlows struct {
	did   tally
	gates gates
	db    dbos.Context
}

// openDBOS opens a store as a program of this version of the application; its
// workflows are those of setup.
func openDBOS(ctx context.Context, dir, version string, setup func(dbos.Context)) (dbos.Context, error) {
	db, err := dbos.NewContext(ctx, dbos.Config{DatabaseURL: "sqlite:" + filepath.Join(dir, "dbos.db"), AppName: "situations",
		ApplicationVersion: version, ExecutorID: "one", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	setup(db)
	return db, dbos.Launch(db)
}

func dbosPeer(ctx context.Context, dir string, _ options) (*peer, error) {
	f := &dbosFlows{}
	var err error
	if f.db, err = openDBOS(ctx, dir, "v1", f.register); err != nil {
		return nil, err
	}
	stop := func() { _ = dbos.Shutdown(f.db, 5*time.Second) }
	return &peer{version: "1.8.0 (SQLite)", stop: stop, situations: []situation{
		{"1 the same start twice", f.twice},
		{"2, 3 the start again after the end, with another input", f.again},
		{"5 three events before the wait", f.early},
		{"6, 7 an event for nobody, and for one that has ended", f.nobody},
		{"8 the same event twice, with its key", f.repeated},
		{"10, 12 a step that ends its process (MaxRecoveryAttempts 2 instead of 100)", func(ctx context.Context) (string, error) { return f.dies(ctx, dir) }},
		{"13 a step that always fails", f.fails},
		{"14 cancel during a step, then resume", f.cancels},
		{"15 cancel of a parent", f.parent},
		{"17 other steps under the same version; another version", func(ctx context.Context) (string, error) { return f.changed(ctx, dir) }},
		{"19 a result of 8 MiB", f.large},
	}}, nil
}

func (f *dbosFlows) quick(_ dbos.Context, in string) (string, error) {
	f.did.add("quick")
	return in, nil
}

// waits takes three events, or as many as come within a second after the first.
func (f *dbosFlows) waits(ctx dbos.Context, id string) ([]string, error) {
	if _, err := dbos.RunAsStep(ctx, f.step("gate "+id, id)); err != nil {
		return nil, err
	}
	var got []string
	for range 3 {
		v, err := dbos.Recv[string](ctx, "go", time.Second)
		if err != nil {
			break
		}
		got = append(got, v)
	}
	return got, nil
}

// step counts its calls and stands at the gate of id, if there is one.
func (f *dbosFlows) step(name, id string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		n := f.did.add(name)
		if id != "" {
			if err := f.gates.of(id).pass(ctx); err != nil {
				return "", err
			}
		}
		f.did.add("left " + name)
		return fmt.Sprint("call ", n), nil
	}
}

func (f *dbosFlows) steps(ctx dbos.Context, id string) (string, error) {
	r, err := dbos.RunAsStep(ctx, f.step("gate "+id, id))
	if err != nil {
		return "", err
	}
	if _, err := dbos.RunAsStep(ctx, f.step("second "+id, "")); err != nil {
		return "", err
	}
	return r, nil
}

func (f *dbosFlows) fails(ctx context.Context) (string, error) {
	h, err := dbos.RunWorkflow(f.db, f.failing, "", dbos.WithWorkflowID("f1"))
	if err != nil {
		return "", err
	}
	_, err = h.GetResult()
	if err == nil {
		return "", errors.New("it did not fail")
	}
	first := fmt.Sprintf("step before: %d calls; failing step: %d calls; the workflow: %s", f.did.of("first"), f.did.of("failing"), short(err))
	r, err := dbos.ResumeWorkflow[string](f.db, "f1")
	if err != nil {
		return first + "; resume: " + short(err), nil
	}
	_, err = r.GetResult()
	first += fmt.Sprintf("; resumed: failing step: %d calls, %s", f.did.of("failing"), short(err))
	w, err := dbos.RewindWorkflow[string](f.db, "f1", dbos.WithRewindStartStep(1))
	if err != nil {
		return first + "; rewind: " + short(err), nil
	}
	_, err = w.GetResult()
	return first + fmt.Sprintf("; rewound to that step: step before: %d calls, failing step: %d calls", f.did.of("first"), f.did.of("failing")), nil
}

func (f *dbosFlows) failing(ctx dbos.Context, _ string) (string, error) {
	if _, err := dbos.RunAsStep(ctx, f.step("first", "")); err != nil {
		return "", err
	}
	return dbos.RunAsStep(ctx, func(context.Context) (string, error) { f.did.add("failing"); return "", errors.New("no") })
}

func (f *dbosFlows) parents(ctx dbos.Context, id string) (string, error) {
	h, err := dbos.RunWorkflow(ctx, f.steps, id, dbos.WithWorkflowID(id))
	if err != nil {
		return "", err
	}
	return h.GetResult()
}

func (f *dbosFlows) big(ctx dbos.Context, _ string) (int, error) {
	s, err := dbos.RunAsStep(ctx, func(context.Context) (string, error) { return strings.Repeat("x", 8<<20), nil })
	return len(s), err
}

func (f *dbosFlows) register(db dbos.Context) {
	dbos.RegisterWorkflow(db, f.quick)
	dbos.RegisterWorkflow(db, f.waits)
	dbos.RegisterWorkflow(db, f.steps)
	dbos.RegisterWorkflow(db, f.failing)
	dbos.RegisterWorkflow(db, f.parents)
	dbos.RegisterWorkflow(db, f.big)
}

func (f *dbosFlows) twice(context.Context) (string, error) {
	one, err := dbos.RunWorkflow(f.db, f.steps, "t1", dbos.WithWorkflowID("t1"))
	if err != nil {
		return "", err
	}
	two, err := dbos.RunWorkflow(f.db, f.steps, "t1", dbos.WithWorkflowID("t1"))
	if err != nil {
		return "the second: " + short(err), nil
	}
	close(f.gates.of("t1").opened)
	a, err := one.GetResult()
	if err != nil {
		return "", err
	}
	b, err := two.GetResult()
	return fmt.Sprintf("the step was called %d times; results %q and %q, %s", f.did.of("gate t1"), a, b, short(err)), nil
}

func (f *dbosFlows) again(context.Context) (string, error) {
	var got []string
	for _, in := range []string{"one", "two"} {
		h, err := dbos.RunWorkflow(f.db, f.quick, in, dbos.WithWorkflowID("a1"))
		if err != nil {
			return "", err
		}
		r, err := h.GetResult()
		if err != nil {
			return "", err
		}
		got = append(got, r)
	}
	return fmt.Sprintf("ran %d times, results %v", f.did.of("quick"), got), nil
}

// waiting starts a workflow that stands before its wait.
func (f *dbosFlows) waiting(ctx context.Context, id string) (dbos.WorkflowHandle[[]string], error) {
	h, err := dbos.RunWorkflow(f.db, f.waits, id, dbos.WithWorkflowID(id))
	if err != nil {
		return nil, err
	}
	return h, until(ctx, "the step runs", func() bool { return f.did.of("gate "+id) == 1 })
}

func (f *dbosFlows) early(ctx context.Context) (string, error) {
	h, err := f.waiting(ctx, "e1")
	if err != nil {
		return "", err
	}
	for _, e := range []string{"1", "2", "3"} {
		if err := dbos.Send(f.db, "e1", e, "go"); err != nil {
			return "", err
		}
	}
	close(f.gates.of("e1").opened)
	got, err := h.GetResult()
	return fmt.Sprintf("sent [1 2 3], received %v", got), err
}

func (f *dbosFlows) nobody(context.Context) (string, error) {
	h, err := dbos.RunWorkflow(f.db, f.quick, "x", dbos.WithWorkflowID("n1"))
	if err != nil {
		return "", err
	}
	if _, err := h.GetResult(); err != nil {
		return "", err
	}
	return fmt.Sprintf("nobody: %s; ended: %s", short(dbos.Send(f.db, "n0", "x", "go")), short(dbos.Send(f.db, "n1", "x", "go"))), nil
}

func (f *dbosFlows) repeated(ctx context.Context) (string, error) {
	h, err := f.waiting(ctx, "r1")
	if err != nil {
		return "", err
	}
	for _, o := range [][]dbos.SendOption{{dbos.WithIdempotencyKey("k")}, {dbos.WithIdempotencyKey("k")}} {
		if err := dbos.Send(f.db, "r1", "keyed", "go", o...); err != nil {
			return "", err
		}
	}
	close(f.gates.of("r1").opened)
	got, err := h.GetResult()
	return fmt.Sprintf("received %v", got), err
}

func (f *dbosFlows) cancels(ctx context.Context) (string, error) {
	if _, err := dbos.RunWorkflow(f.db, f.steps, "c1", dbos.WithWorkflowID("c1")); err != nil {
		return "", err
	}
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate c1") == 1 }); err != nil {
		return "", err
	}
	if err := dbos.CancelWorkflow(f.db, "c1"); err != nil {
		return "", err
	}
	goesOn := holds(ctx, 3*time.Second, func() bool { return f.did.of("left gate c1") == 0 })
	close(f.gates.of("c1").opened)
	if goesOn {
		if err := until(ctx, "the step ends", func() bool { return f.did.of("left gate c1") == 1 }); err != nil {
			return "", err
		}
	}
	stays := holds(ctx, 2*time.Second, func() bool { return f.did.of("second c1") == 0 })
	h, err := dbos.ResumeWorkflow[string](f.db, "c1")
	if err != nil {
		return "", err
	}
	r, err := h.GetResult()
	return fmt.Sprintf("after 3 s the step goes on: %v; the next one does not begin: %v; resumed: the first step was called %d times in all, its result is of %q, %s",
		goesOn, stays, f.did.of("gate c1"), r, short(err)), nil
}

func (f *dbosFlows) parent(ctx context.Context) (string, error) {
	if _, err := dbos.RunWorkflow(f.db, f.parents, "ch1", dbos.WithWorkflowID("pa1")); err != nil {
		return "", err
	}
	if err := until(ctx, "the child runs", func() bool { return f.did.of("gate ch1") == 1 }); err != nil {
		return "", err
	}
	if err := dbos.CancelWorkflow(f.db, "pa1"); err != nil {
		return "", err
	}
	close(f.gates.of("ch1").opened)
	h, err := dbos.RetrieveWorkflow[string](f.db, "ch1")
	if err != nil {
		return "", err
	}
	_, err = h.GetResult()
	p, perr := dbos.RetrieveWorkflow[string](f.db, "pa1")
	if perr != nil {
		return "", perr
	}
	st, perr := p.GetStatus()
	if perr != nil {
		return "", perr
	}
	return fmt.Sprintf("the parent is %s; the child went on: %s", st.Status, short(err)), nil
}

func (f *dbosFlows) large(context.Context) (string, error) {
	h, err := dbos.RunWorkflow(f.db, f.big, "", dbos.WithWorkflowID("la1"))
	if err != nil {
		return "", err
	}
	n, err := h.GetResult()
	return fmt.Sprintf("%d bytes arrived, %s", n, short(err)), nil
}

// diesOnce has one process of this program die in its second step.
func diesOnce(ctx context.Context, dir string) (said string, died bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	out, err := exec.CommandContext(ctx, self, "-dies", dir).CombinedOutput()
	if code := new(exec.ExitError); errors.As(err, &code) && code.ExitCode() == 7 {
		return "", true, nil
	}
	return strings.TrimSpace(string(out)), false, err
}

// dies has processes of this program run a workflow whose second step ends them.
func (f *dbosFlows) dies(ctx context.Context, dir string) (string, error) {
	dir = filepath.Join(dir, "dies")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for range 6 {
		said, died, err := diesOnce(ctx, dir)
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, said)
		}
		if !died {
			trace, _ := os.ReadFile(filepath.Join(dir, "trace"))
			return fmt.Sprintf("calls by process, in order: %s; then: %s", strings.Join(strings.Fields(string(trace)), " "), said), nil
		}
	}
	return "six processes died of it", nil
}

// dbosThatDies is one such process: it starts the workflow if it is not there,
// and lives only if the workflow is given up.
func dbosThatDies(dir string) {
	note := func(s string) {
		file, err := os.OpenFile(filepath.Join(dir, "trace"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(file, s)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	flow := func(ctx dbos.Context, _ string) (string, error) {
		if _, err := dbos.RunAsStep(ctx, func(context.Context) (string, error) { note("first"); return "", nil }, dbos.WithStepName("first")); err != nil {
			return "", err
		}
		return dbos.RunAsStep(ctx, func(context.Context) (string, error) {
			note("second")
			os.Exit(7)
			return "", nil
		})
	}
	ctx := context.Background()
	db, err := openDBOS(ctx, dir, "v1", func(db dbos.Context) {
		dbos.RegisterWorkflow(db, flow, dbos.WithWorkflowName("dies"), dbos.WithMaxRecoveryAttempts(2))
	})
	if err == nil {
		var h dbos.WorkflowHandle[string]
		if h, err = dbos.RunWorkflow(db, flow, "", dbos.WithWorkflowID("d1")); err == nil {
			_, err = h.GetResult(dbos.WithHandleTimeout(20 * time.Second))
		}
	}
	fmt.Println(short(err))
}

// changed leaves a workflow in its second step, of a process that died, and goes on with programs whose steps are others.
func (f *dbosFlows) changed(ctx context.Context, dir string) (string, error) {
	dir = filepath.Join(dir, "changed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if said, died, err := diesOnce(ctx, dir); err != nil || !died {
		return "", fmt.Errorf("it did not die: %s: %w", said, err)
	}
	var said []string
	for _, version := range []string{"v2", "v1"} {
		flow := func(ctx dbos.Context, _ string) (string, error) {
			return dbos.RunAsStep(ctx, f.step("changed", ""), dbos.WithStepName("another first"))
		}
		db, err := openDBOS(ctx, dir, version, func(db dbos.Context) { dbos.RegisterWorkflow(db, flow, dbos.WithWorkflowName("dies")) })
		if err != nil {
			return "", err
		}
		h, err := dbos.RetrieveWorkflow[string](db, "d1")
		if err != nil {
			return "", err
		}
		_, err = h.GetResult(dbos.WithHandleTimeout(8 * time.Second))
		st, serr := h.GetStatus()
		if serr != nil {
			return "", serr
		}
		said = append(said, fmt.Sprintf("as %s: %s, %s", version, st.Status, short(err)))
		if err := dbos.Shutdown(db, 5*time.Second); err != nil {
			return "", err
		}
	}
	return strings.Join(said, "; "), nil
}
