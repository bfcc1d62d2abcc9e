package commits

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// A commit that changes more of the index than one transaction takes is made in several,
// under one decision (docs/keys.md, A commit that is wide):
//
//   - The decision is the commit itself, without the changes of the index: what is left of
//     them stands in the record ([store.Unwritten]), and ~continue in the mailbox says that
//     there is something left. What it decides holds from then on, also if another node writes the rest.
//   - Pages write the index, each under the fence and at the decision's revision of the
//     instance. They write no record.
//   - The next commit writes the record without what was left. Of a delete it is what takes
//     the record away.

// Wide tells whether a commit changes more of the index than fits one transaction, also if
// it does nothing else.
func (s *Instances) Wide(c *store.Commit) bool {
	if endsApart(c) {
		return true
	}
	n := 0
	for _, list := range [][]workflow.Bookmark{c.Burned, c.Created} {
		for i := range list {
			n += lookup.Operations(&list[i])
		}
	}
	return n+2*len(lookup.Moved(c)) > s.conn.Width.Ops
}

// Parts tells whether a commit that does not fit might fit in parts: it changes the index of
// an instance that is there, or begins it.
func Parts(c *store.Commit) bool {
	return c.After.Unwritten == nil && (len(c.Burned) > 0 || Waits(c) > 0 || endsApart(c)) && !(c.Delete && c.Before == nil)
}

// endsApart tells whether a commit ends all the places where an instance waits, of which it knows the first only.
func endsApart(c *store.Commit) bool {
	return c.Before != nil && c.Before.Text != nil && c.Before.Waits > 0 && c.After.Unwritten == nil
}

// Decide is the commit that decides all that c does and leaves the changes of the index to
// [Instances.WriteIndex].
func Decide(c *store.Commit) *store.Commit {
	d := *c
	d.Release, d.Form, d.Takes, d.TakesDecided = false, store.Undecided, nil, true
	if d.Continue == nil {
		d.Continue = &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: c.At, Trace: c.Trace}
	}
	left := &store.Unwritten{Moved: len(lookup.Moved(c)) > 0, Was: lookup.CorrelationBefore(c), Made: made(c), Delete: c.Delete, Trace: c.Trace, At: c.At}
	switch left.Gone = c.Burned; {
	case endsApart(c):
		left.Gone, left.GoneApart = nil, cut.Find(c.Before.Text, c.Before.Parts, "header", "bookmarks")
	case c.Before == nil || c.Before.Cut != record.FormWide: // else they lie in parts, and stay there
		left.Gone = nil
		for i := range c.Burned {
			left.Gone = append(left.Gone, keyed(&c.Burned[i]))
		}
	}
	if c.Delete {
		// What is left of the instance is what its keys are made of.
		d.Delete, d.Journal, d.Variables = false, nil, workflow.VariableChanges{}
		d.After.Header = c.Before.Header
		h := &d.After.Header
		h.Bookmarks, h.MoreWaits, h.Input, h.Output = nil, 0, nil, nil
		d.After.State = nil
	}
	d.After.Unwritten = left
	return &d
}

// keyed is what the keys of a bookmark are made of.
func keyed(b *workflow.Bookmark) workflow.Bookmark {
	k := workflow.Bookmark{ID: b.ID, Hash: b.Hash, DueAt: b.DueAt}
	if b.ActivityType == workflow.TaskType {
		k.ActivityType, k.Name, k.CreatedAt, k.Payload = b.ActivityType, b.Name, b.CreatedAt, task.InKeys(b)
		k.Metadata = task.AboutInKeys(b)
	}
	if w, ok := limit.Of(b); ok {
		k.ActivityType, k.CreatedAt, k.Payload = b.ActivityType, b.CreatedAt, w.Payload()
	}
	return k
}

// made are the places in the header of what a commit creates.
func made(c *store.Commit) (spans []store.Span) {
	if len(c.Created) == 0 {
		return nil
	}
	created := lookup.BookmarkIDs(c.Created)
	for i, b := range c.After.Header.Bookmarks {
		switch {
		case !created[b.ID]:
		case len(spans) > 0 && spans[len(spans)-1].To == i:
			spans[len(spans)-1].To++
		default:
			spans = append(spans, store.Span{From: i, To: i + 1})
		}
	}
	return spans
}

// WriteIndex writes what a commit left of the index, a page at a time, from the beginning.
// The record stays as it is, so that a page can be written twice, or by who comes next.
// [store.ErrFenced]: the lock is another's, or the instance moved: who did that has written it. lines are those at which somebody may be given a
// place since.
//
// If, of each page: the lock is mine, the instance as the commit left it. Then: the keys of
// some bookmarks. Both compares are monotone.
func (s *Instances) WriteIndex(ctx context.Context, f *store.Fence, r *store.Record) (lines []limit.Line, err error) {
	if r.Unwritten == nil {
		return nil, nil
	}
	at := map[limit.Line]bool{}
	done, err := lookup.Index{Conn: s.conn, Lines: at}.WritePages(ctx, append(fenceCompares(f), db.ModifiedAt(s.conn.Keys.Instance(r.Header.ID), r.Modified)), r)
	switch {
	case err != nil:
		return nil, err
	case done:
		return slices.Collect(maps.Keys(at)), nil
	case f == nil:
		return nil, fmt.Errorf("write where instance %s waits: %w", r.Header.ID, store.ErrConflict)
	}
	return nil, fmt.Errorf("write where instance %s waits: %w", r.Header.ID, store.ErrFenced)
}

// wholeFrom is from how many places on the record of an instance that waits there is written whole.
const wholeFrom = 500

// isWide tells whether an instance waits, or did until this commit, at so many places that its record is
// written whole: of one that faults the state keeps them.
func isWide(c *store.Commit) bool {
	return len(c.After.Header.Bookmarks) >= wholeFrom || c.Before != nil && len(c.Before.Header.Bookmarks) >= wholeFrom
}

// placesApart reports whether the places where the instance waits lie in parts then: there are many, or they did and the
// record is still large.
func (s *Instances) placesApart(c *store.Commit) bool {
	n := len(c.After.Header.Bookmarks)
	if c.Before != nil && c.Before.Cut == record.FormWide {
		return n > s.conn.Width.Places/2 || c.After.Unwritten != nil || len(c.After.State) > s.conn.Width.Stays
	}
	return n > s.conn.Width.Places && s.conn.PartsKnown(record.FormWide)
}

// endBytes is how many bytes of its record are kept free for each place where an instance
// waits, so that a commit which ends all of them has room to say which they were.
const endBytes = 20

// maxRecord is how many bytes a record may have, compressed, to wait at one more place.
func maxRecord(waits int) int64 { return int64(db.MaxRequest - waits*endBytes) }
