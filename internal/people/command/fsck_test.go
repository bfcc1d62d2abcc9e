package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// fsck runs the command and gives what it writes.
func fsck(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newCommand(&stdout, &stderr, func() []string { return nil })
	cmd.SetArgs(append([]string{"fsck"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return stdout.String(), err
}

func TestFsckOfWhatANodeLeft(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := runNode(t, "--definitions", examples, "--data-dir", dir)
	if status, body := p.post(t, "/api/v1/definitions/order-approval/execute", `{"input": {"orderId": "42", "amount": 5000}}`); status != 200 {
		t.Fatalf("execute: %d %s", status, body)
	}
	_, err = fsck(t, "--data-dir", dir)
	if err == nil || !strings.Contains(err.Error(), "in use by another node") {
		t.Fatalf("beside the node that has the directory: %v", err)
	}
	// The path of this directory is too long for a socket, so the node has it elsewhere.
	_, socket, _ := strings.Cut(err.Error(), "--etcd-endpoints ")
	if out, err := fsck(t, "--etcd-endpoints", socket); err != nil || !strings.HasSuffix(out, " 0 findings\n") {
		t.Errorf("through the socket %q: %v, it says %s", socket, err, out)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	out, err := fsck(t, "--data-dir", dir)
	if err != nil || !strings.HasSuffix(out, " 0 findings\n") {
		t.Errorf("%v, it says %s", err, out)
	}
}

// A check of nothing would pass: what was misspelled is told, and nothing is made.
func TestFsckMakesNothing(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	n, err := full.New(t.Context(), node.Config{DataDir: whole, HTTPAddr: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	if err := n.Run(ctx, func(*node.Node) { end() }); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	place := func(name string, parts ...string) string {
		dir := filepath.Join(root, name)
		for _, part := range parts {
			at := filepath.Join(dir, part)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	before := func() (names []string) {
		_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			names = append(names, path)
			return err
		})
		return names
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"typo":                    {[]string{"--data-dir", place("typo")}, "there is no data directory"},
		"another directory":       {[]string{"--data-dir", place("other", "notes.txt")}, "has no whole etcd"},
		"no log":                  {[]string{"--data-dir", place("nolog", "etcd/member/snap/db")}, "has no whole etcd"},
		"an empty log":            {[]string{"--data-dir", place("emptylog", "etcd/member/snap/db", "etcd/member/wal/0.tmp")}, "member/wal is empty"},
		"no database":             {[]string{"--data-dir", place("nodb", "etcd/member/wal/0.wal")}, "has no whole etcd"},
		"the etcd itself":         {[]string{"--data-dir", filepath.Join(whole, "etcd")}, "is the directory of an etcd itself"},
		"a file":                  {[]string{"--data-dir", filepath.Join(place("file", "notes.txt"), "notes.txt")}, "has no whole etcd"},
		"another cluster":         {[]string{"--data-dir", whole, "--cluster", "defualt"}, `no key of a cluster "defualt"; it has default`},
		"another cluster, mended": {[]string{"--data-dir", whole, "--cluster", "defualt", "--repair"}, `no key of a cluster "defualt"; it has default`},
	} {
		was := before()
		if out, err := fsck(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, it says %s", name, err, out)
		}
		if is := before(); !slices.Equal(was, is) {
			t.Errorf("%s: there was %q, and is %q", name, was, is)
		}
	}
	if out, err := fsck(t, "--data-dir", whole); err != nil {
		t.Errorf("%v, it says %s", err, out)
	}
}

func TestFsckNamesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t)
	if _, err := clientv3.NewKV(etcd.Client(t)).Put(t.Context(), "/weft/other/bookmark/h/-/i/b", "{}"); err != nil {
		t.Fatal(err)
	}
	out, err := fsck(t, "--etcd-endpoints", etcd.Endpoints()[0], "--cluster", "other", "--json")
	if err == nil {
		t.Error("no error")
	}
	var check etcdstore.Check
	if err := json.Unmarshal([]byte(out), &check); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(check.Findings) != 1 || check.Findings[0].Rule != "bookmark-without-instance" || check.Findings[0].Key != "bookmark/h/-/i/b" {
		t.Errorf("found %+v", check)
	}
	if out, err := fsck(t, "--etcd-endpoints", etcd.Endpoints()[0], "--cluster", "other"); err == nil || !strings.Contains(out, "bookmark-without-instance\tbookmark/h/-/i/b\t") {
		t.Errorf("%v, it says %s", err, out)
	}
}

// What is damaged is told with its key and what would be done; --repair does it beside
// the node, says so, and has nothing to do a second time.
func TestFsckRepairsBesideANode(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	etcd := clustertest.Start(t)
	at := []string{"--etcd-endpoints", etcd.Endpoints()[0], "--cluster", "mended"}
	p := runNode(t, append([]string{"--definitions", examples}, at...)...)
	status, body := p.post(t, "/api/v1/definitions/order-approval/execute", `{"instanceId": "o", "input": {"orderId": "42", "amount": 5000}}`)
	if status != 200 {
		t.Fatalf("execute: %d %s", status, body)
	}
	kv := clientv3.NewKV(etcd.Client(t))
	for _, key := range []string{"instance/o", "meta/link-key"} {
		if _, err := kv.Put(t.Context(), "/weft/mended/"+key, "junk"); err != nil {
			t.Fatal(err)
		}
	}
	out, err := fsck(t, at...)
	if err == nil || strings.Count(out, "damaged\t") != 2 || strings.Count(out, "\n\t--repair: sets it aside as damaged/") != 2 || !strings.Contains(out, "more keys fit nothing because of it") {
		t.Errorf("%v, it says %s", err, out)
	}
	out, err = fsck(t, append([]string{"--repair"}, at...)...)
	if err != nil || strings.Count(out, "repaired: damaged\t") != 2 || !strings.Contains(out, "\n\tthen you: restart the nodes") || !strings.HasSuffix(out, " 0 findings\n") {
		t.Errorf("%v, it says %s", err, out)
	}
	var done etcdstore.Repairs
	out, err = fsck(t, append([]string{"--repair", "--json"}, at...)...)
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err != nil || len(done.Done) != 0 || len(done.Check.Findings) != 0 || done.Check.Aside != 3 {
		t.Errorf("a second time: %v, %s", err, out)
	}
}

// A schedule that lost its occurrence starts nothing, and nothing else would tell. A refresh
// brings the next one back.
func TestFsckFindsAScheduleThatStartsNothing(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t)
	at := []string{"--etcd-endpoints", etcd.Endpoints()[0], "--cluster", "timed"}
	p := runNode(t, at...)
	for _, src := range []string{
		"id: yearly\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n  - writeLine: x\n",
		"id: once\nroot:\n  - startAt: 2001-01-01T00:00:00Z\n    id: then\n    trigger: true\n  - writeLine: x\n",
	} {
		if status, body := p.post(t, "/api/v1/definitions", src); status != 201 {
			t.Fatalf("publish: %d %s", status, body)
		}
	}
	kv := clientv3.NewKV(etcd.Client(t))
	polltest.Eventually(t, "what was to start once has started", func() bool {
		kept, err := kv.Get(t.Context(), "/weft/timed/cron/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		return err == nil && kept.Count == 1
	})
	polltest.Eventually(t, "all fits", func() bool {
		_, err := fsck(t, at...)
		return err == nil
	})
	if _, err := kv.Delete(t.Context(), "/weft/timed/cron/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	out, err := fsck(t, at...)
	want := "schedule-missing\tdefinition-index/yearly\tactivity newyear of version 1 has no occurrence to come: nothing starts by it\n\tyou: POST /api/v1/definitions/refresh {\"definitionIds\": [\"yearly\"]}\n"
	if err == nil || !strings.Contains(out, want) || !strings.HasSuffix(out, " 1 findings\n") {
		t.Errorf("%v, it says %s", err, out)
	}
	if status, body := p.post(t, "/api/v1/definitions/refresh", `{"definitionIds": ["yearly"]}`); status != 200 {
		t.Fatalf("refresh: %d %s", status, body)
	}
	if out, err := fsck(t, at...); err != nil {
		t.Errorf("%v, it says %s", err, out)
	}
}
