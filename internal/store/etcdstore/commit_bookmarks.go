package etcdstore

import (
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// writeBookmarks deletes and puts bookmarks and their timers; a changed
// correlation moves those that stay.
func (s *Instances) writeBookmarks(c *store.Commit, o *db.Ops) {
	for _, step := range (indexWrites{s.conn}).indexSteps(c) {
		step(o)
	}
}

// indexWrites changes the index of what instances wait for, in one transaction or in several.
type indexWrites struct{ conn *lookup.Conn }

// indexSteps are the changes of the index by a commit, in their order: each takes away,
// puts or moves one bookmark.
func (s indexWrites) indexSteps(c *store.Commit) []func(*db.Ops) {
	is, id := c.After.Header.CorrelationID, c.After.Header.ID
	steps := make([]func(*db.Ops), 0, len(c.Burned)+len(c.Created))
	was := correlationBefore(c)
	for i := range c.Burned {
		steps = append(steps, func(o *db.Ops) { s.dropBookmark(o, &c.Burned[i], was) })
	}
	for _, b := range moved(c) {
		steps = append(steps, func(o *db.Ops) { s.moveBookmark(o, b, was, is, id) })
	}
	for i := range c.Created {
		steps = append(steps, func(o *db.Ops) { s.makeBookmark(o, &c.Created[i], is, id, c.Trace, c.At) })
	}
	return steps
}

func correlationBefore(c *store.Commit) string {
	if c.Before == nil {
		return ""
	}
	return c.Before.Header.CorrelationID
}

// moved are the bookmarks that stay and that a changed correlation moves.
func moved(c *store.Commit) []workflow.Bookmark {
	if c.Before == nil || c.Delete || c.Before.Header.CorrelationID == c.After.Header.CorrelationID {
		return nil
	}
	burned := bookmarkIDs(c.Burned)
	return slices.DeleteFunc(slices.Clone(c.Before.Header.Bookmarks), func(b workflow.Bookmark) bool { return burned[b.ID] })
}

func bookmarkIDs(bookmarks []workflow.Bookmark) map[string]bool {
	ids := make(map[string]bool, len(bookmarks))
	for i := range bookmarks {
		ids[bookmarks[i].ID] = true
	}
	return ids
}

// dropBookmark deletes what the index has of a bookmark.
func (s indexWrites) dropBookmark(o *db.Ops, b *workflow.Bookmark, correlation string) {
	o.Del(s.conn.Keys.Bookmark(b.Hash, correlation, b.ID))
	for _, key := range s.conn.Keys.TimersOf(b) {
		o.Del(key)
	}
	if b.ActivityType == workflow.TaskType {
		o.Del(s.conn.Keys.Task(b))
		o.Del(s.conn.Keys.Taken.Task(b)) // by whom it may be
	}
}

// moveBookmark takes a bookmark from one correlation to another. Its timer and its task stay
// where they are.
func (s indexWrites) moveBookmark(o *db.Ops, b workflow.Bookmark, was, is, instance string) {
	o.Del(s.conn.Keys.Bookmark(b.Hash, was, b.ID))
	s.conn.PutBookmark(o, b, is, instance)
}

// makeBookmark puts a new bookmark with its timer and its task.
func (s indexWrites) makeBookmark(o *db.Ops, b *workflow.Bookmark, correlation, instance, trace string, at time.Time) {
	s.conn.PutBookmark(o, *b, correlation, instance)
	if b.DueAt != nil {
		entry := record.TimerEntry{Instance: instance, Bookmark: b.ID, Hash: b.Hash, Due: *b.DueAt}
		if trace != "" {
			entry.Trace, entry.Set = trace, at
		}
		o.Put(s.conn.Keys.Timer(b.ID, *b.DueAt), entry)
	}
	if b.ActivityType == workflow.TaskType {
		o.PutRaw(s.conn.Keys.Task(b), nil)
	}
}
