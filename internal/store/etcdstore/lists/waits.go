package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// What instances wait for is kept by what it is, and not by when they were made: the keys of
// bookmarks by hash, those of tasks by name. So a page of who waits for an event or a task begins
// like any other, with the newest instances (or the oldest). If many of these wait for it, that is all there is to it, and
// 100,000 that wait for the same event cost nothing. If few do, the keys tell which instances can fit: of few all are read, and
// of more only the records of those that stand in the list.

const (
	// waitsOften: where one of so many fits, keys are not asked.
	waitsOften = 10
	// mostDirect is how many instances are read in any order, and mostWaiting how many are told apart.
	mostDirect  = 1000
	mostWaiting = 10_000
)

// waiters are the instances that keys tell to wait for what is asked for.
type waiters struct {
	asked   bool
	ids     map[string]struct{} // nothing else can fit; nil: not known
	listed  bool                // entries are all that is left of the list
	entries []entry
}

// among are the numbers of those entries that can fit.
func (w *waiters) among(entries []entry) (which []int) {
	for i, e := range entries {
		if _, waits := w.ids[idOf(e.place)]; waits || w.ids == nil {
			which = append(which, i)
		}
	}
	return which
}

// waiting are the ranges of keys of all that waits for what is named.
func (l *listing) waiting() []string {
	f, k := &l.q.Filter, l.s.conn.Keys
	switch w := f.WaitsFor; {
	case w.Kind == find.WaitTask || w.Kind == workflow.TaskType:
		return []string{k.Tasks(w.Name), k.Taken.Tasks(w.Name)}
	case (w.Kind == find.WaitEvent || w.Kind == workflow.EventType) && w.Name != "":
		hash, err := workflow.Hash(workflow.EventType, workflow.EventPayload(w.Name))
		switch {
		case err != nil:
			return nil
		case f.CorrelationID != "":
			return []string{k.BookmarkSlice(hash, f.CorrelationID)}
		}
		return []string{k.Bookmarks(hash)}
	}
	return nil
}

// askWhoWaits asks the keys, once, if few of those that were looked at fit.
func (l *listing) askWhoWaits(ctx context.Context, page *InstancePage, at places) error {
	if l.waiters.asked || len(page.Items)*waitsOften >= page.Looked {
		return nil
	}
	l.waiters.asked = true
	var counts, reads []clientv3.Op
	for _, under := range l.waiting() {
		counts = append(counts, l.at(under, clientv3.WithPrefix(), clientv3.WithCountOnly()))
		reads = append(reads, l.at(under, clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	}
	if len(reads) == 0 {
		return nil
	}
	resp, err := l.read(ctx, counts)
	if err != nil {
		return err
	}
	all := int64(0)
	for i := range counts {
		all += db.Read(i).In(resp).Count
	}
	if all > mostWaiting {
		return nil
	}
	if resp, err = l.read(ctx, reads); err != nil {
		return err
	}
	ids := map[string]struct{}{}
	for i := range reads {
		for _, kv := range db.Read(i).In(resp).Kvs {
			if parts := strings.Split(string(kv.Key), "/"); len(parts) > 1 {
				ids[parts[len(parts)-2]] = struct{}{} // before the bookmark's own
			}
		}
	}
	if l.waiters.ids = ids; len(ids) > cmp.Or(l.q.Direct, mostDirect) {
		return nil
	}
	l.waiters.entries, l.waiters.listed, err = l.directly(ctx, ids, at)
	return err
}

// directly reads some instances, and gives those behind a place that fit in the order of the list. False: one of them
// cannot be read, and only the list has its place; or they have too many bytes.
func (l *listing) directly(ctx context.Context, ids map[string]struct{}, at places) (entries []entry, listed bool, err error) {
	left := make([]string, 0, len(ids))
	for id := range ids {
		left = append(left, id)
	}
	var scanned db.Budget
	for len(left) > 0 {
		chunk := left[:min(len(left), scanned.Batch())]
		left = left[len(chunk):]
		reads := make([]clientv3.Op, len(chunk))
		for i, id := range chunk {
			reads[i] = l.at(l.s.conn.Keys.Instance(id))
		}
		resp, err := l.read(ctx, reads)
		if err != nil {
			return nil, false, err
		}
		for i := range chunk {
			kv := db.Read(i).One(resp)
			if kv == nil {
				continue
			}
			r, damage := record.DecodeRecord(kv)
			if damage != nil || r.Header.MoreWaits > 0 {
				return nil, false, nil //nolint:nilerr // the list shows it
			}
			e := entry{place: record.Place(&r.Header)}
			if l.q.Filter.Fits(&r.Header, l.q.Show) && at.before(e.place) {
				entries = append(entries, e)
			}
			scanned.Count(kv.Value)
		}
		if scanned.Taken >= mostScanned {
			return nil, false, nil
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return at.compare(a.place, b.place) })
	return entries, true, nil
}

// compare tells which of two places comes first.
func (p places) compare(a, b string) int {
	if p.oldest {
		return cmp.Or(cmp.Compare(madeAt(b), madeAt(a)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

// before tells whether a place is still to come.
func (p places) before(place string) bool { return p.last == "" || p.compare(p.last, place) < 0 }
