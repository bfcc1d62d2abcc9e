package client

import (
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// What the node committed last is what there is only where the bookmark that was found says so: it was put by that very
// commit and is the only one, or the instance was read beside it.
func TestWhatOthersCommittedIsNotFresh(t *testing.T) {
	t.Parallel()
	waits := func(ids ...string) *store.Record {
		r := &store.Record{Modified: 7}
		for _, id := range ids {
			r.Header.Bookmarks = append(r.Header.Bookmarks, workflow.Bookmark{ID: id})
		}
		return r
	}
	for name, c := range map[string]struct {
		known *store.Record
		found *store.BookmarkRef
		want  bool
	}{
		"put by the commit that is known":               {waits("b"), &store.BookmarkRef{ID: "b", Created: 7}, true},
		"put by a later commit, as it comes back to it": {waits("b"), &store.BookmarkRef{ID: "b", Created: 9}, false},
		"it was there before the commit that is known":  {waits("b"), &store.BookmarkRef{ID: "b", Created: 5}, false},
		"another one":                                {waits("c"), &store.BookmarkRef{ID: "b", Created: 7}, false},
		"it waits for others too":                    {waits("b", "c"), &store.BookmarkRef{ID: "b", Created: 7}, false},
		"the instance was read as it is known":       {waits("b", "c"), &store.BookmarkRef{ID: "b", Created: 5, Moved: 7}, true},
		"the instance was read, and has moved since": {waits("b"), &store.BookmarkRef{ID: "b", Created: 7, Moved: 9}, false},
		"nothing is known":                           {nil, &store.BookmarkRef{ID: "b", Created: 7}, false},
		"no bookmark was found":                      {waits("b"), nil, false},
	} {
		if got := fresh(c.known, c.found); got != c.want {
			t.Errorf("%s: fresh %t", name, got)
		}
	}
}
