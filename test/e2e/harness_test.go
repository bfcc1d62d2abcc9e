package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	fullnode "github.com/weft-run/weft/pkg/node/full"
)

// cluster is nodes of one name on one etcd, and the history of calls to them.
type cluster struct {
	etcd    *clustertest.Etcd
	name    string
	http    *http.Client
	history history
	members []*member
}

// member is one node: in this process (node is set) or in one of its own
// (process is).
type member struct {
	id      string
	base    string
	node    *node.Node
	process *process
	log     *syncBuffer
	gone    bool // it is not asked any more
}

// newCluster makes a cluster without nodes. A test that fails shows its history.
func newCluster(t *testing.T, etcd *clustertest.Etcd) *cluster {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	c := &cluster{etcd: etcd, name: clustertest.Namespace(t), http: &http.Client{Transport: transport, Timeout: time.Minute}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if t.Failed() {
			t.Logf("the last calls:\n%s", c.history.tail(40))
			t.Logf("slow calls:\n%s", c.history.slow(2*time.Second))
			for _, m := range c.members {
				t.Logf("the log of %s:\n%s", m.id, tail(m.log.String(), 4000))
			}
		}
	})
	return c
}

// inProcess makes a cluster of three nodes in this process on the shared etcd.
func inProcess(t *testing.T, change ...func(*node.Config)) *cluster {
	t.Helper()
	c := newCluster(t, clustertest.Shared(t))
	for range 3 {
		c.start(t, change...)
	}
	c.settle(t)
	return c
}

// outcomes lets a node wait for what comes of a call for as long as a test does, so that one which wants to hear
// "resumed" hears it on a slow machine too. It is not for tests whose bursts wait outside: what causes them is
// durable only after this time, unless it was dispatched.
func outcomes(cfg *node.Config) { cfg.ReplyWait = patience }

// processes makes a cluster of three processes on the shared etcd.
func processes(t *testing.T, args ...string) *cluster {
	t.Helper()
	c := newCluster(t, clustertest.Shared(t))
	var wg sync.WaitGroup
	members := make([]*member, 3)
	for i := range members {
		wg.Go(func() { members[i] = c.launch(t, "n"+strconv.Itoa(i), args...) })
	}
	wg.Wait()
	for _, m := range members {
		if m == nil {
			t.FailNow()
		}
	}
	c.members = members
	c.settle(t)
	return c
}

// settle waits until every node sees every other.
func (c *cluster) settle(t *testing.T) {
	t.Helper()
	for _, m := range c.live() {
		polltest.Eventually(t, m.id+" sees all nodes", func() bool {
			return len(c.call(t, m, "GET", "/api/v1/nodes", "").items()) == len(c.live())
		})
	}
}

// live are the members that can be asked.
func (c *cluster) live() []*member {
	var live []*member
	for _, m := range c.members {
		if !m.gone {
			live = append(live, m)
		}
	}
	return live
}

// any is one of the live members.
func (c *cluster) any() *member {
	live := c.live()
	return live[rand.IntN(len(live))]
}

// member finds a node by its id.
func (c *cluster) member(t *testing.T, id string) *member {
	t.Helper()
	for _, m := range c.members {
		if m.id == id {
			return m
		}
	}
	t.Fatalf("there is no node %q", id)
	return nil
}

// others are the live members but one.
func (c *cluster) others(not *member) []*member {
	var others []*member
	for _, m := range c.live() {
		if m != not {
			others = append(others, m)
		}
	}
	return others
}

// start starts one more node in this process.
func (c *cluster) start(t *testing.T, change ...func(*node.Config)) *member {
	t.Helper()
	m := &member{id: "n" + strconv.Itoa(len(c.members)), log: &syncBuffer{}}
	cfg := node.Config{
		HTTPAddr: "127.0.0.1:0", Cluster: c.name, NodeID: m.id, DrainTimeout: 10 * time.Second,
		AllowPrivateAddresses: true, Logger: slog.New(slog.NewJSONHandler(m.log, nil)),
	}
	if c.etcd != nil { // else change says which
		cfg.EtcdEndpoints = c.etcd.Endpoints()
	}
	for _, f := range change {
		f(&cfg)
	}
	// A node that cannot read etcd in time ends, and who looks after it starts it again.
	var n *node.Node
	for begun := time.Now(); ; {
		var err error
		if n, err = fullnode.New(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if err = n.Start(t.Context()); err == nil {
			break
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > patience {
			t.Fatal(err)
		}
		t.Logf("%s is started again: %v", m.id, err)
	}
	t.Cleanup(func() { m.stop(t) })
	m.node, m.base = n, "http://"+n.HTTPAddr()
	c.members = append(c.members, m)
	return m
}

// stop stops a node of this process; a second time it does nothing.
func (m *member) stop(t *testing.T) {
	t.Helper()
	m.gone = true
	if m.node == nil {
		return
	}
	if err := m.node.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("stop %s: %v", m.id, err)
	}
}

// process is a node that runs as the program.
type process struct {
	cmd   *exec.Cmd
	lines syncBuffer    // what it wrote on standard output
	ended chan struct{} // closed when it has ended and its exit code is known
}

// launch starts the program as a node and waits until it is ready. It may be
// called from any goroutine; it returns nil after an error.
func (c *cluster) launch(t *testing.T, id string, args ...string) *member {
	t.Helper()
	m := c.spawn(t, id, args...)
	if m == nil {
		return nil
	}
	deadline := time.After(patience)
	for {
		if addr := m.readyAddr(); addr != "" {
			m.base = "http://" + addr
			return m
		}
		select {
		case <-m.process.ended:
			t.Errorf("%s ended: %s", id, m.log.String())
			return nil
		case <-deadline:
			t.Errorf("%s is not ready after %v: %s", id, patience, m.log.String())
			return nil
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// spawn starts the program and does not wait. It ends with the test.
func (c *cluster) spawn(t *testing.T, id string, args ...string) *member {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Error(err)
		return nil
	}
	m := &member{id: id, log: &syncBuffer{}}
	p := &process{ended: make(chan struct{})}
	m.process = p
	all := append([]string{"--http-addr", "127.0.0.1:0", "--cluster", c.name, "--node-id", id, "--drain-delay", "0s",
		"--allow-private-addresses", "--log-format", "json", "--lines", "stdout"}, args...)
	if !slices.Contains(args, "--etcd-endpoints") {
		all = append(all, "--etcd-endpoints", strings.Join(c.etcd.Endpoints(), ","))
	}
	p.cmd = exec.Command(path, all...)
	p.cmd.Dir = t.TempDir()
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WEFT_") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.lines, m.log
	if err := p.cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the exit code says it
	}()
	t.Cleanup(func() {
		m.gone = true
		_ = p.cmd.Process.Kill() // works on a stopped process too
		<-p.ended
	})
	return m
}

// readyAddr is the address in the process's ready line, "" while there is none.
func (m *member) readyAddr() string {
	for lines := bufio.NewScanner(strings.NewReader(m.log.String())); lines.Scan(); {
		var entry struct{ Msg, HTTPAddr string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "ready" {
			return entry.HTTPAddr
		}
	}
	return ""
}

// signal sends a signal to the process.
func (m *member) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := m.process.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("signal %v to %s: %v", s, m.id, err)
	}
	if s == syscall.SIGSTOP {
		// The signal is sent when the call returns, not obeyed: a thread that runs
		// on the other core can still finish a burst.
		polltest.Eventually(t, m.id+" stands still", m.stands)
	}
}

// stands reports whether every thread of the process is stopped.
func (m *member) stands() bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", m.process.cmd.Process.Pid))
	if err != nil || len(stats) == 0 {
		return false
	}
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			return false
		}
		// pid (command) state …; the command may hold anything but ends with ).
		rest := string(raw[bytes.LastIndexByte(raw, ')')+1:])
		if state := strings.Fields(rest); len(state) == 0 || state[0] != "T" {
			return false
		}
	}
	return true
}

// kill ends the process as a power cut does.
func (m *member) kill(t *testing.T) {
	t.Helper()
	m.gone = true
	m.signal(t, syscall.SIGKILL)
	<-m.process.ended
}

// pause stops the process where it is, and returns when each of its threads
// stands still: the signal alone takes effect some time later.
func (m *member) pause(t *testing.T) {
	t.Helper()
	m.signal(t, syscall.SIGSTOP)
	polltest.Eventually(t, m.id+" stands still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", m.process.cmd.Process.Pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("the threads of %s: %v, %v", m.id, threads, err)
		}
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			if err != nil {
				return false
			}
			// pid (name) state …
			if _, after, ok := strings.Cut(string(stat), ") "); !ok || !strings.HasPrefix(after, "T") {
				return false
			}
		}
		return true
	})
}

// proceed lets a stopped process go on.
func (m *member) proceed(t *testing.T) {
	t.Helper()
	m.signal(t, syscall.SIGCONT)
}

// exit waits for the end of the process and gives its exit code.
func (m *member) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-m.process.ended:
		return m.process.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("%s has not ended after %v", m.id, patience)
		return -1
	}
}

// runs is how often a scenario with real faults is repeated.
func runs(t *testing.T, n int) int {
	t.Helper()
	v := os.Getenv("WEFT_E2E_RUNS")
	if v == "" {
		return testsize.Of(n, 1)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("WEFT_E2E_RUNS is %q", v)
	}
	return n
}

// concurrently runs do for 0 to n-1 with so many workers, and waits.
func concurrently(n, workers int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, workers) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// atOnce runs do for 0 to n-1, released together.
func atOnce(n int, do func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			do(i)
		})
	}
	close(gate)
	wg.Wait()
}

// syncBuffer may be written while it is read.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// tail is the end of a text, at most n bytes.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return fmt.Sprintf("(%d bytes before)…%s", len(s)-n, s[len(s)-n:])
}
