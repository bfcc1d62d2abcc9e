package etcdstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash/fnv"
	"slices"
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

const (
	partsAbove = 16 << 10 // bytes of a record, as JSON, below which it is written whole
	leastPart  = 8 << 10  // bytes of a part
	mostParts  = 64       // of one record: beyond it parts are larger
	runOfParts = 8        // small neighbours share a part of up to so many times the least
)

// cutter cuts pieces out of the JSON of a record.
type cutter struct {
	raw   []byte
	wide  *Width // nil: it is not
	least int
	out   []byte // what is left of it, up to at
	at    int
	parts []store.Part
	texts [][]byte // of parts
}

// cutRecord gives what is left of the JSON of a record, and what was cut out.
func cutRecord(raw []byte, wide *Width) *cutter {
	c := &cutter{raw: raw, wide: wide, least: leastPart}
	if wide != nil {
		c.least = wide.Part
	}
	for wide == nil && len(raw)/c.least > mostParts {
		c.least *= 2
	}
	places := func(in string) func(string, []byte, int) {
		return func(name string, value []byte, at int) {
			if name == in && wide != nil {
				c.value(value, at, true)
			}
		}
	}
	c.members(raw, 0, func(name string, value []byte, at int) {
		switch name {
		case "header":
			c.members(value, at, func(name string, value []byte, at int) {
				if name == "input" || name == "output" {
					c.value(value, at, false)
				}
				places("bookmarks")(name, value, at)
			})
		case "state":
			if wide == nil {
				c.value(value, at, false)
				return
			}
			c.members(value, at, func(name string, value []byte, at int) {
				c.value(value, at, name == "marks") // those as the header has them
			})
		case "unwritten":
			c.members(value, at, places("gone"))
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
// themselves, and small ones that stand beside each other together. Of a list of places where an instance waits the
// first stay, and none is cut itself: who reads no parts reads what is left as such a list.
func (c *cutter) value(text []byte, base int, places bool) {
	if len(text) < c.least {
		return
	}
	object := text[0] == '{'
	if !object && text[0] != '[' {
		c.cut(base, base+len(text), "null")
		return
	}
	stay, r := 0, run{c: c, base: base, object: object}
	if places {
		stay = c.wide.Listed
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
		if !object {
			begins = end - len(v)
		}
		switch {
		case stay > 0:
			stay--
		case len(v) >= c.least && !places:
			r.flush()
			c.value(v, base+end-len(v), false)
		default:
			r.add(begins, end, v)
		}
	}
	r.flush()
}

// run are small members of a value, beside each other.
type run struct {
	c        *cutter
	base     int // of the value
	object   bool
	from, to int
}

// add takes one more, and cuts if there are enough of them.
func (r *run) add(begins, end int, v []byte) {
	if r.to == 0 {
		r.from = begins
	}
	r.to = end
	if n := r.to - r.from; n >= runOfParts*r.c.least || r.c.wide != nil && n >= r.c.least && r.c.lastOfPart(v) {
		r.flush()
	}
}

// flush cuts them out, if they are large enough together.
func (r *run) flush() {
	if r.to-r.from >= r.c.least {
		gap := "null"
		if r.object {
			gap = `"~` + strconv.Itoa(len(r.c.parts)) + `":null`
		}
		r.c.cut(r.base+r.from, r.base+r.to, gap)
	}
	r.from, r.to = 0, 0
}

// lastOfPart reports whether a part of a list may end with an item: its text decides, so that a list in which something
// comes or goes is cut at the same items. One in so many is, that parts have their usual size.
func (c *cutter) lastOfPart(item []byte) bool {
	h := fnv.New32a()
	_, _ = h.Write(item)
	return h.Sum32()%uint32(3*c.least/(len(item)+1)+1) == 0
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
	r.Parts, r.Waits = nil, 0
	most := o.most
	if !apart {
		r.Cut = 0 // it is whole
	}
	var wide *Width
	if r.Cut == formWide {
		wide = &s.width
		r.Waits, most = len(r.Header.Bookmarks), o.most+maxWaits
	}
	raw, err := workflow.Marshal(r)
	if err != nil || len(raw) > most || len(raw) < partsAbove && wide == nil || !apart {
		s.drop(o, before, nil)
		return o.put(key, r) // which tells what is wrong
	}
	had := map[string]int64{}
	if before != nil {
		for _, p := range before.Parts {
			had[p.ID] = p.Kept
		}
	}
	c, size := cutRecord(raw, wide), int64(0)
	if left := r.Unwritten; left != nil && left.GoneApart != nil {
		c.insert("unwritten", "gone", left.GoneApart)
	}
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
		texts[strings.TrimPrefix(string(kv.Key), s.keys.partsOf(id))] = kv.Value
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

// places reads a record for a caller that has to know all the places where the instance waits, as it was at a revision:
// it reads the parts of one whose record lists the first of them only.
func (s recordParts) places(ctx context.Context, kv *mvccpb.KeyValue, revision int64) (*store.Record, error) {
	r, err := decodeRecord(kv)
	if err != nil || r.Header.MoreWaits == 0 && (r.Unwritten == nil || r.Cut != formWide) {
		return r, err
	}
	return s.joinAt(ctx, kv, revision, Decode)
}

// splice puts the texts of its parts, as they are stored, into the text of a record. lacks is the first that is not there.
func splice(stored []byte, r *store.Record, texts map[string][]byte) (whole []byte, lacks string, err error) {
	raw, err := inflate(stored, r)
	if err != nil {
		return nil, "", fmt.Errorf("%w: decode %T: %w", ErrDamaged, r, err)
	}
	at, size := 0, len(raw)
	for _, p := range r.Parts {
		size += max(0, p.Bytes)
	}
	whole = make([]byte, 0, min(size, maxJoined))
	for _, p := range r.Parts {
		text, there := texts[p.ID]
		switch {
		case !there:
			return nil, p.ID, nil
		case p.At < at || p.Gap < 0 || p.At+p.Gap > len(raw) || p.Bytes < 0 || len(whole)+p.At-at+p.Bytes > maxJoined:
			return nil, "", fmt.Errorf("%w: decode %T: part %s does not fit", ErrDamaged, r, p.ID)
		}
		whole = append(whole, raw[at:p.At]...)
		at = p.At + p.Gap
		if bytes.HasPrefix(text, zstdMagic) { // it is unpacked in its place, if there is room
			if text, err = decoder.DecodeAll(text, whole[len(whole):]); err != nil {
				return nil, "", fmt.Errorf("%w: decode %T: part %s: %w", ErrDamaged, r, p.ID, err)
			}
		}
		if len(text) != p.Bytes {
			return nil, "", fmt.Errorf("%w: decode %T: part %s does not fit", ErrDamaged, r, p.ID)
		}
		whole = append(whole, text...)
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
func (s recordParts) delete(o *ops, id string) {
	o.tail = append(o.tail, clientv3.OpDelete(s.keys.partsOf(id), clientv3.WithPrefix()))
}
