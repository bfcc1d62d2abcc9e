package etcdstore

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// ended makes an instance that is finished, with a correlation.
func (w *world) ended(id string) *store.Record {
	w.tb.Helper()
	w.instanceIn(id, "k", "paid")
	w.now = w.now.Add(time.Second) // each has its own end
	c := ends(w.next(id, nil))
	c.After.Header.FinishedAt = &w.now
	w.commit(c)
	return w.record(id)
}

// lockOf is where lock puts its keys.
func (w *world) lockOf(id string) string { return w.Keys.Root + "lock/" + id + "/" }

func (w *world) sound() {
	w.tb.Helper()
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	for _, f := range check.Findings {
		if f.Rule != "lock-without-lease" { // those of tests have none
			w.tb.Errorf("fsck: %+v", f)
		}
	}
}

func TestFinishedInstancesAreListedInTheOrderOfTheirEnds(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	for i := range 40 {
		w.ended(fmt.Sprintf("i%d", i))
	}
	w.instance("running", "paid")
	n := 0
	for s := range record.FinishedShards {
		var page []upkeep.Finished
		for cursor := ""; ; {
			part, total, next, err := w.Finished(w.ctx(), s, cursor, time.Time{}, 2)
			w.ok(err)
			if len(part) > int(total) || next != "" && total <= 2 {
				t.Errorf("%d of %d, then %q", len(part), total, next)
			}
			page = append(page, part...)
			if cursor = next; next == "" {
				break
			}
		}
		for i, f := range page {
			before := slices.IndexFunc(page, func(o upkeep.Finished) bool { return !o.At.Before(f.At) })
			if part, total, next, err := w.Finished(w.ctx(), s, "", f.At, 1); err != nil || int(total) != before || len(part) != min(before, 1) || (next != "") != (before > 1) {
				t.Errorf("shard %d, before end %d: %d of %d, then %q: %v", s, i, len(part), total, next, err)
			}
		}
		if !slices.IsSortedFunc(page, func(a, b upkeep.Finished) int { return a.At.Compare(b.At) }) {
			t.Errorf("shard %d: %+v", s, page)
		}
		for _, f := range page {
			rec := w.record(f.ID)
			if !f.At.Equal(*rec.Header.FinishedAt) {
				t.Errorf("%s ended %v and not %v", f.ID, rec.Header.FinishedAt, f.At)
			}
			stored := int64(0)
			for key, value := range w.dump() {
				if key == "instance/"+f.ID || key == "journal/"+f.ID+"/000000000001" || key == "journal/"+f.ID+"/000000000002" {
					stored += int64(len(value))
				}
			}
			if f.Bytes < stored || f.Bytes > stored+2*lookup.KeyBytes {
				t.Errorf("%s is said to take %d bytes; its values have %d", f.ID, f.Bytes, stored)
			}
		}
		n += len(page)
	}
	if n != 40 {
		t.Errorf("%d instances", n)
	}
	w.sound()
}

func TestAPurgeLeavesNothingOfAFinishedInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.dump()
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		w.ended(id)
	}
	purged, err := w.Purge(w.ctx(), Late(append(ids, "missing")...), w.lockOf, nil)
	w.ok(err)
	if !slices.Equal(purged, ids) {
		t.Errorf("purged %v", purged)
	}
	compare(t, "after", w.dump(), before)
}

// What moves between a purge's look and its transaction, and what is there
// already, keeps the instance.
func TestAPurgeTakesNoInstanceThatSomethingIsDoneWith(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]func(w *world){
		"it was retried and runs": func(w *world) {
			c := w.next("a", nil)
			c.Created = []workflow.Bookmark{w.bookmark("a", "b", "approved")}
			h := &c.After.Header
			h.Status, h.SubStatus, h.FinishedAt, h.Bookmarks = workflow.StatusRunning, workflow.Suspended, nil, c.Created
			w.commit(c)
		},
		"a retry is in its mailbox": func(w *world) {
			out, _, err := w.PutMail(w.ctx(), "a", workflow.Command{ID: "again", Kind: workflow.CommandRetry, CreatedAt: w.now}, nil)
			if w.ok(err); out != record.PutDone {
				w.tb.Fatal(out)
			}
		},
		"somebody holds its lock": func(w *world) { w.lock("a", "me") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ended("a")
			w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
			if _, err := w.Purge(w.ctx(), Late("a"), w.lockOf, nil); !errors.Is(err, db.ErrUnknown) {
				t.Fatal(err)
			}
			goOn(w)
			want := w.dump()
			if n := w.faults.Deliver(); n != 1 {
				t.Fatalf("%d late copies", n)
			}
			compare(t, "late", w.dump(), want)
			purged, err := w.Purge(w.ctx(), Late("a"), w.lockOf, nil)
			w.ok(err)
			if len(purged) > 0 {
				t.Error("it was purged")
			}
			compare(t, "again", w.dump(), want)
			w.sound()
		})
	}
}

// A retry that was refused writes the instance when it leaves the mailbox: so
// that a purge which was refused for it stays refused.
func TestAPurgeStaysRefusedWhenTheMailIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ended("a")
	w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
	_, _ = w.Purge(w.ctx(), Late("a"), w.lockOf, nil)
	_, _, err := w.PutMail(w.ctx(), "a", workflow.Command{ID: "again", Kind: workflow.CommandRetry, CreatedAt: w.now}, nil)
	w.ok(err)
	w.commit(w.consumes(w.next("a", nil)))
	w.faults.Deliver()
	w.record("a")
}

func TestADeadLetterThatDiedAgainIsNotPurged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dead("d")
	sizes, _, err := w.DeadSizes(w.ctx(), "", 10)
	w.ok(err)
	if len(sizes) != 1 || sizes[0].ID != "d" || sizes[0].Created != d.Created || sizes[0].Bytes < 50 {
		t.Fatalf("%+v", sizes)
	}
	if ok, err := w.TakeDeadLetter(w.ctx(), d, nil); err != nil || !ok {
		t.Fatal(ok, err)
	}
	c := w.next("dying", nil)
	c.Dead = []store.DeadLetter{*d}
	w.commit(c)
	if n, err := w.PurgeDead(w.ctx(), sizes); err != nil || n != 0 {
		t.Errorf("%d purged, %v", n, err)
	}
	w.want("dead/", 1)
}

// A loop that runs for months has a bounded journal, whose newest entries are
// there to prove its commits.
func TestTheJournalOfALongRunningInstanceIsBounded(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	w.KeepEntries = 20
	w.instance("a", "paid")
	item := []workflow.JournalItem{{Sequence: 1, Event: "Ran"}}
	most := 0
	for range 120 {
		c := w.next("a", nil)
		c.Journal = item
		w.commit(c)
		most = max(most, w.has("journal/a/"))
	}
	if most > int(w.KeepEntries+record.JournalSlack) {
		t.Errorf("the journal had %d entries", most)
	}
	rec := w.record("a")
	if n := w.has("journal/a/"); n < int(w.KeepEntries) || rec.JournalFrom != rec.Seq-int64(n)+1 {
		t.Errorf("%d entries, from %d to %d", n, rec.JournalFrom, rec.Seq)
	}
	bytes := int64(0)
	for key, value := range w.dump() {
		if len(key) > 8 && key[:8] == "journal/" {
			bytes += int64(len(value))
		}
	}
	if d := rec.JournalBytes - bytes; d < -bytes/5 || d > bytes/5 {
		t.Errorf("it is said to have %d bytes, and has %d", rec.JournalBytes, bytes)
	}
	w.sound()

	f := w.lock("a", "me")
	c := w.next("a", f)
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	done, err := w.Commit(w.ctx(), c)
	if w.ok(err); !done.Resolved {
		t.Error("a commit whose answer was lost was not found")
	}
}

// A journal from before there was a limit goes in slices, also with its instance.
func TestALongJournalIsPurgedInSlices(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	c := w.next("a", nil)
	for seq := int64(2); seq <= 2*record.JournalSlice+10; seq++ {
		_, err := w.raw.Put(w.ctx(), w.Keys.Journal("a", seq), fmt.Sprintf(`{"seq":%d}`, seq))
		w.ok(err)
		c.After.Seq = seq + 1
	}
	c.Before.Seq = c.After.Seq - 1
	w.commit(ends(c))
	w.sound()
	for purged := []string(nil); len(purged) == 0; {
		before := w.has("journal/a/")
		var err error
		purged, err = w.Purge(w.ctx(), Late("a"), w.lockOf, nil)
		w.ok(err)
		if gone := before - w.has("journal/a/"); gone == 0 || gone > record.JournalSlice {
			t.Fatalf("%d entries at once", gone)
		}
		w.sound()
	}
	w.want("", 0)
}
