package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func lines(events ...event) string {
	var b strings.Builder
	for _, e := range events {
		raw, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

func read(t *testing.T, in string) (*run, *strings.Builder) {
	t.Helper()
	out := new(strings.Builder)
	r := &run{out: out, pending: map[string]*strings.Builder{}}
	if err := r.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	return r, out
}

func TestWhatFailedIsPrinted(t *testing.T) {
	t.Parallel()
	const p = module + "/pkg/a"
	_, out := read(t, "go: downloading x\n"+lines(
		event{Action: "build-output", ImportPath: p, Output: "a.go:1: no\n"},
		event{Action: "output", Package: p, Test: "TestGood", Output: "quiet\n"},
		event{Action: "output", Package: p, Test: "TestBad", Output: "it is wrong\n"},
		event{Action: "pass", Package: p, Test: "TestGood", Elapsed: 1},
		event{Action: "fail", Package: p, Test: "TestBad", Elapsed: 1},
		event{Action: "output", Package: p, Test: "TestDied", Output: "panic: x\n"},
		event{Action: "output", Package: p, Output: "FAIL\tpkg/a\t2s\n"},
		event{Action: "fail", Package: p, Elapsed: 2},
		event{Action: "output", Package: module + "/b", Output: "ok  \tb\t1s\n"},
		event{Action: "pass", Package: module + "/b", Elapsed: 1},
		event{Action: "output", Package: module + "/c", Output: "signal: killed\n"},
	))
	for _, want := range []string{"go: downloading x", "a.go:1: no", "it is wrong", "panic: x", "FAIL\tpkg/a", "ok  \tb", "signal: killed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "quiet") {
		t.Errorf("what passed is printed:\n%s", out)
	}
}

func TestWhatIsOverItsBoundIsNamedUnlessItHasAReason(t *testing.T) {
	t.Parallel()
	r, out := read(t, lines(event{Action: "pass", Package: module + "/pkg/a", Test: "TestLong", Elapsed: ofTest + 1},
		event{Action: "pass", Package: module + "/pkg/a", Test: "TestWaits", Elapsed: ofTest + 2},
		event{Action: "pass", Package: module + "/pkg/a", Elapsed: ofPackage + 1}))
	r.report(map[string]string{"pkg/a.TestWaits": "it waits a lease out"})
	for _, want := range []string{"pkg/a.TestLong  OVER 8 s", "pkg/a.TestWaits  it waits a lease out", "pkg/a  OVER 40 s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}
