package lookup

import (
	"context"
	"iter"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Index changes the index of what instances wait for, in one transaction or in several.
type Index struct {
	Conn  *Conn
	Takes *store.PlaceGuess   // of a commit that takes a place, or puts in line who is to have it; nil: it does not
	Lines map[limit.Line]bool // gets those at which somebody may be given a place since; nil: nobody asks
}

// NoteLine adds the line in which a bookmark waits, or has a place.
func (s Index) NoteLine(b *workflow.Bookmark) {
	if w, ok := limit.Of(b); ok && s.Lines != nil {
		s.Lines[w.Line] = true
	}
}

// IndexSteps are the changes of the index by a commit, in their order: each takes away,
// puts or moves one bookmark.
func (s Index) IndexSteps(c *store.Commit) []func(*db.Ops) {
	is, id := c.After.Header.CorrelationID, c.After.Header.ID
	steps := make([]func(*db.Ops), 0, len(c.Burned)+len(c.Created))
	was := CorrelationBefore(c)
	for i := range c.Burned {
		steps = append(steps, func(o *db.Ops) { s.dropBookmark(o, &c.Burned[i], was) })
	}
	for _, b := range Moved(c) {
		steps = append(steps, func(o *db.Ops) { s.moveBookmark(o, b, was, is, id) })
	}
	for i := range c.Created {
		steps = append(steps, func(o *db.Ops) { s.makeBookmark(o, o, &c.Created[i], &c.After.Header, c.Trace, c.At) })
	}
	return steps
}

// CorrelationBefore is the correlation that the instance of a commit had.
func CorrelationBefore(c *store.Commit) string {
	if c.Before == nil {
		return ""
	}
	return c.Before.Header.CorrelationID
}

// Moved are the bookmarks that stay and that a changed correlation moves.
func Moved(c *store.Commit) []workflow.Bookmark {
	if c.Before == nil || c.Delete || c.Before.Header.CorrelationID == c.After.Header.CorrelationID {
		return nil
	}
	burned := BookmarkIDs(c.Burned)
	return slices.DeleteFunc(slices.Clone(c.Before.Header.Bookmarks), func(b workflow.Bookmark) bool { return burned[b.ID] })
}

// BookmarkIDs are the ids of bookmarks.
func BookmarkIDs(bookmarks []workflow.Bookmark) map[string]bool {
	ids := make(map[string]bool, len(bookmarks))
	for i := range bookmarks {
		ids[bookmarks[i].ID] = true
	}
	return ids
}

// dropBookmark deletes what the index has of a bookmark.
func (s Index) dropBookmark(o *db.Ops, b *workflow.Bookmark, correlation string) {
	o.Del(s.Conn.Keys.Bookmark(b.Hash, correlation, b.ID))
	for _, key := range s.Conn.Keys.TimersOf(b) {
		o.Del(key)
	}
	if b.ActivityType == workflow.TaskType {
		for _, key := range s.Conn.Keys.Taken.KeysOf(b) {
			o.Del(key) // who has it may have a claim
		}
	}
	s.NoteLine(b)
	for _, key := range s.Conn.Keys.Limits.KeysOf(b) {
		o.Del(key) // it waits for its place, or has it
	}
}

// moveBookmark takes a bookmark from one correlation to another. Its timer and its task stay
// where they are.
func (s Index) moveBookmark(o *db.Ops, b workflow.Bookmark, was, is, instance string) {
	o.Del(s.Conn.Keys.Bookmark(b.Hash, was, b.ID))
	s.Conn.PutBookmark(o, b, is, instance)
}

// makeBookmark puts a new bookmark of an instance with its task, and its timer into timers.
func (s Index) makeBookmark(o, timers *db.Ops, b *workflow.Bookmark, of *workflow.Instance, trace string, at time.Time) {
	s.Conn.PutBookmark(o, *b, of.CorrelationID, of.ID)
	if b.DueAt != nil {
		entry := record.TimerEntry{Instance: of.ID, Bookmark: b.ID, Hash: b.Hash, Due: *b.DueAt}
		if trace != "" {
			entry.Trace, entry.Set = trace, at
		}
		timers.Put(s.Conn.Keys.Timer(b.ID, *b.DueAt), entry)
	}
	if b.ActivityType == workflow.TaskType {
		record.PutTask(s.Conn.Keys, o, b, of.DefinitionID)
	}
	s.NoteLine(b)
	if s.Takes == nil || s.Takes.Bookmark != b.ID {
		record.PutWait(s.Conn.Keys.Limits, o, b, of, trace)
	}
}

// makeAgain is makeBookmark where it may have been done before, by an owner that has ended: what is due by now may
// have fired. Then its command lies in the mailbox, as nothing is taken out of that before all is written, and
// another timer would fire behind it.
func (s Index) makeAgain(o *db.Ops, b *workflow.Bookmark, of *workflow.Instance, left *store.Unwritten) {
	timers := db.NewOps()
	s.makeBookmark(o, timers, b, of, left.Trace, left.At)
	if len(timers.Writes) > 0 {
		o.Nested([]clientv3.Cmp{db.Absent(s.Conn.Keys.Mail(of.ID, store.TimerCommand(b.ID)))}, timers, nil)
	}
}

// Unwritten are the changes of the index that a record says were left. Of one that was read without its parts the
// places come as those are read.
func (s Index) Unwritten(ctx context.Context, r *store.Record) iter.Seq2[func(*db.Ops), error] {
	return func(yield func(func(*db.Ops), error) bool) {
		left, h := r.Unwritten, &r.Header
		gone := left.GoneApart
		if gone == nil && r.Apart {
			gone = cut.Find(r.Text, r.Parts, "unwritten", "gone")
		}
		for b, err := range PartsOf(s.Conn).PlacesIn(ctx, h.ID, gone, left.Gone, db.Decode) {
			if !yield(func(o *db.Ops) { s.dropBookmark(o, b, left.Was) }, err) || err != nil {
				return
			}
		}
		var stays *store.List
		if made := left.Made; len(made) > 0 || left.Moved {
			if r.Apart {
				stays = cut.Find(r.Text, r.Parts, "header", "bookmarks")
			}
			i := -1
			for b, err := range PartsOf(s.Conn).PlacesIn(ctx, h.ID, stays, h.Bookmarks, db.Decode) {
				for i++; len(made) > 0 && made[0].To <= i; {
					made = made[1:]
				}
				step := func(o *db.Ops) { s.moveBookmark(o, *b, left.Was, h.CorrelationID, h.ID) }
				if len(made) > 0 && made[0].From <= i {
					step = func(o *db.Ops) { s.makeAgain(o, b, h, left) }
				} else if !left.Moved && err == nil {
					continue
				}
				if !yield(step, err) || err != nil {
					return
				}
			}
		}
	}
}

// Operations is how many keys the index has of a bookmark.
func Operations(b *workflow.Bookmark) int {
	n := 1
	if b.DueAt != nil {
		n++
	}
	if b.ActivityType == workflow.TaskType {
		n += record.TaskKeys(b)
	}
	if _, ok := limit.Of(b); ok {
		n += 2
	}
	return n
}

// PageBytes bounds what one page writes, as [Width].PageOps does.
const PageBytes = 1 << 20

// WritePages writes what a record says was left; false: a compare of the guard did not hold.
func (s Index) WritePages(ctx context.Context, guard []clientv3.Cmp, r *store.Record) (bool, error) {
	var page *db.Txn
	for step, err := range s.Unwritten(ctx, r) {
		if err != nil {
			return false, err
		}
		if page == nil {
			page = s.Conn.Begin("write where instance "+r.Header.ID+" waits", guard...)
			page.Ops = db.NewContent()
		}
		if step(page.Ops); len(page.Writes)+len(page.Tail) < s.Conn.Width.PageOps && page.Size < PageBytes {
			continue
		}
		if done, err := db.Applied(page.Submit(ctx)); err != nil || !done {
			return false, err
		}
		page = nil
	}
	if page == nil {
		return true, nil
	}
	return db.Applied(page.Submit(ctx))
}
