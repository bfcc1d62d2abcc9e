package client_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// spent is what a step of an instance took of a node: time, transactions that write, and memory above what there was
// before.
type spent struct {
	took   time.Duration
	writes int64
	peak   uint64 // MiB of heap, with what is garbage
	live   uint64 // MiB that the collector found in use
}

// spends measures a step. writes counts transactions.
func (m *member) spends(writes *atomic.Int64, step func()) spent {
	heap := func() (now [2]uint64) {
		sample := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
		runtimemetrics.Read(sample)
		return [2]uint64{sample[0].Value.Uint64() >> 20, sample[1].Value.Uint64() >> 20}
	}
	runtime.GC()
	before, stop, most := heap(), make(chan struct{}), make(chan [2]uint64)
	go func() {
		peak := before
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			now := heap()
			peak = [2]uint64{max(peak[0], now[0]), max(peak[1], now[1])}
			select {
			case <-tick.C:
			case <-stop:
				tick.Stop()
				most <- peak
				return
			}
		}
	}()
	began, wrote := time.Now(), writes.Load()
	step()
	s := spent{took: time.Since(began).Round(time.Millisecond), writes: writes.Load() - wrote}
	close(stop)
	peak := <-most
	s.peak, s.live = peak[0]-before[0], peak[1]-before[1]
	return s
}

// What can be done with an instance can be done at any width up to the limit: it is started, resumed, given another
// correlation and another version, faults, comes back, is imported, loses a race, is cancelled and deleted, each in no more transactions than its start
// and a few, and nothing is left.
func TestEverythingIsPossibleAtAnyWidth(t *testing.T) {
	t.Parallel()
	for name, n := range wideSizes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everything(t, n)
		})
	}
}

// everything takes an instance that waits for n tasks through all that may happen to one.
func everything(t *testing.T, n int) {
	t.Helper()
	fault := seq(waitFor("first"), correlateTo("c-2"), waitFor("second"), &workflow.Activity{Type: "Elsa.Fault"}, waitFor("third"))
	w := newWorld(t, define("d", fork("WaitAll", each(n, task()), fault)), define("race", seq(fork("WaitAny", each(n, task()), waitFor("other")), waitFor("next"))))
	m := w.wideMember(n)
	var writes atomic.Int64
	m.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if root := cluster.Root(w.name); c.PutsUnder(root) || c.DeletesUnder(root) {
			writes.Add(1)
		}
		return false
	}})
	ctx, most := t.Context(), int64(0)
	step := func(what, id string, waits int, sub workflow.SubStatus, cmd func() workflow.Command) {
		t.Helper()
		eventually(t, "the node has let the instance go", func() bool { return !m.Holds(id) })
		c := cmd()
		c.CreatedAt = time.Now().UTC()
		s := m.spends(&writes, func() {
			must(m.open(id).Do(ctx, c))(t)
			for rec := must(m.store.Reader.Instance(ctx, id))(t); rec != nil && (rec.Unwritten != nil || rec.Header.SubStatus == workflow.Executing); rec = must(m.store.Reader.Instance(ctx, id))(t) {
				m.worksOnce(id) // the session was lost on the way, by a machine that has much to do
			}
		})
		t.Logf("%d places: %s took %s, %d writes, %d MiB, of them %d in use", n, what, s.took, s.writes, s.peak, s.live)
		if ends := c.Kind == workflow.CommandCancel || c.Kind == workflow.CommandDelete; ends && n > 1000 && s.live > 200 {
			t.Errorf("%s holds %d MiB, among them what etcd holds, which is in the process: at most 200", what, s.live)
		}
		if most == 0 {
			most = s.writes*12/10 + 10
		}
		if s.writes > most {
			t.Errorf("%s took %d writes; %d are a fifth more than the start", what, s.writes, most)
		}
		rec := must(m.store.Reader.Instance(ctx, id))(t)
		if rec == nil && c.Kind == workflow.CommandDelete {
			return
		}
		if rec == nil || rec.Unwritten != nil || rec.Header.SubStatus != sub || len(rec.Header.Bookmarks) != waits {
			t.Fatalf("%s: %s", what, standing(rec))
		}
	}
	kind := func(k workflow.CommandKind, id string) func() workflow.Command {
		return func() workflow.Command { return workflow.Command{ID: id, Kind: k} }
	}
	resumed := func(id, of, name string) func() workflow.Command {
		return func() workflow.Command {
			rec := must(m.store.Reader.Instance(ctx, of))(t)
			at := slices.IndexFunc(rec.Header.Bookmarks, func(b workflow.Bookmark) bool { return b.Name == name })
			return resumeOf(id, rec.Header, at)
		}
	}
	step("start", "i", n+1, workflow.Suspended, func() workflow.Command { return startOf("d", "start-i") })
	step("resume", "i", n, workflow.Suspended, resumed("r1", "i", "t"))
	step("correlate", "i", n, workflow.Suspended, resumed("r2", "i", "first"))
	step("migrate", "i", n, workflow.Suspended, func() workflow.Command {
		return workflow.Command{ID: "migrate", Kind: workflow.CommandAlter, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterMigrate, Version: 2}}}}
	})
	exported := must(m.store.Reader.Instance(ctx, "i"))(t)
	step("fault", "i", 0, workflow.Faulted, resumed("r3", "i", "second"))
	step("retry", "i", n, workflow.Suspended, func() workflow.Command {
		return workflow.Command{ID: "retry", Kind: workflow.CommandAlter, Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterSkip, Activity: "fault1"}}}}
	})
	step("cancel", "i", 0, workflow.Cancelled, kind(workflow.CommandCancel, "cancel"))
	raw := must(workflow.Marshal(map[string]any{"instance": exported.Header, "state": exported.State}))(t)
	imported := func(id string) func() workflow.Command {
		return func() workflow.Command {
			return workflow.Command{ID: id, Kind: workflow.CommandImport, State: raw}
		}
	}
	step("import", "i", n, workflow.Suspended, imported("import"))
	step("cancel", "i", 0, workflow.Cancelled, kind(workflow.CommandCancel, "cancel-2"))
	step("delete an ended one", "i", 0, "", kind(workflow.CommandDelete, "delete"))
	step("import of one that is gone", "i", n, workflow.Suspended, imported("import-2"))
	step("delete", "i", 0, "", kind(workflow.CommandDelete, "delete-2"))
	step("start", "j", n+1, workflow.Suspended, func() workflow.Command { return startOf("race", "start-j") })
	step("end of a race", "j", 1, workflow.Suspended, resumed("r4", "j", "other"))
	step("start", "k", n+1, workflow.Suspended, func() workflow.Command { return startOf("race", "start-k") })
	step("delete", "k", 0, "", kind(workflow.CommandDelete, "delete"))
	m.sound(t, "then")
}

// standing is how an instance is.
func standing(rec *store.Record) string {
	if rec == nil {
		return "it is gone"
	}
	return fmt.Sprintf("it is %s, waits at %d places, unwritten %t: %v", rec.Header.SubStatus, len(rec.Header.Bookmarks), rec.Unwritten != nil, rec.Header.Incidents)
}

// Beyond the limit an instance faults with it, and what was started until then can be deleted.
func TestAnInstanceFaultsBeyondTheWidthThatMayBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", each(30, task())))
	m := w.member("a", cluster.ModeDistributed, slow, func(c *client.Config) {
		c.Env = func() engine.Env {
			return engine.Env{Now: func() time.Time { return time.Now().UTC() }, Limits: engine.Limits{Waits: 25}}
		}
	})
	r := must(m.open("i").Do(t.Context(), startOf("d", "start-i")))(t)
	if in := r.Instance.Incidents; r.Instance.SubStatus != workflow.Faulted || len(in) != 1 || !strings.Contains(in[0].Message, "at most 25 are possible") {
		raw, _ := json.Marshal(in)
		t.Fatalf("the start is not refused: %s, %s", r.Instance.SubStatus, raw)
	}
	must(m.open("i").Do(t.Context(), workflow.Command{ID: "end", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}))(t)
	m.sound(t, "then")
}
