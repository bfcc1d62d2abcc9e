package command

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is this program with arguments, at home in a directory of its own.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	stderr = &bytes.Buffer{}
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{"TEST_RUN_MAIN=1", "HOME=" + t.TempDir()}
	cmd.Stderr = stderr
	return cmd, stderr
}

// Who interrupts a command that waits for its answer is told how to repeat it.
func TestAnInterruptLeavesTheLineThatRepeats(t *testing.T) {
	t.Parallel()
	came, release := make(chan string, 1), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came <- r.Header.Get("Idempotency-Key")
		<-release
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	cmd, stderr := program(t, "run", "order", "--server", slow.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var key string
	select {
	case key = <-came:
	case <-time.After(time.Minute):
		t.Fatal("no request came")
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says it
	want := fmt.Sprintf("weft: interrupted\noutcome unknown; repeat with: weft run order --server=%s --key %s\n", slow.URL, key)
	if code := cmd.ProcessState.ExitCode(); code != 130 || stderr.String() != want {
		t.Errorf("%d\n%s\nwant 130\n%s", code, stderr, want)
	}
}

// While nothing is under way an interrupt ends the program at once.
func TestAnInterruptWhileInputIsRead(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd, stderr := program(t, "validate", "-")
	cmd.Stdin = r
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for deadline := time.After(time.Minute); ; { // until it reads: before that a signal is not yet heard in this way
		_ = cmd.Process.Signal(syscall.SIGINT)
		select {
		case <-ended:
		case <-time.After(200 * time.Millisecond):
			continue
		case <-deadline:
			t.Fatal("it does not end")
		}
		break
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("it ended with %v: %s", cmd.ProcessState, stderr)
	}
}

// head reads the first line and goes.
func TestAReaderThatGoes(t *testing.T) {
	t.Parallel()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items": [{"nodeId": "node-1"}]}`)
	}))
	t.Cleanup(cluster.Close)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd, stderr := program(t, "nodes", "list", "--server", cluster.URL)
	cmd.Stdout = w
	_ = cmd.Run() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 141 || stderr.Len() > 0 {
		t.Errorf("%d %q", code, stderr)
	}
}

// A drain that is waited for tells what it waits for, and ends when the node has.
func TestADrainIsWaitedFor(t *testing.T) {
	t.Parallel()
	node := runNode(t, "--node-id", "ends", "--drain-delay", "3s")
	cmd, stderr := program(t, "nodes", "drain", "ends", "--yes", "--wait", "1m", "--server", node.base)
	out, _ := cmd.Output() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 0 || !strings.HasPrefix(string(out), "ends  ") || !strings.Contains(stderr.String(), "ends drains: it works 0 instances, holds ") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	if code := node.wait(t); code != 0 {
		t.Errorf("the node ended with %d", code)
	}
}

// A worker that is interrupted waits for what runs; interrupted again it gives that back at once, and ends with 0.
func TestAWorkerThatIsInterruptedTwice(t *testing.T) {
	t.Parallel()
	reported := make(chan string, 10)
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/claim") {
			fmt.Fprint(w, `{"items": [{"taskId": "t1", "claim": "c", "name": "n", "attempt": 1, "instanceId": "i"}]}`)
			return
		}
		fmt.Fprint(w, `{"taskId": "t1", "free": true}`)
		reported <- r.URL.Path
	}))
	t.Cleanup(cluster.Close)
	cmd, _ := program(t, "worker", "n", "--grace", "24h", "--lease", "24h", "--server", cluster.URL, "--", "/bin/sh", "-c", "echo it runs >&2; exec sleep 1000")
	cmd.Stderr = nil
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for _, says := range []string{"it runs", "claims no more"} {
		for lines.Scan() && !strings.Contains(lines.Text(), says) {
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	var last string
	for lines.Scan() {
		last = lines.Text()
	}
	_ = cmd.Wait() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != 0 || last != "weft: task t1: given back: the worker ends at once, interrupted again" {
		t.Fatalf("%d %q", code, last)
	}
	if got := <-reported; got != "/api/v1/tasks/t1/release" {
		t.Errorf("%s", got)
	}
}
