package fsck

import (
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// fsckLimits: who waits for a place, or has one, is an instance that says so; each that says so is in line or has its place; and a
// line in which somebody has a place has a head.
type fsckLimits struct{ f *fsck }

func (c fsckLimits) check() {
	c.set()
	c.settlements()
	c.lines(c.waiting())
}

// set looks at the limits that are set.
func (c fsckLimits) set() {
	f := c.f
	f.values("limit/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		var l store.Limit
		n := f.decode(name, kv, &l)
		if n == nil && (len(parts) != 1 || l.Name != record.Decode(parts[0])) {
			n = f.damaged(name, "it says that it is limit %q", l.Name)
		}
		if n != nil {
			f.setAside(n, kv)
			n.Hint = "set it again: weft limits set " + parts[0]
		}
	})
}

// settlements looks at what is to be settled: what nobody can read settles nothing.
func (c fsckLimits) settlements() {
	f := c.f
	f.values("limit-settle/", fsckPage, func(name string, kv *mvccpb.KeyValue, _ []string) {
		if n := f.decode(name, kv, &limit.Settlement{}); n != nil {
			f.setAside(n, kv)
		}
	})
}

// waiting are the keys that instances say that they have in a line: where they stand in it, and the place.
func (c fsckLimits) waiting() (stands, left map[string]bool) {
	f := c.f
	stands, left = map[string]bool{}, f.unwritten()
	for _, id := range f.ids {
		h := &f.records[id].Header
		for i := range h.Bookmarks {
			b := &h.Bookmarks[i]
			w, ok := limit.Of(b)
			if !ok {
				continue
			}
			keys := f.s.conn.Keys
			wait, place := keys.Limits.Wait(w, b), keys.Limits.Place(w.Line, b.ID)
			stands[f.below(wait)], stands[f.below(place)] = true, true
			switch {
			case f.has(wait) && f.has(place) && !left[f.below(wait)]:
				f.drop(f.report("place-twice", wait, "bookmark %s waits for a place, and has it", b.ID), wait, place)
			case !f.has(wait) && !f.has(place) && !left[f.below(wait)]:
				n := f.report("place-missing", wait, "bookmark %s is not in line, and has no place: it would wait for ever, or goes on without one", b.ID)
				record.PutWait(keys.Limits, f.repair(n, "puts it in line", keys.Instance(id), wait, place), b, h, "")
			}
		}
	}
	return stands, left
}

// lines looks at the keys of the lines, of which stands are those that instances have, and left those that may be there.
func (c fsckLimits) lines(stands, left map[string]bool) {
	f, heads := c.f, map[string]bool{}
	for _, prefix := range []string{"limit-wait/", "limit-taken/"} {
		f.under(prefix, func(name string, _ *mvccpb.KeyValue, parts []string) {
			id := parts[max(0, len(parts)-2)]
			if !stands[name] && !left[name] && !f.lostWith(id) {
				f.drop(f.report("place-outdated", name, "no instance waits for the place, or has it"), name, f.s.conn.Keys.Instance(id))
			}
			if len(parts) < 2 || prefix == "limit-wait/" {
				return
			}
			head := f.s.conn.Keys.Limits.Head(record.LineIn(parts[0] + "/" + parts[1]))
			if !heads[head] && !f.has(head) {
				f.repair(f.report("line-without-head", name, "that nobody is given more places than there are is known by it"), "puts it", head, name).PutRaw(head, nil)
			}
			heads[head] = true
		})
	}
}
