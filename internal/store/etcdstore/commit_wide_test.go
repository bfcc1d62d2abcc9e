package etcdstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// wide makes an instance that waits for n tasks.
func (w *world) wide(id string, n int) {
	w.tb.Helper()
	var tasks []workflow.Bookmark
	for i := range n {
		b := w.bookmark(id, fmt.Sprint("b", i), fmt.Sprint("e", i))
		b.ActivityType, b.Name, b.DueAt = workflow.TaskType, "pack", &timerDue
		tasks = append(tasks, b)
	}
	c := w.first(id, nil, tasks...)
	w.commit(commits.Decide(c))
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, w.record(id))))
	w.completed(id)
}

// completed makes the commit behind the pages of a decision.
func (w *world) completed(id string) {
	w.tb.Helper()
	next := w.next(id, nil)
	next.Before.Unwritten, next.After.Unwritten = nil, nil
	next.Consumed = []store.Consumed{{Command: workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}, Created: 1, Drop: true}}
	w.commit(next)
}

// Of what a commit left to be written nothing counts as missing or too much, as long as a
// command is there by which a node goes on; without it the check says so, and a repair puts it.
func TestFsckKnowsWhatIsNotWrittenYet(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	for name, decide := range map[string]func(c *store.Commit){
		"ends": func(c *store.Commit) {
			c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
			c.After.Header.Status, c.After.Header.SubStatus, c.After.Header.FinishedAt = workflow.StatusFinished, workflow.Cancelled, &c.At
		},
		"is deleted": func(c *store.Commit) { c.Burned, c.Delete = c.Before.Header.Bookmarks, true },
		"moves":      func(c *store.Commit) { c.After.Header.CorrelationID = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			w.wide("wide", 8)
			if got := rules(w.fsck()); len(got) > 0 {
				t.Fatalf("before: %v", got)
			}
			c := w.next("wide", nil)
			decide(c)
			w.commit(commits.Decide(c))
			if got := rules(w.fsck()); len(got) > 0 {
				t.Errorf("behind the decision: %v", got)
			}
			_, err := w.raw.Delete(w.ctx(), w.Keys.Mail("wide", workflow.ContinueID))
			w.ok(err)
			if got := rules(w.fsck()); !slices.Equal(got, []string{"index-unwritten"}) {
				t.Errorf("without a command: %v", got)
			}
			if got := rules(w.repaired().Check); len(got) > 0 {
				t.Errorf("after the repair: %v", got)
			}
			w.want(w.Keys.Mail("wide", workflow.ContinueID)[len(w.Keys.Root):], 1)
		})
	}
}

// What was left to be written goes before any other commit.
func TestNoCommitPassesWhatIsNotWrittenYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wide("wide", 3)
	c := w.next("wide", nil)
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	w.commit(commits.Decide(c))
	if _, err := w.Commit(w.ctx(), w.next("wide", nil)); err == nil || !strings.Contains(err.Error(), "not written yet") {
		t.Errorf("got %v", err)
	}
}

// A page of another decision, or of an owner that lost its lock, writes nothing.
func TestAPageIsWrittenUnderTheFence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wide("wide", 3)
	c := w.next("wide", nil)
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	w.commit(commits.Decide(c))
	rec := w.record("wide")
	lost := w.lock("wide", "2")
	_, err := w.raw.Delete(w.ctx(), lost.Key)
	w.ok(err)
	if _, err := w.WriteIndex(w.ctx(), lost, rec); !errors.Is(err, store.ErrFenced) {
		t.Errorf("with a lost lock: %v", err)
	}
	moved := *rec
	moved.Modified--
	if _, err := w.WriteIndex(w.ctx(), nil, &moved); !errors.Is(err, store.ErrConflict) {
		t.Errorf("of an instance that moved: %v", err)
	}
	w.want("bookmark/", 3)
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, rec)))
	w.want("bookmark/", 0)
}

// A timer fires once, also if it does between two writes of the pages that put it: the next owner writes all of them.
// What of the timers has not fired is there afterwards, and nothing is missed.
func TestATimerThatFiredBetweenTwoPagesIsNotPutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	due, later := w.now, w.now.Add(time.Hour)
	waits := make([]workflow.Bookmark, 3)
	for i := range waits {
		waits[i] = w.bookmark("wide", fmt.Sprint("b", i), fmt.Sprint("e", i))
		waits[i].ActivityType, waits[i].DueAt = "Elsa.Delay", &later
	}
	waits[1].DueAt = &due
	w.commit(commits.Decide(w.first("wide", nil, waits...)))
	for range 2 { // a page may be written twice
		if got := rules(w.fsck()); len(got) > 0 {
			t.Errorf("before a writing: %v", got)
		}
		w.ok(errOf(w.WriteIndex(w.ctx(), nil, w.record("wide"))))
		w.want("timer/", 3)
	}
	fired, err := w.FireTimers(w.ctx(), w.due(record.Timers, w.now), w.now)
	if w.ok(err); !slices.Equal(fired, []string{"wide"}) {
		t.Fatalf("fired %v", fired)
	}
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, w.record("wide"))))
	w.want("timer/", 2)
	if got := rules(w.fsck()); len(got) > 0 {
		t.Errorf("behind the second writing: %v", got)
	}
	w.completed("wide")
	if got := rules(w.fsck()); len(got) > 0 {
		t.Errorf("after all: %v", got)
	}
}

// An instance that no node can run and that waits at more places than one transaction takes is
// removed under one decision, with the children that it waits for.
func TestAWideInstanceIsRemoved(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	for _, n := range []int{1, 300, 1300, 10_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.wide("wide", n)
			w.ok(errOf(w.Remove(w.ctx(), w.lock("wide", "2"), "wide", w.now)))
			for _, prefix := range []string{"instance/", "bookmark/", "timer/", "task/", "mailbox/", "index/", "journal/"} {
				w.want(prefix, 0)
			}
			w.want("idem/c/wide/~deleted", 1)
		})
	}
}

// What happens to a wide instance before the decision that it is removed is seen, and so is what happens behind it:
// it is removed by who has looked at what came.
func TestAWideInstanceThatMovesIsNotRemoved(t *testing.T) {
	t.Parallel()
	const n = 400
	w := newWorld(t)
	w.wide("wide", n)
	r, err := commits.LookToRemove(w.ctx(), w.Conn, nil, "wide", w.now)
	w.ok(err)
	w.mails("wide", "came")
	before := w.dump()
	if done, err := r.Remove(w.ctx()); err != nil || done {
		t.Errorf("beside new mail: done %t, %v", done, err)
	}
	compare(t, "beside new mail", w.dump(), before)

	w.del(w.Keys.Mail("wide", "came"))
	disarm := w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.DeletesUnder(w.Keys.Root + "bookmark/") { // a page
			w.spoil(w.Keys.Instance("wide"), w.value(w.Keys.Instance("wide")))
		}
		return false
	}}).Disarm
	if _, err := w.Remove(w.ctx(), w.lock("wide", "2"), "wide", w.now); !errors.Is(err, store.ErrFenced) {
		t.Errorf("it moved before each page: %v", err)
	}
	disarm()
	w.want("bookmark/", n)
}

// A record that has no room for its end takes no more places to wait at.
func TestARecordKeepsRoomForItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("i", "e")
	c := w.next("i", nil)
	b := w.bookmark("i", "more", "more")
	c.After.Header.Bookmarks, c.Created = append(c.After.Header.Bookmarks, b), []workflow.Bookmark{b}
	c.After.Header.Input = map[string]any{"doc": random((db.MaxRequest - 45<<10) * 4 / 3)} // three quarters of it are left in one key
	fits := *c
	if _, err := w.Commit(w.ctx(), c); err != nil {
		t.Fatalf("two places: %v", err)
	}
	many := fits
	many.ID, many.Before = w.id("commit"), w.record("i")
	many.After.Seq, many.Created = many.Before.Seq+1, nil
	many.After.Header.Bookmarks = slices.Clone(many.Before.Header.Bookmarks)
	for i := range 3000 {
		b := w.bookmark("i", fmt.Sprint("m", i), "m")
		many.After.Header.Bookmarks, many.Created = append(many.After.Header.Bookmarks, b), append(many.Created, b)
	}
	if _, err := w.Commit(w.ctx(), commits.Decide(&many)); !errors.Is(err, db.ErrTooLarge) || !strings.Contains(err.Error(), "waits at 3002 places") {
		t.Errorf("3,002 places: %v", err)
	}
}

// The widest instance there may be loses most of its index, which a repair puts again; it faults, and is purged.
func TestTheWidestInstanceIsRepairedAndPurged(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	n, lost := testsize.Of(10_000, 1200), testsize.Of(2000, 800)
	w := furnished(t)
	had := map[string]int{}
	kinds := []string{"bookmark/", "task/", "timer/"}
	for _, kind := range kinds {
		had[kind] = w.has(kind)
	}
	w.wide("wide", n)
	if got := rules(w.fsck()); len(got) > 0 {
		t.Fatalf("before: %v", got)
	}
	for some := range slices.Chunk(w.record("wide").Header.Bookmarks[:lost], 100) {
		var gone []clientv3.Op
		for _, b := range some {
			gone = append(gone, db.Del(w.Keys.Bookmark(b.Hash, "", b.ID)))
		}
		_, err := w.raw.Txn(w.ctx()).Then(gone...).Commit()
		w.ok(err)
	}
	_, err := w.raw.Delete(w.ctx(), w.Keys.Root+"task/pack/", clientv3.WithPrefix())
	w.ok(err)
	done := w.repaired()
	if got := rules(done.Check); len(got) > 0 || len(done.Done) < n+lost {
		t.Errorf("after %d repairs: %v", len(done.Done), got)
	}
	for _, kind := range kinds {
		w.want(kind, had[kind]+n)
	}
	c := w.next("wide", nil)
	c.After.State = []byte(`{"kept":"as it faulted"}`)
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	c.After.Header.Status, c.After.Header.SubStatus, c.After.Header.FinishedAt = workflow.StatusFinished, workflow.Faulted, &c.At
	w.commit(commits.Decide(c))
	rec := w.record("wide")
	if purged, err := w.Purge(w.ctx(), Late("wide"), w.lockOf, nil); err != nil || len(purged) != 0 {
		t.Errorf("purged %v before its index is written: %v", purged, err)
	}
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, rec)))
	w.completed("wide")
	if purged, err := w.Purge(w.ctx(), Late("wide"), w.lockOf, nil); err != nil || len(purged) != 1 {
		t.Errorf("purged %v, %v", purged, err)
	}
	for _, kind := range kinds {
		w.want(kind, had[kind])
	}
	if got := rules(w.fsck()); len(got) > 0 {
		t.Errorf("then: %v", got)
	}
}
