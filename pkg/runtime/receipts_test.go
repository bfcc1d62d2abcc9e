package runtime_test

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

func (m *member) receipt(key string) runtime.Receipt {
	m.T.Helper()
	all, err := m.Inspector.Receipts(m.T.Context(), key)
	if err != nil || len(all.Of) != 1 || all.Revision == 0 {
		m.T.Fatalf("%s: %+v, %v", key, all, err)
	}
	return all.Of[0]
}

func receiptKey(value string) *runtime.Key {
	return &runtime.Key{Scope: "events", Value: value, BodyHash: "b", Request: "POST /events/go", Caller: "me", At: time.Now()}
}

// forgotten deletes the records of commands, as their time does.
func (m *member) forgotten() {
	m.T.Helper()
	if _, err := clustertest.Shared(m.T).Client(m.T).Delete(m.T.Context(), m.Root+"idem/c/", clientv3.WithPrefix()); err != nil {
		m.T.Fatal(err)
	}
}

// What is known of many targets is kept for a while only; then journals tell.
func TestAReceiptFindsCommitsByTheirJournals(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: often\nroot:\n  - event: go\n  - event: next\n  - event: next\n  - event: next\n")
	m.Start("often", "one", "")
	m.Start("often", "two", "")
	m.Start("often", "three", "")
	for range 2 {
		m.Event("other", "", nil)
	}
	m.Event("go", "", receiptKey("all"))
	for range 3 {
		m.Event("next", "", nil)
	}
	for _, forget := range []bool{false, true} {
		if forget {
			m.forgotten()
			if _, err := m.Commands.Delete(t.Context(), "three"); err != nil {
				t.Fatal(err)
			}
		}
		r := m.receipt("all")
		if len(r.Fates) != 3 || r.Request != "POST /events/go" || r.Caller != "me" {
			t.Fatalf("%+v", r)
		}
		for _, f := range r.Fates {
			gone := forget && f.InstanceID == "three"
			switch {
			case gone && (f.State != store.FateUnknown || f.Commit != nil), !gone && (f.State != store.FateApplied || f.Commit == nil || f.Commit.Seq != 2 || f.Commit.Node != "a"):
				t.Errorf("forgotten %v: %+v, %+v", forget, f, f.Commit)
			}
		}
	}
}

// Of a stimulus with more targets than a receipt lists the rest is counted; on its way and behind
// a gate it is found.
func TestAReceiptOfManyTargets(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Single)
	const n = 130
	for i := range n {
		m.Publish(fmt.Sprintf("id: tail%d\nroot:\n  - event: begin\n    trigger: true\n", i))
	}
	first := m.Event("begin", "", receiptKey("first"))
	eventually(t, "all are started", func() bool {
		for _, f := range m.receipt("first").Fates {
			if f.State != store.FateApplied || f.Commit == nil {
				return false
			}
		}
		return true
	})
	if r := m.receipt("first"); len(first.Outcomes) != n+1 || len(r.Fates) != 100 || r.Unlisted != n+1-100 {
		t.Errorf("%d outcomes; %d fates, %d unlisted", len(first.Outcomes), len(r.Fates), r.Unlisted)
	}
	m.Event("begin", "", receiptKey("second"))
	m.GatedBy(1)
	gated := 0
	for _, key := range []string{"first", "second"} {
		for _, f := range m.receipt(key).Fates {
			if f.State == store.FateQueued {
				gated++
				if f.Item == "" || key == "first" {
					t.Errorf("%s: %+v", key, f)
				}
			}
		}
	}
	if all := m.receipt("second"); gated != 1 {
		t.Errorf("%d wait behind the gate: %+v", gated, all)
	}
}

// A record that cannot be read is shown as that, and a command that became a dead letter leads to it.
func TestAReceiptOfADamagedRecord(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	etcd := clustertest.Shared(t).Client(t)
	key := receiptKey("broken")
	m.Event("nobody", "", key)
	for _, junk := range membertest.Junk() {
		if _, err := etcd.Put(t.Context(), m.Root+"idem/k/"+key.Command().Name, junk); err != nil {
			t.Fatal(err)
		}
		if r := m.receipt("broken"); r.Damage == "" || len(r.Fates) != 0 {
			t.Errorf("%q: %+v", junk[:min(len(junk), 20)], r)
		}
	}
	if _, err := m.Inspector.Receipts(t.Context(), "another"); workflow.CodeOf(err) != workflow.CodeReceiptNotFound {
		t.Errorf("%v", err)
	}
}

// What its instance could not take any more is a dead letter, which the receipt names.
func TestAReceiptLeadsToADeadLetter(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	in := m.Start("waits", "one", "")
	key := receiptKey("late").Command()
	b := in.Bookmarks[0]
	st := workflow.Stimulus{ActivityType: b.ActivityType, Payload: b.Payload, InstanceID: "one"}
	cmd := workflow.Command{ID: key.Name, Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: b.ID, Stimulus: &st, Key: key}
	if _, err := m.Commands.Cancel(t.Context(), "one", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Store.Stimuli.PutMail(t.Context(), "one", cmd, nil); err != nil {
		t.Fatal(err)
	}
	m.Wakeups.Hint([]string{"one"}, false)
	var f store.Fate
	eventually(t, "it is a dead letter", func() bool { f = m.receipt("late").Fates[0]; return f.State == store.FateDead })
	if f.Letter != m.Dead()[0].ID || f.LetterGone || f.Outcome != workflow.OutcomeRefused {
		t.Errorf("%+v", f)
	}
	if err := m.Letters.DeleteDeadLetter(t.Context(), f.Letter); err != nil {
		t.Fatal(err)
	}
	if f = m.receipt("late").Fates[0]; !f.LetterGone {
		t.Errorf("%+v", f)
	}
}

// Another instance of the id that a request was for has its own commits.
func TestAReceiptIsOfItsOwnInstance(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	m.Start("waits", "one", "")
	m.Event("go", "", receiptKey("first"))
	if f := m.receipt("first").Fates[0]; f.Commit == nil || f.Commit.Seq != 2 {
		t.Fatalf("%+v", f)
	}
	if _, err := m.Commands.Delete(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	m.Start("waits", "one", "")
	m.Event("go", "", nil)
	if f := m.receipt("first").Fates[0]; f.State != store.FateApplied || f.Commit != nil {
		t.Errorf("%+v, %+v", f, f.Commit)
	}
}

// An event that expired is a dead letter for who asks, also when retention took that.
func TestAReceiptTellsOfALetterThatIsGone(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Event("nobody waits", "", receiptKey("late"))
	up := m.Store.Upkeep
	items, _, err := up.Queued(t.Context(), "", "", 10)
	if err != nil || len(items) != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	if reason, err := up.ExpireQueueItem(t.Context(), items[0], time.Hour, time.Now()); err != nil || reason != workflow.DeadExpired {
		t.Fatalf("%q, %v", reason, err)
	}
	for _, gone := range []bool{false, true} {
		if gone {
			m.forgotten()
			letters, _, err := up.DeadSizes(t.Context(), "", 10)
			if err != nil || len(letters) != 1 {
				t.Fatalf("%+v, %v", letters, err)
			}
			if n, err := up.PurgeDead(t.Context(), letters); err != nil || n != 1 {
				t.Fatalf("%d, %v", n, err)
			}
		}
		r := m.receipt("late")
		if len(r.Fates) != 1 || r.Fates[0].State != store.FateDead || r.Fates[0].Letter == "" || r.Fates[0].LetterGone != gone || r.Request != "POST /events/go" {
			t.Errorf("gone %t: %+v", gone, r)
		}
	}
	m.Sound()
}
