package commits

import (
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
)

// writeBookmarks deletes and puts bookmarks and their timers; a changed
// correlation moves those that stay.
func (s *Instances) writeBookmarks(c *store.Commit, o *db.Ops) {
	for _, step := range (lookup.Index{Conn: s.conn, Takes: c.Takes}).IndexSteps(c) {
		step(o)
	}
}
