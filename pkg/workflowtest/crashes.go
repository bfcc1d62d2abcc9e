package workflowtest

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/pkg/workflowtest/crash"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// Crashes runs a test once as it is, and then once for each failure of a node: at each point at which the workflow
// calls the outside or is saved, and in each way (the node dies; it stands still past its lease and then goes on; an
// answer is lost). What is wrong is an error of t. The report also has what is only to be known: which calls may be
// made again. test runs often, at most [crash.MaxRuns] times, so what it brings (a mock that is a function, a
// registry) should not remember the run before.
func Crashes(t TB, cfg Config, test func(w *Test)) *CrashReport {
	t.Helper()
	rep, err := crash.Try(context.Background(), cfg, nil, crash.MaxRuns, func(r *trial.Run, _ *trial.Bounds) []string {
		return played(r, test)
	})
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	for _, text := range rep.Failures() {
		t.Errorf("%s", text)
	}
	return rep
}

// played runs test, and gives what it wants otherwise.
func played(r *trial.Run, test func(w *Test)) (problems []string) {
	told := &problemsOf{}
	defer func() {
		if why := recover(); why != nil && why != any(told) {
			panic(why)
		}
		problems = told.all
	}()
	test(&Test{r, told})
	return nil
}

// problemsOf is the t of a test that is run many times.
type problemsOf struct{ all []string }

func (p *problemsOf) Helper() {}

func (p *problemsOf) Errorf(format string, args ...any) {
	p.all = append(p.all, fmt.Sprintf(format, args...))
}

// Fatalf ends the test.
func (p *problemsOf) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic(any(p))
}
