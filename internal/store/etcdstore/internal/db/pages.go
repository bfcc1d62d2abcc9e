package db

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A page of values is bounded by its bytes too: a value may have a megabyte, and
// compressed ones many times what they take in etcd. It is read in chunks, and ends
// early, with a cursor, when it holds [PageBytes]. So a page costs its reader about
// that much, one value more at most, and one answer of etcd: of [MostChunk] values
// as they are stored.

// PageBytes is how many bytes of decoded values a page holds at most, unless its
// first value alone has more.
const PageBytes = 8 << 20

// The first chunk of a page is small; the ones behind small values are larger.
const (
	FirstChunk = 16
	MostChunk  = 64
)

// Budget counts the bytes of a page.
type Budget struct{ Taken, values int }

// Takes reports whether the page has room for a value, and counts it.
func (b *Budget) Takes(value []byte) bool { return b.Has(PlainSize(value)) }

// Has is takes, of what has size bytes.
func (b *Budget) Has(size int) bool {
	if b.values > 0 && b.Taken+size > PageBytes {
		return false
	}
	b.Taken, b.values = b.Taken+size, b.values+1
	return true
}

// Chunk is how many values the next request may ask for.
func (b *Budget) Chunk() int {
	if b.values == 0 {
		return FirstChunk
	}
	fit := (PageBytes - b.Taken) / max(1, b.Taken/b.values)
	return max(1, min(2*b.values, MostChunk, fit+1))
}

// Count counts a value whether or not there is room.
func (b *Budget) Count(value []byte) { b.Taken, b.values = b.Taken+PlainSize(value), b.values+1 }

// Batch is how many values the next request may ask for where most of them are only
// looked at.
func (b *Budget) Batch() int {
	if b.values == 0 {
		return FirstChunk
	}
	return max(1, min(2*b.values, MostChunk, PageBytes/max(1, b.Taken/b.values)))
}

// PlainSize is how many bytes a stored value has when it is decompressed. A frame
// that does not say so, which [Encode] does not write, counts as the most.
func PlainSize(value []byte) int {
	var h zstd.Header
	if h.Decode(value) != nil || h.Skippable {
		return len(value) // no frame
	}
	if !h.HasFCS || h.FrameContentSize > MaxDecoded {
		return MaxDecoded
	}
	return int(h.FrameContentSize)
}

// ErrCompacted says that etcd has forgotten the revision that was to be read at.
var ErrCompacted = rpctypes.ErrCompacted

// PageEnd is where a page of a list ends, and the revision that all of it was read at.
type PageEnd struct {
	Next     string // the cursor of the next page; "": this is the last one
	Revision int64
}

// Page reads one page of a range of small values, or of keys only; next is "" at
// the end.
func (s *Conn) Page(ctx context.Context, what, prefix, cursor string, limit int64, opts ...clientv3.OpOption) ([]*mvccpb.KeyValue, string, error) {
	kvs, end, err := s.PageAt(ctx, what, prefix, cursor, limit, 0, opts...)
	return kvs, end.Next, err
}

// PageAt is [Conn.Page] at a revision (0: the present one, which it tells).
func (s *Conn) PageAt(ctx context.Context, what, prefix, cursor string, limit, revision int64, opts ...clientv3.OpOption) ([]*mvccpb.KeyValue, PageEnd, error) {
	opts = append([]clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(limit), clientv3.WithRev(revision)}, opts...)
	resp, err := s.Get(ctx, what, PageFrom(prefix, cursor), opts...)
	if err != nil {
		return nil, PageEnd{}, err
	}
	end := PageEnd{Revision: cmp.Or(revision, resp.Header.Revision)}
	if resp.More && len(resp.Kvs) > 0 {
		end.Next = strings.TrimPrefix(string(resp.Kvs[len(resp.Kvs)-1].Key), prefix)
	}
	return resp.Kvs, end, nil
}

// Values reads one page of a range whose values may be large, at one revision, and gives
// each to do as it comes. Where etcd forgets that revision between two reads, the page ends.
func (s *Conn) Values(ctx context.Context, what, prefix, cursor string, limit int64, do func(*mvccpb.KeyValue) error) (PageEnd, error) {
	var b Budget
	for revision := int64(0); ; {
		n := min(limit-int64(b.values), int64(b.Chunk()))
		kvs, end, err := s.PageAt(ctx, what, prefix, cursor, n, revision)
		if errors.Is(err, ErrCompacted) && revision != 0 {
			return PageEnd{cursor, revision}, nil
		}
		if err != nil {
			return PageEnd{}, err
		}
		revision = end.Revision
		for _, kv := range kvs {
			if !b.Takes(kv.Value) {
				return PageEnd{cursor, revision}, nil
			}
			if err := do(kv); err != nil {
				return PageEnd{}, err
			}
			cursor = strings.TrimPrefix(string(kv.Key), prefix)
		}
		if end.Next == "" || int64(b.values) >= limit {
			return end, nil
		}
	}
}

// PageFrom is the key from which a page of a range goes on. It is in the range
// for any cursor.
func PageFrom(prefix, cursor string) string {
	if cursor == "" {
		return prefix
	}
	return prefix + cursor + "\x00"
}
