package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
)

// The test binary is also the program, so that signals and exit codes are those
// of a real process.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_RUN_MAIN") == "1" {
		if n, err := strconv.ParseUint(os.Getenv("TEST_RUN_FILES"), 10, 64); err == nil {
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
				panic(err)
			}
		}
		replyWait = time.Minute // a loaded machine answers what an idle one does
		Main()
		return
	}
	testsize.Waiting()
	testsize.Roomy()
	os.Exit(m.Run())
}

// process is a running node.
type process struct {
	cmd    *exec.Cmd
	base   string
	stdout *bytes.Buffer
	log    chan map[string]any // after ready
}

func runNode(t *testing.T, args ...string) *process {
	t.Helper()
	return runNodeIn(t, nil, args...)
}

// runNodeIn is runNode with more in its environment.
func runNodeIn(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	p := &process{stdout: &bytes.Buffer{}, log: make(chan map[string]any, 1000)}
	p.cmd = exec.CommandContext(t.Context(), os.Args[0], append([]string{"--http-addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--drain-delay", "0s"}, args...)...)
	p.cmd.Env = append(append(os.Environ(), "TEST_RUN_MAIN=1"), environ...)
	p.cmd.Stdout = p.stdout
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	ready := make(chan string, 1)
	go func() {
		defer close(p.log)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var entry map[string]any
			if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
				t.Errorf("not JSON: %s", lines.Text())
				continue
			}
			if entry["msg"] == "ready" {
				ready <- entry["httpAddr"].(string)
			}
			select {
			case p.log <- entry:
			default:
			}
		}
	}()
	select {
	case addr := <-ready:
		p.base = "http://" + addr
	case <-time.After(time.Minute):
		t.Fatal("not ready after a minute")
	}
	return p
}

func (p *process) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// wait gives the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	for range p.log { // to its end, before Wait closes the pipe
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.cmd.Wait() // the exit code says it
	}()
	select {
	case <-done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return -1
	}
}

func TestProcessWritesLinesAndDrainsOnSIGTERM(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	p := runNode(t, "--definitions", examples, "--lines", "stdout")
	if status, body := p.post(t, "/api/v1/definitions/hello/execute", `{"input": {"name": "Ada"}}`); status != 200 {
		t.Fatalf("execute: %d %s", status, body)
	}
	if status, body := p.post(t, "/api/v1/definitions/greeting/execute", `{"input": {"formal": true}}`); status != 200 {
		t.Fatalf("execute: %d %s", status, body)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := p.stdout.String(); got != "Hello, Ada!\nGood day\n" {
		t.Errorf("standard output: %q", got)
	}
}

// Outside of a terminal a line is a record of the log, which says whose it is, and tells no more
// than the journal does.
func TestProcessLogsLines(t *testing.T) {
	t.Parallel()
	secrets := t.TempDir()
	if err := os.WriteFile(filepath.Join(secrets, "password"), []byte("hunter2-hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := runNode(t, "--secrets-dir", secrets)
	if status, body := p.post(t, "/api/v1/definitions", "id: says\nroot:\n  - writeLine: hello\n    id: one\n  - writeLine: ${{ 'it is ' + secrets.password }}\n    id: two\n"); status != 201 {
		t.Fatalf("publish: %d %s", status, body)
	}
	if status, body := p.post(t, "/api/v1/definitions/says/execute", `{"instanceId": "i"}`); status != 200 {
		t.Fatalf("execute: %d %s", status, body)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said := map[any]map[string]any{}
	for entry := range p.log {
		if entry["msg"] == "writeLine" {
			said[entry["activity"]] = entry
		}
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	one, two := said["one"], said["two"]
	if one["text"] != "hello" || one["instance"] != "i" || one["definition"] != "says" || one["version"] != 1.0 || one["level"] != "INFO" {
		t.Errorf("%v", one)
	}
	if text, is := two["text"].(string); !is || strings.Contains(text, "hunter2") {
		t.Errorf("%v", two)
	}
	if p.stdout.Len() > 0 {
		t.Errorf("standard output: %q", p.stdout.String())
	}
}

func TestSecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	inside, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-release
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	p := runNode(t, "--allow-private-addresses", "--drain-timeout", "10m")
	if status, body := p.post(t, "/api/v1/definitions", "id: slow\nroot:\n  - sendHttpRequest: {url: \""+slow.URL+"\"}\n"); status != 201 {
		t.Fatalf("publish: %d %s", status, body)
	}
	if status, body := p.post(t, "/api/v1/definitions/slow/dispatch", `{}`); status != 202 {
		t.Fatalf("dispatch: %d %s", status, body)
	}
	<-inside
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	began := time.Now() // signals of the first second are the first one
	ended := make(chan int, 1)
	go func() { ended <- p.wait(t) }()
	for again := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case code := <-ended:
			if took := time.Since(began); code != 1 || took < time.Second {
				t.Errorf("exit code %d after %v", code, took)
			}
			again.Stop()
			return
		case <-again.C:
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // which may have ended
		}
	}
}

func TestEtcdThatIsAwayEndsTheStart(t *testing.T) {
	t.Parallel()
	nobody, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--http-addr", "127.0.0.1:0", "--etcd-endpoints", nobody.Addr().String())
	cmd.Env = append(os.Environ(), "TEST_RUN_MAIN=1")
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
	}
	if !strings.Contains(string(out), "weft: etcd at "+nobody.Addr().String()+" did not answer within 5s") {
		t.Errorf("it says %s", out)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Whoever is on the same machine, or in the same pod, finds one open port.
func TestANodeListensForItsAPIOnly(t *testing.T) {
	t.Parallel()
	p := runNode(t)
	proc := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	fds, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Skip("this system does not show it:", err)
	}
	mine := map[string]bool{}
	for _, fd := range fds {
		if to, err := os.Readlink(proc + "/fd/" + fd.Name()); err == nil {
			mine[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	var open []string
	for _, family := range []string{"tcp", "tcp6", "udp", "udp6"} {
		table, err := os.ReadFile(proc + "/net/" + family)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(table), "\n") {
			const local, state, inode, listening, bound = 1, 3, 9, "0A", "07"
			if f := strings.Fields(line); len(f) > inode && (f[state] == listening || f[state] == bound) && mine[f[inode]] {
				open = append(open, family+" "+f[local])
			}
		}
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if want := fmt.Sprintf("tcp 0100007F:%04X", n); err != nil || len(open) != 1 || open[0] != want {
		t.Errorf("it listens at %v, want only %s; %v", open, want, err)
	}
}

// Connections do not take the descriptors that etcd's files need, whose want ends
// the process: a node with few of them goes on with its work.
func TestConnectionsTakeNoDescriptorsOfFiles(t *testing.T) {
	t.Parallel()
	p := runNodeIn(t, []string{"TEST_RUN_FILES=300"}, "--max-connections-per-address", "149")
	publish := func() (int, string) { return p.post(t, "/api/v1/definitions", "id: go-on\nroot:\n  - writeLine: x\n") }
	if status, body := publish(); status != 201 { // and its connection stays
		t.Fatalf("publish: %d %s", status, body)
	}
	for range 600 {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.base, "http://"))
		if err != nil {
			continue // the node's backlog is full: as good
		}
		t.Cleanup(func() { c.Close() })
		_, _ = io.WriteString(c, "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n") // and never the rest
	}
	for i := range 20 {
		if status, body := p.post(t, "/api/v1/definitions/go-on/execute", fmt.Sprintf(`{"instanceId": "i%d"}`, i)); status != 200 {
			t.Fatalf("beside the flood: %d %s", status, body)
		}
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err == nil && len(files) > 280 {
		t.Errorf("%d descriptors are open", len(files))
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
