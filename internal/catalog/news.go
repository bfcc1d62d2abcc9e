package catalog

import "slices"

// Change is a definition that was published, drafted, retracted or deleted.
type Change struct {
	Summary
	Deleted  bool
	Revision int64 // of its head
}

// News are the definitions that changed after one revision, and up to another.
type News struct {
	Changes  []Change // in the order of their revisions, each definition once, as it is now
	Revision int64    // everything up to here is among them, and nothing behind it
	// More is closed when there may be more.
	More <-chan struct{}
}

// Since tells which definitions changed after a revision, as far as this node knows. It
// gives the same on every node that knows as much.
func (c *Catalog) Since(revision int64) News {
	t := c.table.Load()
	news := News{Revision: t.revision, More: t.replaced}
	if revision >= t.revision {
		return news
	}
	for _, h := range t.heads {
		// One that was read apart from the watch may be ahead of others that the watch
		// has not told yet.
		if h.Modified > revision && h.Modified <= t.revision {
			news.Changes = append(news.Changes, Change{Summary: summary(h), Deleted: h.Deleted != nil, Revision: h.Modified})
		}
	}
	slices.SortFunc(news.Changes, func(a, b Change) int { return int(a.Revision - b.Revision) })
	return news
}
