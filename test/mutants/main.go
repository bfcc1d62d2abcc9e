// Command mutants proves that the compares of the store's transactions are
// needed, and tested: it makes each of them, one at a time, hold always, and runs
// the suites until one fails. The product has no switch for it: a mutant is a
// file that takes the place of another in the build (go test -overlay).
//
//	go run ./test/mutants                       (make mutants)
//	go run ./test/mutants -match PutMail -v
//
// Guaranteed: every call of a compare's constructor (see compares.go of
// pkg/store/etcdstore) in the store's code is one mutant, found by parsing, so
// that a new compare is a new mutant. Not guaranteed: that a mutant that no suite
// sees is a compare without need; the table says which there are.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

func main() {
	match := flag.String("match", "", "only mutants whose name matches this expression")
	list := flag.Bool("list", false, "only list them")
	table := flag.String("table", "", "write the table into this file, between its marks")
	limit := flag.Duration("limit", 3*time.Minute, "time of one suite on one mutant, after which the mutant is undecided")
	flag.Parse()
	if err := run(*match, *table, *list, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

const target = "pkg/store/etcdstore"

// suites are tried in this order: the quickest to notice first.
var suites = [][]string{
	{"./pkg/store/etcdstore", "-skip", "TestNoStimulusIsLostOrDoubled"},
	{"./pkg/store/etcdstore", "-run", "TestNoStimulusIsLostOrDoubled", "-args", "-rapid.shrinktime=1s", "-rapid.nofailfile"},
	{"./pkg/client", "./pkg/runtime", "./pkg/catalog"},
	{"./test/chaos", "-run", "TestChaos", "-args", "-chaos.lenient", "-chaos.duration=10s"},
}

func run(match, table string, list bool, limit time.Duration) error {
	wanted, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	mutants, err := find(target)
	if err != nil {
		return err
	}
	var rows []row
	for _, m := range mutants {
		if !wanted.MatchString(m.name()) {
			continue
		}
		if list {
			fmt.Println(m.name())
			continue
		}
		began := time.Now()
		check, err := m.killedBy(limit)
		if err != nil {
			check = "undecided"
			fmt.Fprintln(os.Stderr, "mutants:", m.name(), err)
		}
		fmt.Printf("%-70s %-60s %v\n", m.name(), check, time.Since(began).Round(time.Second))
		rows = append(rows, row{m, check})
	}
	if table == "" || list {
		return nil
	}
	return write(table, rows)
}

// killedBy runs the suites on a mutant and names the first test that fails; ""
// if none does.
func (m *mutant) killedBy(limit time.Duration) (string, error) {
	dir, err := os.MkdirTemp("", "weft-mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	for _, suite := range suites {
		if _, err := os.Stat(suite[0]); err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		args := append([]string{"test", "-overlay", overlay, "-failfast", "-count=1", "-timeout", (2 * limit).String()}, suite...)
		out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
		over := ctx.Err() != nil
		cancel()
		if err == nil {
			continue
		}
		if over {
			return "", fmt.Errorf("a suite took longer than %v", limit)
		}
		if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
			return "", fmt.Errorf("it does not build:\n%s", out)
		}
		name := failure(string(out))
		if !m.again(overlay, suite[0], name, limit) {
			continue // another test than the compare's failed, for its own reasons
		}
		return where(string(out)) + name, nil
	}
	return "", nil
}

// again reports whether a test fails once more, alone: a busy machine fails tests
// too. What chaos found is believed.
func (m *mutant) again(overlay, pkg, name string, limit time.Duration) bool {
	top, _, _ := strings.Cut(name, "/")
	if !strings.HasPrefix(top, "Test") || pkg == "./test/chaos" {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := []string{"test", "-overlay", overlay, "-count=1", "-run", "^" + top + "$"}
	if pkg == "./pkg/store/etcdstore" {
		args = append(args, pkg, "-args", "-rapid.nofailfile", "-rapid.shrinktime=1s")
	} else {
		args = append(args, "./pkg/client", "./pkg/runtime", "./pkg/catalog")
	}
	return exec.CommandContext(ctx, "go", args...).Run() != nil
}

// where is the package that failed.
func where(out string) string {
	if m := regexp.MustCompile(`(?m)^FAIL\s+\S+/(\S+)\s`).FindStringSubmatch(out); m != nil {
		return m[1] + ": "
	}
	return ""
}

var (
	failed   = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
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
	return "it fails"
}
