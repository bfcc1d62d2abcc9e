package lookup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// Who owns an instance that waits at thousands of places reads its record without the parts. An end needs few of them at
// a time: it leaves the list of the places where it is, and reads the state, and later the list, as they come. So its
// memory does not grow with the width. All else reads the parts of it, by Whole.

// Owned reads a record for its owner.
func (s Parts) Owned(ctx context.Context, kv *mvccpb.KeyValue) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	if err := db.DecodeWhole(kv.Value, r); err != nil || len(r.Parts) == 0 {
		return r, err
	}
	if r.Cut != record.FormWide {
		return s.Join(ctx, kv, db.DecodeWhole)
	}
	text, err := db.Inflate(kv.Value, r)
	r = record.WithoutParts(r)
	r.Text = text
	return r, err
}

// ReadInOut reads the input and the output of a record that was read without its parts.
func ReadInOut(ctx context.Context, parts Parts, r *store.Record, how func([]byte, any) error) error {
	for name, into := range map[string]*map[string]any{"input": &r.Header.Input, "output": &r.Header.Output} {
		if list := cut.Find(r.Text, r.Parts, "header", name); list != nil {
			text, err := io.ReadAll(parts.Reader(ctx, r.Header.ID, list))
			if err == nil {
				err = how(text, into)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Headers reads records for those who need no state.
type Headers struct{ of Parts }

// HeadersOf are the headers of records over a connection.
func HeadersOf(s *Conn) Headers { return Headers{PartsOf(s)} }

// Read reads of a record the parts of its header, and of the others whether they are there: it has no state then. A brief
// one has, of the places where an instance waits at thousands, the first only. [ErrMoved]: the record is another by now, and
// its parts are gone.
func (h Headers) Read(ctx context.Context, kv *mvccpb.KeyValue, brief bool) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	if err := db.Decode(kv.Value, r); err != nil || len(r.Parts) == 0 {
		return r, err
	}
	text, err := db.Inflate(kv.Value, r)
	if err != nil {
		return r, err
	}
	list := cut.Find(text, r.Parts, "header", "")
	r = record.WithoutParts(r)
	r.Text = text
	if brief && r.Header.MoreWaits > 0 {
		err = ReadInOut(ctx, h.of, r, db.Decode)
		list = nil
	}
	if err = cmp.Or(err, h.Complete(ctx, r, 0)); err == nil && list != nil && len(list.Parts) > 0 {
		if text, err = io.ReadAll(h.of.Reader(ctx, r.Header.ID, list)); err == nil {
			r.Header = workflow.Instance{}
			return r, db.Decode(text, &r.Header)
		}
	}
	if errors.Is(err, store.ErrFenced) || errors.Is(err, db.ErrDamaged) {
		err = h.whyGone(ctx, r, err)
	}
	return r, err
}

// whyGone is why a part of a record was not there, of which a read said err: [ErrMoved], or [db.ErrDamaged].
func (h Headers) whyGone(ctx context.Context, r *store.Record, err error) error {
	id := r.Header.ID
	now, lost := h.of.conn.Get(ctx, "read instance "+id, h.of.conn.Keys.Instance(id))
	if lost == nil && (len(now.Kvs) == 0 || now.Kvs[0].ModRevision != r.Modified) {
		lost = ErrMoved
	}
	return cmp.Or(lost, h.Complete(ctx, r, 0), err)
}

// Complete looks for the parts of a record, and reads none of them. [db.ErrDamaged]: one is not there.
func (h Headers) Complete(ctx context.Context, r *store.Record, revision int64) error {
	s, id := h.of, r.Header.ID
	resp, err := s.conn.Get(ctx, "look for the parts of instance "+id, s.conn.Keys.PartsOf(id), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithRev(revision))
	if err != nil {
		return err
	}
	found := make(map[string]bool, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		found[strings.TrimPrefix(string(kv.Key), s.conn.Keys.PartsOf(id))] = true
	}
	for _, p := range r.Parts {
		if !found[p.ID] {
			return fmt.Errorf("%w: instance %s: its part %s is not there", db.ErrDamaged, id, p.ID)
		}
	}
	return nil
}

// PlacesIn are the places of a list, read by how as they come; those of whole, if there is none.
func (s Parts) PlacesIn(ctx context.Context, id string, list *store.List, whole []workflow.Bookmark, how func([]byte, any) error) iter.Seq2[*workflow.Bookmark, error] {
	return func(yield func(*workflow.Bookmark, error) bool) {
		if list == nil {
			for i := range whole {
				if !yield(&whole[i], nil) {
					return
				}
			}
			return
		}
		text := s.Reader(ctx, id, list)
		err := value.EachItem(jsontext.NewDecoder(text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), func(item []byte) error {
			b := new(workflow.Bookmark)
			if err := how(item, b); err != nil {
				return err
			}
			if !yield(b, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, cmp.Or(text.Broken(), err))
		}
	}
}

var errEnough = errors.New("no more is wanted")

// Reader reads the text of a list, as its parts come.
func (s Parts) Reader(ctx context.Context, id string, list *store.List) *store.ListReader {
	return store.NewListReader(list, func(parts []store.Part) ([][]byte, error) { return s.texts(ctx, id, parts) })
}

// texts reads parts. [store.ErrFenced]: one is gone, as the instance moved.
func (s Parts) texts(ctx context.Context, id string, parts []store.Part) (texts [][]byte, err error) {
	ops := make([]clientv3.Op, len(parts))
	for i, p := range parts {
		ops[i] = db.Get(s.conn.Keys.Part(id, p.ID))
	}
	resp, err := s.conn.Read(ctx, "read parts of instance "+id, ops...)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		kvs := resp.Responses[i].GetResponseRange().Kvs
		if len(kvs) == 0 {
			return nil, fmt.Errorf("read parts of instance %s: %w", id, store.ErrFenced)
		}
		text := kvs[0].Value
		if bytes.HasPrefix(text, db.ZstdMagic) {
			if text, err = db.Decoder.DecodeAll(text, make([]byte, 0, min(max(p.Bytes, 0), db.MaxDecoded))); err != nil {
				return nil, fmt.Errorf("%w: part %s of instance %s: %w", db.ErrDamaged, p.ID, id, err)
			}
		}
		if len(text) != p.Bytes {
			return nil, fmt.Errorf("%w: part %s of instance %s does not fit", db.ErrDamaged, p.ID, id)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
