package inspect

import (
	"context"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// BookmarkFilter selects places where instances wait; zero fields do not restrict.
type BookmarkFilter struct {
	Event         string // its name: only what waits for it is read
	CorrelationID string
	Type, Name    string // of the activity; of what it waits for
}

// AwaitingBookmark is a place where an instance waits.
type AwaitingBookmark = etcdstore.AwaitingBookmark

// BookmarkPage is a page of them.
type BookmarkPage struct {
	Page[AwaitingBookmark]
	Looked int // how many were looked at for it
}

// Bookmarks lists places where instances wait. A page may be shorter than its limit, and even
// empty, and have a next one.
func (i *Inspector) Bookmarks(ctx context.Context, f BookmarkFilter, cursor string, limit int) (BookmarkPage, error) {
	at, err := readCursor(cursor)
	if err != nil {
		return BookmarkPage{}, err
	}
	q := etcdstore.BookmarkQuery{CorrelationID: f.CorrelationID, Type: f.Type, Name: f.Name, Cursor: at, Limit: int64(limitOf(limit))}
	if f.Event != "" {
		if q.Hash, err = workflow.Hash(workflow.EventType, workflow.EventPayload(f.Event)); err != nil {
			return BookmarkPage{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
	}
	read, err := i.cfg.Reader.Bookmarks(ctx, q)
	if err != nil {
		return BookmarkPage{}, etcdstore.ReadFailed("bookmarks", err)
	}
	return BookmarkPage{Page[AwaitingBookmark]{read.Items, writeCursor(read.Next), read.Revision}, read.Looked}, nil
}
