package lookup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// ErrMoved says that the instance is not of the revision that is known, and its key alone was read.
var ErrMoved = errors.New("the instance moved")

// IsMoved reports whether an instance was written between two reads of it.
func IsMoved(err error) bool { return errors.Is(err, ErrMoved) }

const partsAbove = 16 << 10 // bytes of a record, as JSON, below which it is written whole

// Parts writes, deletes and joins the parts of records.
type Parts struct{ conn *Conn }

// PartsOf are the parts of records over a connection.
func PartsOf(s *Conn) Parts { return Parts{s} }

// Put puts an instance's record in the place of before (nil: there is none): a large one in parts, if
// apart, of which it puts those that are new and deletes those that are over. It tells how many bytes all of
// the record takes, and notes in r what parts it has.
func (s Parts) Put(o *db.Ops, before, r *store.Record, apart bool) int64 {
	key := s.conn.Keys.Instance(r.Header.ID)
	if r.Apart {
		o.Fail(key, fmt.Errorf("%w: it was read without its parts", db.ErrDamaged))
		return 0
	}
	r.Parts, r.Waits = nil, 0
	most := o.Most
	if !apart {
		r.Cut = 0 // it is whole
	}
	var wide *cut.Lists
	if r.Cut == record.FormWide {
		wide = &cut.Lists{Part: s.conn.Width.Part, Listed: s.conn.Width.Listed}
		if r.Waits, most = len(r.Header.Bookmarks), o.Most+db.MaxWaits; r.Unwritten != nil {
			most += db.MaxWaits // the places that go are in it, too
		}
	}
	raw, err := workflow.Marshal(r)
	if err != nil {
		return o.Put(key, r) // which tells what is wrong
	}
	if len(raw) > most || len(raw) < partsAbove && wide == nil || !apart {
		s.drop(o, before, nil)
		return o.PutEncoded(key, r, raw)
	}
	had := map[string]int64{}
	if before != nil {
		for _, p := range before.Parts {
			had[p.ID] = p.Kept
		}
	}
	c, size := cut.Record(raw, wide), int64(0)
	if left := r.Unwritten; left != nil && left.GoneApart != nil {
		c.Insert("unwritten", "gone", left.GoneApart)
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		kept, known := had[p.ID]
		if !known {
			text := c.Texts[i]
			if len(text) > db.CompressAbove {
				text = db.Encoder.EncodeAll(text, make([]byte, 0, len(text)/2))
			}
			kept = int64(len(text))
			had[p.ID] = kept
			o.PutRaw(s.conn.Keys.Part(r.Header.ID, p.ID), bytes.Clone(text))
		}
		p.Kept = kept
		size += kept
	}
	r.Parts = c.Parts
	s.drop(o, before, r.Parts)
	if len(r.Parts) == 0 {
		return o.Put(key, r)
	}
	list, err := workflow.Marshal(r.Parts)
	if err != nil {
		o.Fail(key, err)
	}
	text := append(bytes.TrimSuffix(c.Left, []byte("}")), `,"parts":`...)
	text = append(append(text, list...), '}')
	if len(text) > db.CompressAbove {
		text = db.Encoder.EncodeAll(text, make([]byte, 0, len(text)/2))
	}
	o.PutRaw(key, text)
	return size + int64(len(text))
}

// drop deletes the parts of before that are not among these.
func (s Parts) drop(o *db.Ops, before *store.Record, now []store.Part) {
	if before == nil || len(before.Parts) == 0 {
		return
	}
	stay := map[string]bool{}
	for _, p := range now {
		stay[p.ID] = true
	}
	for _, p := range before.Parts {
		if !stay[p.ID] {
			o.Del(s.conn.Keys.Part(before.Header.ID, p.ID))
		}
	}
}

// Join reads the parts of a record, and decodes all of it by how. Of one that has no parts it reads nothing.
// [ErrMoved]: the record is another by now, and its parts are gone.
func (s Parts) Join(ctx context.Context, kv *mvccpb.KeyValue, how func([]byte, any) error) (*store.Record, error) {
	return s.JoinAt(ctx, kv, 0, how)
}

// JoinAt is join at the revision at which the record was read: then it has not moved. 0: now.
func (s Parts) JoinAt(ctx context.Context, kv *mvccpb.KeyValue, revision int64, how func([]byte, any) error) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	if err := how(kv.Value, r); err != nil || len(r.Parts) == 0 {
		return r, err
	}
	var ask db.Reads
	id := r.Header.ID
	record, parts := ask.Key(s.conn.Keys.Instance(id)), ask.Add(clientv3.OpGet(s.conn.Keys.PartsOf(id), clientv3.WithPrefix(), clientv3.WithRev(revision)))
	resp, err := s.conn.Read(ctx, "read the parts of instance "+id, ask.Ops...)
	if err != nil {
		return r, err
	}
	texts := map[string][]byte{}
	for _, kv := range parts.In(resp).Kvs {
		texts[strings.TrimPrefix(string(kv.Key), s.conn.Keys.PartsOf(id))] = kv.Value
	}
	whole, lacks, err := Splice(kv.Value, r, texts)
	if err != nil {
		return r, err
	}
	if lacks != "" {
		if now := record.One(resp); now == nil || now.ModRevision != kv.ModRevision {
			return r, ErrMoved
		}
		return r, fmt.Errorf("%w: decode %T: its part %s is not there", db.ErrDamaged, r, lacks)
	}
	full := &store.Record{Modified: kv.ModRevision}
	return full, how(whole, full)
}

// Places reads a record for a caller that has to know all the places where the instance waits, as it was at a revision:
// it reads the parts of one whose record lists the first of them only.
func (s Parts) Places(ctx context.Context, kv *mvccpb.KeyValue, revision int64) (*store.Record, error) {
	r, err := record.DecodeRecord(kv)
	if err != nil || r.Header.MoreWaits == 0 && (r.Unwritten == nil || r.Cut != record.FormWide) {
		return r, err
	}
	return s.JoinAt(ctx, kv, revision, db.Decode)
}

// Splice puts the texts of its parts, as they are stored, into the text of a record. lacks is the first that is not there.
func Splice(stored []byte, r *store.Record, texts map[string][]byte) (whole []byte, lacks string, err error) {
	raw, err := db.Inflate(stored, r)
	if err != nil {
		return nil, "", fmt.Errorf("%w: decode %T: %w", db.ErrDamaged, r, err)
	}
	at, size := 0, len(raw)
	for _, p := range r.Parts {
		size += max(0, p.Bytes)
	}
	whole = make([]byte, 0, min(size, db.MaxJoined))
	for _, p := range r.Parts {
		text, there := texts[p.ID]
		switch {
		case !there:
			return nil, p.ID, nil
		case p.At < at || p.Gap < 0 || p.At+p.Gap > len(raw) || p.Bytes < 0 || len(whole)+p.At-at+p.Bytes > db.MaxJoined:
			return nil, "", fmt.Errorf("%w: decode %T: part %s does not fit", db.ErrDamaged, r, p.ID)
		}
		whole = append(whole, raw[at:p.At]...)
		at = p.At + p.Gap
		if bytes.HasPrefix(text, db.ZstdMagic) { // it is unpacked in its place, if there is room
			if text, err = db.Decoder.DecodeAll(text, whole[len(whole):]); err != nil {
				return nil, "", fmt.Errorf("%w: decode %T: part %s: %w", db.ErrDamaged, r, p.ID, err)
			}
		}
		if len(text) != p.Bytes {
			return nil, "", fmt.Errorf("%w: decode %T: part %s does not fit", db.ErrDamaged, r, p.ID)
		}
		whole = append(whole, text...)
	}
	return append(whole, raw[at:]...), "", nil
}

// Again repeats a look at an instance that moved between two reads of it.
func Again[T any](look func() (T, error)) (T, error) {
	for range movesSeen {
		if v, err := look(); !IsMoved(err) {
			return v, err
		}
	}
	return look()
}

// movesSeen is how often an instance is read again because it moved while it was read.
const movesSeen = 20

// Delete deletes all parts of an instance.
func (s Parts) Delete(o *db.Ops, id string) {
	o.Tail = append(o.Tail, clientv3.OpDelete(s.conn.Keys.PartsOf(id), clientv3.WithPrefix()))
}
