package etcdstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// A large instance lies in etcd in parts, so that a commit writes what it changes and not all that the
// instance holds: a cancel of one with a large input writes some hundred bytes. The record says where in its
// own text the texts of the parts belong. A part has a key with the hash of its text, which is therefore
// never written twice and never changed. Parts are put and deleted only together with a write of their
// instance's record, so the compare on the record covers them.
//
// Cut out are pieces of the input, the output and the state. Bookmarks, labels, incidents and all else by which
// instances are listed, matched and purged stay in the record: who needs no more of it reads no parts.

// FormOfParts is the number by which nodes tell each other that they read records in parts.
const FormOfParts = 1

const (
	partsAbove = 16 << 10 // bytes of a record, as JSON, below which it is written whole
	leastPart  = 8 << 10  // bytes of a part
	mostParts  = 64       // of one record: beyond it parts are larger
	runOfParts = 8        // small neighbours share a part of up to so many times the least
)

// cutter cuts pieces out of the JSON of a record.
type cutter struct {
	raw   []byte
	least int
	out   []byte // what is left of it, up to at
	at    int
	parts []store.Part
	texts [][]byte // of parts
}

// cutRecord gives what is left of the JSON of a record, and what was cut out.
func cutRecord(raw []byte) *cutter {
	c := &cutter{raw: raw, least: leastPart}
	for len(raw)/c.least > mostParts {
		c.least *= 2
	}
	c.members(raw, 0, func(name string, value []byte, at int) {
		switch name {
		case "header":
			c.members(value, at, func(name string, value []byte, at int) {
				if name == "input" || name == "output" {
					c.value(value, at)
				}
			})
		case "state":
			c.value(value, at)
		}
	})
	c.out = append(c.out, raw[c.at:]...)
	return c
}

// members gives the members of an object that lies at base.
func (c *cutter) members(text []byte, base int, do func(name string, value []byte, at int)) {
	d := decoderOf(text)
	if kind := d.PeekKind(); kind != '{' {
		return
	}
	for _, err := d.ReadToken(); err == nil && d.PeekKind() == '"'; {
		name, _ := d.ReadToken()
		key := name.String()
		value, bad := d.ReadValue()
		if err = bad; err == nil {
			do(key, value, base+int(d.InputOffset())-len(value))
		}
	}
}

func decoderOf(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// value cuts out of a value that lies at base: a large text whole, of a list or an object large members by
// themselves, and small ones that stand beside each other together.
func (c *cutter) value(text []byte, base int) {
	if len(text) < c.least {
		return
	}
	object := text[0] == '{'
	if !object && text[0] != '[' {
		c.cut(base, base+len(text), "null")
		return
	}
	from, to := 0, 0 // small members, beside each other
	flush := func() {
		if to-from >= c.least {
			gap := "null"
			if object {
				gap = `"~` + strconv.Itoa(len(c.parts)) + `":null`
			}
			c.cut(base+from, base+to, gap)
		}
		from, to = 0, 0
	}
	d := decoderOf(text)
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for kind := d.PeekKind(); kind != '}' && kind != ']' && kind != 0; kind = d.PeekKind() {
		begins := 0
		if object {
			name, err := d.ReadValue()
			if err != nil {
				return
			}
			begins = int(d.InputOffset()) - len(name)
		}
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		end := int(d.InputOffset())
		if len(v) >= c.least {
			flush()
			c.value(v, base+end-len(v))
			continue
		}
		if to == 0 {
			if from = end - len(v); object {
				from = begins
			}
		}
		if to = end; to-from >= runOfParts*c.least {
			flush()
		}
	}
	flush()
}

// cut puts gap in the place of a piece.
func (c *cutter) cut(from, to int, gap string) {
	c.out = append(c.out, c.raw[c.at:from]...)
	text := c.raw[from:to]
	sum := sha256.Sum256(text)
	c.parts = append(c.parts, store.Part{At: len(c.out), Gap: len(gap), Bytes: len(text), ID: strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))})
	c.texts = append(c.texts, text)
	c.out = append(c.out, gap...)
	c.at = to
}

// recordParts writes, deletes and joins the parts of records.
type recordParts struct{ *conn }

func partsOf(s *conn) recordParts { return recordParts{s} }

// put puts an instance's record in the place of before (nil: there is none): a large one in parts, if
// apart, of which it puts those that are new and deletes those that are over. It tells how many bytes all of
// the record takes, and notes in r what parts it has.
func (s recordParts) put(o *ops, before, r *store.Record, apart bool) int64 {
	key := s.keys.instance(r.Header.ID)
	if r.Apart {
		o.fail(key, fmt.Errorf("%w: it was read without its parts", ErrDamaged))
		return 0
	}
	r.Parts = nil
	raw, err := workflow.Marshal(r)
	if err != nil || len(raw) > o.most || len(raw) < partsAbove || !apart {
		s.drop(o, before, nil)
		return o.put(key, r) // which tells what is wrong
	}
	had := map[string]int64{}
	if before != nil {
		for _, p := range before.Parts {
			had[p.ID] = p.Kept
		}
	}
	c, size := cutRecord(raw), int64(0)
	for i := range c.parts {
		p := &c.parts[i]
		kept, known := had[p.ID]
		if !known {
			text := c.texts[i]
			if len(text) > compressAbove {
				text = encoder.EncodeAll(text, make([]byte, 0, len(text)/2))
			}
			kept = int64(len(text))
			had[p.ID] = kept
			o.putRaw(s.keys.part(r.Header.ID, p.ID), bytes.Clone(text))
		}
		p.Kept = kept
		size += kept
	}
	r.Parts = c.parts
	s.drop(o, before, r.Parts)
	if len(r.Parts) == 0 {
		return o.put(key, r)
	}
	list, err := workflow.Marshal(r.Parts)
	if err != nil {
		o.fail(key, err)
	}
	text := append(bytes.TrimSuffix(c.out, []byte("}")), `,"parts":`...)
	text = append(append(text, list...), '}')
	if len(text) > compressAbove {
		text = encoder.EncodeAll(text, make([]byte, 0, len(text)/2))
	}
	o.putRaw(key, text)
	return size + int64(len(text))
}

// drop deletes the parts of before that are not among these.
func (s recordParts) drop(o *ops, before *store.Record, now []store.Part) {
	if before == nil || len(before.Parts) == 0 {
		return
	}
	stay := map[string]bool{}
	for _, p := range now {
		stay[p.ID] = true
	}
	for _, p := range before.Parts {
		if !stay[p.ID] {
			o.del(s.keys.part(before.Header.ID, p.ID))
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
	var ask reads
	id := r.Header.ID
	record, parts := ask.key(s.keys.instance(id)), ask.add(clientv3.OpGet(s.keys.partsOf(id), clientv3.WithPrefix(), clientv3.WithRev(revision)))
	resp, err := s.read(ctx, "read the parts of instance "+id, ask.ops...)
	if err != nil {
		return r, err
	}
	texts := map[string][]byte{}
	for _, kv := range parts.in(resp).Kvs {
		text, err := inflate(kv.Value, r)
		if err != nil {
			return r, fmt.Errorf("%w: %s: %w", ErrDamaged, kv.Key, err)
		}
		texts[strings.TrimPrefix(string(kv.Key), s.keys.partsOf(id))] = text
	}
	whole, lacks, err := splice(kv.Value, r, texts)
	if err != nil {
		return r, err
	}
	if lacks != "" {
		if now := record.one(resp); now == nil || now.ModRevision != kv.ModRevision {
			return r, errMoved
		}
		return r, fmt.Errorf("%w: decode %T: its part %s is not there", ErrDamaged, r, lacks)
	}
	full := &store.Record{Modified: kv.ModRevision}
	return full, how(whole, full)
}

// splice puts the texts of its parts into the text of a record. lacks is the first that is not there.
func splice(stored []byte, r *store.Record, texts map[string][]byte) (whole []byte, lacks string, err error) {
	raw, err := inflate(stored, r)
	if err != nil {
		return nil, "", fmt.Errorf("%w: decode %T: %w", ErrDamaged, r, err)
	}
	at := 0
	for _, p := range r.Parts {
		text, there := texts[p.ID]
		switch {
		case !there:
			return nil, p.ID, nil
		case p.At < at || p.Gap < 0 || p.At+p.Gap > len(raw) || len(text) != p.Bytes || len(whole)+len(text) > maxDecoded:
			return nil, "", fmt.Errorf("%w: decode %T: part %s does not fit", ErrDamaged, r, p.ID)
		}
		whole = append(append(whole, raw[at:p.At]...), text...)
		at = p.At + p.Gap
	}
	return append(whole, raw[at:]...), "", nil
}

// sizeWithParts is how many bytes of JSON a stored record is with its parts.
func sizeWithParts(stored []byte, r *store.Record) int {
	size := plainSize(stored)
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
	if len(r.Parts) > 0 {
		r.Apart, r.State, r.Header.Input, r.Header.Output = true, nil, nil, nil
	}
	return r
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
func (s recordParts) delete(o *ops, id string) {
	o.tail = append(o.tail, clientv3.OpDelete(s.keys.partsOf(id), clientv3.WithPrefix()))
}
