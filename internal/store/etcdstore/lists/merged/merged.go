// Package merged reads pages of several lists together: of the places that stand behind a cursor in any of them the first
// ones, each once, in their order.
//
// Guaranteed: all of a page is of one revision, and nothing is left out, also where a node remembers wrongly. Not guaranteed: what the
// pages behind the first cost; etcd counts what is behind their cursor.
package merged

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// mostKnown is of how many lists a node remembers something.
const mostKnown = 10_000

// Page reads the next places of several lists, whose keys are a list and a place.
func (r *Reaches) Page(ctx context.Context, conn *db.Conn, lists []string, cursor string, limit int64) ([]string, db.PageEnd, error) {
	l := look{conn: conn, reaches: r, cursor: cursor, limit: limit, places: map[string]bool{}}
	if err := l.read(ctx, lists); err != nil {
		return nil, db.PageEnd{}, err
	}
	places, end := slices.Sorted(maps.Keys(l.places)), db.PageEnd{Revision: l.revision}
	if int64(len(places)) > limit || l.more {
		places = places[:min(int64(len(places)), limit)]
		end.Next = places[len(places)-1]
	}
	return places, end, nil
}

// look reads the first places of several lists behind a cursor.
//
// etcd counts all of a range to give its first keys. So where many wait a node remembers how far the first keys of a list
// went, and reads up to there; only if these are too few it reads the rest, and more of it than it needs, so that the next
// thousand that are completed cost no such look. A wrong memory leaves nothing out.
type look struct {
	conn     *db.Conn
	reaches  *Reaches
	cursor   string
	limit    int64
	revision int64

	places map[string]bool
	more   bool // there are more than were read
}

const (
	many         = 1000 // keys that etcd may count for a page of one list
	mostTogether = 100  // lists that one request reads
)

// stretch is a part of a list.
type stretch struct {
	list, from, to string // keys; up to "" is the rest
	limit          int64
}

func (l *look) read(ctx context.Context, lists []string) error {
	var first []stretch
	for _, list := range lists {
		at := stretch{list, db.PageFrom(list, l.cursor), clientv3.GetPrefixRangeEnd(list), l.limit + 1}
		if to := l.reaches.of(list); to != "" && list+to >= at.from {
			at.to = list + to + "\x00"
		}
		first = append(first, at)
	}
	rest, err := l.some(ctx, first)
	if err != nil || len(rest) == 0 {
		return err
	}
	_, err = l.some(ctx, rest)
	return err
}

// some reads stretches, and gives what is left of lists of which they had too few.
func (l *look) some(ctx context.Context, all []stretch) (rest []stretch, err error) {
	for together := range slices.Chunk(all, mostTogether) {
		reads := make([]clientv3.Op, len(together))
		for i := range together {
			reads[i] = clientv3.OpGet(together[i].from, clientv3.WithRange(together[i].to), clientv3.WithLimit(together[i].limit), clientv3.WithKeysOnly(), clientv3.WithRev(l.revision))
		}
		resp, err := l.conn.Read(ctx, "list what is in several lists", reads...)
		if err != nil {
			return nil, err
		}
		l.revision = cmp.Or(l.revision, resp.Header.Revision)
		for i := range together {
			at, is := &together[i], resp.Responses[i].GetResponseRange()
			if more := l.take(at, is.Kvs, is.Count); more != nil {
				rest = append(rest, *more)
			}
		}
	}
	return rest, nil
}

// take adds what was read of a stretch, and gives what is left to be read of its list; nil: nothing.
func (l *look) take(at *stretch, kvs []*mvccpb.KeyValue, count int64) *stretch {
	for _, kv := range kvs[:min(int64(len(kvs)), l.limit+1)] {
		l.places[strings.TrimPrefix(string(kv.Key), at.list)] = true
	}
	if int64(len(kvs)) > l.limit {
		l.more = true
	}
	end := clientv3.GetPrefixRangeEnd(at.list)
	switch {
	case at.to != end && int64(len(kvs)) < at.limit:
		left := many - int64(len(kvs))
		return &stretch{at.list, at.to, end, max(left, at.limit)}
	case l.cursor != "":
	case count > many:
		l.reaches.is(at.list, strings.TrimPrefix(string(kvs[len(kvs)-1].Key), at.list))
	case at.from != at.list: // the rest of one that has become short
		l.reaches.is(at.list, "")
	}
	return nil
}

// Reaches are how far the first keys of lists went, by list, as a node remembers it. A wrong memory costs some reads.
type Reaches struct {
	mu    sync.Mutex
	known map[string]string // guarded by mu
}

func (r *Reaches) of(list string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[list]
}

// is remembers how far a list was read. Of too many all are forgotten.
func (r *Reaches) is(list, to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= mostKnown {
		r.known = map[string]string{}
	}
	if r.known[list] = to; to == "" {
		delete(r.known, list)
	}
}
