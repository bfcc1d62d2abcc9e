package groupcommit

import (
	"bytes"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// requestSets are the read set and the write set of one request, of all its
// branches, and what the request needs of a proposal's limits.
type requestSets struct {
	reads, writes []span
	depth         int // operations on a path from its own level down, as etcd counts them
	size          int // bytes, at least about
	puts          bool
}

// span is the keys from from up to, not including, end; a nil end means no end.
// A single key has no end of its own: the one after it would be a copy of it.
type span struct {
	from, end []byte
	single    bool
}

func (s *span) holdsOrPrecedes(key []byte) bool {
	if s.single {
		return bytes.Compare(key, s.from) <= 0
	}
	return s.end == nil || bytes.Compare(key, s.end) < 0
}

func (s *span) overlaps(t *span) bool { return t.holdsOrPrecedes(s.from) && s.holdsOrPrecedes(t.from) }

// spanOf reads a range as etcd means it: no end is one key, "\x00" is no end. It
// keeps key and end.
func spanOf(key, end []byte) span {
	switch {
	case len(end) == 0:
		return span{from: key, single: true}
	case len(end) == 1 && end[0] == 0:
		return span{from: key}
	}
	return span{from: key, end: end}
}

// overhead is about what the encoding adds to one operation or compare.
const overhead = 32

func setsOf(op clientv3.Op) requestSets {
	const usual = 8
	r := requestSets{reads: make([]span, 0, usual), writes: make([]span, 0, usual)}
	r.depth = r.add(&op)
	return r
}

// add adds an operation and returns its depth: 0 unless it is a transaction.
func (r *requestSets) add(op *clientv3.Op) int {
	if !op.IsTxn() {
		s := spanOf(op.KeyBytes(), op.RangeBytes())
		r.size += len(op.KeyBytes()) + len(op.RangeBytes()) + len(op.ValueBytes()) + overhead
		if op.IsGet() {
			r.reads = append(r.reads, s)
		} else {
			r.writes = append(r.writes, s)
			r.puts = r.puts || op.IsPut()
		}
		return 0
	}
	cmps, then, other := op.Txn()
	r.size += overhead
	for i := range cmps {
		c := cmps[i].GetCompare()
		r.reads = append(r.reads, spanOf(c.GetKey(), c.GetRangeEnd()))
		r.size += len(c.GetKey()) + len(c.GetRangeEnd()) + len(c.GetValue()) + overhead
	}
	below := 0
	for _, branch := range [][]clientv3.Op{then, other} {
		for i := range branch {
			below = max(below, r.add(&branch[i]))
		}
	}
	return max(len(cmps), len(then), len(other)) + below
}

// spans is a set of keys: disjoint spans in order.
type spans []span

// find gives the first span that ends after s begins, and the first after that
// which s does not reach.
func (t spans) find(s *span) (from, to int) {
	for after := len(t); from < after; {
		if i := (from + after) / 2; t[i].holdsOrPrecedes(s.from) {
			after = i
		} else {
			from = i + 1
		}
	}
	for to = from; to < len(t) && t[to].overlaps(s); to++ {
		continue
	}
	return from, to
}

func (t spans) overlapAny(list []span) bool {
	for i := range list {
		if from, to := t.find(&list[i]); from < to {
			return true
		}
	}
	return false
}

func (t *spans) insert(s span) {
	from, to := t.find(&s)
	if s.single && from < to {
		return // it is in a range, or there
	}
	for _, have := range (*t)[from:to] {
		if have.single {
			continue // inside of s
		}
		if bytes.Compare(have.from, s.from) < 0 {
			s.from = have.from
		}
		if s.end != nil && (have.end == nil || bytes.Compare(have.end, s.end) > 0) {
			s.end = have.end
		}
	}
	*t = slices.Replace(*t, from, to, s)
}

// batchSets are the read set and the write set of a proposal: those of its requests
// together.
type batchSets struct{ reads, writes spans }

// compatible is the rule of this package: neither writes what the other reads,
// compares or writes.
func (b *batchSets) compatible(r *requestSets) bool {
	return !b.writes.overlapAny(r.writes) && !b.reads.overlapAny(r.writes) && !b.writes.overlapAny(r.reads)
}

// clear forgets the requests, and keeps the room.
func (b *batchSets) clear() {
	clear(b.reads)
	clear(b.writes)
	b.reads, b.writes = b.reads[:0], b.writes[:0]
}

func (b *batchSets) add(r *requestSets) {
	for _, s := range r.writes {
		b.writes.insert(s)
	}
	for _, s := range r.reads {
		b.reads.insert(s)
	}
}

// String is for tests.
func (t spans) String() string {
	var b strings.Builder
	for _, s := range t {
		end := string(s.end)
		if s.single {
			end = string(s.from) + "\x00"
		}
		b.WriteString("[" + string(s.from) + " " + end + ")")
	}
	return b.String()
}
