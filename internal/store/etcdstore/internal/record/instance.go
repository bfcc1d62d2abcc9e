package record

import (
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// DecodeRecord reads the record of an instance, as far as it is no text of parts.
func DecodeRecord(kv *mvccpb.KeyValue) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	err := db.Decode(kv.Value, r)
	return WithoutParts(r), err
}

// PartBytes is how many bytes of JSON lie in parts.
func PartBytes(r *store.Record) (n int) {
	for _, p := range r.Parts {
		n += p.Bytes
	}
	return n
}

// WholeRecord is decodeRecord for a caller that writes it again.
func WholeRecord(kv *mvccpb.KeyValue) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	return r, db.DecodeWhole(kv.Value, r)
}

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
	FormInParts = 1 // records in parts
	FormWide    = 2 // and where an instance waits lies in parts
	FormLeft    = 3 // and of an id that a caller chose it looks in the archive, for what has left early

	// FormOfParts is the newest.
	FormOfParts = FormLeft
)

// SizeWithParts is how many bytes of JSON a stored record is with its parts.
func SizeWithParts(stored []byte, r *store.Record) int {
	size := db.PlainSize(stored)
	if r != nil {
		for _, p := range r.Parts {
			size += p.Bytes
		}
	}
	return size
}

// WithoutParts is a record of which only what is listed and matched is wanted: without its parts it has no input,
// output and state.
func WithoutParts(r *store.Record) *store.Record {
	if len(r.Parts) == 0 {
		return r
	}
	r.Apart, r.State, r.Header.Input, r.Header.Output = true, nil, nil, nil
	if r.Cut == FormWide {
		r.Header.Bookmarks = WithoutGaps(r.Header.Bookmarks)
		r.Header.MoreWaits = max(0, r.Waits-len(r.Header.Bookmarks))
		if r.Unwritten != nil {
			all := len(r.Unwritten.Gone)
			r.Unwritten.Gone = WithoutGaps(r.Unwritten.Gone)
			r.Unwritten.More = len(r.Unwritten.Gone) < all
		}
	}
	return r
}

// WithoutGaps leaves out what stands where bookmarks were cut out.
func WithoutGaps(list []workflow.Bookmark) []workflow.Bookmark {
	return slices.DeleteFunc(list, func(b workflow.Bookmark) bool { return b.ID == "" })
}
