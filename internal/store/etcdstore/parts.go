package etcdstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// A large instance lies in etcd in parts, so that a commit writes what it changes and not all that the
// instance holds: a cancel of one with a large input writes some hundred bytes. The record says where in its
// own text the texts of the parts belong. A part has a key with the hash of its text, which is therefore
// never written twice and never changed. Parts are put and deleted only together with a write of their
// instance's record, so the compare on the record covers them.
//
// Cut out are pieces of the input, the output and the state. Bookmarks, labels, incidents and all else by which
// instances are listed, matched and purged stay in the record: who needs no more of it reads no parts. But of an
// instance that waits at thousands of places, the record has the first of them only, and how many there are.
//
// Of such an instance lists are cut where their items say so, and not where the bytes are: one that comes or goes
// changes the part that it lies in. A list that moves, as of a commit that ends all the places where an instance waits
// and leaves their keys to be deleted, is cut into the same parts, which stay as they are.

// The forms of records, by which nodes tell each other what they read.
const (
	formInParts = 1 // records in parts
	formWide    = 2 // and where an instance waits lies in parts

	// FormOfParts is the newest.
	FormOfParts = formWide
)

const partsAbove = 16 << 10 // bytes of a record, as JSON, below which it is written whole

// recordParts writes, deletes and joins the parts of records.
type recordParts struct{ conn *conn }

func partsOf(s *conn) recordParts { return recordParts{s} }

// put puts an instance's record in the place of before (nil: there is none): a large one in parts, if
// apart, of which it puts those that are new and deletes those that are over. It tells how many bytes all of
// the record takes, and notes in r what parts it has.
func (s recordParts) put(o *db.Ops, before, r *store.Record, apart bool) int64 {
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
	if r.Cut == formWide {
		wide = &cut.Lists{Part: s.conn.width.Part, Listed: s.conn.width.Listed}
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
func (s recordParts) drop(o *db.Ops, before *store.Record, now []store.Part) {
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

// join reads the parts of a record, and decodes all of it by how. Of one that has no parts it reads nothing.
// [errMoved]: the record is another by now, and its parts are gone.
func (s recordParts) join(ctx context.Context, kv *mvccpb.KeyValue, how func([]byte, any) error) (*store.Record, error) {
	return s.joinAt(ctx, kv, 0, how)
}

// joinAt is join at the revision at which the record was read: then it has not moved. 0: now.
func (s recordParts) joinAt(ctx context.Context, kv *mvccpb.KeyValue, revision int64, how func([]byte, any) error) (*store.Record, error) {
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
	whole, lacks, err := splice(kv.Value, r, texts)
	if err != nil {
		return r, err
	}
	if lacks != "" {
		if now := record.One(resp); now == nil || now.ModRevision != kv.ModRevision {
			return r, errMoved
		}
		return r, fmt.Errorf("%w: decode %T: its part %s is not there", db.ErrDamaged, r, lacks)
	}
	full := &store.Record{Modified: kv.ModRevision}
	return full, how(whole, full)
}

// places reads a record for a caller that has to know all the places where the instance waits, as it was at a revision:
// it reads the parts of one whose record lists the first of them only.
func (s recordParts) places(ctx context.Context, kv *mvccpb.KeyValue, revision int64) (*store.Record, error) {
	r, err := decodeRecord(kv)
	if err != nil || r.Header.MoreWaits == 0 && (r.Unwritten == nil || r.Cut != formWide) {
		return r, err
	}
	return s.joinAt(ctx, kv, revision, db.Decode)
}

// splice puts the texts of its parts, as they are stored, into the text of a record. lacks is the first that is not there.
func splice(stored []byte, r *store.Record, texts map[string][]byte) (whole []byte, lacks string, err error) {
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

// sizeWithParts is how many bytes of JSON a stored record is with its parts.
func sizeWithParts(stored []byte, r *store.Record) int {
	size := db.PlainSize(stored)
	if r != nil {
		for _, p := range r.Parts {
			size += p.Bytes
		}
	}
	return size
}

// withoutParts is a record of which only what is listed and matched is wanted: without its parts it has no input,
// output and state.
func withoutParts(r *store.Record) *store.Record {
	if len(r.Parts) == 0 {
		return r
	}
	r.Apart, r.State, r.Header.Input, r.Header.Output = true, nil, nil, nil
	if r.Cut == formWide {
		r.Header.Bookmarks = withoutGaps(r.Header.Bookmarks)
		r.Header.MoreWaits = max(0, r.Waits-len(r.Header.Bookmarks))
		if r.Unwritten != nil {
			all := len(r.Unwritten.Gone)
			r.Unwritten.Gone = withoutGaps(r.Unwritten.Gone)
			r.Unwritten.More = len(r.Unwritten.Gone) < all
		}
	}
	return r
}

// withoutGaps leaves out what stands where bookmarks were cut out.
func withoutGaps(list []workflow.Bookmark) []workflow.Bookmark {
	return slices.DeleteFunc(list, func(b workflow.Bookmark) bool { return b.ID == "" })
}

// again repeats a look at an instance that moved between two reads of it.
func again[T any](look func() (T, error)) (T, error) {
	for range movesSeen {
		if v, err := look(); !isMoved(err) {
			return v, err
		}
	}
	return look()
}

// movesSeen is how often an instance is read again because it moved while it was read.
const movesSeen = 20

// delete deletes all parts of an instance.
func (s recordParts) delete(o *db.Ops, id string) {
	o.Tail = append(o.Tail, clientv3.OpDelete(s.conn.Keys.PartsOf(id), clientv3.WithPrefix()))
}
