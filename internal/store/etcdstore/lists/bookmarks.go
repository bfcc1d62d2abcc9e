package lists

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// BookmarkQuery asks for a page of bookmarks; zero fields do not restrict.
type BookmarkQuery struct {
	Hash          string // of what they wait for: with it only these are read
	CorrelationID string // of their instances; with a hash only these are read
	Type, Name    string // of the activity; of the event, the task or the endpoint
	Cursor        string
	Limit         int64
}

// BookmarkPage is a page of bookmarks, read at one revision.
type BookmarkPage struct {
	Items    []AwaitingBookmark
	Next     string // the cursor of the next page; "" at the end
	Looked   int    // how many were looked at for it, [MostLooked] at most
	Revision int64
}

// AwaitingBookmark is a place where an instance waits.
type AwaitingBookmark struct {
	ID, InstanceID, Type, Name, CorrelationID string
	Created                                   time.Time
	Damaged                                   string // why its record cannot be read; "": it can
}

// Bookmarks lists places where instances wait, in no order of time. Without a hash all of
// them are looked through. A page may be empty and have a next one.
func (s *Lists) Bookmarks(ctx context.Context, q BookmarkQuery) (*BookmarkPage, error) {
	prefix := s.conn.Keys.Root + "bookmark/"
	switch {
	case q.Hash != "" && q.CorrelationID != "":
		prefix = s.conn.Keys.BookmarkSlice(q.Hash, q.CorrelationID)
	case q.Hash != "":
		prefix = s.conn.Keys.Bookmarks(q.Hash)
	}
	const mostRead = 1000
	page, at := &BookmarkPage{}, q.Cursor
	for n := q.Limit; ; n = mostRead {
		kvs, end, err := s.conn.PageAt(ctx, "list bookmarks", prefix, at, n, page.Revision)
		if errors.Is(err, rpctypes.ErrCompacted) && at != q.Cursor { // between two reads: what was read is a page
			page.Next = at
			return page, nil
		}
		if err != nil {
			return nil, err
		}
		more := end.Next != ""
		page.Revision = end.Revision
		for _, kv := range kvs {
			at = strings.TrimPrefix(string(kv.Key), prefix)
			page.Looked++
			if b := readBookmark(kv); b.Damaged != "" || q.fits(&b) {
				page.Items = append(page.Items, b)
			}
			if int64(len(page.Items)) == q.Limit {
				more = more || kv != kvs[len(kvs)-1]
				break
			}
		}
		if !more {
			return page, nil
		}
		if int64(len(page.Items)) == q.Limit || page.Looked >= MostLooked {
			page.Next = at
			return page, nil
		}
	}
}

func (q *BookmarkQuery) fits(b *AwaitingBookmark) bool {
	is := func(want, is string) bool { return want == "" || want == is }
	return is(q.Type, b.Type) && is(q.Name, b.Name) && is(q.CorrelationID, b.CorrelationID)
}

func readBookmark(kv *mvccpb.KeyValue) AwaitingBookmark {
	parts := strings.Split(string(kv.Key), "/")
	id, local := parts[len(parts)-2], record.Decode(parts[len(parts)-1])
	b := AwaitingBookmark{ID: workflow.BookmarkID(id, local), InstanceID: id}
	var e record.BookmarkEntry
	if err := db.Decode(kv.Value, &e); err != nil {
		b.Damaged = err.Error()
		return b
	}
	b.Type, b.Name, b.CorrelationID, b.Created = e.Type, e.Name, e.Correlation, e.Created
	return b
}
