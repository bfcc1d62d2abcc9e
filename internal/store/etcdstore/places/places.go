package places

import (
	"context"
	"errors"
	"fmt"
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

	// Clock is what time it is, and whether that is to be trusted with units that come back. Nil: Give trusts what it is told, and
	// no commit takes units by itself. It is set before anything is called.
	Clock func() (now time.Time, sure bool)
}

// New is the places over a connection.
func New(c *record.Conn) *Places { return &Places{conn: c, seen: newSeen()} }

// mostKnown is of how many places of a line a node remembers whose they are.
const mostKnown = 100

// batch is how many places one transaction gives.
const batch = 40

// Gave is what [Places.Give] did.
type Gave struct {
	Woken []string  // instances that have mail by it
	Next  time.Time // when somebody may be given a place by the time alone; zero: not by that
}

// Give gives what is free of a line to those who wait first. It ends when nothing is free, or nobody waits. Who wants more units
// than the limit ever has is told so.
//
// If: the limit is as it was read, and so is the head of the line: nobody was given a place since they were counted, and the
// units are as they were.
// Both are revisions, which do not come back; a head that is not there says that nobody has a place, and all units are back, which is as good
// when it is not there again. Of a limit per time also: each that is given one waits yet, or units would be taken for nobody. Then: put the head, with
// what is taken of the units, and take away what is settled by that; nested for each that waits: if its create revision, delete it, and put the
// place and, if its instance exists, a command, whose id derives from the bookmark.
func (p *Places) Give(ctx context.Context, l limit.Line, now time.Time) (Gave, error) {
	var all Gave
	for {
		gave, again, err := p.give(ctx, l, now)
		all.Woken, all.Next = append(all.Woken, gave.Woken...), gave.Next
		if err != nil || !again {
			return all, err
		}
	}
}

// looked is a line as one request found it.
type looked struct {
	limit.Line
	counted
	is    *store.Limit // nil: there is none of this name
	have  int64        // places that are taken
	first []*mvccpb.KeyValue
	waits int64              // in all
	to    []*mvccpb.KeyValue // settle
}

// grant is what becomes of one that waits.
type grant struct {
	store.Place
	kv      *mvccpb.KeyValue
	at      int64  // under which time its units stand
	refused string // why it is never given a place; "": it is given one
}

// look reads a line.
func (p *Places) look(ctx context.Context, l limit.Line) (*looked, error) {
	var ask db.Reads
	is, head, taken := ask.Value(p.conn.Keys.Limits.Limit(l.Limit)), ask.Value(p.conn.Keys.Limits.Head(l)), ask.Add(clientv3.OpGet(p.conn.Keys.Limits.Taken(l), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(mostKnown)))
	first := ask.Add(clientv3.OpGet(p.conn.Keys.Limits.Line(l), clientv3.WithPrefix(), clientv3.WithLimit(batch)))
	settle := ask.Add(clientv3.OpGet(p.conn.Keys.Limits.SettlementsOf(l), clientv3.WithPrefix(), clientv3.WithLimit(batch)))
	resp, err := p.conn.Read(ctx, "look at the line of "+l.String(), ask.Ops...)
	if err != nil {
		return nil, err
	}
	at := &looked{to: settle.In(resp).Kvs, Line: l, have: taken.In(resp).Count, first: first.In(resp).Kvs, waits: first.In(resp).Count}
	at.counted = counted{others: at.have - int64(len(taken.In(resp).Kvs)), known: map[string]bool{}, waited: at.waits > 0}
	for _, kv := range taken.In(resp).Kvs {
		at.known[bookmarkIn(string(kv.Key))] = true
	}
	if kv := head.One(resp); kv != nil {
		at.head = kv.ModRevision
		if at.bucket, err = bucketIn(kv); err != nil {
			return nil, err
		}
	}
	if kv := is.One(resp); kv != nil {
		at.is, err = limitIn(kv)
	}
	return at, err
}

// bucketIn is what the head of a line says of its units.
func bucketIn(kv *mvccpb.KeyValue) (b limit.Bucket, err error) {
	if len(kv.Value) == 0 {
		return b, nil
	}
	if err = db.DecodeWhole(kv.Value, &b); err != nil {
		return b, fmt.Errorf("head of a line %s: %w", kv.Key, err)
	}
	return b, nil
}

// putHead puts the head of a line.
func (p *Places) putHead(o *db.Ops, l limit.Line, b *limit.Bucket) {
	if len(b.Taken) == 0 && b.Hold.IsZero() {
		o.PutRaw(p.conn.Keys.Limits.Head(l), nil)
		return
	}
	o.Put(p.conn.Keys.Limits.Head(l), b)
}

// grants are what becomes of those who wait first, and takes their units from the bucket; next: when who comes then may have a place by the time alone.
func (p *Places) grants(at *looked, now time.Time) (grants []grant, next time.Time) {
	if at.is == nil {
		return nil, time.Time{}
	}
	free := at.is.FreeOf(at.have)
	for _, kv := range at.first {
		g := grant{Place: p.placeIn(kv, at.Line), kv: kv}
		if g.refused = at.is.Never(g.Amount()); g.refused == "" {
			if free <= 0 {
				break
			}
			if !at.bucket.May(at.is.Rate, now, g.Amount()) {
				next = at.bucket.Next(at.is.Rate, now, g.Amount())
				break
			}
			free--
			at.bucket, g.at = at.bucket.Take(at.is.Rate, now, g.Amount())
			g.Given = now
		}
		grants = append(grants, g)
	}
	return grants, next
}

// mayNot is how soon a node looks again whose clock is not to be trusted.
const mayNot = 2 * time.Second

// give is one round of [Places.Give]; again: there may be more to give.
func (p *Places) give(ctx context.Context, l limit.Line, now time.Time) (gave Gave, again bool, err error) {
	at, err := p.look(ctx, l)
	if err != nil {
		return gave, false, err
	}
	if at.is != nil && at.is.Rate != nil && at.waits+int64(len(at.to)) > 0 && !p.sure() {
		return Gave{Next: now.Add(mayNot)}, false, nil
	}
	p.settle(at, now)
	grants, next := p.grants(at, now)
	gave.Next = next
	if len(grants)+len(at.to) == 0 {
		p.seen.read(at.is, l, at.counted)
		return gave, false, nil
	}
	cmps := []clientv3.Cmp{db.ModifiedAt(p.conn.Keys.Limits.Limit(l.Limit), at.modified()), db.ModifiedAt(p.conn.Keys.Limits.Head(l), at.head)}
	o := db.NewOps()
	p.putHead(o, l, &at.bucket)
	for _, kv := range at.to {
		o.Del(string(kv.Key))
	}
	for i := range grants {
		if at.is.Rate != nil {
			cmps = append(cmps, db.CreatedAt(string(grants[i].kv.Key), grants[i].kv.CreateRevision))
		}
		p.write(o, &grants[i], now)
	}
	if err := o.Check(db.SizeOf(cmps)); err != nil {
		return gave, false, err
	}
	done, err := p.conn.Txn(ctx, "give places of "+l.String(), cmps, o.List(), nil) // one level, so that each answer is where its place is
	switch {
	case err != nil:
		return gave, false, err
	case !done.Succeeded:
		return gave, true, nil // another was faster: what is left is to be counted
	}
	at.head, at.waited = done.Header.Revision, at.waits > int64(len(grants))
	for i := range grants {
		g := &grants[i]
		if t := db.Read(len(o.Writes) + i).Nested(done); !t.Succeeded {
			continue
		}
		if g.refused == "" {
			at.known[g.Bookmark] = true
			at.have++
		}
		gave.Woken = append(gave.Woken, g.Instance)
	}
	p.seen.read(at.is, l, at.counted)
	return gave, len(at.to) == batch || at.waited && next.IsZero() && at.is != nil && at.is.FreeOf(at.have) > 0, nil
}

// modified is the revision of the limit; 0: there is none.
func (at *looked) modified() int64 {
	if at.is == nil {
		return 0
	}
	return at.is.Modified
}

// settle takes into account what is to be settled. What cannot be read says nothing.
func (p *Places) settle(at *looked, now time.Time) {
	for _, kv := range at.to {
		var s limit.Settlement
		if err := db.Decode(kv.Value, &s); err != nil {
			p.conn.Left(kv.Key, err)
			continue
		}
		var r *limit.Rate
		if at.is != nil {
			r = at.is.Rate
		}
		at.bucket = at.bucket.Settle(r, now, s)
	}
}

// write gives one its place, or tells it that it is never given one.
func (p *Places) write(o *db.Ops, g *grant, now time.Time) {
	then, mail := db.NewOps(), db.NewOps()
	then.Del(string(g.kv.Key))
	if g.refused == "" {
		then.Put(p.conn.Keys.Limits.Place(g.Line, g.Bookmark), g.Place)
	}
	cmd := Command(&g.Place, now, limit.Grant{At: g.at, Refused: g.refused})
	mail.Put(p.conn.Keys.Mail(g.Instance, cmd.ID), cmd)
	then.Nested([]clientv3.Cmp{db.Exists(p.conn.Keys.Instance(g.Instance))}, mail, nil)
	o.Nested([]clientv3.Cmp{db.CreatedAt(string(g.kv.Key), g.kv.CreateRevision)}, then, nil)
}

// sure tells whether the clock of this node may be trusted with units that come back.
func (p *Places) sure() bool {
	if p.Clock == nil {
		return true
	}
	_, sure := p.Clock()
	return sure
}

// Command tells an instance that it has its place, or never has one.
func Command(w *store.Place, now time.Time, g limit.Grant) workflow.Command {
	return workflow.Command{ID: store.PlaceCommand(w.Bookmark), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: w.Bookmark, Timer: true, Trace: w.Trace, Input: g.Input()}
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
	Is             *store.Limit // nil: there is none of this name
	Taken, Waiting int64
	Since          time.Time // when the first of those who wait came; zero: nobody waits
	Head           int64     // mod revision; 0: there is none
	Bucket         limit.Bucket
}

// Free tells whether somebody waits who can be given a place, as far as one unit is enough.
func (s *Stand) Free(now time.Time) bool {
	return s.Waiting > 0 && s.Is != nil && s.Is.FreeOf(s.Taken) > 0 && s.Bucket.May(s.Is.Rate, now, 1)
}

// Next is when who waits may be given a place by the time alone; zero: not by that.
func (s *Stand) Next(now time.Time) time.Time {
	if s.Waiting == 0 || s.Is == nil || s.Is.FreeOf(s.Taken) <= 0 {
		return time.Time{}
	}
	return s.Bucket.Next(s.Is.Rate, now, 1)
}

// Empty tells whether nobody is at the line, and its head says nothing any more.
func (s *Stand) Empty(now time.Time) bool {
	return s.Head > 0 && s.Taken == 0 && s.Waiting == 0 && s.Bucket.Empty(s.rate(), now)
}

func (s *Stand) rate() *limit.Rate {
	if s.Is == nil {
		return nil
	}
	return s.Is.Rate
}

// page is how many keys one look at all lines reads.
const page = 1000

// Stands is how the lines of a limit ("": of all) stand, by these that are set, in which somebody waits or has a place, or that have a head. It reads keys only, but of
// heads, and is of no single revision: what is built on it is looked at again.
func (p *Places) Stands(ctx context.Context, name string, limits ...store.Limit) (map[limit.Line]*Stand, error) {
	is := map[string]*store.Limit{}
	for i := range limits {
		is[limits[i].Name] = &limits[i]
	}
	stands := map[limit.Line]*Stand{}
	below := ""
	if name != "" {
		below = record.Encode(name) + "/"
	}
	for _, of := range []struct {
		prefix string
		with   []clientv3.OpOption
		count  func(s *Stand, kv *mvccpb.KeyValue)
	}{
		{p.conn.Keys.Limits.Heads(), nil, p.countHead},
		{p.conn.Keys.Limits.Places(), keysOnly, func(s *Stand, _ *mvccpb.KeyValue) { s.Taken++ }},
		{p.conn.Keys.Limits.Waits(), keysOnly, func(s *Stand, kv *mvccpb.KeyValue) {
			s.Waiting++
			if came := cameIn(string(kv.Key)); s.Since.IsZero() || came.Before(s.Since) {
				s.Since = came
			}
		}},
	} {
		for cursor := ""; ; {
			kvs, next, err := p.conn.Page(ctx, "look at limits", of.prefix+below, cursor, page, of.with...)
			if err != nil {
				return nil, err
			}
			for _, kv := range kvs {
				l := record.LineIn(strings.TrimPrefix(string(kv.Key), of.prefix))
				if stands[l] == nil {
					stands[l] = &Stand{Line: l, Is: is[l.Limit]}
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

var keysOnly = []clientv3.OpOption{clientv3.WithKeysOnly()}

// countHead notes a head. What cannot be read of its units keeps it: nobody is given one of them.
func (p *Places) countHead(s *Stand, kv *mvccpb.KeyValue) {
	var err error
	if s.Bucket, err = bucketIn(kv); err != nil {
		p.conn.Left(kv.Key, err)
		return
	}
	s.Head = kv.ModRevision
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
