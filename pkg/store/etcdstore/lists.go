package etcdstore

import (
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// InstanceFilter restricts [Store.Instances]; zero fields do not.
type InstanceFilter struct {
	Status                      workflow.Status
	SubStatus                   workflow.SubStatus
	DefinitionID, CorrelationID string
}

// minRead is how many instances are read at least where some may not fit.
const minRead = 100

// Instances reads a page of headers through the narrowest index. Index entries
// are hints: what they name is read, and left out if it no longer fits. The cursor
// is the entry of the last one that was looked at.
func (s *Store) Instances(ctx context.Context, f InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	prefix := s.keys.root + "index/"
	switch {
	case f.CorrelationID != "":
		prefix = s.keys.correlation(f.CorrelationID)
	case f.Status != "" && f.DefinitionID != "":
		prefix = s.keys.index(f.Status, f.DefinitionID)
	case f.Status != "":
		prefix += string(f.Status) + "/"
	case f.DefinitionID != "" && f.Status == "":
		return s.bothStatuses(ctx, f, cursor, limit)
	}
	read := limit
	if f.SubStatus != "" || f.CorrelationID != "" && (f.Status != "" || f.DefinitionID != "") { // the index does not tell
		read = max(limit, minRead)
	}
	kvs, next, err := s.page(ctx, "list instances", prefix, cursor, read, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	var out []workflow.Instance
	for len(kvs) > 0 {
		n := min(len(kvs), maxLevel)
		reads := make([]clientv3.Op, n)
		for i, kv := range kvs[:n] {
			key := string(kv.Key)
			reads[i] = clientv3.OpGet(s.keys.instance(key[strings.LastIndexByte(key, '/')+1:]))
		}
		resp, err := s.read(ctx, "read instances", reads...)
		if err != nil {
			return nil, "", err
		}
		for i, r := range resp.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				rec, err := decodeRecord(kv)
				if err != nil {
					return nil, "", err
				}
				if h := rec.Header; f.fits(&h) {
					out = append(out, h)
				}
			}
			if int64(len(out)) == limit && i+1 < len(kvs) {
				return out, strings.TrimPrefix(string(kvs[i].Key), prefix), nil
			}
		}
		kvs = kvs[n:]
	}
	return out, next, nil
}

func (f InstanceFilter) fits(h *workflow.Instance) bool {
	return (f.Status == "" || f.Status == h.Status) && (f.SubStatus == "" || f.SubStatus == h.SubStatus) && (f.DefinitionID == "" || f.DefinitionID == h.DefinitionID) &&
		(f.CorrelationID == "" || f.CorrelationID == h.CorrelationID)
}

// RunningCursor is the cursor with which the list of all running instances goes
// on after this one.
func (s *Store) RunningCursor(h *workflow.Instance) string {
	return strings.TrimPrefix(s.keys.indexEntry(h), s.keys.root+"index/"+string(workflow.StatusRunning)+"/")
}

// bothStatuses lists the running instances of a definition, then the finished
// ones; the cursor says which list it is in.
func (s *Store) bothStatuses(ctx context.Context, f InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	f.Status = workflow.StatusRunning
	rest, finished := strings.CutPrefix(cursor, "Finished:")
	if finished {
		f.Status = workflow.StatusFinished
	} else {
		rest = strings.TrimPrefix(cursor, "Running:")
	}
	out, next, err := s.Instances(ctx, f, rest, limit)
	switch {
	case err != nil:
		return nil, "", err
	case next != "":
		return out, string(f.Status) + ":" + next, nil
	case finished:
		return out, "", nil
	}
	return out, "Finished:", nil
}

// DeadLetters lists dead letters.
func (s *Store) DeadLetters(ctx context.Context, cursor string, limit int64) ([]store.DeadLetter, string, error) {
	kvs, next, err := s.page(ctx, "list dead letters", s.keys.deads(), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]store.DeadLetter, len(kvs))
	for i, kv := range kvs {
		out[i].Created = kv.CreateRevision
		if err := Decode(kv.Value, &out[i]); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// DeadLetter reads one; nil if there is none.
func (s *Store) DeadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
	resp, err := s.get(ctx, "read dead letter", s.keys.dead(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	d := &store.DeadLetter{Created: resp.Kvs[0].CreateRevision}
	return d, Decode(resp.Kvs[0].Value, d)
}

// TakeDeadLetter deletes a dead letter and, for a replay, puts its stimulus into
// a send record in the same transaction. False: it is gone.
//
// If: its create revision. A replay leaves a record, by which a repeat after a
// lost answer knows that it was done.
func (s *Store) TakeDeadLetter(ctx context.Context, d *store.DeadLetter, replay *store.Send) (bool, error) {
	o := newOps()
	o.del(s.keys.dead(d.ID))
	var done []clientv3.Op
	if replay != nil {
		o.put(s.keys.send(replay.ID), replay)
		rec := s.keys.commandRecord("~send", replay.ID)
		s.record(o, rec, store.Effect{Outcome: "accepted"}, replay.CreatedAt.Add(recordTTL))
		done = []clientv3.Op{clientv3.OpGet(rec, clientv3.WithCountOnly())}
	}
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "take dead letter", []clientv3.Cmp{createdAt(s.keys.dead(d.ID), d.Created)}, then, done)
	if err != nil || resp.Succeeded {
		return err == nil, err
	}
	return done != nil && resp.Responses[0].GetResponseRange().Count > 0, nil
}

// page reads one page of a range; next is "" at the end.
func (s *Store) page(ctx context.Context, what, prefix, cursor string, limit int64, opts ...clientv3.OpOption) ([]*mvccpb.KeyValue, string, error) {
	from := prefix
	if cursor != "" {
		if from = prefix + cursor; !strings.HasPrefix(from, prefix) {
			return nil, "", workflow.Fail(workflow.CodeInvalid, "the cursor is not one of this list")
		}
		from += "\x00"
	}
	opts = append([]clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(limit)}, opts...)
	resp, err := s.get(ctx, what, from, opts...)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if resp.More && len(resp.Kvs) > 0 {
		next = strings.TrimPrefix(string(resp.Kvs[len(resp.Kvs)-1].Key), prefix)
	}
	return resp.Kvs, next, nil
}
