package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// longJournal is a journal of commits with so many items; the first of them has the number first.
type longJournal struct {
	first int64
	items []int
}

// scan is [etcdstore.Reader.ScanJournal], of what is in memory.
func (l longJournal) scan(scan etcdstore.JournalScan, do func(*workflow.JournalEntry) bool) (*etcdstore.JournalSpan, error) {
	last := l.first + int64(len(l.items)) - 1
	at, by := max(scan.From, l.first), int64(1)
	if scan.Back {
		if at, by = scan.From, -1; at == 0 || at > last {
			at = last
		}
	}
	for ; at >= l.first && at <= last; at += by {
		e := workflow.JournalEntry{Sequence: at}
		for k := range l.items[at-l.first] {
			e.Items = append(e.Items, workflow.JournalItem{Execution: at, Sequence: int64(k), Event: []string{"odd", "even", "third"}[k%3]})
		}
		if do(&e) {
			break
		}
	}
	return &etcdstore.JournalSpan{First: l.first, Last: last, Revision: 1}, nil
}

func (l longJournal) read(t *rapid.T, q JournalQuery) JournalPage {
	if err := q.follow(); err != nil {
		t.Fatalf("%q: %v", q.Cursor, err)
	}
	page, found, err := q.read(l.scan)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	l.holds(t, &q, &page)
	return page
}

// told are the items of a page, and the commits without any.
func (p *JournalPage) told() (items []string) {
	for _, e := range p.Entries {
		if len(e.Items) == 0 {
			items = append(items, fmt.Sprint(e.Sequence))
		}
		for _, it := range e.Items {
			items = append(items, fmt.Sprint(it.Execution, ".", it.Sequence))
		}
	}
	return items
}

// all are the items that are wanted of all commits but those up to after, and those from before on.
func (l longJournal) all(keep func(*workflow.JournalItem) bool, after, before int64) []string {
	q := JournalQuery{Keep: keep, Limit: 500, After: after, Before: before}
	page, _, _ := q.read(l.scan)
	return page.told()
}

// holds checks what a page says of what is on its sides.
func (l longJournal) holds(t *rapid.T, q *JournalQuery, p *JournalPage) {
	n := 0
	for i, e := range p.Entries {
		n += len(e.Items)
		whole := 0
		for k := range l.items[e.Sequence-l.first] {
			if q.Keep == nil || q.Keep(&workflow.JournalItem{Event: []string{"odd", "even", "third"}[k%3]}) {
				whole++
			}
		}
		here := len(e.Items)
		if i == 0 {
			here += p.Before
		}
		if i == len(p.Entries)-1 {
			here += p.Behind
		}
		if here != whole {
			t.Fatalf("%+v: of %d items of commit %d it tells %d", *q, whole, e.Sequence, here)
		}
	}
	if q.Items > 0 && n > q.Items || len(p.Entries) > limitOf(q.Limit) {
		t.Fatalf("%+v: it has %d items of %d commits", *q, n, len(p.Entries))
	}
	if p.Before > 0 && p.Older == "" || p.Behind > 0 && p.Newer == "" {
		t.Fatalf("%+v: %d before and %d behind are out of reach", *q, p.Before, p.Behind)
	}
}

// Whichever way one goes through a journal, and however its pages cut its commits, each item is
// told once and in its order; and who turns round sees what was behind.
func TestTheJournalIsToldOnceByItsPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := longJournal{rapid.Int64Range(1, 3).Draw(t, "first"), rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 5, 5, 40, 40, 5000}), 0, 12).Draw(t, "items")}
		most := []int{0, 1, 2, 4, 5, 6, 39, 40, 41, 1000}
		if slices.Contains(l.items, 5000) {
			most = []int{0, 1000, 4999, 5000, 5001}
		}
		q := JournalQuery{Limit: rapid.IntRange(1, 13).Draw(t, "limit"), Items: rapid.SampledFrom(most).Draw(t, "most")}
		if word := rapid.SampledFrom([]string{"", "even", "d"}).Draw(t, "event"); word != "" {
			q.Keep = func(it *workflow.JournalItem) bool { return strings.Contains(it.Event, word) }
		}
		want := l.all(q.Keep, 0, 0)
		var forward, back []string
		page := l.read(t, q)
		for forward = page.told(); page.Newer != ""; forward = append(forward, page.told()...) {
			q.Cursor = page.Newer
			page = l.read(t, q)
		}
		q.Cursor, q.Back = "", true
		page = l.read(t, q)
		for back = page.told(); ; back = append(page.told(), back...) {
			// What came behind the page is told by the cursor, and, with the rest of a commit that was
			// cut, by the number that one goes on with.
			q.Cursor = page.Newer
			var behind []string
			for q.Cursor != "" {
				next := l.read(t, q)
				behind = append(behind, next.told()...)
				q.Cursor = next.Newer
			}
			if !slices.Equal(append(page.told(), behind...), back) {
				t.Fatalf("behind %q is %q, want %q", page.told(), behind, back)
			}
			if since := l.all(q.Keep, page.LookedTo, 0); len(page.Entries) > 0 && len(since) < len(behind) {
				t.Fatalf("behind commit %d are %q, and %q is behind the page", page.LookedTo, since, behind)
			}
			if page.Older == "" {
				break
			}
			q.Cursor = page.Older
			page = l.read(t, q)
		}
		if !slices.Equal(forward, want) || !slices.Equal(back, want) {
			t.Fatalf("want    %q\nforward %q\nback    %q", want, forward, back)
		}
	})
}

// The pages of a part end where it does, whichever way one goes, if each is asked for with the
// bounds of the first.
func TestThePagesOfAPartEndWithIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := longJournal{rapid.Int64Range(1, 3).Draw(t, "first"), rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 1, 2, 3, 5}), 1, 12).Draw(t, "items")}
		q := JournalQuery{
			Limit: rapid.IntRange(1, 13).Draw(t, "limit"), Items: rapid.SampledFrom([]int{0, 1, 2, 4, 40}).Draw(t, "most"),
			After: rapid.Int64Range(0, 16).Draw(t, "after"), Before: rapid.Int64Range(0, 16).Draw(t, "before"),
		}
		want := l.all(nil, q.After, q.Before)
		for _, q.Back = range []bool{false, true} {
			var told []string
			q.Cursor = ""
			for n := 0; n == 0 || q.Cursor != ""; n++ {
				page := l.read(t, q)
				if q.Cursor = page.Newer; q.Back {
					told, q.Cursor = append(page.told(), told...), page.Older
				} else {
					told = append(told, page.told()...)
				}
				if n > 100 {
					t.Fatalf("no end of %+v", q)
				}
			}
			if !slices.Equal(told, want) {
				t.Fatalf("%+v: %q, want %q", q, told, want)
			}
		}
	})
}

// A cursor is of a journal as it was: what it cut may be shorter by now, or gone.
func TestCursorsOfAnotherJournal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := longJournal{rapid.Int64Range(1, 3).Draw(t, "first"), []int{2, 0, 3}}
		cursor := fmt.Sprint(rapid.SampledFrom([]int64{-1 << 53, -9, -4, -3, -2, -1, 1, 2, 3, 4, 9, 1 << 53}).Draw(t, "commit"), rapid.SampledFrom([]string{"", ".0", ".1", ".3", ".99999"}).Draw(t, "place"))
		q := JournalQuery{Cursor: writeCursor(cursor), Items: rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "most")}
		page := l.read(t, q)
		told := page.told()
		for n := 0; page.Older != "" || page.Newer != ""; n++ {
			if n > 20 {
				t.Fatalf("no end behind %s", cursor)
			}
			if strings.HasPrefix(cursor, "-") {
				q.Cursor = page.Older
			} else {
				q.Cursor = page.Newer
			}
			if q.Cursor == "" {
				break
			}
			page = l.read(t, q)
			told = append(told, page.told()...)
		}
		if slices.Sort(told); len(slices.Compact(told)) != len(told) {
			t.Fatalf("%s: told twice: %q", cursor, told)
		}
	})
	for _, cursor := range []string{"0", "-0", "x", "1.", "1.x", ".1", "1.-1", "-1.-1", "1.1.1", "9007199254740993", "-9007199254740993", "-9223372036854775808", "1.99999999999999999999", " 1"} {
		q := JournalQuery{Cursor: writeCursor(cursor)}
		if err := q.follow(); workflow.CodeOf(err) != workflow.CodeInvalid {
			t.Errorf("%q: %v", cursor, err)
		}
	}
}
