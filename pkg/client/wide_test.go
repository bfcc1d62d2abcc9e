package client_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// each runs body once for each of n items, all at the same time.
func each(n int, body *workflow.Activity) *workflow.Activity {
	items := make([]any, n)
	for i := range items {
		items[i] = fmt.Sprint("e", i)
	}
	return &workflow.Activity{Type: "Elsa.ParallelForEach", Inputs: map[string]workflow.Expression{"items": workflow.Lit(items)}, Ports: map[string]*workflow.Activity{"body": body}}
}

func task() *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.RunTask", Inputs: map[string]workflow.Expression{"taskName": workflow.Lit("t")}}
}

func fork(mode string, branches ...*workflow.Activity) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.Fork", Activities: branches, Inputs: map[string]workflow.Expression{"joinMode": workflow.Lit(mode)}}
}

func correlateTo(id string) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.Correlate", Inputs: map[string]workflow.Expression{"correlationId": workflow.Lit(id)}}
}

// many lets a burst run more activities than by default.
func many(c *client.Config) {
	c.Env = func() engine.Env {
		return engine.Env{Now: func() time.Time { return time.Now().UTC() }, Limits: engine.Limits{Activities: engine.MaxBurstActivities}}
	}
}

// wide is more than one transaction takes in narrow worlds of tasks, of which the index has two keys.
const wide = 30

// narrow makes wide instances of small ones: what one transaction and one page take is turned down, and apart also from
// when on the places where an instance waits lie in parts, and its state has the form for many.
func (w *world) narrow(apart bool) {
	w.width = etcdstore.Width{Ops: 40, PageOps: 20, Places: 1 << 20}
	if apart {
		w.width.Places, w.width.Stays, w.width.Part, w.width.Listed, w.width.Ahead = 20, 1, 200, 5, 4000
	}
}

// narrowly lets a burst run as in a narrow world.
func narrowly(apart bool) func(*client.Config) {
	return func(c *client.Config) {
		many(c)
		env := c.Env
		c.Env = func() engine.Env {
			e := env()
			if apart {
				e.Limits.Wide = 20
			}
			return e
		}
	}
}

// change is one thing that happens to an instance that waits at many places.
type change struct {
	def  *workflow.Activity
	prep func(m *member) // before
	cmd  func(t *testing.T, m *member) workflow.Command
	want func(rec *store.Record) string // what is wrong with how it is then; "": nothing
	mail bool                           // the command lies in the mailbox
}

func changes() map[string]change {
	is := func(sub workflow.SubStatus, waits int) func(*store.Record) string {
		return func(rec *store.Record) string {
			if rec == nil {
				return "it is gone"
			}
			if rec.Header.SubStatus != sub || len(rec.Header.Bookmarks) != waits {
				return fmt.Sprintf("it is %s and waits at %d places", rec.Header.SubStatus, len(rec.Header.Bookmarks))
			}
			return ""
		}
	}
	plain := func(kind workflow.CommandKind) func(*testing.T, *member) workflow.Command {
		return func(*testing.T, *member) workflow.Command {
			return workflow.Command{ID: "change", Kind: kind, CreatedAt: time.Now().UTC()}
		}
	}
	other := func(t *testing.T, m *member) workflow.Command {
		rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
		at := slices.IndexFunc(rec.Header.Bookmarks, func(b workflow.Bookmark) bool { return b.Name == "other" })
		return resumeOf("change", rec.Header, at)
	}
	race := fork("WaitAny", each(wide, task()), waitFor("other"))
	return map[string]change{
		"cancel":            {def: each(wide, task()), cmd: plain(workflow.CommandCancel), want: is(workflow.Cancelled, 0)},
		"cancel in mailbox": {def: each(wide, task()), cmd: plain(workflow.CommandCancel), want: is(workflow.Cancelled, 0), mail: true},
		"delete": {def: each(wide, task()), cmd: plain(workflow.CommandDelete), want: func(rec *store.Record) string {
			if rec != nil {
				return "it is there"
			}
			return ""
		}},
		"end of a race":            {def: seq(race), cmd: other, want: is(workflow.Finished, 0)},
		"end of a race in mailbox": {def: seq(race, waitFor("next")), cmd: other, want: is(workflow.Suspended, 1), mail: true},
		"fault":                    {def: fork("WaitAll", each(wide, task()), seq(waitFor("other"), &workflow.Activity{Type: "Elsa.Fault"})), cmd: other, want: is(workflow.Faulted, 0)},
		"retry": {def: fork("WaitAll", each(wide, task()), seq(waitFor("other"), &workflow.Activity{Type: "Elsa.Fault"}, waitFor("other"))),
			prep: func(m *member) { must(m.open("i").Do(m.w.t.Context(), other(m.w.t.(*testing.T), m)))(m.w.t) },
			cmd: func(*testing.T, *member) workflow.Command {
				return workflow.Command{ID: "change", Kind: workflow.CommandAlter, CreatedAt: time.Now().UTC(), Alter: &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterSkip, Activity: "fault1"}}}}
			}, want: is(workflow.Suspended, wide+1)},
		"correlate": {def: fork("WaitAll", each(wide, task()), seq(waitFor("other"), correlateTo("c-2"), waitFor("next"))), cmd: other, want: func(rec *store.Record) string {
			if rec == nil || rec.Header.CorrelationID != "c-2" {
				return "it has another correlation"
			}
			return is(workflow.Suspended, wide+1)(rec)
		}},
		"import": {def: seq(race, waitFor("next")),
			cmd: func(t *testing.T, m *member) workflow.Command {
				old := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				must(m.open("i").Do(t.Context(), other(t, m)))(t)
				raw := must(json.Marshal(map[string]any{"instance": old.Header, "state": old.State}))(t)
				return workflow.Command{ID: "change", Kind: workflow.CommandImport, CreatedAt: time.Now().UTC(), State: raw}
			}, want: is(workflow.Suspended, wide+1)},
	}
}

// What happens to an instance that waits at more places than one transaction takes is done in
// several. Whichever node ends between any two of them, with the last answer or without, who
// comes next brings it to its end, and nothing of the index is too much or missing.
func TestAWideChangeGoesOnWhereItsNodeEnded(t *testing.T) {
	t.Parallel()
	for name, c := range changes() {
		t.Run(name, func(t *testing.T) {
			if name != "cancel" {
				testsize.NotRaced(t, "other changes")
			}
			t.Parallel()
			for form, apart := range map[string]bool{"in the record": false, "in parts": true} { // in turns: there are many worlds at once
				if !apart && (testsize.Raced || name != "cancel" && name != "delete") && !testsize.Whole() {
					continue
				}
				dies(t, c, apart, 1, clustertest.FailBefore)
				at := int64(1)
				for dies(t, c, apart, at, clustertest.LoseAnswer) {
					at++
				}
				if at < 5 {
					t.Errorf("%s: it took %d transactions: the decision, two pages and the end are at least 4", form, at-1)
				}
			}
		})
	}
}

// dies makes the change on a node whose calls fail from the nth write of the instance on, and lets
// another one go on. It is false if there were not so many.
func dies(t *testing.T, c change, apart bool, nth int64, how clustertest.Fault) bool {
	t.Helper()
	w := newWorld(t, define("d", c.def))
	w.narrow(apart)
	a, b := w.member("a", cluster.ModeDistributed, slow, narrowly(apart)), w.member("b", cluster.ModeDistributed, slow, narrowly(apart))
	must(a.open("i").Do(t.Context(), startOf("d", "start-i")))(t)
	if c.prep != nil {
		c.prep(a)
	}
	cmd := c.cmd(t, a)
	eventually(t, "the node has let the instance go", func() bool { return !a.Holds("i") })
	if c.mail {
		must1(t, a.putMail("i", cmd))
	}
	dead := a.endsAt(nth, how, cluster.Root(w.name)+"journal/i/", cluster.Root(w.name)+"bookmark/", cluster.Root(w.name)+"idem/c/i/~deleted", cluster.Root(w.name)+"part/i/")
	revoked := make(chan error, 1)
	go func() {
		<-dead
		_, err := w.etcd.Revoke(context.WithoutCancel(t.Context()), a.session.Epoch().Lease)
		revoked <- err
	}()
	if c.mail {
		eventually(t, "the node has worked the mailbox, or has ended", func() bool {
			a.worksOnce("i")
			return ended(dead) || len(b.left(t)) == 0
		})
	} else {
		_, _ = a.open("i").Do(t.Context(), cmd)
	}
	died := ended(dead)
	if !died {
		close(dead) // it ends now
	}
	must1(t, <-revoked)
	before := must(b.store.Reader.Instance(t.Context(), "i"))(t)
	if died && !c.mail && (before != nil && before.Unwritten == nil && c.want(before) != "") { // nothing was decided: the caller asks again
		must(b.open("i").Do(t.Context(), cmd))(t)
	}
	eventually(t, "the instance is brought to its end", func() bool {
		b.worksOnce("i")
		rec := must(b.store.Reader.Instance(t.Context(), "i"))(t)
		return (rec == nil || rec.Unwritten == nil) && c.want(rec) == ""
	})
	b.sound(t, fmt.Sprintf("%v at write %d", how, nth))
	return died
}

func ended(dead <-chan struct{}) bool {
	select {
	case <-dead:
		return true
	default:
		return false
	}
}

func must1(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *member) putMail(id string, cmd workflow.Command) error {
	_, _, err := m.store.Stimuli.PutMail(m.w.t.Context(), id, cmd, nil)
	return err
}

// worksOnce works an instance as a sweep does, whatever comes of it.
func (m *member) worksOnce(id string) {
	if err := m.open(id).Work(m.w.t.Context(), true, nil); err != nil {
		m.w.t.Log(m.session.Process(), err)
	}
}

// endsAt makes all calls of the node fail from the nth write below one of the prefixes on, as if its
// process had ended.
func (m *member) endsAt(nth int64, how clustertest.Fault, prefixes ...string) chan struct{} {
	dead := make(chan struct{})
	var seen atomic.Int64
	m.faults.Add(clustertest.Rule{Fault: how, Times: 1, Match: func(c clustertest.Call) bool {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return c.PutsUnder(p) || c.DeletesUnder(p) }) || seen.Add(1) != nth {
			return false
		}
		close(dead)
		return true
	}})
	m.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(clustertest.Call) bool { return seen.Load() >= nth }})
	return dead
}

// sound fails if anything in etcd does not fit.
func (m *member) sound(t *testing.T, when string) {
	t.Helper()
	var check *etcdstore.Check
	eventually(t, "etcd answers", func() (ok bool) {
		var err error
		check, err = m.store.Upkeep.Fsck(t.Context())
		return err == nil
	})
	for _, f := range check.Findings {
		t.Errorf("%s: %s %s: %s", when, f.Rule, f.Key, f.Detail)
	}
	for _, key := range m.left(t) {
		t.Errorf("%s: %s is left", when, key)
	}
}

// left are the keys of all mailboxes.
func (m *member) left(t *testing.T) (keys []string) {
	t.Helper()
	resp := must(m.w.etcd.Get(t.Context(), cluster.Root(m.w.name)+"mailbox/", clientv3.WithPrefix(), clientv3.WithKeysOnly()))(t)
	for _, kv := range resp.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys
}

// What can be started can be ended, at any width up to the stated limit, in no more
// transactions than it was started with, and a few. [TestEverythingIsPossibleAtAnyWidth] does the same with more.
func TestAnyWidthThatStartsCanEnd(t *testing.T) {
	t.Parallel()
	for _, n := range testsize.Of([]int{1, 1000, 1249, 1250, 1251, 2499, 2500, 2501, 10_000}, []int{1, 1250, 1251, 2501}) {
		for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
			if n >= 10_000 && kind == workflow.CommandDelete {
				continue
			}
			t.Run(fmt.Sprint(n, "/", kind), func(t *testing.T) {
				if n > 1 && n != 1251 {
					testsize.NotRaced(t, "other widths")
				}
				t.Parallel()
				w := newWorld(t, define("d", each(n, task())))
				m := w.member("a", cluster.ModeDistributed, slow, many)
				before := m.faults.Calls("txn")
				r := must(m.open("i").Do(t.Context(), startOf("d", "start-i")))(t)
				started := m.faults.Calls("txn") - before
				if len(r.Instance.Bookmarks) != n {
					t.Fatalf("it waits at %d places: %v", len(r.Instance.Bookmarks), r.Instance.Incidents)
				}
				eventually(t, "the node has let the instance go", func() bool { return !m.Holds("i") })
				before = m.faults.Calls("txn")
				must(m.open("i").Do(t.Context(), workflow.Command{ID: "end", Kind: kind, CreatedAt: time.Now().UTC()}))(t)
				if ended := m.faults.Calls("txn") - before; ended*10 > started*12+40 {
					t.Errorf("ended in %d transactions, started in %d", ended, started)
				}
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				if (rec == nil) != (kind == workflow.CommandDelete) || rec != nil && rec.Unwritten != nil {
					t.Errorf("it is %+v", rec)
				}
				m.sound(t, "then")
			})
		}
	}
}

// The limit is one of the burst; an instance that has more places, from before, keeps them.
func TestAnInstanceThatWaitsAtMorePlacesKeepsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", fork("WaitAll", each(4, task()), &workflow.Activity{Type: "Elsa.While", Inputs: map[string]workflow.Expression{"condition": workflow.Lit(true)}, Ports: map[string]*workflow.Activity{"body": waitFor("again")}})))
	with := func(id string, most int) *member {
		return w.member(id, cluster.ModeDistributed, slow, func(c *client.Config) {
			c.Env = func() engine.Env {
				return engine.Env{Now: func() time.Time { return time.Now().UTC() }, Limits: engine.Limits{Waits: most}}
			}
		})
	}
	r := must(with("a", 5).open("i").Do(t.Context(), startOf("d", "start-i")))(t)
	b := with("b", 3)
	for i := range 3 {
		if len(r.Instance.Bookmarks) != 5 {
			t.Fatalf("it waits at %d places: %v", len(r.Instance.Bookmarks), r.Instance.Incidents)
		}
		at := slices.IndexFunc(r.Instance.Bookmarks, func(b workflow.Bookmark) bool { return b.Name == "again" })
		r = must(b.open("i").Do(t.Context(), resumeOf(fmt.Sprint("again", i), r.Instance, at)))(t)
	}
}

// Children that lose a race are cancelled a slice at a time, as with the whole instance.
func TestChildrenThatLoseARaceAreCancelledInSlices(t *testing.T) {
	t.Parallel()
	const n = 250
	child := &workflow.Activity{Type: "Elsa.ExecuteWorkflow", Inputs: map[string]workflow.Expression{"workflowDefinitionId": workflow.Lit("c"), "waitForCompletion": workflow.Lit(true)}}
	w := newWorld(t, define("d", seq(fork("WaitAny", each(n, child), waitFor("other")), waitFor("next"))), define("c", waitFor("x")))
	m := w.member("a", cluster.ModeDistributed, slow, func(c *client.Config) {
		c.Env = func() engine.Env {
			return engine.Env{Now: func() time.Time { return time.Now().UTC() }, Head: func(string) (int, bool) { return 1, true }}
		}
	})
	r := must(m.open("i").Do(t.Context(), startOf("d", "start-i")))(t)
	if len(r.Instance.Bookmarks) != n+1 {
		t.Fatalf("it waits at %d places: %v", len(r.Instance.Bookmarks), r.Instance.Incidents)
	}
	before := must(m.store.Reader.Instance(t.Context(), "i"))(t).Seq
	at := slices.IndexFunc(r.Instance.Bookmarks, func(b workflow.Bookmark) bool { return b.Name == "other" })
	must(m.open("i").Do(t.Context(), resumeOf("other", r.Instance, at)))(t)
	if rec := must(m.store.Reader.Instance(t.Context(), "i"))(t); rec.Seq-before < 3 || len(rec.Header.Bookmarks) != 1 {
		t.Errorf("%d children were cancelled in %d commits, and it waits at %d places", n, rec.Seq-before, len(rec.Header.Bookmarks))
	}
	cancels := must(w.etcd.Get(t.Context(), cluster.Root(w.name)+"cancel/", clientv3.WithPrefix(), clientv3.WithCountOnly()))(t)
	if cancels.Count != n {
		t.Errorf("%d of %d children are to be cancelled", cancels.Count, n)
	}
}
