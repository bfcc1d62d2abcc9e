package upgrade_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weft-upgrade-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaryDir = dir
	return clustertest.Run(m)
}

// formatFiles is where the format is said, newest place first.
var formatFiles = []string{"internal/store/etcdstore/internal/format/format.go", "internal/store/etcdstore/internal/record/format.go", "internal/store/etcdstore/format.go", "pkg/store/etcdstore/format.go"}

var formatNumber = regexp.MustCompile(`(?:const DataFormat = |thisFormat = format\{Version: )(\d+)`)

// git gives what a command says; an error without history.
func git(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", "../.."}, args...)...)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// base is the newest commit before the present tree whose format is the same, or
// another one. It skips the test if there is none.
func base(t *testing.T, same bool) string {
	t.Helper()
	missing := func(what string) {
		t.Helper()
		if os.Getenv("WEFT_REQUIRE_TOOLS") == "1" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	if c := os.Getenv("WEFT_UPGRADE_FROM"); c != "" && same {
		return c
	}
	raw, err := os.ReadFile(filepath.Join("../..", formatFiles[0]))
	if err != nil {
		t.Fatal(err)
	}
	now := formatNumber.FindSubmatch(raw)
	if now == nil {
		t.Fatalf("%s says no format that this test understands", formatFiles[0])
	}
	from := "HEAD~1"
	if changed, err := git(t, "status", "--porcelain"); err != nil {
		missing("there is no git history to build the program of a commit before from")
	} else if changed != "" {
		from = "HEAD" // the present tree is none of the commits
	}
	list, err := git(t, "rev-list", "--first-parent", "-n", "100", from)
	if err != nil {
		missing("the git history has no commit before this one (a shallow clone?)")
	}
	// Further back, only those count that touched a file which may have changed the format.
	touched, err := git(t, append([]string{"rev-list", "--first-parent", from, "--"}, formatFiles...)...)
	if err != nil {
		missing("the git history cannot be read")
	}
	list += "\n" + touched
	for commit := range strings.FieldsSeq(list) {
		var text string
		err := errors.ErrUnsupported
		for _, file := range formatFiles {
			if text, err = git(t, "show", commit+":"+file); err == nil {
				break
			}
		}
		if err != nil {
			break // from before there was a format
		}
		if then := formatNumber.FindStringSubmatch(text); then != nil && (then[1] == string(now[1])) == same {
			return commit
		}
	}
	missing("no commit before this one has data of the wanted format")
	return ""
}

// keptFor is for how long the program of a commit is kept in the user's cache.
const keptFor = 7 * 24 * time.Hour

// buildCommit gives the node of a commit. It is built once and kept, as a commit does not change, and always in the
// same directory, so that Go's build cache knows the packages which are the same in another commit.
func buildCommit(t *testing.T, commit string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir() // nobody has a home
	}
	cache = filepath.Join(cache, "weft-upgrade-"+runtime.Version())
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	defer lockFile(t, filepath.Join(cache, "lock"))()
	if commit, err = git(t, "rev-parse", "--verify", commit+"^{commit}"); err != nil {
		t.Fatalf("there is no such commit to build the program of: %v", err)
	}
	program, dir := filepath.Join(cache, "node-"+commit), filepath.Join(cache, "tree")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	programs, err := filepath.Glob(filepath.Join(cache, "node-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range programs {
		if is, err := os.Stat(old); err == nil && time.Since(is.ModTime()) > keptFor {
			_ = os.Remove(old) // or another time
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(t.Context(), "git", "-C", "../..", "archive", commit)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unpack(out, dir); err != nil {
		t.Fatalf("unpack %s: %v", commit, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("git archive %s: %v %s", commit, err, said.String())
	}
	built := filepath.Join(dir, "program")
	if err := build(dir, "./cmd/node", built); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(built, program); err != nil {
		t.Fatal(err)
	}
	return program
}

// lockFile waits until no other process has the file locked.
func lockFile(t *testing.T, name string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

func unpack(from io.Reader, dir string) error {
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		path := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			return err
		}
	}
}

// build builds a program of the module in dir.
func build(dir, pkg, program string) error {
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// binaryDir is removed when the tests are over.
var binaryDir string

// newer is the present program with one more activity type, built once for all tests.
var newer = sync.OnceValues(func() (string, error) {
	program := filepath.Join(binaryDir, "newer")
	return program, build("../..", "./test/upgrade/testdata/newer", program)
})

func buildNewer(t *testing.T) string {
	t.Helper()
	program, err := newer()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// process is a node.
type process struct {
	cmd   *exec.Cmd
	ready chan struct{}
	ended chan struct{}
	mu    sync.Mutex
	log   strings.Builder // guarded by mu
}

// launch runs a node until the test ends.
func launch(t *testing.T, program, addr, cluster string) *process {
	t.Helper()
	p := &process{ready: make(chan struct{}), ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program, "--http-addr", addr, "--cluster", cluster, "--log-format", "json",
		"--etcd-endpoints", strings.Join(clustertest.Shared(t).Endpoints(), ","), "--session-ttl", "5s", "--drain-delay", "500ms")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.listen(stderr)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("the node at %s said:\n%s", addr, p.said())
		}
	})
	return p
}

func (p *process) listen(stderr io.Reader) {
	defer close(p.ended)
	ready := false
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		var entry struct{ Msg string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "ready" && !ready {
			ready = true
			close(p.ready)
		}
	}
	_ = p.cmd.Wait() // the exit code says it
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// start launches a node and returns when it is ready.
func start(t *testing.T, program, addr, cluster string) *process {
	t.Helper()
	p := launch(t, program, addr, cluster)
	select {
	case <-p.ready:
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
	return p.exit(t)
}

func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
		return -1
	}
}
