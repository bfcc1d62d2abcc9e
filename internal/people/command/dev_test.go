package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/apiclient"
)

// devRun is weft dev in a process of its own.
type devRun struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys io.WriteCloser
	temp string // where its temporary files are

	mu  sync.Mutex
	out bytes.Buffer // guarded by mu
}

func (d *devRun) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Write(b)
}

func (d *devRun) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.String()
}

func runDev(t *testing.T, args ...string) *devRun {
	t.Helper()
	d := &devRun{t: t, temp: t.TempDir()}
	d.cmd = exec.CommandContext(t.Context(), os.Args[0], append([]string{"dev", "--http-addr", "127.0.0.1:0", "--keys"}, args...)...)
	d.cmd.Env = append(os.Environ(), "TEST_RUN_MAIN=1", "TMPDIR="+d.temp)
	d.cmd.Stdout, d.cmd.Stderr = d, d
	var err error
	if d.keys, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		if t.Failed() {
			t.Log(d.text())
		}
	})
	return d
}

// wants waits until the program has written something, n times in all.
func (d *devRun) wants(n int, pattern string) []string {
	d.t.Helper()
	what := regexp.MustCompile(pattern)
	var found []string
	polltest.Eventually(d.t, fmt.Sprintf("%d times %s in what it writes", n, pattern), func() bool {
		found = what.FindStringSubmatch(d.text())
		return len(what.FindAllString(d.text(), -1)) >= n
	})
	return found
}

func (d *devRun) key(key string) {
	d.t.Helper()
	if _, err := io.WriteString(d.keys, key+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

func (d *devRun) api() *apiclient.Client {
	d.t.Helper()
	c, err := apiclient.New(apiclient.Config{Server: d.wants(1, `api +(http://127\.0\.0\.1:\d+)/api/v1`)[1]})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// ends checks that it ends in order, and leaves nothing.
func (d *devRun) ends() {
	d.t.Helper()
	late := time.AfterFunc(2*time.Minute, func() { _ = d.cmd.Process.Signal(syscall.SIGABRT) }) // which shows where it stands
	defer late.Stop()
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("it ends with %v", err)
	}
	left, err := os.ReadDir(d.temp)
	if err != nil || len(left) > 0 {
		d.t.Errorf("it leaves %v, %v", left, err)
	}
}

func TestDevPublishesWhatIsSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("one.yaml", "id: one\ninputs: {n: {type: number}}\nroot:\n  - writeLine: one\n")
	save("one.test.yaml", "not a definition")
	d := runDev(t, dir)
	d.wants(1, `console +http://127\.0\.0\.1:\d+/\n`)
	d.wants(1, `published +one v1 +\S+one\.yaml\n`)
	d.wants(1, `try +weft run one -i n=…\n`)

	save("two.yaml", "id: two\nroot:\n  - writeLin: two\n")
	d.wants(1, `two\.yaml:3:5: .*did you mean writeLine.*\n.*\|   - writeLin: two`)
	save("two.yaml", "id: two\nroot:\n  - fault: it broke\n")
	d.wants(1, `published +two v1 +\S+two\.yaml\n`)
	in, err := d.api().ExecuteDefinition(t.Context(), "two", apiclient.StartRequest{})
	if err != nil {
		t.Fatal(err)
	}
	d.wants(1, `faulted +`+in.Body.InstanceID+` of two v1: weft explain `+in.Body.InstanceID+`\n`)

	if err := os.Rename(filepath.Join(dir, "two.yaml"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	d.wants(1, `gone +\S+two\.yaml: two stays published until: weft definitions retract two\n`)
	d.key("r")
	d.wants(1, `as it was +one v1`)
	d.key("x")
	d.wants(2, `keys:? +r publish again, q quit`)
	if text := d.text(); strings.Contains(text, "one.test.yaml") {
		t.Errorf("a test file was taken for a definition:\n%s", text)
	}
	d.key("q")
	d.ends()
}

func TestDevWithoutADirectoryHasAnExample(t *testing.T) {
	t.Parallel()
	d := runDev(t)
	d.wants(1, `try +weft run hello -i name=…\n`)
	if _, err := d.api().ExecuteDefinition(t.Context(), "hello", apiclient.StartRequest{Input: map[string]any{"name": "Ada"}}); err != nil {
		t.Fatal(err)
	}
	d.wants(1, `(?m)^Hello, Ada!\n`)
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	d.ends()
}

func TestDevKillsAndPausesNodes(t *testing.T) {
	t.Parallel()
	d := runDev(t, "--nodes", "3")
	api := d.api()
	nodes := func(want int) {
		t.Helper()
		polltest.Eventually(t, fmt.Sprintf("%d live nodes", want), func() bool {
			all, err := api.ListNodes(t.Context())
			return err == nil && len(all.Body.Items) == want
		})
	}
	nodes(3)
	d.key("k")
	d.wants(1, `killed +node-3: `)
	nodes(2)
	d.key("p")
	d.wants(1, `node-3 does not run: k starts it`)
	d.key("k")
	d.wants(1, `ready +node-3\n`)
	nodes(3)
	d.key("p")
	d.wants(1, `paused +node-3: `)
	nodes(2)
	d.key("p")
	d.wants(1, `goes on +node-3\n`)
	nodes(3)
	d.key("p")
	d.wants(2, `paused +node-3: `)
	d.key("q")
	d.ends()
}

// Closing the terminal ends it in order.
func TestDevEndsWithItsTerminal(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests themselves run under nohup, which what they start respects")
	}
	t.Parallel()
	d := runDev(t, "--nodes", "2")
	d.wants(1, `try +weft run hello`)
	for range 2 { // the shell sends one and the kernel another
		if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	d.ends()
}

// Whatever kills it, its nodes end too, also one that stands still.
func TestDevLeavesNoNodesWhenItIsKilled(t *testing.T) {
	t.Parallel()
	d := runDev(t, "--nodes", "3")
	d.wants(1, `try +weft run hello`)
	d.key("p")
	d.wants(1, `paused +node-3: `)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = d.cmd.Wait() // it returns when nobody holds its standard error any more, which its nodes have too
	}()
	polltest.Eventually(t, "its nodes have ended", func() bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
}

// What cannot be read is said once, and is published when it can.
func TestDevGoesOnBesideWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop.yaml")
	if err := os.Symlink("loop.yaml", loop); err != nil {
		t.Fatal(err)
	}
	save := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte("id: "+name+"\nroot:\n  - writeLine: x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("one")
	d := runDev(t, dir)
	d.wants(1, `not read +.*loop\.yaml: `)
	d.wants(1, `published +one v1`)
	away := dir + "-away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	d.wants(1, `not read +.*no such file`)
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	save("loop")
	d.wants(1, `published +loop v1`)
	d.key("q")
	d.ends()
	if text := d.text(); strings.Count(text, "not read") > 5 {
		t.Errorf("it says that again and again:\n%s", text)
	}
}

// Expressions and webhooks find the same secrets on each node.
func TestDevHasSecrets(t *testing.T) {
	t.Parallel()
	secrets := t.TempDir()
	if err := os.WriteFile(filepath.Join(secrets, "crm-key"), []byte("a key that signs"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := runDev(t, "--secrets-dir", secrets, "--nodes", "2")
	api := d.api()
	nodes, err := api.ListNodes(t.Context())
	if err != nil || len(nodes.Body.Items) != 2 {
		t.Fatalf("%+v, %v", nodes, err)
	}
	for i, n := range nodes.Body.Items {
		c, err := apiclient.New(apiclient.Config{Server: "http://" + n.Address})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("crm-", i)
		if w, err := c.PutWebhook(t.Context(), name, apiclient.WebhookRequest{URL: "http://127.0.0.1:1/", On: []string{"ended"}, Secrets: []string{"crm-key"}}); err != nil || w.Body.Name != name {
			t.Errorf("at %s: %+v, %v", n.NodeID, w, err)
		}
		_, err = c.PutWebhook(t.Context(), name, apiclient.WebhookRequest{URL: "http://127.0.0.1:1/", On: []string{"ended"}, Secrets: []string{"none"}})
		if err == nil || !strings.Contains(err.Error(), "--secrets-dir") {
			t.Errorf("a secret that is not there: %v", err)
		}
	}
	d.key("q")
	d.ends()
}

func TestDevRefusesWhatIsNoDirectory(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"dev", "--nodes", "0"}, {"dev", "a", "b"}, {"dev", filepath.Join(t.TempDir(), "none")}, {"dev", "dev_test.go"}} {
		var stdout, stderr bytes.Buffer
		cmd := newCommand(&stdout, &stderr, func() []string { return nil })
		cmd.SetArgs(args)
		if got := code(cmd.ExecuteContext(t.Context()), &stderr); got != 2 {
			t.Errorf("weft %q ends with %d, want 2: %s", args, got, stderr.String())
		}
	}
}

// Types that files declare are those of all nodes, and such a file among the definitions is no definition.
func TestDevKnowsDeclaredTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	types := filepath.Join(dir, "activities")
	if err := os.Mkdir(types, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"activities/ship.yaml": "type: acme.Ship\ntask: ship\n", "order.yaml": "id: order\nroot: [acme.Ship: {}]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := runDev(t, dir, "--activities", types, "--nodes", "2")
	d.wants(1, `published +order v1`)
	d.wants(1, `activity type +.*ship\.yaml: these are read when weft dev starts`)
	if strings.Contains(d.text(), "not published") {
		t.Error("a file of a type is published")
	}
}
