package record

import (
	"slices"
	"strconv"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// WriteIndex moves an instance's index entries from where they were (nil: new)
// to where they are to be. An import may change any part of them.
func (s *Conn) WriteIndex(o *db.Ops, was *workflow.Instance, r *store.Record) {
	is := &r.Header
	var old []string
	if was != nil {
		old = s.IndexEntries(was)
	}
	now := s.IndexEntries(is)
	for _, key := range old {
		if !slices.Contains(now, key) {
			o.Del(key)
		}
	}
	for _, key := range now {
		if !slices.Contains(old, key) {
			o.PutRaw(key, IndexValue(s.Keys, key, r))
		}
	}
}

// IndexValue is what an entry of an instance's lists says: nothing, but for that of an end, whose commit it names.
// Webhooks know an end by it, as a restored etcd gives that commit another revision.
func IndexValue(k Keys, key string, r *store.Record) []byte {
	if r.Header.Status != workflow.StatusFinished {
		return nil
	}
	var room [usualKey]byte
	if key != string(appendIndexEntry(room[:0], k, &r.Header)) {
		return nil
	}
	return CommitNumber(r)
}

// usualKey is how many bytes a key has at most, as a rule.
const usualKey = 192

func appendIndexEntry(b []byte, k Keys, h *workflow.Instance) []byte {
	b = append(append(append(append(b, k.Root...), indexes...), h.SubStatus...), '/')
	b = append(append(b, h.DefinitionID...), '/')
	b = append(strconv.AppendInt(b, int64(h.Version), 10), '/')
	b = append(appendNewest(b, h.CreatedAt), '/')
	return append(b, h.ID...)
}

// CommitNumber is the number of the commit that wrote a record, as the index has it.
func CommitNumber(r *store.Record) []byte { return strconv.AppendInt(nil, r.Seq, 10) }

// IndexEntries are the keys by which an instance is found in lists.
func (s *Conn) IndexEntries(h *workflow.Instance) []string {
	entries := []string{s.Keys.IndexEntry(h)}
	if h.CorrelationID != "" {
		entries = append(entries, s.Keys.Correlation(h.CorrelationID)+Place(h))
	}
	if h.Parent != nil && h.Parent.InstanceID != "" {
		entries = append(entries, s.Keys.Children(h.Parent.InstanceID)+Place(h))
	}
	for name, value := range h.Labels {
		entries = append(entries, s.Keys.Labelled(name, value)+Place(h))
	}
	if h.Status == workflow.StatusFinished {
		entries = append(entries, s.Keys.Finished(h))
	}
	return entries
}

// PutEndpoint puts the shape of an HTTP endpoint's bookmark.
func (s *Conn) PutEndpoint(o *db.Ops, b *workflow.Bookmark) {
	if e := workflow.EndpointOf(b); e != nil {
		o.PutRaw(s.Keys.Shape(e.Method, e.Template), nil)
	}
}

// AnyDefinition stands for all definitions; no definition is called so.
const AnyDefinition = "*"

// Wants are the keys by which commits know that a webhook is told of incidents; nil: it is of none.
func (s *Conn) Wants(w *store.Webhook) map[string]bool {
	if w == nil || !w.Tells(store.WebhookIncident) {
		return nil
	}
	if len(w.Definitions) == 0 {
		return map[string]bool{s.Keys.Wanted(AnyDefinition, w.Name): true}
	}
	keys := map[string]bool{}
	for _, def := range w.Definitions {
		keys[s.Keys.Wanted(def, w.Name)] = true
	}
	return keys
}

// ForgetIncidents deletes the notes of an instance's incidents, with it.
func (s *Conn) ForgetIncidents(h *workflow.Instance, o *db.Ops) {
	if len(h.Incidents) > 0 {
		o.Tail = append(o.Tail, db.Below(db.DeleteOp, s.Keys.IncidentsIn(h.DefinitionID, h.ID)))
	}
}
