// Command mutants proves that the guards of the product are needed, and tested:
// it takes each of them away, one at a time, and runs the tests until one fails.
// The product has no switch for it: a mutant is a file that takes the place of
// another in the build (go test -overlay).
//
//	go run ./test/mutants                       (make mutants)
//	go run ./test/mutants -match PutMail
//	go run ./test/mutants -new -table docs/evidence/verification.md
//
// Three kinds: every compare of the store's transactions is made to hold always,
// and every condition by which the outcome of a commit is told from etcd's answer to
// hold always and never, both found by parsing, so that a new one is a new mutant;
// and the patches of guards.go, which take away what has no such form.
//
// The table remembers which test noticed: it is tried first the next time. The
// table is written after each mutant, so a run that was stopped goes on with
// -new. Not guaranteed: that a mutant that no test sees is a guard without need;
// the table says which there are.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	o := options{}
	flag.StringVar(&o.match, "match", "", "only mutants whose name matches this expression")
	flag.BoolVar(&o.fresh, "new", false, "only mutants that the table has no result of")
	flag.BoolVar(&o.list, "list", false, "only list them")
	flag.StringVar(&o.table, "table", "", "write the table into this file, between its marks")
	flag.DurationVar(&o.limit, "limit", 3*time.Minute, "time of one suite on one mutant, after which the mutant is undecided")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	match, table string
	fresh, list  bool
	limit        time.Duration
}

const (
	target = "internal/store/etcdstore"
	page   = "docs/evidence/verification.md" // where the results of the last run are
)

// storeSuites are tried in this order: the quickest to notice first.
var storeSuites = [][]string{
	{"./internal/store/etcdstore/...", "-skip", "TestNoStimulusIsLostOrDoubled"},
	{"./internal/store/etcdstore", "-run", "TestNoStimulusIsLostOrDoubled", "-args", "-rapid.shrinktime=1s", "-rapid.nofailfile"},
	{"./pkg/client", "./pkg/runtime", "./internal/upkeep", "./internal/catalog"},
	{"./test/chaos", "-run", "TestChaos", "-args", "-chaos.lenient", "-chaos.duration=10s"},
}

func run(o options) error {
	wanted, err := regexp.Compile(o.match)
	if err != nil {
		return err
	}
	compares, answers, err := find(target)
	if err != nil {
		return err
	}
	all := []group{
		{"compares", "compare made to hold always", compares},
		{"readings of answers", "condition on etcd's answer, and how it is made to hold", answers},
		{"other guards", "guard taken away", patched()},
	}
	known, err := readResults(page)
	if err != nil {
		return err
	}
	var mutants []*mutant
	for _, g := range all {
		mutants = append(mutants, g.mutants...)
	}
	for _, m := range mutants {
		last, ran := known[m.name()]
		if !wanted.MatchString(m.name()) || o.fresh && ran {
			continue
		}
		if o.list {
			fmt.Println(m.name())
			continue
		}
		began := time.Now()
		check, err := m.killedBy(last, o.limit)
		if err != nil {
			check = "undecided"
			fmt.Fprintln(os.Stderr, "mutants:", m.name(), err)
		}
		fmt.Printf("%-70s %-60s %v\n", m.name(), check, time.Since(began).Round(time.Second))
		known[m.name()] = check
		if err := o.write(all, known); err != nil {
			return err
		}
	}
	return o.write(all, known)
}

func (o *options) write(all []group, r results) error {
	if o.table == "" || o.list {
		return nil
	}
	return write(o.table, all, r)
}

// packages of the tests in the table.
var packages = map[string]string{"etcdstore": "./internal/store/etcdstore", "db": "./internal/store/etcdstore/internal/db", "record": "./internal/store/etcdstore/internal/record", "client": "./pkg/client", "runtime": "./pkg/runtime", "upkeep": "./internal/upkeep", "catalog": "./internal/catalog",
	"cluster": "./pkg/cluster", "groupcommit": "./pkg/cluster/groupcommit", "engine": "./pkg/engine", "activities": "./pkg/activities", "workflow": "./pkg/workflow",
	"expression": "./internal/expression", "js": "./internal/expression/js", "turns": "./internal/expression/turns", "liquid": "./internal/expression/liquid", "httpapi": "./internal/httpapi", "node": "./pkg/node", "auth": "./internal/auth"}

// noticedAgain runs the one test that noticed the mutant the last time.
func (m *mutant) noticedAgain(overlay, last string, limit time.Duration) bool {
	in, test, ok := strings.Cut(last, ": ")
	pkg := packages[in]
	if !ok || pkg == "" || !strings.HasPrefix(test, "Test") {
		return false
	}
	top, _, _ := strings.Cut(test, "/")
	args := []string{pkg, "-run", "^" + top + "$"}
	if top == "TestNoStimulusIsLostOrDoubled" {
		args = storeSuites[1]
	}
	out, err, over := m.test(overlay, args, limit)
	return err != nil && !over && builds(out) && strings.Contains(out, "--- FAIL: "+top)
}

// test runs tests on a mutant; over means that the time was over first.
func (m *mutant) test(overlay string, args []string, limit time.Duration) (out string, err error, over bool) { //nolint:revive // the error is the tests' verdict
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args = append([]string{"test", "-overlay", overlay, "-vet=off", "-failfast", "-count=1", "-timeout", (2 * limit).String()}, args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	// With go the tests end that it runs: one that hangs would run on beside the next mutants.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	raw, err := cmd.CombinedOutput()
	return string(raw), err, ctx.Err() != nil
}

func builds(out string) bool {
	return !strings.Contains(out, "[build failed]") && !strings.Contains(out, "[setup failed]")
}

// killedBy runs the suites on a mutant and names the first test that fails; ""
// if none does.
func (m *mutant) killedBy(last string, limit time.Duration) (string, error) {
	dir, err := os.MkdirTemp("", "weft-mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	if m.noticedAgain(overlay, last, limit) {
		return last, nil
	}
	for _, suite := range m.suites {
		out, err, over := m.test(overlay, suite, limit)
		if err == nil {
			continue
		}
		if over {
			return "", fmt.Errorf("a suite took longer than %v", limit)
		}
		if !builds(out) {
			return "", fmt.Errorf("it does not build:\n%s", out)
		}
		name := failure(out)
		if !m.again(overlay, suite[0], name, limit) {
			continue // another test than the guard's failed, for its own reasons
		}
		return where(out) + name, nil
	}
	return "", nil
}

// again reports whether a test fails once more, alone, and passes without the
// mutant: a busy machine fails tests too. What chaos found is believed.
func (m *mutant) again(overlay, pkg, name string, limit time.Duration) bool {
	top, _, _ := strings.Cut(name, "/")
	if !strings.HasPrefix(top, "Test") || pkg == "./test/chaos" {
		return true
	}
	args := []string{pkg, "-run", "^" + top + "$"}
	switch {
	case top == "TestNoStimulusIsLostOrDoubled":
		args = storeSuites[1]
	case pkg == storeSuites[2][0]:
		args = append(slices.Clone(storeSuites[2]), "-run", "^"+top+"$")
	}
	if _, err, _ := m.test(overlay, args, limit); err == nil {
		return false
	}
	of := strings.Join(args, " ")
	for range 2 { // it may fail for its own reasons as well
		if !sound[of] {
			_, err, _ := m.test("", args, limit)
			sound[of] = err == nil
		}
	}
	return sound[of]
}

// sound are the tests that passed without a mutant, in this run.
var sound = map[string]bool{}

// where is the package that failed.
func where(out string) string {
	if m := regexp.MustCompile(`(?m)^FAIL\s+\S+/(\S+)\s`).FindStringSubmatch(out); m != nil {
		return m[1] + ": "
	}
	return ""
}

var (
	failed   = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	panicked = regexp.MustCompile(`(?ms)^(?:panic|fatal error): .*?\.(Test\w+)[.(]`)
	violated = regexp.MustCompile(`(?m)^ *chaos_test.go:\d+: ([a-z-]+)[:/]`)
)

// failure names what failed: the deepest test, or the rule that was broken.
func failure(out string) string {
	if m := violated.FindStringSubmatch(out); m != nil {
		return m[1]
	}
	if all := failed.FindAllStringSubmatch(out, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	if m := panicked.FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return "it fails"
}
