package places

import (
	"context"
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

// MostLimits is how many limits there may be: all are read at once.
const MostLimits = 1000

// limitIn reads a limit.
func limitIn(kv *mvccpb.KeyValue) (*store.Limit, error) {
	l := &store.Limit{}
	if err := db.Decode(kv.Value, l); err != nil {
		return nil, fmt.Errorf("limit %s: %w", kv.Key, err)
	}
	if l.Name == "" {
		return nil, fmt.Errorf("limit %s: %w", kv.Key, errNoLimit)
	}
	l.Modified = kv.ModRevision
	return l, nil
}

// Get reads a limit; nil: there is none.
func (p *Places) Get(ctx context.Context, name string) (*store.Limit, error) {
	resp, err := p.conn.Get(ctx, "read limit "+name, p.conn.Keys.Limits.Limit(name))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return limitIn(resp.Kvs[0])
}

// List reads all limits, by name. One that cannot be read is left out, and logged: weft fsck tells of it.
func (p *Places) List(ctx context.Context) ([]store.Limit, error) {
	resp, err := p.conn.Get(ctx, "list limits", p.conn.Keys.Limits.All(), clientv3.WithPrefix(), clientv3.WithLimit(MostLimits))
	if err != nil {
		return nil, err
	}
	var all []store.Limit
	for _, kv := range resp.Kvs {
		l, err := limitIn(kv)
		if err != nil {
			p.conn.Left(kv.Key, err)
			continue
		}
		all = append(all, *l)
	}
	return all, nil
}

// Set puts a limit over what was read of it (0: there was none). False: it was changed since.
//
// If: its mod revision. Then: put it. From then on nobody is given a place who was counted by the one before.
func (p *Places) Set(ctx context.Context, l store.Limit, was int64) (bool, error) {
	t := p.conn.Begin("set limit "+l.Name, db.ModifiedAt(p.conn.Keys.Limits.Limit(l.Name), was))
	t.Put(p.conn.Keys.Limits.Limit(l.Name), l)
	return db.Applied(t.SubmitSmall(ctx))
}

// Forget deletes a limit as it was read. Who waits goes on waiting, until it is set again. False: it was changed since.
//
// If: its mod revision. Then: delete it.
func (p *Places) Forget(ctx context.Context, l *store.Limit) (bool, error) {
	t := p.conn.Begin("delete limit "+l.Name, db.ModifiedAt(p.conn.Keys.Limits.Limit(l.Name), l.Modified))
	t.Del(p.conn.Keys.Limits.Limit(l.Name))
	return db.Applied(t.SubmitSmall(ctx))
}

// Who is who has places of a limit, or waits for one, of all its keys.
type Who struct {
	Places []store.Place
	Next   string // cursor of the next page; "": this is the last
}

// Taken reads who has places of a limit, by key.
func (p *Places) Taken(ctx context.Context, name, cursor string, most int64) (Who, error) {
	return p.who(ctx, p.conn.Keys.Limits.Places(), name, cursor, most)
}

// Waiting reads who waits for places of a limit: those of a key together, in the order in which they are given one.
func (p *Places) Waiting(ctx context.Context, name, cursor string, most int64) (Who, error) {
	return p.who(ctx, p.conn.Keys.Limits.Waits(), name, cursor, most)
}

func (p *Places) who(ctx context.Context, in, name, cursor string, most int64) (w Who, err error) {
	prefix := in + record.Encode(name) + "/"
	kvs, next, err := p.conn.Page(ctx, "read who is at limit "+name, prefix, cursor, most)
	if err != nil {
		return w, err
	}
	for _, kv := range kvs {
		w.Places = append(w.Places, p.placeIn(kv, record.LineIn(strings.TrimPrefix(string(kv.Key), in))))
	}
	w.Next = next
	return w, nil
}

// Position is where a bookmark stands that waits for a place, or has it.
type Position struct {
	Limit   *store.Limit // nil: there is none of this name
	Ahead   int64        // how many wait before it
	Waiting int64        // how many wait in all
	Taken   int64        // how many have a place
	By      []store.Place
	Has     bool         // it has its place
	Bucket  limit.Bucket // what is taken of the units
	Units   int64        // that it wants
}

// Next is when as many units as it wants are there, if nobody takes some before it; zero: they are, or they come by no time.
func (at *Position) Next(now time.Time) time.Time {
	if at.Limit == nil || at.Bucket.May(at.Limit.Rate, now, at.Units) {
		return time.Time{}
	}
	return at.Bucket.Next(at.Limit.Rate, now, at.Units)
}

// PositionOf tells where a bookmark stands, and who has places: the first few of them. Nil: it waits for no place.
func (p *Places) PositionOf(ctx context.Context, b *workflow.Bookmark) (*Position, error) {
	const few = 3
	w, ok := limit.Of(b)
	if !ok {
		return nil, nil
	}
	waitKey, placeKey := p.conn.Keys.Limits.Wait(w, b), p.conn.Keys.Limits.Place(w.Line, b.ID)
	var ask db.Reads
	line, taken := p.conn.Keys.Limits.Line(w.Line), p.conn.Keys.Limits.Taken(w.Line)
	is, has, head := ask.Value(p.conn.Keys.Limits.Limit(w.Limit)), ask.Count(placeKey), ask.Value(p.conn.Keys.Limits.Head(w.Line))
	ahead := ask.Add(clientv3.OpGet(line, clientv3.WithRange(waitKey), clientv3.WithCountOnly()))
	all := ask.Add(clientv3.OpGet(line, clientv3.WithPrefix(), clientv3.WithCountOnly()))
	by := ask.Add(clientv3.OpGet(taken, clientv3.WithPrefix(), clientv3.WithLimit(few)))
	resp, err := p.conn.Read(ctx, "look where one stands at "+w.String(), ask.Ops...)
	if err != nil {
		return nil, err
	}
	at := &Position{Ahead: ahead.In(resp).Count, Waiting: all.In(resp).Count, Taken: by.In(resp).Count, Has: has.Found(resp), Units: w.Amount()}
	if kv := head.One(resp); kv != nil {
		if at.Bucket, err = bucketIn(kv); err != nil {
			return nil, err
		}
	}
	if kv := is.One(resp); kv != nil {
		if at.Limit, err = limitIn(kv); err != nil {
			return nil, err
		}
	}
	for _, kv := range by.In(resp).Kvs {
		at.By = append(at.By, p.placeIn(kv, w.Line))
	}
	return at, nil
}
