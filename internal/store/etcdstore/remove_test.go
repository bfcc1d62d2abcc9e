package etcdstore

import (
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Without the lock, or with one that was lost, nothing of an instance is removed.
func TestRemoveWantsTheLock(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"damaged": "junk", "whole": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sound(t)
			if value != "" {
				_, err := w.raw.Put(w.ctx(), w.Keys.Instance("i"), value)
				w.ok(err)
			}
			lost := w.lock("i", "2")
			_, err := w.raw.Delete(w.ctx(), lost.Key)
			w.ok(err)
			before, err := w.raw.Get(w.ctx(), w.Keys.Root, clientv3.WithPrefix(), clientv3.WithCountOnly())
			w.ok(err)
			if _, err := w.Remove(w.ctx(), lost, "i", w.now); !errors.Is(err, store.ErrFenced) {
				t.Errorf("with a lost lock: %v", err)
			}
			after, err := w.raw.Get(w.ctx(), w.Keys.Root, clientv3.WithPrefix(), clientv3.WithCountOnly())
			w.ok(err)
			if after.Count != before.Count {
				t.Errorf("%d of %d keys are left", after.Count, before.Count)
			}
			w.ok(errOf(w.Remove(w.ctx(), w.lock("i", "3"), "i", w.now)))
			w.ok(errOf(w.Remove(w.ctx(), w.lock("i", "4"), "i", w.now))) // nothing is there
			if r, err := w.Load(w.ctx(), "i", "", ""); err != nil || r.Record != nil {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// What happens to an instance between the look and the delete is seen: nothing goes.
func TestRemoveLeavesWhatMoved(t *testing.T) {
	t.Parallel()
	mailed := func(w *world, cmd workflow.Command, to *store.BookmarkRef) {
		out, _, err := w.PutMail(w.ctx(), "i", cmd, to)
		if w.ok(err); out != record.PutDone {
			w.tb.Fatal(out)
		}
	}
	cancel := workflow.Command{ID: "stop", Kind: workflow.CommandCancel, CreatedAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	for what, move := range map[string]func(w *world){
		"went on":       func(w *world) { w.commit(w.next("i", nil)) },
		"was written":   func(w *world) { w.spoil(w.Keys.Instance("i"), []byte("junk")) },
		"was damaged":   func(w *world) { w.spoil(w.Keys.Instance("i"), []byte("{")) },
		"is another":    func(w *world) { w.remove("i"); w.instance("i", "paid") },
		"was delivered": func(w *world) { b := w.look(event("approved")).Bookmarks[0]; mailed(w, w.resume("c1", &b, nil), &b) },
		"is cancelled":  func(w *world) { mailed(w, cancel, nil) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := sound(t)
			r, err := commits.LookToRemove(w.ctx(), w.Conn, nil, "i", w.now)
			w.ok(err)
			move(w)
			before := w.dump()
			if done, err := r.Remove(w.ctx()); err != nil || done {
				t.Errorf("done %t, %v", done, err)
			}
			compare(t, "left", w.dump(), before)
		})
	}
}

// Who waits for what is removed, and what only that waits for, hear of it if they are
// there: mail for who is not would lie in a mailbox for ever.
func TestRemoveTellsWhoIsThere(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		removed, told string
		value         string // of the removed one's record; "": as it was written
	}{
		"a parent":                  {"child", "parent", ""},
		"the parent of a damaged":   {"child", "parent", "junk"},
		"a child":                   {"parent", "child", ""},
		"nobody, it cannot be read": {"parent", "child", "junk"},
	} {
		for _, typ := range commits.ChildTypes {
			for _, there := range []bool{true, false} {
				t.Run(what+" "+typ+map[bool]string{true: " there", false: " gone"}[there], func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.waitsFor(typ, "parent", "child")
					if tt.value != "" {
						w.spoil(w.Keys.Instance(tt.removed), []byte(tt.value))
					}
					want := 0
					if there && (tt.value == "" || tt.told == "parent") {
						want = 1
					}
					if !there {
						_, err := w.raw.Delete(w.ctx(), w.Keys.Instance(tt.told))
						w.ok(err)
					}
					w.ok(errOf(w.Remove(w.ctx(), w.lock(tt.removed, "2"), tt.removed, w.now)))
					w.want("instance/"+tt.removed, 0)
					w.want("mailbox/", want)
					w.want("cancel/", want*map[string]int{"parent": 0, "child": 1}[tt.told])
				})
			}
		}
	}
}

// waitsFor makes two instances, of which one waits for the other's end.
func (w *world) waitsFor(typ, parent, child string) {
	w.tb.Helper()
	b := w.bookmark(parent, "end", "")
	payload := map[string]any{"childInstanceId": child}
	hash, err := workflow.Hash(typ, payload)
	w.ok(err)
	b.ActivityType, b.Payload, b.Hash = typ, payload, hash
	w.commit(w.first(parent, nil, b))
	c := w.first(child, nil)
	c.After.Header.Parent = &workflow.Parent{InstanceID: parent, BookmarkID: b.ID}
	w.commit(c)
}
