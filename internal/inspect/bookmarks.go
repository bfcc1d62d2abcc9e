package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// BookmarkFilter selects places where instances wait; zero fields do not restrict.
type BookmarkFilter struct {
	Event         string // its name: only what waits for it is read
	DefinitionID  string // of their instances: only these are read, the newest first
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
	if f.DefinitionID != "" {
		return i.bookmarksOfDefinition(ctx, f, cursor, limit)
	}
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

// bookmarksOfDefinition lists those of a definition's instances, the newest first: the index leads
// to them, and their records have their bookmarks.
func (i *Inspector) bookmarksOfDefinition(ctx context.Context, f BookmarkFilter, cursor string, limit int) (BookmarkPage, error) {
	of := find.Filter{DefinitionID: f.DefinitionID, CorrelationID: f.CorrelationID, Status: workflow.StatusRunning}
	switch {
	case f.Event != "":
		of.WaitsFor = find.Wait{Kind: find.WaitEvent, Name: f.Event}
	case f.Type != "":
		of.WaitsFor = find.Wait{Kind: f.Type, Name: f.Name}
	}
	behind, told, err := openBookmarkCursor(cursor)
	if err != nil {
		return BookmarkPage{}, err
	}
	limit = limitOf(limit)
	read, err := i.cfg.Reader.Instances(ctx, etcdstore.InstanceQuery{Filter: of, Cursor: behind, Limit: int64(limit), Places: true})
	if err != nil {
		return BookmarkPage{}, etcdstore.ReadFailed("bookmarks", err)
	}
	page := BookmarkPage{Page[AwaitingBookmark]{Items: []AwaitingBookmark{}, Revision: read.Revision}, read.Looked}
	for n := range read.Items {
		in := &read.Items[n]
		for _, b := range f.of(in) {
			if b.ID <= told && b.InstanceID == instanceOf(told) {
				continue
			}
			if len(page.Items) == limit {
				page.Next = bookmarkCursor(behind, page.Items[limit-1].ID)
				return page, nil
			}
			page.Items = append(page.Items, b)
		}
		behind = etcdstore.PlaceOf(in)
	}
	if read.Next != "" {
		page.Next = bookmarkCursor(read.Next, "")
	}
	return page, nil
}

// of are those of an instance that fit, by their ids. Of an instance that cannot be read one says so.
func (f *BookmarkFilter) of(in *workflow.Instance) (out []AwaitingBookmark) {
	if in.Damaged != "" {
		return []AwaitingBookmark{{InstanceID: in.ID, CorrelationID: f.CorrelationID, Damaged: in.Damaged}}
	}
	for i := range in.Bookmarks {
		b := &in.Bookmarks[i]
		if f.Event != "" && (b.ActivityType != workflow.EventType || b.Name != f.Event) || f.Type != "" && f.Type != b.ActivityType || f.Name != "" && f.Name != b.Name {
			continue
		}
		out = append(out, AwaitingBookmark{ID: b.ID, InstanceID: in.ID, Type: b.ActivityType, Name: b.Name, CorrelationID: in.CorrelationID, Created: b.CreatedAt})
	}
	slices.SortFunc(out, func(a, b AwaitingBookmark) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func instanceOf(bookmark string) string {
	id, _ := workflow.SplitBookmarkID(bookmark)
	return id
}

// A cursor of a definition's bookmarks has the place of the instance that was told as a whole, and
// the last bookmark that was told of the next one.
func bookmarkCursor(behind, told string) string {
	return writeCursor("bookmarks/" + behind + "~/" + told)
}

func openBookmarkCursor(cursor string) (behind, told string, err error) {
	raw, err := readCursor(cursor)
	if raw == "" || err != nil {
		return "", "", err
	}
	rest, is := strings.CutPrefix(raw, "bookmarks/")
	behind, told, whole := strings.Cut(rest, "~/")
	if !is || !whole || behind != "" && !placeForm.MatchString(behind) {
		return "", "", workflow.Fail(workflow.CodeInvalid, "the cursor is not one of a list of a definition's bookmarks")
	}
	return behind, told, nil
}
