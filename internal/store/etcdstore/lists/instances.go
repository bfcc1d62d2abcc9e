package lists

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
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

// InstanceQuery asks for a page of instances.
type InstanceQuery struct {
	Filter find.Filter // resolved
	Cursor string      // the place behind which the page begins; "": at the first
	Limit  int64
	Whole  bool // with their input and output; else those of large instances are left out
	Places bool // with all the places where they wait; else of those that wait at thousands the first ones, and how many more
	Most   int  // instances that are looked at for it at most; 0: [MostLooked]
	// Show gives a text of an instance as who asks may see it; nil: as it is.
	Show func(string) string

	Direct int // instances of an index of what waits that are read at most; 0: [mostDirect]
}

// InstancePage is what Reader.Instances gives: all of it read at one revision.
type InstancePage struct {
	Items    []workflow.Instance
	Modified []int64 // their records' mod revisions
	Next     string  // the cursor of the next page; "" at the end
	Looked   int     // how many instances were looked at for it
	Revision int64
}

// MostLooked is how many instances are looked at for a page at most, and mostScanned how many
// bytes of their records: what is rare among many is found in several pages.
const (
	MostLooked  = 20_000
	mostScanned = 64 << 20
)

// subStatusesOf are those that fit. What has ended waits for nothing.
func subStatusesOf(f *find.Filter) []workflow.SubStatus {
	return slices.DeleteFunc(slices.Clone(record.SubStatuses), func(sub workflow.SubStatus) bool {
		return f.WaitsFor.Kind != "" && sub.Status() != workflow.StatusRunning ||
			f.SubStatus != "" && f.SubStatus != sub || f.Status != "" && f.Status != sub.Status()
	})
}

// Instances reads a page of headers through the narrowest index, the newest instance
// first, or the oldest. Index entries say which instances are looked at; what fits is told by their
// records. A page may be shorter than its limit, and even empty, and have a next one: where
// [MostLooked] were looked at.
func (s *Lists) Instances(ctx context.Context, q InstanceQuery) (*InstancePage, error) {
	for {
		l := &listing{s: s, q: q}
		page, err := l.page(ctx)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between two reads of the page
			return page, err
		}
	}
}

// listing is a page while it is read.
type listing struct {
	s        *Lists
	q        InstanceQuery
	revision int64 // that it is read at; 0: the present one, which the first read tells
	wide     int64 // the next era in milliseconds; 0: not known
	narrowed bool  // it is a part of one that had too many
	waiters  waiters
}

// read reads at the revision of the page.
func (l *listing) read(ctx context.Context, ops []clientv3.Op) (*pb.TxnResponse, error) {
	resp, err := l.s.conn.Read(ctx, "list instances", ops...)
	if err == nil && l.revision == 0 {
		l.revision = resp.Header.Revision
	}
	return resp, err
}

// at makes an operation one of the page's revision.
func (l *listing) at(key string, opts ...clientv3.OpOption) clientv3.Op {
	return clientv3.OpGet(key, append(opts, clientv3.WithRev(l.revision))...)
}

func (l *listing) page(ctx context.Context) (*InstancePage, error) {
	lists, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	page, at, most := &InstancePage{}, l.places(), cmp.Or(l.q.Most, MostLooked)
	var kept, scanned db.Budget
	for chunk := l.q.Limit; ; chunk = min(2*chunk, mostAtOnce) {
		entries, more, err := l.next(ctx, lists, at, min(chunk, int64(most-page.Looked)))
		if err != nil {
			return nil, err
		}
		n, full, err := l.look(ctx, entries, page, &kept, &scanned)
		if err != nil {
			return nil, err
		}
		if page.Looked += n; n > 0 {
			at = at.behind(entries[n-1].place)
		}
		switch {
		case n == len(entries) && !more:
			return l.ended(ctx, page)
		case full || page.Looked >= most || scanned.Taken >= mostScanned:
			page.Next, page.Revision = at.last, l.revision
			return page, nil
		}
		if err := l.askWhoWaits(ctx, page, at); err != nil {
			return nil, err
		}
	}
}

// begin finds where to look. Instances that are named are read by their names; where one of them
// cannot be read, the list is gone through for its place, and no other record is read.
func (l *listing) begin(ctx context.Context) (lists []string, err error) {
	if ids := l.q.Filter.IDs; len(ids) > 0 {
		w := waiters{asked: true, ids: map[string]struct{}{}}
		for _, id := range ids {
			w.ids[id] = struct{}{}
		}
		if w.entries, w.listed, err = l.directly(ctx, w.ids, l.places()); err != nil || w.listed {
			l.waiters = w
			return nil, err
		}
		l.waiters = w
	}
	return l.narrowest(ctx)
}

// next are the first entries behind a place. A page that is full may be the last one although it
// says that there is more.
func (l *listing) next(ctx context.Context, lists []string, at places, limit int64) (entries []entry, more bool, err error) {
	switch {
	case l.waiters.listed:
		n := min(int64(len(l.waiters.entries)), limit)
		entries, l.waiters.entries = l.waiters.entries[:n], l.waiters.entries[n:]
		return entries, len(l.waiters.entries) > 0, nil
	case l.oldestFirst():
		return l.oldest(ctx, lists, at, limit)
	}
	return l.merged(ctx, lists, at, limit)
}

// mostAtOnce is how many entries are read at once where few of them fit.
const mostAtOnce = 1000

// ended is the last page. Where nothing was read as nothing can fit, it is told at which revision.
func (l *listing) ended(ctx context.Context, page *InstancePage) (*InstancePage, error) {
	if l.revision == 0 {
		if _, err := l.read(ctx, []clientv3.Op{db.Get(l.s.conn.Keys.Format())}); err != nil {
			return nil, err
		}
	}
	page.Revision = l.revision
	return page, nil
}

// look reads the records of entries, as long as the page has room, and keeps what fits. It
// gives how many it has looked at, and whether the page is full.
func (l *listing) look(ctx context.Context, entries []entry, page *InstancePage, kept, scanned *db.Budget) (n int, full bool, err error) {
	which := l.waiters.among(entries)
	for len(which) > 0 {
		chunk := which[:min(len(which), scanned.Batch())]
		which = which[len(chunk):]
		reads := make([]clientv3.Op, len(chunk))
		for i, e := range chunk {
			reads[i] = l.at(l.s.conn.Keys.Instance(idOf(entries[e].place)))
		}
		resp, err := l.read(ctx, reads)
		if err != nil {
			return n, false, err
		}
		for i, r := range resp.Responses {
			n = chunk[i] // all before it were looked at
			if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
				in, rec := l.judge(entries[n], kvs[0])
				if rec.unsure {
					if in, rec.fits, err = l.judgePlaces(ctx, entries[n], kvs[0]); err != nil {
						return n, false, err
					}
				}
				fits := rec.fits
				if fits && !kept.Has(rec.size) {
					return n, true, nil
				}
				if fits && rec.apart {
					if in, err = l.join(ctx, entries[n], kvs[0]); err != nil {
						return n, false, err
					}
				}
				if fits {
					page.Items, page.Modified = append(page.Items, in), append(page.Modified, kvs[0].ModRevision)
				}
				scanned.Count(kvs[0].Value)
			}
			if n++; int64(len(page.Items)) == l.q.Limit {
				return n, true, nil
			}
		}
	}
	return len(entries), false, nil
}

// idOf is the id of the instance at a place.
func idOf(place string) string { return place[strings.LastIndexByte(place, '/')+1:] }

// judge tells whether what an entry names fits. Of a record that cannot be read nobody
// knows whether it does: it is listed.
func (l *listing) judge(e entry, kv *mvccpb.KeyValue) (workflow.Instance, judged) {
	f := &l.q.Filter
	r, damage := record.DecodeRecord(kv)
	if damage == nil {
		j := judged{fits: f.Fits(&r.Header, l.q.Show), size: db.PlainSize(kv.Value), unsure: r.Header.MoreWaits > 0 && f.AsksWaits()}
		if j.apart = l.q.Whole && len(r.Parts) > 0 || l.q.Places && r.Header.MoreWaits > 0; j.apart {
			j.size = record.SizeWithParts(kv.Value, r)
		}
		return r.Header, j
	}
	in := l.damaged(e, damage)
	known := find.Filter{Created: f.Created, Not: f.Not}
	return in, judged{fits: known.Fits(&in, l.q.Show), size: db.PlainSize(kv.Value)}
}

// judged is what a list makes of a record.
type judged struct {
	fits  bool
	size  int  // bytes of what is listed of it
	apart bool // its input and output are to be listed, and lie in parts

	unsure bool // whether it fits, as its record lists the first places only where it waits
}

// join is what is listed of an instance that lies in parts.
func (l *listing) join(ctx context.Context, e entry, kv *mvccpb.KeyValue) (workflow.Instance, error) {
	r, err := lookup.PartsOf(l.s.conn).JoinAt(ctx, kv, l.revision, db.Decode)
	switch {
	case err == nil:
		return r.Header, nil
	case errors.Is(err, db.ErrDamaged):
		return l.damaged(e, err), nil
	}
	return workflow.Instance{}, err
}

// judgePlaces reports whether an instance fits by all the places where it waits.
func (l *listing) judgePlaces(ctx context.Context, e entry, kv *mvccpb.KeyValue) (workflow.Instance, bool, error) {
	in, err := l.join(ctx, e, kv)
	if err != nil || in.Damaged != "" {
		return in, in.Damaged != "", err
	}
	fits, n := l.q.Filter.Fits(&in, l.q.Show), min(len(in.Bookmarks), l.s.conn.Width.Listed)
	in.MoreWaits, in.Bookmarks = len(in.Bookmarks)-n, slices.Clone(in.Bookmarks[:n])
	return in, fits, nil
}

// damaged is what an index entry says of an instance whose record cannot be read.
func (l *listing) damaged(e entry, damage error) workflow.Instance {
	f, k := &l.q.Filter, l.s.conn.Keys
	created, id, _ := strings.Cut(e.place, "/")
	in := workflow.Instance{ID: id, CreatedAt: record.FromNewest(created), Damaged: damage.Error()}
	in.UpdatedAt = in.CreatedAt
	if rest, ok := strings.CutPrefix(e.list, k.Indexes()); ok {
		parts := strings.Split(rest, "/")
		in.SubStatus, in.DefinitionID = workflow.SubStatus(parts[0]), parts[1]
		in.Version, _ = strconv.Atoi(parts[2])
		in.Status = in.SubStatus.Status()
	}
	switch e.list {
	case k.Children(f.Parent):
		in.Parent = &workflow.Parent{InstanceID: f.Parent}
	case k.Correlation(f.CorrelationID):
		in.CorrelationID = f.CorrelationID
	}
	return in
}

// places are those that a page may have: from one on, up to another ("": to the end).
type places struct {
	from, to string
	last     string // that was looked at; "": none was
	oldest   bool   // the list goes from its end on
}

// behind are those behind a place that was looked at.
func (p places) behind(place string) places {
	if p.last = place; !p.oldest {
		p.from = max(p.from, place+"\x00")
	}
	return p
}

func (l *listing) places() (p places) {
	span := l.q.Filter.Created
	if !span.Before.IsZero() {
		p.from = record.Newest(span.Before.At) // entries have milliseconds, and the record says the rest
	}
	if !span.After.IsZero() {
		p.to = record.Newest(span.After.At) + "0" // behind all of that millisecond, as 0 comes after /
	}
	if p.oldest = l.oldestFirst(); l.q.Cursor != "" {
		p = p.behind(l.q.Cursor)
	}
	return p
}

func (l *listing) oldestFirst() bool { return l.q.Filter.Order == find.OldestFirst }

// mostCounted is how many lists of the index are counted beside others at most.
const mostCounted = db.MaxLevel / 2

// narrowest are the lists with the fewest entries of those that have all that fits. They are
// counted in windows, until one of them fills a page.
func (l *listing) narrowest(ctx context.Context) ([]string, error) {
	f := &l.q.Filter
	among := l.s.conn.Keys.Owned(f)
	if len(among) == 0 || f.SubStatus != "" || f.DefinitionID != "" {
		lists, err := l.lists(ctx)
		if err != nil {
			return nil, err
		}
		if len(among) == 0 || len(lists) <= mostCounted {
			among = append(among, lists)
		}
	}
	counts, p := make([]int64, len(among)), l.places()
	for w := firstOf(p, time.Now()); len(among) > 1; w = w.next() {
		if err := l.count(ctx, w, among, counts); err != nil {
			return nil, err
		}
		if slices.Max(counts) >= l.q.Limit || w.ends() {
			break
		}
	}
	return among[slices.Index(counts, slices.Min(counts))], nil
}

// count adds how many entries each of some has in a window.
func (l *listing) count(ctx context.Context, w window, among [][]string, counts []int64) error {
	type counted struct {
		list string
		of   int
	}
	var all []counted
	for i, lists := range among {
		for _, list := range lists {
			all = append(all, counted{list, i})
		}
	}
	for chunk := range slices.Chunk(all, db.MaxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, c := range chunk {
			reads[i] = l.at(c.list+w.from, clientv3.WithRange(w.endOf(c.list)), clientv3.WithCountOnly())
		}
		resp, err := l.read(ctx, reads)
		if err != nil {
			return err
		}
		for i, c := range chunk {
			counts[c.of] += db.Read(i).In(resp).Count
		}
	}
	return nil
}

// lists are the ranges of index/ that together have the entries of all that fits.
func (l *listing) lists(ctx context.Context) ([]string, error) {
	s, f := l.s, &l.q.Filter
	var known []string // ids of definitions
	switch {
	case f.DefinitionID == "" && s.known.none():
		resp, err := l.read(ctx, []clientv3.Op{l.at(s.conn.Keys.Definitions(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(definitionsAtOnce))})
		if err != nil {
			return nil, err
		}
		for _, kv := range db.Read(0).In(resp).Kvs {
			id, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Definitions()), "/")
			known = append(known, id)
		}
	case f.DefinitionID != "" && f.Version > 0:
		var lists []string
		for _, sub := range subStatusesOf(f) {
			lists = append(lists, s.conn.Keys.IndexOfVersion(sub, f.DefinitionID, f.Version))
		}
		return lists, nil
	}
	var open []record.Span
	for _, sub := range subStatusesOf(f) {
		if f.DefinitionID != "" {
			at := s.conn.Keys.IndexOf(sub, f.DefinitionID)
			open = append(open, record.Span{From: at, End: clientv3.GetPrefixRangeEnd(at)})
			continue
		}
		var bounds []string
		for _, id := range known {
			bounds = append(bounds, s.conn.Keys.IndexOf(sub, id))
		}
		open = append(open, spans(s.conn.Keys.Index(sub), bounds)...)
	}
	return l.findLists(ctx, open)
}

// definitionsAtOnce is how many definitions are looked for at once. Those behind are found
// one after the other.
const definitionsAtOnce = 1000

// spans are the parts of a range between these bounds: they can be looked through at
// the same time.
func spans(prefix string, bounds []string) []record.Span {
	slices.Sort(bounds)
	var out []record.Span
	from := prefix
	for _, at := range bounds {
		out = append(out, record.Span{From: from, End: at})
		from = at
	}
	return append(out, record.Span{From: from, End: clientv3.GetPrefixRangeEnd(prefix)})
}

// findLists finds the lists in these spans, by the first entry of each, and in what is
// between those that are known. So it costs the read of one key for each list, however
// many instances there are; but for the first time, when etcd counts them all.
func (l *listing) findLists(ctx context.Context, in []record.Span) (lists []string, err error) {
	s, f := l.s, &l.q.Filter
	found := func(list string) {
		if f.Version == 0 || strings.HasSuffix(list, "/"+strconv.Itoa(f.Version)+"/") {
			lists = append(lists, list)
		}
	}
	var open []record.Span
	for _, sp := range in {
		for _, list := range s.known.within(sp) {
			found(list)
			open = append(open, record.Span{From: sp.From, End: list})
			sp.From = clientv3.GetPrefixRangeEnd(list)
		}
		open = append(open, sp)
	}
	open = slices.DeleteFunc(open, func(sp record.Span) bool { return sp.From >= sp.End })
	for len(open) > 0 {
		var left []record.Span
		for chunk := range slices.Chunk(open, db.MaxLevel) {
			reads := make([]clientv3.Op, len(chunk))
			for i, sp := range chunk {
				reads[i] = l.at(sp.From, clientv3.WithRange(sp.End), clientv3.WithLimit(1), clientv3.WithKeysOnly())
			}
			resp, err := l.read(ctx, reads)
			if err != nil {
				return nil, err
			}
			for i, sp := range chunk {
				kv := db.Read(i).One(resp)
				if kv == nil {
					continue
				}
				list := s.conn.Keys.ListOf(string(kv.Key))
				if sp.From = string(kv.Key) + "\x00"; list != "" {
					sp.From = clientv3.GetPrefixRangeEnd(list)
					s.known.add(list)
					found(list)
				}
				if sp.From < sp.End {
					left = append(left, sp)
				}
			}
		}
		open = left
	}
	return lists, nil
}

// knownLists are the lists that were found, sorted. One that has become empty does little harm.
type knownLists struct {
	mu    sync.Mutex
	lists []string
}

// mostKnown is how many lists are known at most: then every second one is forgotten. Those that
// are not empty are found again, each with one read more.
const mostKnown = 10_000

func (k *knownLists) add(list string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.lists) >= mostKnown {
		kept := make([]string, 0, mostKnown)
		for i := 0; i < len(k.lists); i += 2 {
			kept = append(kept, k.lists[i])
		}
		k.lists = kept
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

func (k *knownLists) within(sp record.Span) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	from, _ := slices.BinarySearch(k.lists, sp.From)
	end, _ := slices.BinarySearch(k.lists, sp.End)
	return slices.Clone(k.lists[from:max(from, end)])
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
	last     string        // up to which there are windows; "": to the end
	at       time.Time     // of to
	wide     time.Duration // the next one
	wider    int           // how many times as long as the one before each is
}

// The first window behind a place, and how much longer each is than the one before: a page
// is found in the first where some come each second, and seven reach back for years.
const (
	firstWindow  = 100 * time.Millisecond
	widerWindows = 64
	widestWindow = 20 * 365 * 24 * time.Hour // one behind a wider one is the rest
)

// firstOf is the first window of some places; where these have no beginning, that of what a
// clock that is ahead has made.
func firstOf(p places, now time.Time) window {
	if p.from == "" {
		return window{to: record.Newest(now), at: now, wide: firstWindow, wider: widerWindows, last: p.to}.within()
	}
	made, _, _ := strings.Cut(p.from, "/")
	first := window{to: made, at: record.FromNewest(made), wide: firstWindow, wider: widerWindows, last: p.to}.next()
	first.from = p.from
	return first
}

func (w window) next() window {
	at := w.at.Add(-w.wide)
	if at.UnixMilli() <= 0 || w.wide > widestWindow {
		return window{from: w.to, to: w.last, last: w.last}
	}
	return window{from: w.to, to: record.Newest(at), at: at, wide: time.Duration(w.wider) * w.wide, wider: w.wider, last: w.last}.within()
}

// within cuts a window at the last place.
func (w window) within() window {
	if w.last != "" {
		w.to = min(w.to, w.last)
	}
	return w
}

// ends tells that no window follows.
func (w window) ends() bool { return w.to == w.last }

// endOf is the key behind a window's part of a list.
func (w window) endOf(list string) string {
	if w.to == "" {
		return clientv3.GetPrefixRangeEnd(list)
	}
	return list + w.to
}

// merged reads the first entries of several lists in one order, that of their places.
func (l *listing) merged(ctx context.Context, lists []string, p places, limit int64) (entries []entry, more bool, err error) {
	if p.to != "" && p.from >= p.to {
		return nil, false, nil
	}
	for w := firstOf(p, time.Now()); len(lists) > 0; w = w.next() {
		if entries, err = l.mergedIn(ctx, w, entries, lists, limit); err != nil || int64(len(entries)) == limit {
			return entries, true, err
		}
		if w.ends() {
			break
		}
	}
	return entries, false, nil
}

// mergedIn adds what is in a window, up to the limit.
func (l *listing) mergedIn(ctx context.Context, w window, entries []entry, lists []string, limit int64) ([]entry, error) {
	open := make([]*listRead, len(lists))
	for i, list := range lists {
		open[i] = &listRead{list: list, from: list + w.from, end: w.endOf(list), more: true}
	}
	each := limit
	if len(lists) > few {
		each = min(limit, max(few, 2*limit/int64(len(lists))))
	}
	for int64(len(entries)) < limit {
		if err := l.readOn(ctx, open, each); err != nil {
			return nil, err
		}
		open = slices.DeleteFunc(open, func(r *listRead) bool { return len(r.places) == 0 })
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
func (l *listing) readOn(ctx context.Context, lists []*listRead, each int64) error {
	dry := slices.DeleteFunc(slices.Clone(lists), func(r *listRead) bool { return len(r.places) > 0 || !r.more })
	for chunk := range slices.Chunk(dry, db.MaxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, r := range chunk {
			reads[i] = l.at(r.from, clientv3.WithRange(r.end), clientv3.WithLimit(each), clientv3.WithKeysOnly())
		}
		resp, err := l.read(ctx, reads)
		if err != nil {
			return err
		}
		for i, r := range chunk {
			found := db.Read(i).In(resp)
			for _, kv := range found.Kvs {
				r.places = append(r.places, strings.TrimPrefix(string(kv.Key), r.list))
				r.from = string(kv.Key) + "\x00"
			}
			r.more = found.More
		}
	}
	return nil
}
