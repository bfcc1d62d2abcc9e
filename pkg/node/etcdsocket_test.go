package node_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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
