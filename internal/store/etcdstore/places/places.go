package places

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Places gives the places of limits.
type Places struct {
	conn *record.Conn
	seen *seen
}

// New is the places over a connection.
func New(c *record.Conn) *Places { return &Places{c, newSeen()} }

// mostKnown is of how many places of a line a node remembers whose they are.
const mostKnown = 100

// batch is how many places one transaction gives.
const batch = 40

// Give gives what is free of a line to those who wait first, and tells which instances have mail by it. It ends when
// nothing is free, or nobody waits.
//
// If: the limit is as it was read, and so is the head of the line: nobody was given a place since they were counted.
// Both are revisions, which do not come back; a head that is not there says that nobody has a place, which is as good
// when it is not there again. Then: put the head; nested for each that waits: if its create revision, delete it, and put the
// place and, if its instance exists, a command, whose id derives from the bookmark.
func (p *Places) Give(ctx context.Context, l limit.Line, now time.Time) (woken []string, err error) {
	for {
		some, again, err := p.give(ctx, l, now)
		woken = append(woken, some...)
		if err != nil || !again {
			return woken, err
		}
	}
}

// give is one round of [Places.Give]; again: there may be more to give.
func (p *Places) give(ctx context.Context, l limit.Line, now time.Time) (woken []string, again bool, err error) {
	var ask db.Reads
	is, head, taken := ask.Value(p.conn.Keys.Limits.Limit(l.Limit)), ask.Key(p.conn.Keys.Limits.Head(l)), ask.Add(clientv3.OpGet(p.conn.Keys.Limits.Taken(l), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(mostKnown)))
	first := ask.Add(clientv3.OpGet(p.conn.Keys.Limits.Line(l), clientv3.WithPrefix(), clientv3.WithLimit(batch)))
	resp, err := p.conn.Read(ctx, "look at the line of "+l.String(), ask.Ops...)
	if err != nil {
		return nil, false, err
	}
	line, have := first.In(resp), taken.In(resp).Count
	c := counted{others: have - int64(len(taken.In(resp).Kvs)), known: map[string]bool{}, waited: line.Count > 0}
	for _, kv := range taken.In(resp).Kvs {
		c.known[bookmarkIn(string(kv.Key))] = true
	}
	if kv := head.One(resp); kv != nil {
		c.head = kv.ModRevision
	}
	kv := is.One(resp)
	if kv == nil {
		p.seen.read(nil, l, c)
		return nil, false, nil
	}
	of, err := limitIn(kv)
	if err != nil {
		return nil, false, err
	}
	free := min(of.Most-have, int64(len(line.Kvs)))
	if free <= 0 {
		p.seen.read(of, l, c)
		return nil, false, nil
	}
	cmps := []clientv3.Cmp{db.ModifiedAt(p.conn.Keys.Limits.Limit(l.Limit), of.Modified), db.ModifiedAt(p.conn.Keys.Limits.Head(l), c.head)}
	o := db.NewOps()
	o.PutRaw(p.conn.Keys.Limits.Head(l), nil)
	given := make([]store.Place, 0, free)
	for _, kv := range line.Kvs[:free] {
		w := p.placeIn(kv, l)
		w.Given = now
		given = append(given, w)
		then, mail := db.NewOps(), db.NewOps()
		then.Del(string(kv.Key))
		then.Put(p.conn.Keys.Limits.Place(l, w.Bookmark), w)
		cmd := Command(&w, now)
		mail.Put(p.conn.Keys.Mail(w.Instance, cmd.ID), cmd)
		then.Nested([]clientv3.Cmp{db.Exists(p.conn.Keys.Instance(w.Instance))}, mail, nil)
		o.Nested([]clientv3.Cmp{db.CreatedAt(string(kv.Key), kv.CreateRevision)}, then, nil)
	}
	if err := o.Check(db.SizeOf(cmps)); err != nil {
		return nil, false, err
	}
	done, err := p.conn.Txn(ctx, "give places of "+l.String(), cmps, o.List(), nil) // one level, so that each answer is where its place is
	switch {
	case err != nil:
		return nil, false, err
	case !done.Succeeded:
		return nil, true, nil // another was faster: what is left is to be counted
	}
	c.head = done.Header.Revision
	for i := range given {
		if t := db.Read(i + 1).Nested(done); t.Succeeded {
			c.known[given[i].Bookmark] = true
			have++
			woken = append(woken, given[i].Instance)
		}
	}
	c.waited = line.Count > free
	p.seen.read(of, l, c)
	return woken, c.waited && have < of.Most, nil
}

// Command tells an instance that it has its place.
func Command(w *store.Place, now time.Time) workflow.Command {
	return workflow.Command{ID: store.PlaceCommand(w.Bookmark), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: w.Bookmark, Timer: true, Trace: w.Trace}
}

// placeIn reads what lies at a key of those that wait or have a place. The key says whose it is; the value is for people.
func (p *Places) placeIn(kv *mvccpb.KeyValue, l limit.Line) (w store.Place) {
	if err := db.Decode(kv.Value, &w); err != nil {
		w = store.Place{}
		p.conn.Left(kv.Key, err)
	}
	w.Bookmark = bookmarkIn(string(kv.Key))
	w.Instance, _ = workflow.SplitBookmarkID(w.Bookmark)
	w.Line, w.Created, w.Key = l, kv.CreateRevision, string(kv.Key)
	return w
}

// bookmarkIn is whose key it is.
func bookmarkIn(key string) string {
	parts := strings.Split(key, "/")
	return workflow.BookmarkID(parts[len(parts)-2], record.Decode(parts[len(parts)-1]))
}

// Stand is how a line stands.
type Stand struct {
	limit.Line
	Most           int64 // 0: nobody is given a place
	Set            bool  // there is such a limit
	Taken, Waiting int64
	Since          time.Time // when the first of those who wait came; zero: nobody waits
	Head           int64     // mod revision; 0: there is none
}

// Free tells whether somebody waits who can be given a place.
func (s *Stand) Free() bool { return s.Waiting > 0 && s.Set && s.Taken < s.Most }

// page is how many keys one look at all lines reads.
const page = 1000

// Stands is how the lines of a limit ("": of all) stand, by these that are set, in which somebody waits or has a place, or that have a head. It reads keys only, and is of
// no single revision: what is built on it is looked at again.
func (p *Places) Stands(ctx context.Context, name string, limits ...store.Limit) (map[limit.Line]*Stand, error) {
	is := map[string]store.Limit{}
	for _, l := range limits {
		is[l.Name] = l
	}
	stands := map[limit.Line]*Stand{}
	below := ""
	if name != "" {
		below = record.Encode(name) + "/"
	}
	for _, of := range []struct {
		prefix string
		count  func(s *Stand, kv *mvccpb.KeyValue)
	}{
		{p.conn.Keys.Limits.Heads(), func(s *Stand, kv *mvccpb.KeyValue) { s.Head = kv.ModRevision }},
		{p.conn.Keys.Limits.Places(), func(s *Stand, _ *mvccpb.KeyValue) { s.Taken++ }},
		{p.conn.Keys.Limits.Waits(), func(s *Stand, kv *mvccpb.KeyValue) {
			s.Waiting++
			if came := cameIn(string(kv.Key)); s.Since.IsZero() || came.Before(s.Since) {
				s.Since = came
			}
		}},
	} {
		for cursor := ""; ; {
			kvs, next, err := p.conn.Page(ctx, "look at limits", of.prefix+below, cursor, page, clientv3.WithKeysOnly())
			if err != nil {
				return nil, err
			}
			for _, kv := range kvs {
				l := record.LineIn(strings.TrimPrefix(string(kv.Key), of.prefix))
				if stands[l] == nil {
					_, set := is[l.Limit]
					stands[l] = &Stand{Line: l, Most: is[l.Limit].Most, Set: set}
				}
				of.count(stands[l], kv)
			}
			if cursor = next; next == "" {
				break
			}
		}
	}
	return stands, nil
}

// cameIn is when somebody came, by the key at which they wait.
func cameIn(key string) time.Time {
	parts := strings.Split(key, "/")
	return record.FromMillis(parts[len(parts)-3][1:])
}

// DropHeads deletes the heads of lines in which nobody has a place: those of keys that come once would stay for ever.
//
// Each nested. If: the head as it was read; nobody has a place. Then: delete it. That nobody has one can become true again,
// when it may be deleted as well.
func (p *Places) DropHeads(ctx context.Context, stands []*Stand) error {
	o := db.NewOps()
	for _, s := range stands {
		then := db.NewOps()
		then.Del(p.conn.Keys.Limits.Head(s.Line))
		o.Nested([]clientv3.Cmp{db.ModifiedAt(p.conn.Keys.Limits.Head(s.Line), s.Head), db.NoneNewer(p.conn.Keys.Limits.Taken(s.Line), 0)}, then, nil)
	}
	_, err := p.conn.Txn(ctx, "drop heads of lines", nil, o.List(), nil)
	return err
}

// MostHeads is how many [Places.DropHeads] takes.
const MostHeads = 40

var errNoLimit = errors.New("it says nothing about a limit")
