package places

import (
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// guess is the place that a commit may take by itself: of the first of its new bookmarks that waits for one, and is likely to
// have it. Nil: none is. What another of the same commit waits for is given behind it: compares see nothing of
// what their own transaction puts.
func (p *Places) guess(created, burned []workflow.Bookmark) *store.PlaceGuess {
	for i := range created {
		w, ok := limit.Of(&created[i])
		if !ok || contains(burned, created[i].ID) { // an import that brings what was there
			continue
		}
		if g, ok := p.seen.guess(w.Line, w.Amount(), p.Clock); ok {
			g.Bookmark = created[i].ID
			return &g
		}
	}
	return nil
}

func contains(bookmarks []workflow.Bookmark, id string) bool {
	return slices.ContainsFunc(bookmarks, func(b workflow.Bookmark) bool { return b.ID == id })
}

// take is the inner transaction of a commit that takes a place if the guess is right, and else puts the bookmark in line.
//
// If: the limit and the head of its line as they were read; nobody waits, and nothing is to be settled. Then: put the place and the head, and the command
// that says so. Else: put the bookmark in line. It lies inside, so that it decides nothing but that.
//
// The units stand under the time of when it is sent, also again: what is sent late is back late.
func (p *Places) take(g *store.PlaceGuess, b *workflow.Bookmark, of *workflow.Instance, trace string, at time.Time) (clientv3.Op, *db.Ops) {
	keys := p.conn.Keys
	now := at
	if g.Rate != nil {
		now, _ = p.Clock()
	}
	g.After, g.At = g.Bucket.Take(g.Rate, now, g.Units)
	cmd := told(g, trace, at)
	w, _ := limit.Of(b)
	then, otherwise := db.NewOps(), db.NewOps()
	place := record.PlaceFor(b, of, trace)
	otherwise.Put(keys.Limits.Wait(w, b), place)
	place.Given = now
	then.Put(keys.Limits.Place(w.Line, b.ID), place)
	p.putHead(then, w.Line, &g.After)
	then.Put(keys.Mail(of.ID, cmd.ID), cmd)
	o := db.NewOps()
	o.Nested([]clientv3.Cmp{db.ModifiedAt(keys.Limits.Limit(w.Limit), g.Limit), db.ModifiedAt(keys.Limits.Head(w.Line), g.Head), db.NoneNewer(keys.Limits.Line(w.Line), 0), db.NoneNewer(keys.Limits.SettlementsOf(w.Line), 0)}, then, otherwise)
	return o.Tail[0], o
}

// Lines are those at which somebody may be given a place after a commit: it put somebody in line, or took somebody out.
// took is the place that it took by itself; nil: none. Of a decision whose index is not written yet there are none: its places
// are there until its pages are written, and count so long.
func (p *Places) Lines(c *store.Commit, took *store.PlaceGuess) (lines []limit.Line) {
	if c.After.Unwritten != nil {
		return nil
	}
	add := func(l limit.Line) {
		if !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	for i := range c.Journal {
		if l, _, ok := limit.SettlementIn(&c.Journal[i]); ok {
			add(l)
		}
	}
	for i := range c.Burned {
		if w, ok := limit.Of(&c.Burned[i]); ok {
			p.seen.gone(w.Line, c.Burned[i].ID)
			add(w.Line)
		}
	}
	for i := range c.Created {
		if w, ok := limit.Of(&c.Created[i]); ok && (took == nil || took.Bookmark != c.Created[i].ID) {
			add(w.Line)
		}
	}
	return lines
}
