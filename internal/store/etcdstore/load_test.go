package etcdstore

import (
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// A load is one request. Of what is known its key is read, and no value; of what moved all, in
// a second request. None is a proposal.
func TestALoadOfWhatIsKnownReadsItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	known := w.record("a")
	costs := func(known *store.Record) (requests int, bytes int64) {
		t.Helper()
		before, at := w.faults.Values(), w.faults.Calls("txn")
		armed := w.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: writes})
		l, err := w.Loading("a", "", "", known).WithLock(w.lockOf("a")).Load(w.ctx())
		armed.Disarm()
		if w.ok(err); l.Record == nil || l.Locked {
			t.Errorf("%+v", l)
		}
		return w.faults.Calls("txn") - at, w.faults.Values() - before
	}
	if n, bytes := costs(known); n != 1 || bytes != 0 {
		t.Errorf("of what is known: %d requests, %d bytes of values", n, bytes)
	}
	n, whole := costs(nil)
	if n != 1 || whole == 0 {
		t.Errorf("of what is not: %d requests, %d bytes", n, whole)
	}
	w.commit(w.next("a", nil))
	if n, bytes := costs(known); n != 2 || bytes < whole {
		t.Errorf("of what moved: %d requests, %d bytes, and all of it has %d", n, bytes, whole)
	}
}

// What has not moved is as it was known, and is not read; all else is read: in a request of
// its own, and in the transaction that takes the lock, whose holder goes on from what it reads.
func TestALoadReadsWhatMoved(t *testing.T) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		readsWhatMoved(t, func(w *world, q *Loading) (*store.Loaded, error) { return q.Load(w.ctx()) })
	})
	t.Run("with the lock", func(t *testing.T) {
		t.Parallel()
		readsWhatMoved(t, func(w *world, q *Loading) (*store.Loaded, error) {
			resp, err := w.raw.Txn(w.ctx()).Then(q.Ops()...).Commit()
			w.ok(err)
			return q.Decode(w.ctx(), resp.Responses, resp.Header.Revision)
		})
	})
}

func readsWhatMoved(t *testing.T, by func(w *world, q *Loading) (*store.Loaded, error)) {
	t.Helper()
	w := newWorld(t)
	w.instance("a", "paid")
	known := w.record("a")
	load := func(known *store.Record) *store.Loaded {
		t.Helper()
		l, err := by(w, w.Loading("a", "", "", known))
		w.ok(err)
		return l
	}
	b := w.look(event("paid")).Bookmarks[0]
	_, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
	w.ok(err)
	if l := load(known); l.Record != known || len(l.Mail) != 1 || l.Revision == 0 {
		t.Errorf("it has not moved: %+v", l)
	}
	if l := load(nil); l.Record == nil || l.Record.Modified != known.Modified || l.Bytes == 0 {
		t.Errorf("nothing was known: %+v", l)
	}
	w.burn("a")
	if l := load(known); l.Record == known || l.Record == nil || l.Record.Seq != known.Seq+1 || len(l.Record.Header.Bookmarks) != 0 {
		t.Errorf("it has moved: %+v", l)
	}
	moved := w.record("a")
	w.remove("a")
	if l := load(moved); l.Record != nil {
		t.Errorf("it is gone: %+v", l.Record)
	}
	w.instance("a", "again")
	if l := load(moved); l.Record == nil || l.Record == moved || l.Record.Seq != 1 {
		t.Errorf("it is another of this id: %+v", l.Record)
	}
}
