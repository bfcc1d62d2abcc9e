package etcdstore

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// narrowWidth has an instance that waits at more than 20 places in parts of 1 KiB or so.
var narrowWidth = lookup.Width{Places: 20, Stays: 1, Part: 300, Listed: 5}.WithDefaults()

// Of an instance that waits at many places everybody finds each, also those who read no parts else, and a list says
// how many there are.
func TestEveryPlaceOfAWideInstanceIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Conn.Width = narrowWidth
	const n = 120
	w.wide("wide", n)
	rec := w.record("wide")
	if rec.Cut != record.FormWide || rec.Waits != n || len(rec.Header.Bookmarks) != n || len(rec.Parts) < 10 {
		t.Fatalf("form %d, waits at %d, %d, in %d parts", rec.Cut, rec.Waits, len(rec.Header.Bookmarks), len(rec.Parts))
	}
	last := rec.Header.Bookmarks[n-1]
	for _, not := range []bool{false, true} {
		of := find.Filter{WaitsFor: find.Wait{Kind: find.WaitTask, Name: "pack"}}
		if not {
			of = find.Filter{Not: []find.Filter{of}}
		}
		page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: of, Limit: 10})
		w.ok(err)
		if len(page.Items) == 1 == not {
			t.Errorf("not %t: %d are listed", not, len(page.Items))
		}
		if !not && len(page.Items) == 1 && (len(page.Items[0].Bookmarks) != 5 || page.Items[0].MoreWaits != n-5) {
			t.Errorf("it is listed with %d places, and %d more", len(page.Items[0].Bookmarks), page.Items[0].MoreWaits)
		}
	}
	page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Limit: 10, Places: true})
	w.ok(err)
	if len(page.Items) != 1 || len(page.Items[0].Bookmarks) != n {
		t.Errorf("all its places are asked for: %+v", page.Items)
	}
	var tasks []string
	for cursor, more := "", true; more; {
		page, end, err := w.Tasks(w.ctx(), "pack", cursor, 50)
		w.ok(err)
		for _, task := range page {
			if task.Damaged != "" || task.Bookmark.ActivityID == "" {
				t.Fatalf("%+v", task)
			}
			tasks = append(tasks, task.Bookmark.ID)
		}
		cursor, more = end.Next, end.Next != ""
	}
	if slices.Sort(tasks); len(slices.Compact(tasks)) != n {
		t.Errorf("%d tasks are listed", len(tasks))
	}
	m, err := w.Stimuli.Match(w.ctx(), workflow.Stimulus{ActivityType: last.ActivityType, InstanceID: "wide", BookmarkID: last.ID}, last.Hash, "")
	w.ok(err)
	if len(m.Bookmarks) != 1 || m.Bookmarks[0].ID != last.ID {
		t.Errorf("the last place is met at %+v", m.Bookmarks)
	}
	w.clean()
	w.ok(errOf(w.Remove(w.ctx(), w.lock("wide", "2"), "wide", w.now)))
	for _, prefix := range []string{"instance/", "part/", "bookmark/", "timer/", "task/", "mailbox/", "index/", "journal/"} {
		w.want(prefix, 0)
	}
}

// A commit writes the parts that it changes: one of a place that goes, wherever it was, and none where all of them go and
// their keys are still to be deleted.
func TestACommitOfAWideInstanceWritesWhatItChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Conn.Width = narrowWidth
	const n = 400
	w.wide("wide", n)
	puts := func(c *store.Commit) (parts int) {
		before := w.parts("wide")
		w.commit(c)
		for key := range w.parts("wide") {
			if !before[key] {
				parts++
			}
		}
		return parts
	}
	for _, at := range []int{0, 7, 150, n - 4} {
		c := w.next("wide", nil)
		c.Burned = c.Before.Header.Bookmarks[at : at+1]
		c.After.Header.Bookmarks = slices.Delete(slices.Clone(c.Before.Header.Bookmarks), at, at+1)
		if got := puts(c); got > 3 {
			t.Errorf("place %d goes: %d parts are put of %d", at, got, len(c.After.Parts))
		}
		w.clean()
	}
	c := w.next("wide", nil)
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	c.After.Header.Status, c.After.Header.SubStatus, c.After.Header.FinishedAt = workflow.StatusFinished, workflow.Cancelled, &c.At
	if got := puts(commits.Decide(c)); got > 0 {
		t.Errorf("its end puts %d parts", got)
	}
	rec := w.record("wide")
	if len(rec.Unwritten.Gone) != n-4 || rec.Header.MoreWaits != 0 {
		t.Errorf("%d places are to go", len(rec.Unwritten.Gone))
	}
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, rec)))
	last := w.next("wide", nil)
	last.Before.Unwritten, last.After.Unwritten = nil, nil
	last.Consumed = []store.Consumed{{Command: workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}, Created: 1, Drop: true}}
	w.commit(last)
	for _, prefix := range []string{"part/", "bookmark/", "timer/", "task/", "mailbox/"} {
		w.want(prefix, 0)
	}
}

// parts are the keys of the parts of an instance.
func (w *world) parts(id string) map[string]bool {
	out := map[string]bool{}
	for key := range w.dump() {
		if len(key) > len("part/"+id+"/") && key[:len("part/"+id+"/")] == "part/"+id+"/" {
			out[key] = true
		}
	}
	return out
}

// While a node lives that reads parts and not those of where an instance waits, that stays in the record.
func TestPlacesStayInTheRecordUntilEveryNodeReadsThemInParts(t *testing.T) {
	t.Parallel()
	for form, want := range map[int]int{record.FormInParts: 0, record.FormWide: record.FormWide} {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Conn.Width, w.Conn.PartsKnown = narrowWidth, func(f int) bool { return f <= form }
			w.wide("wide", 30)
			if rec := w.record("wide"); rec.Cut != want || len(rec.Header.Bookmarks) != 30 {
				t.Errorf("it is of form %d, and waits at %d places", rec.Cut, len(rec.Header.Bookmarks))
			}
		})
	}
}

// A decision that takes the widest instance from all its places to as many others, as an import does, is written and read.
func TestADecisionHoldsThePlacesOfBeforeAndOfNow(t *testing.T) {
	testsize.NotRaced(t, "it goes over much JSON on one goroutine")
	t.Parallel()
	w := newWorld(t)
	places := func(of string) (list []workflow.Bookmark) {
		for i := range 450 {
			list = append(list, workflow.Bookmark{ID: fmt.Sprint(of, i), Payload: strings.Repeat(of, 100<<10)})
		}
		return list
	}
	r := store.Record{Header: workflow.Instance{ID: "i", Bookmarks: places("n")}, Unwritten: &store.Unwritten{Gone: places("b")}, Cut: record.FormWide}
	o := db.NewContent()
	lookup.PartsOf(w.Conn).Put(o, nil, &r, true)
	if o.Err != nil {
		t.Fatal(o.Err)
	}
	texts := map[string][]byte{}
	var stored []byte
	for i := range o.Writes {
		if key := string(o.Writes[i].KeyBytes()); key == w.Keys.Instance("i") {
			stored = o.Writes[i].ValueBytes()
		} else {
			texts[strings.TrimPrefix(key, w.Keys.PartsOf("i"))] = o.Writes[i].ValueBytes()
		}
	}
	read := &store.Record{}
	w.ok(db.Decode(stored, read))
	whole, lacks, err := lookup.Splice(stored, read, texts)
	if err != nil || lacks != "" {
		t.Fatal(err, lacks)
	}
	back := &store.Record{}
	w.ok(db.Decode(whole, back))
	if !reflect.DeepEqual(back.Header.Bookmarks, r.Header.Bookmarks) || !reflect.DeepEqual(back.Unwritten.Gone, r.Unwritten.Gone) {
		t.Errorf("%d places, and %d of before", len(back.Header.Bookmarks), len(back.Unwritten.Gone))
	}
}

// The header of a wide instance is read whole, and of its state nothing.
func TestTheHeaderOfAWideInstanceIsReadWithoutItsState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Conn.Width = narrowWidth
	const n = 120
	w.wide("wide", n)
	c := w.next("wide", nil)
	c.After.State = stateWith(t, many(50, 100))
	w.commit(c)
	whole := w.record("wide")
	header := func() *store.Record {
		t.Helper()
		r, err := w.Reader.Header(w.ctx(), "wide")
		w.ok(err)
		return r
	}
	if r := header(); !reflect.DeepEqual(r.Header, whole.Header) || r.Header.MoreWaits != 0 || r.State != nil {
		t.Errorf("it waits at %d places, and %d more", len(r.Header.Bookmarks), r.Header.MoreWaits)
	}
	short := func() (*store.Record, error) { return w.Reader.Brief(w.ctx(), "wide") }
	b, err := short()
	if w.ok(err); len(b.Header.Bookmarks) < narrowWidth.Listed || len(b.Header.Bookmarks)+b.Header.MoreWaits != n || b.State != nil {
		t.Errorf("in brief it waits at %d places, and %d more", len(b.Header.Bookmarks), b.Header.MoreWaits)
	}
	if b.Header.Bookmarks, b.Header.MoreWaits = whole.Header.Bookmarks, 0; !reflect.DeepEqual(b.Header, whole.Header) {
		t.Errorf("in brief: %+v", b.Header)
	}
	raw := w.dump()["instance/wide"]
	r := &store.Record{}
	w.ok(db.Decode([]byte(raw), r))
	text, err := db.Inflate([]byte(raw), r)
	w.ok(err)
	r.Text = text
	state := cut.Find(r.Text, r.Parts, "state", "")
	for _, p := range state.Parts {
		w.spoil(w.Keys.Part("wide", p.ID), []byte("x"))
	}
	if len(state.Parts) == 0 || !reflect.DeepEqual(header().Header, whole.Header) {
		t.Errorf("with %d parts of its state spoilt", len(state.Parts))
	}
	if r, err := w.Reader.Instance(w.ctx(), "wide"); !errors.Is(err, db.ErrDamaged) {
		t.Errorf("all of it: %v, %v", r, err)
	}
	w.del(w.Keys.Part("wide", state.Parts[0].ID))
	if r, err := w.Reader.Header(w.ctx(), "wide"); !errors.Is(err, db.ErrDamaged) {
		t.Errorf("with a part gone: %v, %v", r, err)
	}
	if r, err := short(); !errors.Is(err, db.ErrDamaged) {
		t.Errorf("in brief: %v, %v", r, err)
	}
}
