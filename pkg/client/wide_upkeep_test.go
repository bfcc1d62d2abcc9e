package client_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What a cluster does by itself it does at any width: a timer ends all that an instance waits for, one that faulted is
// purged with its places, and what the index lacks of one is written again.
func TestUpkeepIsPossibleAtAnyWidth(t *testing.T) {
	t.Parallel()
	for name, n := range wideSizes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			late := &workflow.Activity{Type: "Elsa.Delay", Inputs: map[string]workflow.Expression{"timeSpan": workflow.Lit("24h")}}
			fault := seq(waitFor("first"), &workflow.Activity{Type: "Elsa.Fault"})
			w := newWorld(t, define("timed", fork("WaitAny", each(n, task()), late)), define("faults", fork("WaitAll", each(n, task()), fault)))
			m := w.wideMember(n)
			ctx, writes := t.Context(), new(atomic.Int64)
			do := func(what, id string, cmd workflow.Command) {
				t.Helper()
				eventually(t, "the node has let the instance go", func() bool { return !m.Holds(id) })
				cmd.CreatedAt = time.Now().UTC()
				s := m.spends(writes, func() { must(m.open(id).Do(ctx, cmd))(t) })
				t.Logf("%d places: %s took %s, %d MiB, of them %d in use", n, what, s.took, s.peak, s.live)
			}
			place := func(id string, fits func(workflow.Bookmark) bool) workflow.Command {
				rec := must(m.store.Reader.Instance(ctx, id))(t)
				return resumeOf("r-"+id, rec.Header, slices.IndexFunc(rec.Header.Bookmarks, fits))
			}
			do("start", "i", startOf("timed", "start-i"))
			timer := place("i", func(b workflow.Bookmark) bool { return b.DueAt != nil })
			timer.Timer = true
			do("timeout", "i", timer)
			if rec := must(m.store.Reader.Instance(ctx, "i"))(t); rec.Header.SubStatus != workflow.Finished || len(rec.Header.Bookmarks) > 0 || rec.Unwritten != nil {
				t.Fatal(standing(rec))
			}

			do("start", "j", startOf("faults", "start-j"))
			gone := must(w.etcd.Get(ctx, cluster.Root(w.name)+"bookmark/", clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(int64(n/3))))(t)
			for _, kv := range gone.Kvs {
				must(w.etcd.Delete(ctx, string(kv.Key)))(t)
			}
			locks := func(id string) string { return m.session.Locks().Prefix(cluster.InstanceLock(id)) }
			eventually(t, "the node has let the instance go", func() bool { return !m.Holds("j") })
			began := time.Now()
			repairs := must(m.store.Upkeep.Repair(ctx, locks))(t)
			t.Logf("%d places: a repair of %d took %s: %d done", n, len(gone.Kvs), time.Since(began).Round(time.Millisecond), len(repairs.Done))
			m.sound(t, "after the repair")

			do("fault", "j", place("j", func(b workflow.Bookmark) bool { return b.Name == "first" }))
			began = time.Now()
			if purged := must(m.store.Upkeep.Purge(ctx, etcdstore.Late("i", "j"), locks, nil))(t); len(purged) != 2 {
				t.Errorf("purged: %v", purged)
			}
			t.Logf("%d places: a purge took %s", n, time.Since(began).Round(time.Millisecond))
			m.sound(t, "after the purge")
		})
	}
}

// An instance waits for as many children, and ends with them.
func TestAsManyChildrenAsPlaces(t *testing.T) {
	t.Parallel()
	n := testsize.Of(100_000, 250)
	child := &workflow.Activity{Type: "Elsa.ExecuteWorkflow", Inputs: map[string]workflow.Expression{"workflowDefinitionId": workflow.Lit("c"), "waitForCompletion": workflow.Lit(true)}}
	w := newWorld(t, define("d", each(n, child)), define("c", waitFor("x")))
	m := w.member("a", cluster.ModeDistributed, slow, many, func(c *client.Config) {
		env := c.Env
		c.Env = func() engine.Env {
			e := env()
			e.Head = func(string) (int, bool) { return 1, true }
			return e
		}
	})
	ctx := t.Context()
	do := func(what, id string, cmd workflow.Command) *store.Record {
		t.Helper()
		eventually(t, "the node has let the instance go", func() bool { return !m.Holds(id) })
		cmd.CreatedAt = time.Now().UTC()
		s := m.spends(new(atomic.Int64), func() { must(m.open(id).Do(ctx, cmd))(t) })
		t.Logf("%d children: the %s took %s, %d MiB, of them %d in use", n, what, s.took, s.peak, s.live)
		return must(m.store.Reader.Instance(ctx, id))(t)
	}
	cancels := func() int {
		return int(must(w.etcd.Get(ctx, cluster.Root(w.name)+"cancel/", clientv3.WithPrefix(), clientv3.WithCountOnly()))(t).Count)
	}
	if rec := do("start", "i", startOf("d", "start-i")); len(rec.Header.Bookmarks) != n {
		t.Fatal(standing(rec))
	}
	if rec := do("cancel", "i", workflow.Command{ID: "end", Kind: workflow.CommandCancel}); rec.Header.SubStatus != workflow.Cancelled || cancels() != n {
		t.Errorf("%s, and %d children are to be cancelled", standing(rec), cancels())
	}
	if rec := do("delete of the ended one", "i", workflow.Command{ID: "gone", Kind: workflow.CommandDelete}); rec != nil {
		t.Error(standing(rec))
	}
	if rec := do("start", "j", startOf("d", "start-j")); len(rec.Header.Bookmarks) != n {
		t.Fatal(standing(rec))
	}
	if rec := do("delete", "j", workflow.Command{ID: "gone", Kind: workflow.CommandDelete}); rec != nil || cancels() != 2*n {
		t.Errorf("%s, and %d children are to be cancelled", standing(rec), cancels())
	}
}

// wideSizes are the widths that tests of wide instances are for.
func wideSizes() map[string]int {
	sizes := map[string]int{"narrow": wide}
	if testsize.Whole() {
		sizes["10000"], sizes["100000"] = 9_999, 99_999 // and one event
	}
	return sizes
}

// wideMember is a member for instances of n places.
func (w *world) wideMember(n int) *member {
	if n >= 1000 {
		return w.member("a", cluster.ModeDistributed, slow, many)
	}
	w.narrow(true)
	return w.member("a", cluster.ModeDistributed, slow, narrowly(true))
}

// Parts that were written ahead of their commit may be gone before it, as their lease ended: the commit is refused, and
// all of it is done again. Where nothing takes them nothing is left.
func TestPartsWrittenAheadThatAreGoneAreWrittenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", each(wide, task())))
	m := w.wideMember(wide)
	must(m.open("i").Do(t.Context(), startOf("d", "start-i")))(t)
	was := must(m.store.Reader.Instance(t.Context(), "i"))(t)
	raw := must(workflow.Marshal(map[string]any{"instance": was.Header, "state": was.State}))(t)
	eventually(t, "the node has let the instance go", func() bool { return !m.Holds("i") })
	must(m.open("i").Do(t.Context(), workflow.Command{ID: "delete", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}))(t)
	eventually(t, "the node has let the instance go", func() bool { return !m.Holds("i") })
	hanging := func() (leases []int64) {
		for _, kv := range must(w.etcd.Get(t.Context(), cluster.Root(w.name)+"part/i/", clientv3.WithPrefix()))(t).Kvs {
			if kv.Lease != 0 && !slices.Contains(leases, kv.Lease) {
				leases = append(leases, kv.Lease)
			}
		}
		return leases
	}
	var ended atomic.Int64
	m.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.PutsUnder(cluster.Root(w.name)+"journal/i/") && ended.Load() == 0 {
			for _, lease := range hanging() {
				must(w.etcd.Revoke(t.Context(), clientv3.LeaseID(lease)))(t)
				ended.Add(1)
			}
		}
		return false
	}})
	r := must(m.open("i").Do(t.Context(), workflow.Command{ID: "import", Kind: workflow.CommandImport, State: raw, CreatedAt: time.Now().UTC()}))(t)
	if len(r.Instance.Bookmarks) != wide || ended.Load() == 0 {
		t.Errorf("it waits at %d places, and %d leases ended before its commit", len(r.Instance.Bookmarks), ended.Load())
	}
	if left := hanging(); len(left) > 0 {
		t.Errorf("parts hang on the leases %v", left)
	}
	m.sound(t, "then")
}
