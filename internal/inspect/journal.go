package inspect

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// JournalQuery says which part of a journal is wanted. Without a cursor and bounds it
// is the beginning, or the end if Back is set.
type JournalQuery struct {
	Cursor        string // of another page: that is gone on from, within the bounds, and its way
	After, Before int64  // only commits behind that one; only those before it; 0: all
	Back          bool   // the newest of them; else the oldest
	Limit         int    // commits of a page: 1..500, default 50
	// Items is how many items a page has at most, counted from where it begins: from its
	// newest if Back is set. It ends within a commit that has more. 0: all of its commits.
	Items int
	// Keep chooses items; commits of which none is kept are left out. nil: all.
	Keep func(*workflow.JournalItem) bool

	within int64 // of a cursor: a commit that was cut
	place  int   // in front of the item at this place of it
}

// JournalPage is a part of a journal, all of it read at one revision.
type JournalPage struct {
	Entries []workflow.JournalEntry // the oldest first
	// Older and Newer are the cursors of what is on either side; "": nothing is. With Keep
	// a page may be short, or empty, and have them.
	Older, Newer string
	// Before and Behind are how many items, of those that Keep chooses, the first commit of
	// the page has before those of the page, and the last one behind them.
	Before, Behind        int
	LookedFrom            int64 // the oldest commit that was looked at; 0: none
	LookedTo              int64 // the newest one, or the one before it if some of its items are behind the page; 0: none
	First, Last, Revision int64 // what the journal has: the oldest commit that is kept, and the newest
	items                 int   // of all entries
}

// Journal reads what an instance did, commit by commit, from cursor on.
func (i *Inspector) Journal(ctx context.Context, id, cursor string, limit int) (Page[workflow.JournalEntry], error) {
	page, err := i.JournalPart(ctx, id, JournalQuery{Cursor: cursor, Limit: limit})
	return Page[workflow.JournalEntry]{Items: page.Entries, Next: page.Newer, Revision: page.Revision}, err
}

// JournalPart reads a part of what an instance did.
func (i *Inspector) JournalPart(ctx context.Context, id string, q JournalQuery) (JournalPage, error) {
	if err := q.follow(); err != nil {
		return JournalPage{}, err
	}
	page, found, err := q.read(func(scan etcdstore.JournalScan, do func(*workflow.JournalEntry) bool) (*etcdstore.JournalSpan, error) {
		return i.scanJournal(ctx, id, scan, do)
	})
	return page, unread(id, found, err)
}

// read makes a page of what is scanned. found: there is a journal.
func (q *JournalQuery) read(journal func(etcdstore.JournalScan, func(*workflow.JournalEntry) (enough bool)) (*etcdstore.JournalSpan, error)) (page JournalPage, found bool, err error) {
	scan := etcdstore.JournalScan{Back: q.Back, From: q.After + 1}
	if q.Back {
		scan.From = max(0, q.Before-1)
	}
	limit := limitOf(q.Limit)
	span, err := journal(scan, func(e *workflow.JournalEntry) (enough bool) {
		if q.Before > 0 && e.Sequence >= q.Before || q.After > 0 && e.Sequence <= q.After {
			return true
		}
		page.take(e, q)
		return len(page.Entries) == limit || q.Items > 0 && page.items >= q.Items
	})
	if err != nil || span == nil {
		return JournalPage{}, span != nil, err
	}
	if q.Back {
		slices.Reverse(page.Entries)
	}
	page.First, page.Last, page.Revision = span.First, span.Last, span.Revision
	page.sides(q)
	return page, true, nil
}

// sides tells what is on either side of a page whose commits were all taken.
func (p *JournalPage) sides(q *JournalQuery) {
	// Onwards, a page ends the part that is wanted if it came to its bound, or found nothing before it.
	over := !q.Back && (p.LookedTo == 0 || q.Before > 0 && p.LookedTo >= q.Before-1)
	if p.LookedTo == 0 && q.After > 0 { // nothing is new: who follows goes on from the same place
		p.LookedTo = min(q.After, p.Last)
	}
	if p.Older == "" && p.LookedFrom > p.First {
		p.Older = journalCursor(-p.LookedFrom, noPlace)
	}
	if p.Newer == "" && p.LookedTo > 0 && p.LookedTo < p.Last && !over {
		p.Newer = journalCursor(p.LookedTo, noPlace)
	}
}

// take adds a commit: those of its items that are wanted, as far as there is room.
func (p *JournalPage) take(e *workflow.JournalEntry, q *JournalQuery) {
	if p.LookedTo = max(p.LookedTo, e.Sequence); p.LookedFrom == 0 || e.Sequence < p.LookedFrom {
		p.LookedFrom = e.Sequence
	}
	kept, places := e.Items[:0], make([]int, 0, len(e.Items))
	for at := range e.Items {
		if q.Keep == nil || q.Keep(&e.Items[at]) {
			kept, places = append(kept, e.Items[at]), append(places, at)
		}
	}
	if q.Keep != nil && len(kept) == 0 {
		return
	}
	from, to := 0, len(kept)
	if e.Sequence == q.within {
		if cut, _ := slices.BinarySearch(places, q.place); q.Back {
			to = cut
		} else {
			from = cut
		}
	}
	if room := q.Items - p.items; q.Items > 0 && to-from > room {
		if q.Back {
			from = to - room
		} else {
			to = from + room
		}
	}
	if from > 0 {
		p.Before, p.Older = from, journalCursor(-e.Sequence, places[from-1]+1)
	}
	if to < len(kept) {
		p.Behind, p.Newer = len(kept)-to, journalCursor(e.Sequence, places[to])
		p.LookedTo = e.Sequence - 1
	}
	e.Items = kept[from:to]
	p.items += to - from
	p.Entries = append(p.Entries, *e)
}

// noPlace: a cursor lies between commits.
const noPlace = -1

// journalCursor is that of what comes behind a commit, or, with a minus, before it. With a place
// it is of what the commit has from that item on, or before it, too.
func journalCursor(commit int64, place int) string {
	text := strconv.FormatInt(commit, 10)
	if place >= 0 {
		text += "." + strconv.Itoa(place)
	}
	return writeCursor(text)
}

// follow makes the bounds narrower by what the cursor says, see [journalCursor].
func (q *JournalQuery) follow() error {
	if q.Cursor == "" {
		return nil
	}
	raw, err := readCursor(q.Cursor)
	if err != nil {
		return err
	}
	number, place, cut := strings.Cut(raw, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if cut && err == nil {
		q.place, err = strconv.Atoi(place)
	}
	if err != nil || n == 0 || n > workflow.MaxExact || n < -workflow.MaxExact || q.place < 0 {
		return workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a journal")
	}
	after, before := max(0, n), max(0, -n)
	switch {
	case cut && n < 0:
		q.within, before = before, before+1
	case cut:
		q.within, after = after, after-1
	}
	if q.Back = n < 0; before > 0 && (q.Before == 0 || before < q.Before) {
		q.Before = before
	}
	q.After = max(q.After, after)
	return nil
}
