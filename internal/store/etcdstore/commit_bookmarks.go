package etcdstore

import (
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// writeBookmarks deletes and puts bookmarks and their timers; a changed
// correlation moves those that stay.
func (s *Instances) writeBookmarks(c *store.Commit, o *ops) {
	was, is := "", c.After.Header.CorrelationID
	var kept []workflow.Bookmark
	if c.Before != nil {
		was, kept = c.Before.Header.CorrelationID, c.Before.Header.Bookmarks
	}
	for _, b := range c.Burned {
		o.del(s.keys.bookmark(b.Hash, was, b.ID))
		for _, key := range s.keys.timersOf(&b) {
			o.del(key)
		}
		if b.ActivityType == workflow.TaskType {
			o.del(s.keys.task(&b))
		}
	}
	if was != is && !c.Delete {
		for _, b := range kept {
			if slices.ContainsFunc(c.Burned, func(x workflow.Bookmark) bool { return x.ID == b.ID }) {
				continue
			}
			o.del(s.keys.bookmark(b.Hash, was, b.ID))
			s.putBookmark(o, b, is, c.After.Header.ID)
		}
	}
	for _, b := range c.Created {
		s.putBookmark(o, b, is, c.After.Header.ID)
		if b.DueAt != nil {
			entry := timerEntry{Instance: c.After.Header.ID, Bookmark: b.ID, Hash: b.Hash, Due: *b.DueAt}
			if c.Trace != "" {
				entry.Trace, entry.Set = c.Trace, c.At
			}
			o.put(s.keys.timer(b.ID, *b.DueAt), entry)
		}
		if b.ActivityType == workflow.TaskType {
			o.putRaw(s.keys.task(&b), nil)
		}
	}
}

func (s *conn) putBookmark(o *ops, b workflow.Bookmark, correlation, instance string) {
	s.putEndpoint(o, &b)
	o.put(s.keys.bookmark(b.Hash, correlation, b.ID), bookmarkEntry{Instance: instance, Type: b.ActivityType, Name: b.Name, Correlation: correlation, Created: b.CreatedAt})
}

type bookmarkEntry struct {
	Instance    string    `json:"instance"`
	Type        string    `json:"type"`
	Name        string    `json:"name,omitempty"`
	Correlation string    `json:"correlation,omitempty"`
	Created     time.Time `json:"created"`
}
