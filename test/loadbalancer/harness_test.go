package loadbalancer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weft-loadbalancer-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaryDir = dir
	return clustertest.Run(m)
}

// tool finds a program that Debian may keep away from users.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, p := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(p); err == nil {
			return found
		}
	}
	if os.Getenv("WEFT_REQUIRE_TOOLS") == "1" {
		t.Fatalf("there is no %s (apt-get install %s)", name, name)
	}
	t.Skipf("there is no %s (apt-get install %s)", name, name)
	return ""
}

// kind is a program that balances.
type kind struct {
	program, config string
	listens         []string // the texts in the configuration: the API, and what operators ask
	args            func(config string) []string
	inside          string // an address at which it asks itself
	// checks tells whether it asks nodes how they are. If not, clients have to give
	// keys, and what is repeated shows only if failures do not make it avoid a node.
	checks bool
	// instead are texts of the configuration that a test cannot wait for, with others.
	instead map[string]string
	// tls stands behind the address where the program has a certificate, in the file that it names, and speaks HTTP/2; "" for plain HTTP/1.1.
	// reload makes it change to a new process, as for a new configuration.
	tls    string
	reload func(t *testing.T, old *exec.Cmd, config string) *exec.Cmd
}

var (
	haproxy = kind{program: "haproxy", config: "../../deploy/haproxy/haproxy.cfg", listens: []string{"bind :8080", "bind :8404"}, inside: "127.0.0.1:8405", checks: true,
		args: func(config string) []string { return []string{"-db", "-f", config} }}
	nginx = kind{program: "nginx", config: "../../deploy/nginx/nginx.conf", listens: []string{"listen 8080"},
		args: func(config string) []string {
			return []string{"-c", config, "-p", filepath.Dir(config), "-g", "daemon off;"}
		}}
)

// each runs a test with every kind, side by side.
func each(t *testing.T, test func(t *testing.T, k kind)) {
	t.Helper()
	for _, k := range []kind{haproxy, nginx} {
		t.Run(k.program, func(t *testing.T) {
			t.Parallel()
			tool(t, k.program)
			test(t, k)
		})
	}
}

// proxy is a running load balancer.
type proxy struct {
	kind
	api, operations string // base URLs; the latter of HAProxy only
	client          *http.Client
	change          func(t *testing.T) // to a new process
}

// balance starts a load balancer in front of three addresses. Of the
// configuration only the addresses and the place of the pid file are replaced,
// and with forgives that it avoids a node that failed.
func (k kind) balance(t *testing.T, nodes [3]string, forgives bool) *proxy {
	t.Helper()
	program := tool(t, k.program)
	raw, err := os.ReadFile(k.config)
	if err != nil {
		t.Fatal(err)
	}
	text, dir := string(raw), t.TempDir()
	put := func(old, replacement string) {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %q", k.config, old)
		}
		text = strings.ReplaceAll(text, old, replacement)
	}
	addrs := make([]string, len(k.listens))
	p := &proxy{kind: k, api: "http://" + freeaddr.Of(t), client: http.DefaultClient}
	for i, listen := range k.listens {
		if addrs[i] = strings.TrimPrefix(p.api, "http://"); i > 0 {
			addrs[i] = freeaddr.Of(t)
		}
		verb, _, _ := strings.Cut(listen, " ")
		bound := verb + " " + addrs[i]
		if i == 0 && k.tls != "" {
			var file string
			file, p.client = certificate(t, dir)
			bound += strings.ReplaceAll(k.tls, "CERTIFICATE", file)
		}
		put(listen, bound)
	}
	if k.inside != "" {
		put(k.inside, freeaddr.Of(t))
	}
	for old, other := range k.instead {
		put(old, other)
	}
	for i, addr := range nodes {
		put(fmt.Sprintf("node-%d:8080", i+1), addr)
	}
	if !k.checks {
		put("/run/nginx.pid", filepath.Join(dir, "pid"))
		if forgives {
			put("max_fails=2", "max_fails=0")
		}
	}
	config := filepath.Join(dir, filepath.Base(k.config))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, k.args(config)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // nginx has children, which it ends
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(k.program + " said:\n" + log.String())
		}
	})
	alive := p.api + "/metrics" // which it answers itself
	if k.tls != "" {
		p.api = "https://" + addrs[0]
		alive = p.api + "/metrics"
	}
	if k.checks {
		p.operations = "http://" + addrs[1]
		alive = p.operations + "/healthz"
	}
	polltest.Eventually(t, k.program+" listens", func() bool {
		_, err := p.get(t.Context(), alive)
		return err == nil
	})
	if k.reload != nil {
		current := cmd
		p.change = func(t *testing.T) { t.Helper(); current = k.reload(t, current, config) }
	}
	return p
}

// up waits until it has this many nodes to choose from, if it asks them.
func (p *proxy) up(t *testing.T, want int) {
	t.Helper()
	if !p.checks {
		return
	}
	line := regexp.MustCompile(`(?m)^haproxy_backend_active_servers\{proxy="nodes"\} (\d+)$`)
	polltest.Eventually(t, fmt.Sprintf("%d nodes are up", want), func() bool {
		text, err := p.get(t.Context(), p.operations+"/metrics")
		found := line.FindStringSubmatch(text)
		return err == nil && found != nil && found[1] == fmt.Sprint(want)
	})
}

func (p *proxy) get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

// binaryDir is removed when the tests are over.
var binaryDir string

// binary is the program that users run, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	program := filepath.Join(binaryDir, "weft")
	cmd := exec.Command("go", "build", "-o", program, "../../cmd/weft")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

func buildNode(t *testing.T) string {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatalf("build the node: %v", err)
	}
	return program
}

// process is a running node.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// startNode runs a node until the test ends, and returns when it is ready.
func startNode(t *testing.T, program, addr string, args ...string) *process {
	t.Helper()
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program, append([]string{"--http-addr", addr, "--definitions", "../../examples", "--log-format", "json"}, args...)...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		defer close(p.ended)
		said := false
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var entry struct{ Msg string }
			if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "ready" && !said {
				said = true
				close(ready)
			}
		}
		_ = p.cmd.Wait() // the exit code says it
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	select {
	case <-ready:
	case <-p.ended:
		t.Fatalf("the node at %s ended with %d", addr, p.cmd.ProcessState.ExitCode())
	case <-time.After(time.Minute):
		t.Fatalf("the node at %s is not ready after a minute", addr)
	}
	return p
}

// drain sends SIGTERM and gives the exit code.
func (p *process) drain(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return -1
	}
}
