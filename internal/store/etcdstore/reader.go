package etcdstore

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// InstanceFilter restricts [Reader.Instances]; zero fields do not.
type InstanceFilter struct {
	Status                      workflow.Status
	SubStatus                   workflow.SubStatus
	DefinitionID, CorrelationID string
}

// subStatuses are all that an instance may have, each with an index of its own.
var subStatuses = []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended, workflow.Finished, workflow.Cancelled, workflow.Faulted}

// indexes are the ranges of index entries that name what fits.
func (f InstanceFilter) indexes(k keys) []string {
	if f.CorrelationID != "" {
		return []string{k.correlation(f.CorrelationID)}
	}
	var ranges []string
	for _, sub := range subStatuses {
		if (f.SubStatus == "" || f.SubStatus == sub) && (f.Status == "" || f.Status == sub.Status()) {
			prefix := k.index(sub)
			if f.DefinitionID != "" {
				prefix += f.DefinitionID + "/"
			}
			ranges = append(ranges, prefix)
		}
	}
	return ranges
}

// Instances reads a page of headers through the narrowest index. Index entries
// are hints: what they name is read, and left out if it no longer fits. The cursor
// is the entry of the last one that was looked at. A page may be shorter than its
// limit, and even empty, and have a next one.
func (s *Reader) Instances(ctx context.Context, f InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	entries, more, err := s.merged(ctx, "list instances", f.indexes(s.keys), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e[strings.LastIndexByte(e, '/')+1:]
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
	return out, entries[n-1], nil
}

// damaged is what an index entry says of an instance whose record cannot be read.
func (f InstanceFilter) damaged(entry string, damage error) workflow.Instance {
	parts := strings.Split(entry, "/")
	in := workflow.Instance{ID: parts[len(parts)-1], DefinitionID: f.DefinitionID, CorrelationID: f.CorrelationID, Status: f.Status, SubStatus: f.SubStatus, Damaged: damage.Error()}
	if len(parts) > 1 {
		in.CreatedAt = fromMillis(parts[len(parts)-2])
		in.UpdatedAt = in.CreatedAt
	}
	if len(parts) > 2 {
		in.DefinitionID = parts[0]
	}
	return in
}

// merged reads the first entries behind a cursor of several ranges at one revision,
// in one order: what follows the prefixes. What moves from one of them to another
// keeps its place, so that it is in one page, and in one only.
func (s *Reader) merged(ctx context.Context, what string, prefixes []string, cursor string, limit int64) (entries []string, more bool, err error) {
	if len(prefixes) == 0 {
		return nil, false, nil
	}
	reads := make([]clientv3.Op, len(prefixes))
	for i, prefix := range prefixes {
		reads[i] = clientv3.OpGet(pageFrom(prefix, cursor), clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(limit), clientv3.WithKeysOnly())
	}
	resp, err := s.read(ctx, what, reads...)
	if err != nil {
		return nil, false, err
	}
	for i, r := range resp.Responses {
		more = more || r.GetResponseRange().More
		for _, kv := range r.GetResponseRange().Kvs {
			entries = append(entries, strings.TrimPrefix(string(kv.Key), prefixes[i]))
		}
	}
	slices.Sort(entries)
	if int64(len(entries)) > limit {
		entries, more = entries[:limit], true
	}
	return entries, more, nil
}

func (f InstanceFilter) fits(h *workflow.Instance) bool {
	return (f.Status == "" || f.Status == h.Status) && (f.SubStatus == "" || f.SubStatus == h.SubStatus) && (f.DefinitionID == "" || f.DefinitionID == h.DefinitionID) &&
		(f.CorrelationID == "" || f.CorrelationID == h.CorrelationID)
}

// Instance reads one record; nil if there is none.
func (s *Reader) Instance(ctx context.Context, id string) (*store.Record, error) {
	resp, err := s.get(ctx, "read instance "+id, s.keys.instance(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return decodeRecord(resp.Kvs[0])
}

// Journal reads the journal of an instance, from the commit after seq on; it
// returns the items of up to limit commits and the last commit's number, 0 at
// the end.
func (s *Reader) Journal(ctx context.Context, id string, after int64, limit int64) (items []workflow.JournalItem, last int64, err error) {
	prefix := s.keys.journalOf(id)
	cursor := strings.TrimPrefix(s.keys.journal(id, after), prefix)
	next, err := s.values(ctx, "read journal of "+id, prefix, cursor, limit, func(kv *mvccpb.KeyValue) error {
		var e journalEntry
		damage := Decode(kv.Value, &e)
		if damage == nil {
			items, last = append(items, e.journal()...), e.Seq
		} else {
			key := string(kv.Key)
			last, _ = strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 10, 64)
			items = append(items, workflow.JournalItem{Event: "Damaged", Text: damage.Error()})
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if next == "" {
		last = 0
	}
	return items, last, nil
}

// Task is a bookmark at which an instance waits for an outside worker.
type Task struct {
	InstanceID string
	Bookmark   workflow.Bookmark // of a damaged instance only what the key says
	Damaged    string            // why the instance's record cannot be read; "": it can
}

// Tasks lists the tasks of one name, or of all ("") name by name, the oldest first.
// A page may be shorter than its limit and have a next one.
func (s *Reader) Tasks(ctx context.Context, name, cursor string, limit int64) ([]Task, string, error) {
	prefix := s.keys.tasks(name)
	kvs, next, err := s.page(ctx, "list tasks", prefix, cursor, limit, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	var ids []string // of their instances, each once
	place := map[string]int{}
	bookmarks := make([]workflow.Bookmark, len(kvs))
	for i, kv := range kvs {
		parts := strings.Split(string(kv.Key), "/")
		id := parts[len(parts)-2]
		bookmarks[i] = workflow.Bookmark{ID: workflow.BookmarkID(id, decode(parts[len(parts)-1])), ActivityType: workflow.TaskType,
			Name: decode(parts[len(parts)-4]), CreatedAt: fromMillis(parts[len(parts)-3])}
		if _, known := place[id]; !known {
			place[id] = len(ids)
			ids = append(ids, id)
		}
	}
	found, damaged := map[string]workflow.Bookmark{}, map[string]string{}
	n, err := s.records(ctx, ids, func(i int, r *store.Record, damage error) bool {
		if damage != nil {
			damaged[ids[i]] = damage.Error()
		}
		if r != nil {
			for _, b := range r.Header.Bookmarks {
				if b.ActivityType == workflow.TaskType && (name == "" || b.Name == name) {
					found[b.ID] = b
				}
			}
		}
		return false
	})
	if err != nil {
		return nil, "", err
	}
	var out []Task
	for i, entry := range bookmarks {
		instance, _, _ := strings.Cut(entry.ID, "~")
		if place[instance] >= n { // the page is full
			return out, strings.TrimPrefix(string(kvs[i-1].Key), prefix), nil
		}
		if why := damaged[instance]; why != "" {
			out = append(out, Task{InstanceID: instance, Bookmark: entry, Damaged: why})
		} else if b, ok := found[entry.ID]; ok {
			out = append(out, Task{InstanceID: instance, Bookmark: b})
		}
	}
	return out, next, nil
}

// DeadLetters lists dead letters. A page may be shorter than its limit and have a
// next one.
func (s *Reader) DeadLetters(ctx context.Context, cursor string, limit int64) ([]store.DeadLetter, string, error) {
	var out []store.DeadLetter
	next, err := s.values(ctx, "list dead letters", s.keys.deads(), cursor, limit, func(kv *mvccpb.KeyValue) error {
		d, err := decodeDead(kv, Decode)
		if err != nil {
			d = store.DeadLetter{ID: decode(strings.TrimPrefix(string(kv.Key), s.keys.deads())), Created: kv.CreateRevision, Damaged: err.Error()}
		}
		out = append(out, d)
		return nil
	})
	return out, next, err
}
