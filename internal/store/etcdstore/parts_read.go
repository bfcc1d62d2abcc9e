package etcdstore

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
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// Who owns an instance that waits at thousands of places reads its record without the parts. An end needs few of them at
// a time: it leaves the list of the places where it is, and reads the state, and later the list, as they come. So its
// memory does not grow with the width. All else reads the parts of it, by [Whole].

// owned reads a record for its owner.
func (s recordParts) owned(ctx context.Context, kv *mvccpb.KeyValue) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	if err := db.DecodeWhole(kv.Value, r); err != nil || len(r.Parts) == 0 {
		return r, err
	}
	if r.Cut != formWide {
		return s.join(ctx, kv, db.DecodeWhole)
	}
	text, err := db.Inflate(kv.Value, r)
	r = withoutParts(r)
	r.Text = text
	return r, err
}

// Whole reads the parts of a record that its owner read without them. [store.ErrConflict]: the instance has moved.
func Whole(ctx context.Context, s *Instances, r *store.Record) (*store.Record, error) {
	if !r.Apart {
		return r, nil
	}
	full, err := partsOf(s.conn).join(ctx, &mvccpb.KeyValue{Key: []byte(s.conn.Keys.Instance(r.Header.ID)), Value: r.Text, ModRevision: r.Modified}, db.DecodeWhole)
	if isMoved(err) {
		return nil, fmt.Errorf("read instance %s: %w", r.Header.ID, store.ErrConflict)
	}
	if err != nil {
		return nil, err
	}
	if r.Unwritten == nil {
		full.Unwritten = nil // it was written since
	}
	return full, nil
}

// Ending reads of such a record what its end needs: its input and output, and its state piece by piece. An error of the
// code not-runnable-here: another program wrote what this one does not know.
func Ending(ctx context.Context, s *Instances, r *store.Record) (*store.Record, *store.ListReader, error) {
	parts, e := partsOf(s.conn), *r
	if err := readInOut(ctx, parts, &e, db.DecodeWhole); err != nil {
		return nil, nil, err
	}
	for _, err := range parts.placesIn(ctx, r.Header.ID, cut.Find(r.Text, r.Parts, "header", "bookmarks"), nil, db.DecodeWhole) {
		if err != nil {
			return nil, nil, err
		}
	}
	state := cut.Find(r.Text, r.Parts, "state", "")
	if state == nil {
		return nil, nil, fmt.Errorf("%w: instance %s has no state", db.ErrDamaged, r.Header.ID)
	}
	return &e, parts.reader(ctx, r.Header.ID, state), nil
}

// readInOut reads the input and the output of a record that was read without its parts.
func readInOut(ctx context.Context, parts recordParts, r *store.Record, how func([]byte, any) error) error {
	for name, into := range map[string]*map[string]any{"input": &r.Header.Input, "output": &r.Header.Output} {
		if list := cut.Find(r.Text, r.Parts, "header", name); list != nil {
			text, err := io.ReadAll(parts.reader(ctx, r.Header.ID, list))
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

// headers reads records for those who need no state.
type headers struct{ of recordParts }

// read reads of a record the parts of its header, and of the others whether they are there: it has no state then. A brief
// one has, of the places where an instance waits at thousands, the first only. [errMoved]: the record is another by now, and
// its parts are gone.
func (h headers) read(ctx context.Context, kv *mvccpb.KeyValue, brief bool) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	if err := db.Decode(kv.Value, r); err != nil || len(r.Parts) == 0 {
		return r, err
	}
	text, err := db.Inflate(kv.Value, r)
	if err != nil {
		return r, err
	}
	list := cut.Find(text, r.Parts, "header", "")
	r = withoutParts(r)
	r.Text = text
	if brief && r.Header.MoreWaits > 0 {
		err = readInOut(ctx, h.of, r, db.Decode)
		list = nil
	}
	if err = cmp.Or(err, h.complete(ctx, r, 0)); err == nil && list != nil && len(list.Parts) > 0 {
		if text, err = io.ReadAll(h.of.reader(ctx, r.Header.ID, list)); err == nil {
			r.Header = workflow.Instance{}
			return r, db.Decode(text, &r.Header)
		}
	}
	if errors.Is(err, store.ErrFenced) || errors.Is(err, db.ErrDamaged) {
		err = h.whyGone(ctx, r, err)
	}
	return r, err
}

// whyGone is why a part of a record was not there, of which a read said err: [errMoved], or [db.ErrDamaged].
func (h headers) whyGone(ctx context.Context, r *store.Record, err error) error {
	id := r.Header.ID
	now, lost := h.of.conn.Get(ctx, "read instance "+id, h.of.conn.Keys.Instance(id))
	if lost == nil && (len(now.Kvs) == 0 || now.Kvs[0].ModRevision != r.Modified) {
		lost = errMoved
	}
	return cmp.Or(lost, h.complete(ctx, r, 0), err)
}

// complete looks for the parts of a record, and reads none of them. [db.ErrDamaged]: one is not there.
func (h headers) complete(ctx context.Context, r *store.Record, revision int64) error {
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

// placesIn are the places of a list, read by how as they come; those of whole, if there is none.
func (s recordParts) placesIn(ctx context.Context, id string, list *store.List, whole []workflow.Bookmark, how func([]byte, any) error) iter.Seq2[*workflow.Bookmark, error] {
	return func(yield func(*workflow.Bookmark, error) bool) {
		if list == nil {
			for i := range whole {
				if !yield(&whole[i], nil) {
					return
				}
			}
			return
		}
		text := s.reader(ctx, id, list)
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

func (s recordParts) reader(ctx context.Context, id string, list *store.List) *store.ListReader {
	return store.NewListReader(list, func(parts []store.Part) ([][]byte, error) { return s.texts(ctx, id, parts) })
}

// texts reads parts. [store.ErrFenced]: one is gone, as the instance moved.
func (s recordParts) texts(ctx context.Context, id string, parts []store.Part) (texts [][]byte, err error) {
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
