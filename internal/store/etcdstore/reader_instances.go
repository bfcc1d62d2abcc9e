package etcdstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Each instance has one entry in index/, below its sub-status, its definition and its
// version. So each of these is a range, and so is any two or all three of them; a list of what
// is in several such ranges merges them by the place of their entries, the newest
// first. What moves from one to another keeps its place. A page is read at one revision.

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
	case len(f.Labels) > 0:
		name := slices.Min(slices.Collect(maps.Keys(f.Labels)))
		return k.labelled(name, f.Labels[name])
	case f.CorrelationID != "":
		return k.correlation(f.CorrelationID)
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
	case f.DefinitionID == "":
		resp, err := s.get(ctx, "list instances", s.keys.definitions(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(definitionsAtOnce))
		if err != nil {
			return nil, 0, err
		}
		revision = resp.Header.Revision
		for _, kv := range resp.Kvs {
			id, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.keys.definitions()), "/")
			known = append(known, id)
		}
	case f.Version > 0:
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

// findLists finds the lists in these spans, by the first entry of each: with the next
// key of every span that has one, until none has. So it costs a read of one key for each list and
// each span, however many instances there are.
func (s *Reader) findLists(ctx context.Context, f *InstanceFilter, open []span, revision int64) (lists []string, at int64, err error) {
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
					if f.Version == 0 || strings.HasSuffix(list, "/"+strconv.Itoa(f.Version)+"/") {
						lists = append(lists, list)
					}
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

// listRead is a list while it is merged with others.
type listRead struct {
	list, from string
	places     []string // read and not taken
	more       bool     // there may be others
}

// few is how many lists are read up to the limit of a page at once. Of more, each
// is read in smaller parts.
const few = 6

// merged reads the first entries behind a cursor of several lists in one order, that of
// their places.
func (s *Reader) merged(ctx context.Context, lists []string, cursor string, limit, revision int64) (entries []entry, more bool, err error) {
	open := make([]*listRead, len(lists))
	for i, list := range lists {
		open[i] = &listRead{list: list, from: pageFrom(list, cursor), more: true}
	}
	each := limit
	if len(lists) > few {
		each = min(limit, max(few, 2*limit/int64(len(lists))))
	}
	for int64(len(entries)) < limit {
		if err := s.readOn(ctx, open, each, revision); err != nil {
			return nil, false, err
		}
		open = slices.DeleteFunc(open, func(l *listRead) bool { return len(l.places) == 0 })
		if len(open) == 0 {
			return entries, false, nil
		}
		entries = take(entries, open, limit)
	}
	return entries, slices.ContainsFunc(open, func(l *listRead) bool { return len(l.places) > 0 || l.more }), nil
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
			reads[i] = clientv3.OpGet(l.from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(l.list)), clientv3.WithLimit(each), clientv3.WithKeysOnly(), clientv3.WithRev(revision))
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
