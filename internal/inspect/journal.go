package inspect

import (
	"context"
	"slices"
	"strconv"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// JournalQuery says which part of a journal is wanted. Without a cursor and bounds it
// is the beginning, or the end if Back is set.
type JournalQuery struct {
	Cursor        string // of another page; in the place of the bounds
	After, Before int64  // only commits behind that one; only those before it; 0: all
	Back          bool   // the newest of them; else the oldest
	Limit         int    // commits of a page: 1..500, default 50
	// Keep chooses items; commits of which none is kept are left out. nil: all.
	Keep func(*workflow.JournalItem) bool
}

// JournalPage is a part of a journal, all of it read at one revision.
type JournalPage struct {
	Entries []workflow.JournalEntry // the oldest first
	// Older and Newer are the cursors of what is on either side; "": nothing is. With Keep
	// a page may be short, or empty, and have them.
	Older, Newer          string
	LookedFrom, LookedTo  int64 // the commits that were looked at; 0: none
	First, Last, Revision int64 // what the journal has: the oldest commit that is kept, and the newest
}

// Journal reads what an instance did, commit by commit, from cursor on.
func (i *Inspector) Journal(ctx context.Context, id, cursor string, limit int) (Page[workflow.JournalEntry], error) {
	page, err := i.JournalPart(ctx, id, JournalQuery{Cursor: cursor, Limit: limit})
	return Page[workflow.JournalEntry]{Items: page.Entries, Next: page.Newer, Revision: page.Revision}, err
}

// JournalPart reads a part of what an instance did.
func (i *Inspector) JournalPart(ctx context.Context, id string, q JournalQuery) (JournalPage, error) {
	var page JournalPage
	if err := q.follow(); err != nil {
		return page, err
	}
	scan := etcdstore.JournalScan{Back: q.Back, From: q.After + 1}
	if q.Back {
		scan.From = max(0, q.Before-1)
	}
	limit := limitOf(q.Limit)
	journal, err := i.cfg.Reader.ScanJournal(ctx, id, scan, func(e *workflow.JournalEntry) (enough bool) {
		if q.Before > 0 && e.Sequence >= q.Before || q.After > 0 && e.Sequence <= q.After {
			return true
		}
		if page.LookedTo = max(page.LookedTo, e.Sequence); page.LookedFrom == 0 || e.Sequence < page.LookedFrom {
			page.LookedFrom = e.Sequence
		}
		if q.Keep != nil {
			if e.Items = slices.DeleteFunc(e.Items, func(it workflow.JournalItem) bool { return !q.Keep(&it) }); len(e.Items) == 0 {
				return false
			}
		}
		page.Entries = append(page.Entries, *e)
		return len(page.Entries) == limit
	})
	if err := unread(id, journal != nil, err); err != nil {
		return JournalPage{}, err
	}
	if q.Back {
		slices.Reverse(page.Entries)
	}
	page.First, page.Last, page.Revision = journal.First, journal.Last, journal.Revision
	if page.LookedTo == 0 && q.After > 0 { // nothing is new: who follows goes on from the same place
		page.LookedTo = min(q.After, page.Last)
	}
	if page.LookedFrom > page.First {
		page.Older = writeCursor("-" + strconv.FormatInt(page.LookedFrom, 10))
	}
	if page.LookedTo > 0 && page.LookedTo < page.Last {
		page.Newer = writeCursor(strconv.FormatInt(page.LookedTo, 10))
	}
	return page, nil
}

// follow puts what the cursor says in the place of the bounds: the number of the commit
// behind which the page begins, or, with a minus, of that before which it ends.
func (q *JournalQuery) follow() error {
	if q.Cursor == "" {
		return nil
	}
	raw, err := readCursor(q.Cursor)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n == 0 {
		return workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a journal")
	}
	q.After, q.Before, q.Back = max(0, n), max(0, -n), n < 0
	return nil
}
