package lists

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Whose says which lists of user tasks are read together.
type Whose struct {
	All           bool // every one; the others then do not count
	Nobodys       bool // those without candidates
	Users, Groups []string
}

func (w *Whose) lists(k record.PeopleKeys) (lists []string) {
	if w.All {
		return []string{k.All()}
	}
	if w.Nobodys {
		lists = append(lists, k.Nobodys())
	}
	for _, name := range w.Users {
		lists = append(lists, k.User(name))
	}
	for _, name := range w.Groups {
		lists = append(lists, k.Group(name))
	}
	slices.Sort(lists)
	return slices.Compact(lists)
}

// ForPeople lists user tasks: the most urgent, then the first due, then the oldest first. Each comes once, whether it is free
// or taken. A page may be shorter than its limit and have a next one.
func (s *Lists) ForPeople(ctx context.Context, of *Whose, cursor string, limit int64) ([]Task, db.PageEnd, error) {
	for {
		tasks, end, err := s.forPeople(ctx, of.lists(s.conn.Keys.People), cursor, limit)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between two reads of the page
			return tasks, end, err
		}
	}
}

func (s *Lists) forPeople(ctx context.Context, lists []string, cursor string, limit int64) ([]Task, db.PageEnd, error) {
	places, end, err := s.forPeopleTo.Page(ctx, s.conn.Conn.Conn, lists, cursor, limit)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	var ids []string // of their instances, each once
	at := map[string]int{}
	bookmarks := make([]string, len(places))
	for i, place := range places {
		parts := strings.Split(place, "/")
		id := parts[max(0, len(parts)-2)]
		bookmarks[i] = workflow.BookmarkID(id, record.Decode(parts[len(parts)-1]))
		if _, known := at[id]; !known {
			at[id] = len(ids)
			ids = append(ids, id)
		}
	}
	found, beside := map[string]workflow.Bookmark{}, map[string][]workflow.Bookmark{} // by id, and by who waits
	n, err := s.conn.Records(ctx, ids, lookup.WithPlaces, end.Revision, func(_ int, r *store.Record, _ error) bool {
		if r != nil { // a damaged one tells nobody what is to be done
			for _, b := range r.Header.Bookmarks {
				if b.ActivityType == workflow.TaskType {
					found[b.ID] = b
				} else {
					beside[b.ContextID] = append(beside[b.ContextID], b)
				}
			}
		}
		return false
	})
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	var waits []workflow.Bookmark
	for i, id := range bookmarks {
		if instance, _ := workflow.SplitBookmarkID(id); at[instance] >= n { // the page is full
			end.Next = places[i-1]
			break
		}
		if b, ok := found[id]; ok {
			waits = append(waits, b)
		}
	}
	var out []Task
	for some := range slices.Chunk(waits, mostStates) {
		states, err := s.TaskStates(ctx, some)
		if err != nil {
			return nil, db.PageEnd{}, err
		}
		for i := range some {
			if t, waits := states[some[i].ID]; waits {
				t.InstanceID, _ = workflow.SplitBookmarkID(some[i].ID)
				t.Beside = beside[some[i].ContextID]
				out = append(out, t)
			}
		}
	}
	return out, end, nil
}
