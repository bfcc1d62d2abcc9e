package etcdstore

import (
	"testing"

	"github.com/weft-run/weft/internal/store"
)

// What has not moved is as it was known, and is not read; all else is read.
func TestALoadReadsWhatMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	known := w.record("a")
	load := func(known *store.Record) *store.Loaded {
		t.Helper()
		l, err := w.Loading("a", "", "", known).Load(w.ctx())
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
