// Package testsize says how much the tests of this repository do: little, as
// `go test ./...` runs them, or all, with WEFT_WHOLE=1, as `make prove` does.
//
// It guarantees that every kind of test runs in both sizes: what is left out of the
// small one is repetition (more rounds, more random cases, larger worlds), and
// [Skip] is for a test of which another, smaller one stands beside it. It does not
// bound how long a test takes; .ci/run does.
package testsize

import (
	"flag"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// Env is the variable that asks for all of it. Go's test cache knows that a test has
// read it.
const Env = "WEFT_WHOLE"

// Whole reports whether all of it was asked for.
func Whole() bool { return os.Getenv(Env) == "1" }

// Of is a number of rounds, cases or states: the first if all was asked for.
func Of[N any](whole, small N) N {
	if Whole() {
		return whole
	}
	return small
}

// Skip leaves a test out of the small size.
func Skip(tb testing.TB, why string) {
	tb.Helper()
	if !Whole() {
		tb.Skipf("%s: %s=1 runs it", why, Env)
	}
}

// NotRaced leaves a test out under the race detector, unless all was asked for: it
// computes on one goroutine, or another case of it has the same ones, and the detector
// makes it five times as long.
func NotRaced(tb testing.TB, why string) {
	tb.Helper()
	if Raced && !Whole() {
		tb.Skipf("%s: %s=1 runs it under the race detector", why, Env)
	}
}

// Checks sets how many random cases each property of rapid has, a third of the small number
// under the race detector, unless the caller said a number. It is for TestMain.
func Checks(whole, small int) {
	if Raced {
		small = (small + 2) / 3
	}
	preset("rapid.checks", Of(whole, small))
}

// Waiting lets more tests of a package run at a time than there are processors, unless
// the caller said how many: they wait for leases and sweeps more than they compute. It
// is for TestMain.
func Waiting() { preset("test.parallel", max(8, 2*runtime.GOMAXPROCS(0))) }

// AtOnce lets n tests of a package run at a time, unless the caller said how many: each wants more of a machine than one
// processor. It is for TestMain, and goes before [Waiting].
func AtOnce(n int) { preset("test.parallel", n) }

// Roomy lets the garbage collector of this process run seldom, unless all was asked for or the
// caller said how often (GOGC): the heap of tests is small, so that it would run all the time,
// for a quarter of what they compute. Above 3 GiB it runs as often as it must; a limit that tests come
// near would let it take half of the processors. It is for TestMain.
func Roomy() {
	if _, chosen := os.LookupEnv("GOGC"); chosen || Whole() {
		return
	}
	debug.SetGCPercent(400)
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(3 << 30)
	}
}

// preset sets a flag of this program that its caller did not set.
func preset(name string, n int) {
	if !flag.Parsed() {
		flag.Parse()
	}
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	if set {
		return
	}
	if err := flag.Set(name, strconv.Itoa(n)); err != nil {
		panic(err) // no flag of that name: a mistake of the caller
	}
}
