//go:build linux

package node_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// small mounts a file system of some MiB, which takes the right to mount.
func small(t *testing.T, mib int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("weft", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("NOT TESTED: a node on a disk that is full needs a file system of its own, and this process may not mount one (%v); run this test as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk leaves free bytes of the disk that has dir.
func fillDisk(t *testing.T, dir string, free int64) {
	t.Helper()
	other := filepath.Join(dir, "other")
	_ = os.Remove(other)
	sp, err := disk.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	if take := sp.Free - free; take > 0 {
		if err := disk.Make(other, take); err != nil {
			t.Fatal(err)
		}
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// As the disk of an embedded etcd fills up, by whomever, its node refuses starts, then all but ends, then all that
// writes, each in the same words; it lives with no byte free and answers who reads, and goes on by itself when there
// is room. What it said yes to is there.
func TestAFullDiskIsToldAndLivedThrough(t *testing.T) {
	t.Parallel()
	dir := small(t, 600)
	log := &lines{}
	cfg := node.Config{DataDir: filepath.Join(dir, "data"), Logger: slog.New(slog.NewTextHandler(log, nil))}
	n := start(t, cfg)
	f := &filling{Node: n, t: t}
	if a := f.ask("POST", "/definitions", hoarder); a.status != 201 {
		t.Fatalf("publish: %+v", a)
	}
	var kept []string
	for range 12 {
		kept = append(kept, f.execute(1000).InstanceID)
	}
	refused := func(what string, a answer, words string) {
		t.Helper()
		if a.status != 503 || a.Code != "store-nearly-full" || a.retryAfter == "" || !strings.Contains(a.Detail, words) || !strings.Contains(a.Detail, "docs/runbooks/disk-full.md") {
			t.Errorf("%s: %+v, want 503 with %q", what, a, words)
		}
	}

	fillDisk(t, dir, 200<<20)
	reaches(t, f.Node, 1)
	refused("start", f.execute(10), "starts and new definitions are refused")
	if a := f.event(kept[0]); a.status != 200 {
		t.Errorf("event: %+v", a)
	}

	fillDisk(t, dir, 100<<20)
	reaches(t, f.Node, 2)
	refused("event", f.event(kept[0]), "only what ends or deletes instances")
	if a := f.ask("POST", "/instances/"+kept[1]+"/cancel", ""); a.status != 200 {
		t.Errorf("cancel: %+v", a)
	}

	fillDisk(t, dir, 0)
	reaches(t, f.Node, 3)
	refused("event", f.event(kept[0]), "nothing is taken that writes")
	refused("cancel", f.ask("POST", "/instances/"+kept[2]+"/cancel", ""), "nothing is taken that writes")
	refused("delete", f.ask("DELETE", "/instances/"+kept[2], ""), "nothing is taken that writes")
	metrics := scraped(t, n.HTTPAddr())
	for _, want := range []string{`weft_disk_bytes{part="free"} 0`, `weft_disk_bytes{part="size"} 6.291456e+08`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no metric %s", want)
		}
	}
	// The database grows into what was held for it.
	etcd, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints()})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	for i := range 20 {
		if _, err := etcd.Put(t.Context(), fmt.Sprintf("/other/%d", i), ballast(1<<20)); err != nil {
			t.Fatalf("etcd on a full disk: %v", err)
		}
	}
	for _, id := range kept {
		if a := f.ask("GET", "/instances/"+id, ""); a.status != 200 {
			t.Errorf("read %s: %+v", id, a)
		}
	}

	if err := os.Remove(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	reaches(t, f.Node, 0)
	if a := f.event(kept[0]); a.status != 200 {
		t.Errorf("event after there was room: %+v", a)
	}
	if a := f.execute(10); a.status != 200 {
		t.Errorf("start after there was room: %+v", a)
	}
	told := log.String()
	for _, want := range []string{"the embedded etcd may become larger than its disk", "etcd, or its disk, is nearly full", "etcd, or its disk, is full", "nothing is taken that writes", "etcd has room again"} {
		if !strings.Contains(told, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// A node does not start where its etcd would end the process at once, or when it needs the next file of its log; it
// says what is wrong. With the little that etcd needs it starts, and takes nothing.
func TestANodeStartsOnAFullDiskOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	dir := small(t, 500)
	cfg := node.Config{DataDir: filepath.Join(dir, "data"), HTTPAddr: "127.0.0.1:0"}
	wrong := func(what string, says ...string) {
		t.Helper()
		_, err := full.New(t.Context(), cfg)
		for _, say := range append(says, "the disk of "+cfg.DataDir) {
			if err == nil || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: %v, want %q", what, err, say)
			}
		}
	}
	fillDisk(t, dir, 100<<20)
	wrong("nothing there", "too little room for a new etcd")

	fillDisk(t, dir, 500<<20)
	n := start(t, cfg)
	f := &filling{Node: n, t: t}
	f.ask("POST", "/definitions", hoarder)
	var id string
	polltest.Eventually(t, "an instance starts", func() bool { id = f.execute(1000).InstanceID; return id != "" })
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, dir, 0)
	wrong("full", "is full", "nothing that was acknowledged is lost", "docs/runbooks/disk-full.md")

	fillDisk(t, dir, 96<<20)
	f.Node = start(t, cfg)
	reaches(t, f.Node, 3)
	if a := f.ask("GET", "/instances/"+id, ""); a.status != 200 {
		t.Errorf("read: %+v", a)
	}
}
