package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
)

// tail is what a command has written so far.
type tail struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// A change of the test or of what it tests runs it again.
func TestTestWatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "tests"), 0o700); err != nil {
		t.Fatal(err)
	}
	put("hi.yaml", "id: hi\nroot: [{writeLine: hi}]\n")
	put("tests/hi.test.yaml", "definition: ../hi.yaml\ncases: [{name: greets, expect: {lines: [hi]}}]\n")
	out := &tail{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	cmd := newCommand(out, io.Discard, func() []string { return nil })
	cmd.SetArgs([]string{"test", "--watch", filepath.Join(dir, "tests")})
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	shows := func(want string) {
		t.Helper()
		polltest.Within(t, time.Minute, "the output has "+want, func() bool { return strings.Contains(out.String(), want) })
	}
	shows("ok: 1 of 1 cases passed\n")
	put("hi.yaml", "id: hi\nroot: [{writeLine: hello}]\n")
	shows("tests failed: 0 of 1 cases passed\n")
	put("tests/hi.test.yaml", "definition: ../hi.yaml\ncases: [{name: greets you, expect: {lines: [hello]}}]\n")
	shows("ok    greets you\n")
	put("tests/hi.test.yaml", "definition: [\n")
	shows("1 files could not be read\n")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// weftTest runs weft test in process.
func weftTest(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := newCommand(&out, &log, func() []string { return nil })
	cmd.SetArgs(append([]string{"test"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// A worker of an activity type that a file declares is a step of a case.
func TestTestKnowsDeclaredTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"types/ship.yaml": "type: acme.Ship\ntask: ship\noutputs: {tracking: {type: string, required: true}}\nretry: {attempts: 2, delay: 1m}\n",
		"order.yaml":      "id: order\noutputs: {tracking: \"${{ variables.t }}\"}\nvariables: {t: string}\nroot:\n  - {acme.Ship: {}, outputs: {tracking: t}}\n",
		"order.test.yaml": `definition: order.yaml
cases:
  - name: mocked
    mocks: {acme.Ship: {outputs: {tracking: T1}}}
    expect: {status: Finished, output: {tracking: T1}}
  - name: the second attempt
    steps:
      - {task: ship, error: no carrier}
      - {advance: 1m}
      - {task: ship, result: {tracking: T2}}
    expect: {status: Finished, output: {tracking: T2}}
  - name: a result that does not fit
    steps:
      - {task: ship, result: {tracking: 2}}
    expect: {status: Faulted}
`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := weftTest(t, "--crash", "--activities", filepath.Join(dir, "types"), "--against", dir, dir); err != nil || !strings.Contains(out, "ok: 3 of 3 cases passed") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := weftTest(t, dir); err == nil || !strings.Contains(out, "there is no activity type") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := weftTest(t, "--activities", filepath.Join(dir, "none"), dir); err == nil || !strings.Contains(err.Error(), "no such file or directory") {
		t.Error(err)
	}
}

func TestTestRunsTheExamples(t *testing.T) {
	t.Parallel()
	out, err := weftTest(t, "../../../examples")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"order-approval.test.yaml\n", "  ok    approved on time\n", "  ok    not approved in time\n", "cases passed\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, err = weftTest(t, "--run", "on time", "../../../examples/order-approval.test.yaml"); err != nil || !strings.Contains(out, "ok: 1 of 1 cases passed") {
		t.Errorf("got %v\n%s", err, out)
	}
	if out, err = weftTest(t, "--run", "none is called this", "../../../examples"); err == nil {
		t.Errorf("no case was run, and that is fine:\n%s", out)
	}
}

func TestTestShowsWhatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"hi.yaml":      "id: hi\nvariables: {n: 3}\nroot:\n  - writeLine: hi\n  - writeLine: there\n  - finish\n  - writeLine: never\n",
		"hi.test.yaml": "cases:\n  - name: greets\n    expect:\n      lines:\n        - hi\n        - you\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := weftTest(t, dir)
	if !errors.Is(err, errFailed) {
		t.Fatalf("got %v", err)
	}
	file := filepath.Join(dir, "hi.test.yaml")
	warning := filepath.Join(dir, "hi.yaml") + ": line 7, column 5: nothing runs here: finish1 goes nowhere else"
	want := file + "\n  warning: " + warning + "\n  FAIL  greets\n        " + file + ":4: lines: - wanted, + got\n            hi\n          - you\n          + there\n" +
		"        what it did:\n          root Started\n          writeLine1 Started {\"inputs\":{\"text\":\"hi\"}}\n          writeLine1 WriteLine hi\n          writeLine1 Completed\n"
	if !strings.HasPrefix(out, want) || !strings.HasSuffix(out, "        variables: {\"n\":3}\n") {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if out, err := weftTest(t, "--strict", dir); !errors.Is(err, errFailed) || !strings.Contains(out, ":2: "+warning) || strings.Contains(out, "warning:") {
		t.Errorf("strict: got %v\n%s", err, out)
	}

	out, err = weftTest(t, "--json", dir)
	var report testReport
	if !errors.Is(err, errFailed) || json.Unmarshal([]byte(out), &report) != nil {
		t.Fatalf("got %v\n%s", err, out)
	}
	if report.Failed != 1 || report.Files[0].Cases[0].Failures[0].Line != 4 {
		t.Errorf("got %+v", report)
	}

	if err := os.WriteFile(file, []byte("case: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = weftTest(t, dir); !errors.Is(err, errFailed) || !strings.Contains(out, "hi.test.yaml:1: a test file has no key case") || !strings.Contains(out, "1 | case: []") {
		t.Errorf("got %v\n%s", err, out)
	}
	if _, err = weftTest(t); err == nil {
		t.Error("it needs a file")
	}
}
