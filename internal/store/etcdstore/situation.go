package etcdstore

import (
	"context"
	"encoding/base64"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Of an instance that waits at many places, the first are looked into.
const (
	situationMarks = 20 // bookmarks
	situationItems = 10 // queue items of the stimulus of one of them
)

// Situation reads what stands in etcd about one instance: two requests at one
// revision, and one more for the instances that it waits for. Of the queue it reads
// the keys only. A record that cannot be read is no error: it is said.
func (s *Reader) Situation(ctx context.Context, id string) (*store.Situation, error) {
	st := &store.Situation{Keys: store.SituationKeys{
		Instance: s.keys.instance(id), Mailbox: s.keys.mailbox(id), Cancel: s.keys.cancel(id), Pause: s.keys.pause(),
	}}
	var ask reads
	record, mail, cancel, pause := ask.value(st.Keys.Instance), ask.add(s.getMail(id)), ask.value(st.Keys.Cancel), ask.value(st.Keys.Pause)
	resp, err := s.read(ctx, "explain instance "+id, ask.ops...)
	if err != nil {
		return nil, err
	}
	st.Revision = resp.Header.Revision
	box := mail.in(resp)
	st.Mail = decodeMail(box.Kvs)
	if len(st.Mail) > mailBatch {
		st.Mail = st.Mail[:mailBatch]
	}
	st.MailLeft = box.Count - int64(len(st.Mail))
	if kv := cancel.one(resp); kv != nil {
		st.Cancel = string(kv.Value)
	}
	if kv := pause.one(resp); kv != nil {
		st.Paused = string(kv.Value) == "true"
	}
	kv := record.one(resp)
	if kv == nil {
		return st, nil
	}
	rec, damage := decodeRecord(kv)
	if st.Damage = damage; damage != nil {
		return st, nil //nolint:nilerr // it is said
	}
	st.Record = rec
	marks := rec.Header.Bookmarks
	if err := s.beside(ctx, st, marks[:min(len(marks), situationMarks)]); err != nil {
		return nil, err
	}
	return st, s.awaitedChildren(ctx, st)
}

// beside reads the last commit, and what is queued with the stimuli of bookmarks.
func (s *Reader) beside(ctx context.Context, st *store.Situation, marks []workflow.Bookmark) error {
	at := clientv3.WithRev(st.Revision)
	var ask reads
	entry := ask.add(clientv3.OpGet(s.keys.journal(st.Record.Header.ID, st.Record.Seq), at))
	queued := map[string]read{}
	for i := range marks {
		b := &marks[i]
		if child := b.Child(); child != "" {
			st.Children = append(st.Children, store.ChildState{ID: child})
		} else if _, asked := queued[b.Hash]; !asked {
			queued[b.Hash] = ask.add(clientv3.OpGet(s.keys.queue(b.Hash), clientv3.WithPrefix(), clientv3.WithLimit(situationItems), clientv3.WithKeysOnly(), at))
		}
	}
	resp, err := s.read(ctx, "explain instance "+st.Record.Header.ID, ask.ops...)
	if err != nil {
		return err
	}
	if kv := entry.one(resp); kv != nil {
		var e journalEntry
		if Decode(kv.Value, &e) == nil {
			st.Commit = &store.LastCommit{Seq: e.Seq, Fence: e.Fence, At: e.ended()}
		}
	}
	for hash, r := range queued {
		for _, kv := range r.in(resp).Kvs {
			slice, id, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.keys.queue(hash)), "/")
			item := store.QueuedFor{ID: decode(id), Hash: hash}
			if to, addressed := strings.CutPrefix(slice, "@"); addressed {
				item.InstanceID = to
			} else if raw, err := base64.RawURLEncoding.DecodeString(slice); err == nil && slice != noCorrelation {
				item.CorrelationID = string(raw)
			}
			st.Queued = append(st.Queued, item)
		}
	}
	return nil
}

func (s *Reader) awaitedChildren(ctx context.Context, st *store.Situation) error {
	ids := make([]string, len(st.Children))
	for i, c := range st.Children {
		ids[i] = c.ID
	}
	_, err := s.records(ctx, ids, 0, func(i int, r *store.Record, _ error) bool {
		if r != nil {
			st.Children[i].Header = &r.Header
		}
		return false
	})
	return err
}
