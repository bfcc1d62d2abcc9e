package etcdstore

import (
	"fmt"
	"testing"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/pkg/workflow"
)

// Whoever waits is met, however many wait: what one request reads is no limit.
func TestALookMeetsAllThatWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const per, n = 90, lookup.MatchPage + 30
	for i := 0; i < n; i += per {
		id := fmt.Sprint("i", i)
		var bookmarks []workflow.Bookmark
		for j := range min(per, n-i) {
			bookmarks = append(bookmarks, w.bookmark(id, fmt.Sprint("b", j), "paid"))
		}
		w.commit(w.first(id, nil, bookmarks...))
	}
	l := w.look(event("paid"))
	if len(l.Bookmarks) != n || l.More {
		t.Errorf("it meets %d bookmarks, more %t; %d wait", len(l.Bookmarks), l.More, n)
	}
}
