package etcdstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Each instance has one entry in index/, below its sub-status, its definition and its
// version. So each of these is a range, and so is any two or all three of them; a list of what
// is in several such ranges merges them by the place of their entries, the newest
// first. What moves from one to another keeps its place. A page is read at one revision.
//
// etcd counts all of a range, however few keys of it it is asked for (etcd note 32). So
// no range is read that is not known to be short: a list from its newest entry on in windows
// of time, each longer than the one before; and lists that were found once are not
// looked for again, but only the gaps between them, where nothing is.

// InstanceFilter restricts [Reader.Instances]; zero fields do not.
type InstanceFilter struct {
	Status                      workflow.Status
	SubStatus                   workflow.SubStatus
	DefinitionID, CorrelationID string
	Version                     int
	Parent                      string            // the instance that started it
	Labels                      map[string]string // all of them
}

// subStatuses are all that an instance may have, each with an index of its own.
var subStatuses = []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended, workflow.Finished, workflow.Cancelled, workflow.Faulted}

func (f *InstanceFilter) subStatuses() []workflow.SubStatus {
	return slices.DeleteFunc(slices.Clone(subStatuses), func(sub workflow.SubStatus) bool {
		return f.SubStatus != "" && f.SubStatus != sub || f.Status != "" && f.Status != sub.Status()
	})
}

// own is the list that an instance has an entry in for something of its own; "": the
// filter asks for no such thing.
func (f *InstanceFilter) own(k keys) string {
	switch {
	case f.Parent != "":
		return k.children(f.Parent)
	case f.CorrelationID != "": // fewer have one correlation than one label
		return k.correlation(f.CorrelationID)
	case len(f.Labels) > 0:
		name := slices.Min(slices.Collect(maps.Keys(f.Labels)))
		return k.labelled(name, f.Labels[name])
	}
	return ""
}

func (f *InstanceFilter) fits(h *workflow.Instance) bool {
	for name, value := range f.Labels {
		if h.Labels[name] != value {
			return false
		}
	}
	return (f.Status == "" || f.Status == h.Status) && (f.SubStatus == "" || f.SubStatus == h.SubStatus) &&
		(f.DefinitionID == "" || f.DefinitionID == h.DefinitionID) && (f.Version == 0 || f.Version == h.Version) &&
		(f.CorrelationID == "" || f.CorrelationID == h.CorrelationID) &&
		(f.Parent == "" || h.Parent != nil && f.Parent == h.Parent.InstanceID)
}

// Instances reads a page of headers through the narrowest index, the newest instance
// first. Index entries are hints: what they name is read, and left out if it no longer
// fits. The cursor is the place of the last one that was looked at. A page may be
// shorter than its limit, and even empty, and have a next one.
func (s *Reader) Instances(ctx context.Context, f InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	for {
		page, next, err := s.instances(ctx, &f, cursor, limit)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between two reads of the page
			return page, next, err
		}
	}
}

func (s *Reader) instances(ctx context.Context, f *InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	lists, revision, err := s.lists(ctx, f)
	if err != nil {
		return nil, "", err
	}
	entries, more, err := s.merged(ctx, lists, cursor, limit, revision)
	if err != nil {
		return nil, "", err
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.place[strings.LastIndexByte(e.place, '/')+1:]
	}
	var out []workflow.Instance
	n, err := s.records(ctx, ids, func(i int, r *store.Record, damage error) bool {
		switch {
		case damage != nil:
			out = append(out, f.damaged(entries[i], damage))
		case r != nil && f.fits(&r.Header):
			out = append(out, r.Header)
		}
		return false
	})
	if err != nil || n == len(entries) && !more {
		return out, "", err
	}
	return out, entries[n-1].place, nil
}

// damaged is what an index entry says of an instance whose record cannot be read.
func (f *InstanceFilter) damaged(e entry, damage error) workflow.Instance {
	created, id, _ := strings.Cut(e.place, "/")
	in := workflow.Instance{ID: id, DefinitionID: f.DefinitionID, Version: f.Version, CorrelationID: f.CorrelationID, Labels: f.Labels, Status: f.Status, SubStatus: f.SubStatus,
		CreatedAt: fromNewest(created), Damaged: damage.Error()}
	in.UpdatedAt = in.CreatedAt
	if parts := strings.Split(e.list, "/"); len(parts) > 4 && parts[len(parts)-5] == "index" { // …/index/<sub-status>/<definition>/<version>/
		in.SubStatus, in.DefinitionID = workflow.SubStatus(parts[len(parts)-4]), parts[len(parts)-3]
		in.Version, _ = strconv.Atoi(parts[len(parts)-2])
		in.Status = in.SubStatus.Status()
	}
	return in
}

// lists are the ranges that together have the entries of all that fits, and the revision
// to read them at; 0: the present one.
func (s *Reader) lists(ctx context.Context, f *InstanceFilter) ([]string, int64, error) {
	if own := f.own(s.keys); own != "" {
		return []string{own}, 0, nil
	}
	var known []string // ids of definitions
	var revision int64
	switch {
	case f.DefinitionID == "" && s.known.none():
		resp, err := s.get(ctx, "list instances", s.keys.definitions(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(definitionsAtOnce))
		if err != nil {
			return nil, 0, err
		}
		revision = resp.Header.Revision
		for _, kv := range resp.Kvs {
			id, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.keys.definitions()), "/")
			known = append(known, id)
		}
	case f.DefinitionID != "" && f.Version > 0:
		var lists []string
		for _, sub := range f.subStatuses() {
			lists = append(lists, s.keys.indexOfVersion(sub, f.DefinitionID, f.Version))
		}
		return lists, 0, nil
	}
	var open []span
	for _, sub := range f.subStatuses() {
		if f.DefinitionID != "" {
			at := s.keys.indexOf(sub, f.DefinitionID)
			open = append(open, span{at, clientv3.GetPrefixRangeEnd(at)})
			continue
		}
		var bounds []string
		for _, id := range known {
			bounds = append(bounds, s.keys.indexOf(sub, id))
		}
		open = append(open, spans(s.keys.index(sub), bounds)...)
	}
	return s.findLists(ctx, f, open, revision)
}

// definitionsAtOnce is how many definitions are looked for at once. Those behind are found
// one after the other.
const definitionsAtOnce = 1000

// span is a part of the index in which lists are looked for.
type span struct{ from, end string }

// spans are the parts of a range between these bounds: they can be looked through at
// the same time.
func spans(prefix string, bounds []string) []span {
	slices.Sort(bounds)
	var out []span
	from := prefix
	for _, at := range bounds {
		out = append(out, span{from, at})
		from = at
	}
	return append(out, span{from, clientv3.GetPrefixRangeEnd(prefix)})
}

// findLists finds the lists in these spans, by the first entry of each, and in what is
// between those that are known. So it costs the read of one key for each list, however
// many instances there are; but for the first time, when etcd counts them all.
func (s *Reader) findLists(ctx context.Context, f *InstanceFilter, in []span, revision int64) (lists []string, at int64, err error) {
	found := func(list string) {
		if f.Version == 0 || strings.HasSuffix(list, "/"+strconv.Itoa(f.Version)+"/") {
			lists = append(lists, list)
		}
	}
	var open []span
	for _, sp := range in {
		for _, list := range s.known.within(sp) {
			found(list)
			open = append(open, span{sp.from, list})
			sp.from = clientv3.GetPrefixRangeEnd(list)
		}
		open = append(open, sp)
	}
	open = slices.DeleteFunc(open, func(sp span) bool { return sp.from >= sp.end })
	for len(open) > 0 {
		var left []span
		for chunk := range slices.Chunk(open, maxLevel) {
			reads := make([]clientv3.Op, len(chunk))
			for i, sp := range chunk {
				reads[i] = clientv3.OpGet(sp.from, clientv3.WithRange(sp.end), clientv3.WithLimit(1), clientv3.WithKeysOnly(), clientv3.WithRev(revision))
			}
			resp, err := s.read(ctx, "list instances", reads...)
			if err != nil {
				return nil, 0, err
			}
			if revision == 0 {
				revision = resp.Header.Revision
			}
			for i, sp := range chunk {
				kv := read(i).one(resp)
				if kv == nil {
					continue
				}
				list := s.keys.listOf(string(kv.Key))
				if sp.from = string(kv.Key) + "\x00"; list != "" {
					sp.from = clientv3.GetPrefixRangeEnd(list)
					s.known.add(list)
					found(list)
				}
				if sp.from < sp.end {
					left = append(left, sp)
				}
			}
		}
		open = left
	}
	return lists, revision, nil
}

// knownLists are the lists that were found, sorted. One that has become empty does no harm.
type knownLists struct {
	mu    sync.Mutex
	lists []string
}

// mostKnown is how many lists are known at most: then they are looked for again.
const mostKnown = 10_000

func (k *knownLists) add(list string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.lists) >= mostKnown {
		k.lists = nil
	}
	if i, there := slices.BinarySearch(k.lists, list); !there {
		k.lists = slices.Insert(k.lists, i, list)
	}
}

// none tells whether nothing is known: then definitions say where to look.
func (k *knownLists) none() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.lists) == 0
}

func (k *knownLists) within(sp span) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	from, _ := slices.BinarySearch(k.lists, sp.from)
	end, _ := slices.BinarySearch(k.lists, sp.end)
	return slices.Clone(k.lists[from:max(from, end)])
}

// listOf is the list that an entry of index/ stands in; "": it is no such entry.
func (k keys) listOf(key string) string {
	parts := strings.SplitN(strings.TrimPrefix(key, k.indexes()), "/", 4) // sub-status, definition, version, place
	if len(parts) < 4 {
		return ""
	}
	return strings.TrimSuffix(key, parts[3])
}

// entry is one of a list.
type entry struct{ list, place string }

// listRead is a list, or a part of one, while it is merged with others.
type listRead struct {
	list, from, end string
	places          []string // read and not taken
	more            bool     // there may be others
}

// few is how many lists are read up to the limit of a page at once. Of more, each
// is read in smaller parts.
const few = 6

// window is a part of all lists: the places from one on, up to another ("": to the end).
type window struct {
	from, to string
	at       time.Time     // of to
	wide     time.Duration // the next one
}

// The first window behind a place, and how much longer each is than the one before: a page
// is found in the first where some come each second, and seven reach back for years.
const (
	firstWindow  = 100 * time.Millisecond
	widerWindows = 64
	widestWindow = 20 * 365 * 24 * time.Hour // one behind a wider one is the rest
)

// firstOf is the first window behind a cursor; without one, that of what a clock
// that is ahead has made.
func firstOf(cursor string, now time.Time) window {
	if cursor == "" {
		return window{to: newest(now), at: now, wide: firstWindow}
	}
	made, _, _ := strings.Cut(cursor, "/")
	first := window{to: made, at: fromNewest(made), wide: firstWindow}.next()
	first.from = cursor + "\x00"
	return first
}

func (w window) next() window {
	at := w.at.Add(-w.wide)
	if at.UnixMilli() <= 0 || w.wide > widestWindow {
		return window{from: w.to}
	}
	return window{from: w.to, to: newest(at), at: at, wide: widerWindows * w.wide}
}

// merged reads the first entries behind a cursor of several lists in one order, that of
// their places. A page that is full may be the last one although it says that there is more.
func (s *Reader) merged(ctx context.Context, lists []string, cursor string, limit, revision int64) (entries []entry, more bool, err error) {
	for w := firstOf(cursor, time.Now()); len(lists) > 0; w = w.next() {
		if entries, err = s.mergedIn(ctx, w, entries, lists, limit, revision); err != nil || int64(len(entries)) == limit {
			return entries, true, err
		}
		if w.to == "" {
			break
		}
	}
	return entries, false, nil
}

// mergedIn adds what is in a window, up to the limit.
func (s *Reader) mergedIn(ctx context.Context, w window, entries []entry, lists []string, limit, revision int64) ([]entry, error) {
	open := make([]*listRead, len(lists))
	for i, list := range lists {
		open[i] = &listRead{list: list, from: list + w.from, end: clientv3.GetPrefixRangeEnd(list), more: true}
		if w.to != "" {
			open[i].end = list + w.to
		}
	}
	each := limit
	if len(lists) > few {
		each = min(limit, max(few, 2*limit/int64(len(lists))))
	}
	for int64(len(entries)) < limit {
		if err := s.readOn(ctx, open, each, revision); err != nil {
			return nil, err
		}
		open = slices.DeleteFunc(open, func(l *listRead) bool { return len(l.places) == 0 })
		if len(open) == 0 {
			break
		}
		entries = take(entries, open, limit)
	}
	return entries, nil
}

// take adds the first of what was read, as long as it is known which that is: of each
// list something is read, or there is no more.
func take(entries []entry, lists []*listRead, limit int64) []entry {
	for int64(len(entries)) < limit {
		var first *listRead
		for _, l := range lists {
			switch {
			case len(l.places) > 0 && (first == nil || l.places[0] < first.places[0]):
				first = l
			case len(l.places) == 0 && l.more:
				return entries
			}
		}
		if first == nil {
			return entries
		}
		entries = append(entries, entry{first.list, first.places[0]})
		first.places = first.places[1:]
	}
	return entries
}

// readOn reads the next entries of the lists of which none is left.
func (s *Reader) readOn(ctx context.Context, lists []*listRead, each, revision int64) error {
	dry := slices.DeleteFunc(slices.Clone(lists), func(l *listRead) bool { return len(l.places) > 0 || !l.more })
	for chunk := range slices.Chunk(dry, maxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, l := range chunk {
			reads[i] = clientv3.OpGet(l.from, clientv3.WithRange(l.end), clientv3.WithLimit(each), clientv3.WithKeysOnly(), clientv3.WithRev(revision))
		}
		resp, err := s.read(ctx, "list instances", reads...)
		if err != nil {
			return err
		}
		for i, l := range chunk {
			r := read(i).in(resp)
			for _, kv := range r.Kvs {
				l.places = append(l.places, strings.TrimPrefix(string(kv.Key), l.list))
				l.from = string(kv.Key) + "\x00"
			}
			l.more = r.More
		}
	}
	return nil
}
