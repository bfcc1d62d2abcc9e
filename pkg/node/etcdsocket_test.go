package node_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/node"
)

// The embedded etcd asks nobody who they are, so nobody else may get there: whoever
// made the data directory, whatever a killed node left, however long its path is.
func TestTheEmbeddedEtcdIsForItsUserOnly(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, dir string) string{
		"new":  func(_ *testing.T, dir string) string { return filepath.Join(dir, "data") },
		"long": func(_ *testing.T, dir string) string { return filepath.Join(dir, strings.Repeat("x", 120)) },
		"open to all, with what a killed node left": func(t *testing.T, dir string) string {
			if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, d := range []string{dir, filepath.Join(dir, "run")} {
				if err := os.Chmod(d, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "run", "etcd.sock"), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := os.MkdirTemp("", "w") //nolint:usetesting // the path of t.TempDir is too long for a socket already
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(root) })
			dir := prepare(t, root)
			var left string
			for range 2 { // the second one finds the first one's data
				n := start(t, node.Config{DataDir: dir})
				u, err := url.Parse(n.EtcdEndpoints()[0])
				if err != nil || u.Scheme != "unix" || u.Host != "" {
					t.Fatalf("etcd is at %v, %v", n.EtcdEndpoints(), err)
				}
				if inside := strings.HasPrefix(u.Path, dir+"/"); inside == (name == "long") {
					t.Errorf("the socket is %s", u.Path)
				}
				info, err := os.Stat(filepath.Dir(u.Path))
				if err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("the directory of the socket: %v, %v", info.Mode(), err)
				}
				c, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints(), DialTimeout: 10 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.Get(t.Context(), "/weft/default/", clientv3.WithPrefix(), clientv3.WithCountOnly())
				if err != nil || got.Count == 0 {
					t.Errorf("%v keys, %v", got, err)
				}
				c.Close()
				if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
					t.Fatal(err)
				}
				left = u.Path
			}
			if _, err := os.Stat(left); !os.IsNotExist(err) {
				t.Errorf("after the end %s: %v", left, err)
			}
		})
	}
}

// Callers who give up end many watches at once, and a node that runs its own etcd goes
// on to hear of changes, and ends in time.
func TestManyWatchesOfTheEmbeddedEtcdEndAtOnce(t *testing.T) {
	t.Parallel()
	n := start(t, node.Config{})
	base := "http://" + n.HTTPAddr() + "/api/v1"
	call := func(ctx context.Context, method, path, body string, headers ...string) int {
		req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	if got := call(t.Context(), http.MethodPost, "/definitions", "id: w\nroot:\n  - event: go\n", "Content-Type", "application/yaml"); got != http.StatusCreated {
		t.Fatalf("publish: %d", got)
	}
	if got := call(t.Context(), http.MethodPost, "/definitions/w/execute", `{"instanceId": "w"}`, "Content-Type", "application/json"); got != http.StatusOK {
		t.Fatalf("start: %d", got)
	}
	for range 10 {
		ctx, giveUp := context.WithTimeout(t.Context(), 200*time.Millisecond)
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() { call(ctx, http.MethodGet, "/instances/w", "", "Prefer", "wait=30") })
		}
		all.Wait()
		giveUp()
	}
	ended := make(chan int, 1)
	go func() {
		ended <- call(t.Context(), http.MethodPost, "/events/go", "{}", "Content-Type", "application/json")
	}()
	if got := call(t.Context(), http.MethodGet, "/instances/w", "", "Prefer", "wait=30"); got != http.StatusOK {
		t.Errorf("wait: %d", got)
	}
	if got := <-ended; got != http.StatusOK {
		t.Errorf("the event: %d", got)
	}
	stop, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := n.Stop(stop); err != nil {
		t.Errorf("it does not end: %v", err)
	}
}
