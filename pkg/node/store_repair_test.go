package node

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/weft-run/weft/internal/polltest"
)

// An embedded etcd that ran into its alarm is repaired through its running node's socket and through its directory
// alone; a dry run says all of it and does none; nothing that is kept goes.
func TestAStoreIsRepairedThroughItsNodeOrAlone(t *testing.T) {
	const quota = 32 << 20
	dir := t.TempDir()
	cfg, err := Config{DataDir: dir, EtcdQuota: quota}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	undo := cleanups{log: cfg.Logger}
	clients, err := embedEtcd(t.Context(), cfg, &undo)
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("x", 1<<20)
	for i := 0; ; i++ {
		if _, err = clients.main.Put(t.Context(), fmt.Sprint("/ballast/", i%4), value); err != nil {
			break
		}
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatal(err)
	}
	repair := func(dry bool) []string {
		t.Helper()
		var lines []string
		if err := RepairStore(t.Context(), Config{DataDir: dir, EtcdQuota: quota}, dry, func(line string) { lines = append(lines, line) }); err != nil {
			t.Fatalf("%v after %q", err, lines)
		}
		return lines
	}
	writes := func() error {
		_, err := clients.main.Put(t.Context(), "/ballast/more", "x")
		return err
	}
	lines := repair(true)
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "would compact at revision") || !strings.Contains(text, "would defragment member weft") || !strings.Contains(text, "would take back the alarm NOSPACE") {
		t.Errorf("a dry run says %q", lines)
	}
	if err := writes(); !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatalf("a dry run did something: %v", err)
	}
	lines = repair(false)
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "take back the alarm NOSPACE") }); i < 0 {
		t.Errorf("it says %q", lines)
	}
	polltest.Eventually(t, "etcd writes again", func() bool { return writes() == nil })
	if kept, err := clients.main.Get(t.Context(), "/ballast/3"); err != nil || len(kept.Kvs) != 1 {
		t.Errorf("%v, %v", kept, err)
	}
	if err := undo.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines = repair(false); !slices.Contains(lines, "there is no alarm to take back") {
		t.Errorf("alone, without an alarm, it says %q", lines)
	}
	if err := RepairStore(t.Context(), Config{DataDir: dir + "-typo"}, false, func(string) {}); err == nil {
		t.Error("it repaired an etcd that is not there")
	} else if _, err := os.Stat(dir + "-typo"); err == nil {
		t.Error("it made one")
	}
}
