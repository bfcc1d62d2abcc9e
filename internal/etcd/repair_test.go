package etcd

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/undo"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// An embedded etcd that ran into its alarm is repaired through its running node's socket and through its directory
// alone; a dry run says all of it and does none; nothing that is kept goes.
func TestAStoreIsRepairedThroughItsNodeOrAlone(t *testing.T) {
	const quota = 32 << 20
	dir := t.TempDir()
	cfg := Config{DataDir: dir, Quota: quota, DialTimeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}
	undo := undo.Steps{Log: cfg.Log}
	clients, err := embedded(t.Context(), cfg, &undo)
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("x", 1<<20)
	for i := 0; ; i++ {
		if _, err = clients.Main.Put(t.Context(), fmt.Sprint("/ballast/", i%4), value); err != nil {
			break
		}
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatal(err)
	}
	repair := func(dry bool) []string {
		t.Helper()
		var lines []string
		if err := repaired(t, cfg, dry, func(line string) { lines = append(lines, line) }); err != nil {
			t.Fatalf("%v after %q", err, lines)
		}
		return lines
	}
	writes := func() error {
		_, err := clients.Main.Put(t.Context(), "/ballast/more", "x")
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
	if kept, err := clients.Main.Get(t.Context(), "/ballast/3"); err != nil || len(kept.Kvs) != 1 {
		t.Errorf("%v, %v", kept, err)
	}
	if err := undo.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines = repair(false); !slices.Contains(lines, "there is no alarm to take back") {
		t.Errorf("alone, without an alarm, it says %q", lines)
	}
	if err := repaired(t, Config{DataDir: dir + "-typo", Log: cfg.Log}, false, func(string) {}); err == nil {
		t.Error("it repaired an etcd that is not there")
	} else if _, err := os.Stat(dir + "-typo"); err == nil {
		t.Error("it made one")
	}
}

// Of several members the leader is defragmented last, whichever it is: a change of leader in the middle would cost each
// write more than that of the member itself.
func TestTheLeaderIsRepairedLast(t *testing.T) {
	t.Parallel()
	ends := clustertest.Members(t, 0, 0, 0)
	etcd, err := clientv3.New(clientv3.Config{Endpoints: ends, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	if _, err := etcd.Put(t.Context(), "/weft/x", "y"); err != nil {
		t.Fatal(err)
	}
	var orders []string
	for range 2 {
		leader := leaderOf(t, etcd, ends)
		var order []string
		tell := func(line string) {
			if name, ok := strings.CutPrefix(line, "defragment member "); ok {
				name, _, _ = strings.Cut(name, ";")
				order = append(order, name)
			}
		}
		if err := repaired(t, Config{Endpoints: ends, DialTimeout: 10 * time.Second, Cluster: "weft", SessionTTL: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}, false, tell); err != nil {
			t.Fatal(err)
		}
		if len(order) != 3 || order[2] != leader {
			t.Errorf("defragmented %q, with the leader %s", order, leader)
		}
		orders = append(orders, order[2])
		moveLeader(t, ends, leader)
	}
	if orders[0] == orders[1] {
		t.Errorf("the leader was %s both times", orders[0])
	}
}

// repaired repairs, and closes what it opened for that.
func repaired(t *testing.T, cfg Config, dry bool, tell func(line string)) error {
	t.Helper()
	undo := undo.Steps{Log: cfg.Log}
	err := Repair(t.Context(), cfg, &undo, dry, tell)
	return errors.Join(err, undo.Run(t.Context()))
}

// statuses are those of the members m0, m1 and so on.
func statuses(t *testing.T, etcd *clientv3.Client, ends []string) []*clientv3.StatusResponse {
	t.Helper()
	all := make([]*clientv3.StatusResponse, len(ends))
	for i, e := range ends {
		var err error
		if all[i], err = etcd.Status(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func leaderOf(t *testing.T, etcd *clientv3.Client, ends []string) string {
	t.Helper()
	for i, s := range statuses(t, etcd, ends) {
		if s.Leader == s.Header.MemberId {
			return fmt.Sprintf("m%d", i)
		}
	}
	t.Fatal("there is no leader")
	return ""
}

// moveLeader makes another member the leader, which only the leader can do.
func moveLeader(t *testing.T, ends []string, leader string) {
	t.Helper()
	at := ends[leader[1]-'0']
	own, err := clientv3.New(clientv3.Config{Endpoints: []string{at}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for _, s := range statuses(t, own, ends) {
		if s.Header.MemberId != s.Leader {
			if _, err := own.MoveLeader(t.Context(), s.Header.MemberId); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}
