package etcdstore

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// leave has instances leave early, and tells which did.
func (w *world) leave(ids ...string) []string {
	w.tb.Helper()
	some := make([]Leaving, len(ids))
	for i, id := range ids {
		some[i] = Leaving{ID: id, Early: true}
	}
	left, err := w.Purge(w.ctx(), some, w.lockOf, func(context.Context, []Ended) error { return nil })
	w.ok(err)
	return left
}

// Nothing is left of an instance that leaves early but the record, of which its time is known.
func TestWhatLeavesEarlyLeavesARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	was := w.ended("a")
	if left := w.leave("a", "missing"); !slices.Equal(left, []string{"a"}) {
		t.Fatal(left)
	}
	w.want("instance/", 0)
	w.want("journal/", 0)
	w.want("finished/", 0)
	w.want("idem-expiry/", 1)
	resp, err := w.raw.Get(w.ctx(), w.Keys.CommandRecord("a", record.DeletedRecord))
	w.ok(err)
	if from, err := record.DeletedFrom(resp.Kvs[0]); err != nil || from != was.Modified {
		t.Errorf("it is from %d, %v; want %d", from, err, was.Modified)
	}
	w.sound()
}

// What may still be changed does not leave early: one that faulted may be retried, and files lie beside their instance.
func TestWhatMayBeWantedStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instanceIn("faulted", "k", "paid")
	c := ends(w.next("faulted", nil))
	c.After.Header.SubStatus, c.After.Header.FinishedAt = workflow.Faulted, &w.now
	w.commit(c)
	w.withFile("files", "x")
	c = ends(w.next("files", nil))
	c.After.Header.FinishedAt = &w.now
	w.commit(c)
	w.ended("plain")
	stays := map[string]bool{}
	for shard := range FinishedShards {
		page, _, _, err := w.Finished(w.ctx(), shard, "", w.now.Add(1<<40), 10)
		w.ok(err)
		for _, f := range page {
			if stays[f.ID] = f.Stays; f.Bytes < lookup.KeyBytes {
				t.Errorf("%s has %d bytes", f.ID, f.Bytes)
			}
		}
	}
	if len(stays) != 3 || !stays["faulted"] || !stays["files"] || stays["plain"] {
		t.Errorf("stay: %v", stays)
	}
	if left := w.leave("faulted", "files", "plain"); !slices.Equal(left, []string{"plain"}) {
		t.Errorf("left: %v", left)
	}
	w.sound()
}

// A late copy of the commit that made an instance does not bring it back when it has left, and who sent it does not take
// the refusal for a reason to run it again.
func TestALateCopyDoesNotBringBackWhatLeft(t *testing.T) {
	t.Parallel()
	for name, commit := range map[string]func(w *world) *store.Commit{
		"without a lock": func(w *world) *store.Commit {
			u, _ := w.standing()
			return w.unlocked("a", u)
		},
		"of a node that is alone": func(w *world) *store.Commit { return w.first("a", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := commit(w)
			h := &c.After.Header
			h.Status, h.SubStatus, h.FinishedAt = workflow.StatusFinished, workflow.Finished, &w.now
			w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
			if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
				t.Fatal(err)
			}
			if left := w.leave("a"); len(left) != 1 {
				t.Fatal("it stays")
			}
			if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrFenced) {
				t.Errorf("the copy: %v, want fenced", err)
			}
			w.want("instance/", 0)
		})
	}
}

// Of a node that is alone also the commit that ended the instance is not taken for one that was refused.
func TestTheEndOfWhatLeftIsNotRunAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instanceIn("a", "k", "paid")
	c := ends(w.next("a", nil))
	c.After.Header.FinishedAt = &w.now
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	w.leave("a")
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the copy: %v, want fenced", err)
	}
}

// A start under an id that was looked for in vain is refused if one with that id has left since, and else is none the worse for
// one that left before.
func TestAStartMeetsWhatLeftSinceItWasLookedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ended("a")
	before, err := w.RevisionFor(w.ctx(), "a")
	w.ok(err)
	w.leave("a")
	after, err := w.RevisionFor(w.ctx(), "a")
	w.ok(err)
	for _, c := range []struct {
		free int64
		want stimuli.CreateOutcome
	}{{before, CreateMoved}, {after, Created}} {
		n := w.newInstance("a", w.id("start"), nil)
		n.Command.Start.Free = c.free
		if out, err := w.Create(w.ctx(), n, nil); err != nil || out != c.want {
			t.Errorf("free at %d, and it left by %d: %v, %v", c.free, after, out, err)
		}
		l, err := w.Loading("a", "", "", nil).WithDeleted().Load(w.ctx())
		w.ok(err)
		if l.Deleted <= before || l.Deleted > after {
			t.Errorf("it left at %d, by the load %d", after, l.Deleted)
		}
	}
}
