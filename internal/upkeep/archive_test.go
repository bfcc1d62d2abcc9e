package upkeep_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/activities/sql/sqlite"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const told = `
id: told
variables:
  n: 1
root:
  - setVariable: {variable: n, value: "${{ 1 + 1 }}"}
  - writeLine: done
`

func archiveIn(t *testing.T, file string) *archive.Archive {
	t.Helper()
	a, err := archive.Open([]*sql.Dialect{sqlite.Dialect()}, "sqlite:"+file, "", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// all lists instances page by page, and tells their ids.
func (m *member) all(f find.Filter, limit int) (ids []string) {
	m.T.Helper()
	for cursor := ""; ; {
		page, err := m.Inspector.Instances(m.T.Context(), f, inspect.Paging{Limit: limit, Cursor: cursor})
		if err != nil {
			m.T.Fatal(err)
		}
		for _, in := range page.Items {
			ids = append(ids, in.ID)
		}
		if cursor = page.Next; cursor == "" {
			return ids
		}
	}
}

// purgeAll lets all go that has ended.
func purgeAll(t *testing.T, m *member) {
	t.Helper()
	grow(t, []*member{m}, 11*time.Minute)
	untilRest(t, m.Upkeep.PurgePasses(retention.Limits{Finished: time.Nanosecond, Grace: time.Nanosecond}), 200)
}

// What leaves etcd is told from the archive in the same words.
func TestTheArchiveTellsWhatEtcdTold(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
		c.Archive = archiveIn(t, filepath.Join(t.TempDir(), "archive.db"))
		// No two instances are made at one time: what etcd and the archive do with such in a list differs.
		c.Now = func() time.Time { return time.Now().Add(time.Duration(asked.Add(1)) * time.Millisecond) }
	})[0]
	m.Publish(told, ending)
	type seen struct {
		instance  workflow.Instance
		journal   runtime.JournalPage
		back      runtime.JournalPage
		variables inspect.VariablesPart
		export    inspect.StateExport
	}
	look := func(id string) (s seen) {
		t.Helper()
		var err [5]error
		s.instance, err[0] = m.Inspector.Instance(t.Context(), id)
		s.journal, err[1] = m.Inspector.JournalPart(t.Context(), id, inspect.JournalQuery{Items: 3})
		s.back, err[2] = m.Inspector.JournalPart(t.Context(), id, inspect.JournalQuery{Back: true, Items: 2})
		s.variables, err[3] = m.Inspector.Variables(t.Context(), id, inspect.Newest)
		s.export, err[4] = m.Inspector.Export(t.Context(), id)
		if err != [5]error{} {
			t.Fatal(id, err)
		}
		s.journal.Revision, s.back.Revision, s.variables.Revision = 0, 0, 0 // of etcd
		return s
	}
	before := map[string]seen{}
	for n := range 40 {
		id, def := fmt.Sprintf("i%02d", n), "told"
		if n%4 == 0 {
			def = "ending"
		}
		m.Start(def, id, "c"+id)
		before[id] = look(id)
	}
	newest := m.all(find.Filter{}, 500)
	purgeAll(t, m)
	if left := m.ended(); left != 0 {
		t.Fatalf("%d are left", left)
	}
	for id, want := range before {
		want.instance.Archived, want.export.Instance.Archived = true, true
		if got := look(id); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v, want\n%+v", id, got, want)
		}
	}
	for n := range 5 { // which are in etcd
		m.Start("told", fmt.Sprint("live", n), "")
	}
	want := append(m.all(find.Filter{IDs: []string{"live0", "live1", "live2", "live3", "live4"}}, 500), newest...)
	oldest := append(slices.Clone(want[:5]), newest...)
	slices.Reverse(oldest[:5])
	slices.Reverse(oldest[5:])
	for _, limit := range []int{1, 3, 5, 44, 45, 500} {
		if got := m.all(find.Filter{}, limit); !slices.Equal(got, want) {
			t.Errorf("by %d: got %v, want %v", limit, got, want)
		}
		if got := m.all(find.Filter{Order: find.OldestFirst}, limit); !slices.Equal(got, oldest) {
			t.Errorf("by %d, the oldest first: got %v, want %v", limit, got, oldest)
		}
		if got := m.all(find.Filter{DefinitionID: "ending", Status: workflow.StatusFinished}, limit); len(got) != 10 {
			t.Errorf("by %d: of one definition: %v", limit, got)
		}
	}
	for name, f := range map[string]find.Filter{"a correlation": {CorrelationID: "ci07"}, "an id": {IDs: []string{"i07"}}, "a prefix": {CorrelationPrefix: "ci07"}} {
		if got := m.all(f, 2); !slices.Equal(got, []string{"i07"}) {
			t.Errorf("by %s: %v", name, got)
		}
	}
	ago := find.Filter{Created: find.Span{After: find.Moment{Ago: time.Hour}}}
	if got := m.all(ago, 4); len(got) != 45 {
		t.Errorf("by a time ago: %d of 45", len(got))
	}
	if got := m.all(find.Filter{Status: workflow.StatusRunning}, 2); len(got) != 0 {
		t.Errorf("running: %v", got)
	}

	// It comes back by an import, and is then told as what runs here is.
	if _, err := m.Commands.Import(t.Context(), "i07", before["i07"].export, 0); err != nil {
		t.Fatal(err)
	}
	if in, err := m.Inspector.Instance(t.Context(), "i07"); err != nil || in.Archived {
		t.Errorf("after an import: %+v, %v", in, err)
	}
	if got := m.all(find.Filter{CorrelationID: "ci07"}, 5); !slices.Equal(got, []string{"i07"}) {
		t.Errorf("it is listed as %v", got)
	}
	for _, id := range []string{"i07", "i08"} { // here and there; there only
		if _, err := m.Commands.Delete(t.Context(), id); err != nil {
			t.Error(err)
		}
		if _, err := m.Inspector.Instance(t.Context(), id); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
			t.Errorf("%s is deleted: %v", id, err)
		}
		if _, err := m.Commands.Delete(t.Context(), id); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
			t.Errorf("%s is deleted twice: %v", id, err)
		}
	}
	m.Sound()
}

// While the archive does not answer nothing leaves etcd, and nobody is told that there is no such instance.
func TestAnArchiveThatIsAwayLosesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "archive.db")
	away := archiveIn(t, file)
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) { c.Archive = away })[0]
	m.Publish(told)
	for n := range 20 {
		m.Start("told", fmt.Sprint("i", n), "")
	}
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	grow(t, []*member{m}, 11*time.Minute)
	pass := m.Upkeep.PurgePasses(retention.Limits{Finished: time.Nanosecond, Grace: time.Nanosecond})
	if _, err := pass(t.Context()); workflow.CodeOf(err) != workflow.CodeUnavailable || m.ended() != 20 {
		t.Errorf("%d of 20 are left: %v", m.ended(), err)
	}
	if got := m.Lines("i3"); !slices.Equal(got, []string{"done"}) {
		t.Error(got)
	}
	m.Start("told", "", "") // its id is new, and nobody has to look for it
	for name, err := range map[string]error{
		"a start of a chosen id": second(m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "told", InstanceID: "i20"})),
		"an instance":            second(m.Inspector.Instance(t.Context(), "nobody")), "a journal": second(m.Inspector.Journal(t.Context(), "nobody", "", 5)),
		"a delete": second(m.Commands.Delete(t.Context(), "nobody")),
	} {
		if workflow.CodeOf(err) != workflow.CodeUnavailable || !strings.Contains(err.Error(), "archive") {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := m.Inspector.Instances(t.Context(), find.Filter{}, inspect.Paging{Limit: 50})
	if err != nil || len(page.Items) != 21 || page.Next == "" {
		t.Errorf("%d of 21 listed, then %q: %v", len(page.Items), page.Next, err)
	}
	if _, err := m.Inspector.Instances(t.Context(), find.Filter{}, inspect.Paging{Limit: 50, Cursor: page.Next}); workflow.CodeOf(err) != workflow.CodeUnavailable {
		t.Errorf("the rest of the list: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Of a journal that is cut before it goes the archive has all.
func TestALongJournalIsArchivedWhole(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
		c.Archive = archiveIn(t, filepath.Join(t.TempDir(), "archive.db"))
	})[0]
	m.Publish("id: long\nroot:\n  - while: ${{ variables.n < 130 }}\n    body:\n      - setVariable: {variable: n, value: \"${{ variables.n + 1 }}\"}\n      - event: go\nvariables:\n  n: 0\n")
	in := m.Start("long", "long", "")
	for n := 1; in.Status != workflow.StatusFinished; n++ {
		m.Event("go", "", nil)
		var err error
		if in, err = m.Inspector.Instance(t.Context(), "long"); err != nil || n > 1000 {
			t.Fatal(n, err)
		}
	}
	page, err := m.Inspector.JournalPart(t.Context(), "long", inspect.JournalQuery{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	purgeAll(t, m)
	if m.ended() != 0 {
		t.Fatal("it stays")
	}
	got, err := m.Inspector.JournalPart(t.Context(), "long", inspect.JournalQuery{Limit: 500})
	if got.Revision = page.Revision; err != nil || !reflect.DeepEqual(got, page) || len(page.Entries) < 130 {
		t.Errorf("%v: %d of %d commits", err, len(got.Entries), len(page.Entries))
	}
}

// An instance that was imported counts its commits from 1 again, and is the newer one however far the archived one had counted.
func TestWhatWasImportedAndEndsAgainIsArchived(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
		c.Archive = archiveIn(t, filepath.Join(t.TempDir(), "archive.db"))
	})[0]
	m.Publish("id: twice\nroot:\n  - event: a\n  - event: b\n  - event: c\n  - fault: it goes wrong\n")
	m.Start("twice", "twice", "")
	for _, name := range []string{"a", "b", "c"} {
		m.Event(name, "", nil)
	}
	purgeAll(t, m)
	first, err := m.Inspector.Export(t.Context(), "twice")
	if err != nil || first.Sequence < 4 || !first.Instance.Archived || first.Instance.SubStatus != workflow.Faulted {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := m.Commands.Import(t.Context(), "twice", first, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Commands.Retry(t.Context(), "twice"); err != nil {
		t.Fatal(err)
	}
	again, err := m.Inspector.Export(t.Context(), "twice")
	if err != nil || again.Sequence >= first.Sequence || again.Instance.Archived {
		t.Fatalf("after the import it is at %d, and was at %d: %v", again.Sequence, first.Sequence, err)
	}
	purgeAll(t, m)
	got, err := m.Inspector.Export(t.Context(), "twice")
	again.Instance.Archived = true
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("%v: the archive has\n%+v, want\n%+v", err, got, again)
	}
}

// One whose record lacks a part is not archived, and stays; those beside it go.
func TestADamagedInstanceIsInNobodysWay(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
		c.Archive = archiveIn(t, filepath.Join(t.TempDir(), "archive.db"))
	})[0]
	m.Publish("id: large\nvariables:\n  text: \"\"\nroot:\n  - setVariable: {variable: text, value: \"${{ repeat('0123456789abcdef', 4000) }}\"}\n  - event: go\n")
	etcd := clustertest.Shared(t).Client(t)
	for n := range 3 {
		m.Start("large", fmt.Sprint("i", n), "")
	}
	m.Event("go", "", nil)
	if gone, err := etcd.Delete(t.Context(), m.Root+"part/i1/", clientv3.WithPrefix()); err != nil || gone.Deleted == 0 {
		t.Fatalf("it has no parts: %v", err)
	}
	purgeAll(t, m)
	if left := m.ended(); left != 1 {
		t.Errorf("%d are left, want the damaged one", left)
	}
	for _, id := range []string{"i0", "i2"} {
		if in, err := m.Inspector.Instance(t.Context(), id); err != nil || !in.Archived {
			t.Errorf("%s: %+v, %v", id, in, err)
		}
	}
}
