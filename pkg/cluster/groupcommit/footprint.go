package groupcommit

import (
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// footprint is what a request may touch, whichever branches it takes, and what
// it needs of a proposal's limits.
type footprint struct {
	reads, writes []span
	depth         int // operations on a path from its own level down, as etcd counts them
	size          int // bytes, at least about
}

// span is the keys from from up to, not including, end; "" means no end. A
// single key k ends at k+"\x00", which is the key right after it.
type span struct{ from, end string }

func (s span) holdsOrPrecedes(key string) bool { return s.end == "" || key < s.end }

func (s span) overlaps(t span) bool { return t.holdsOrPrecedes(s.from) && s.holdsOrPrecedes(t.from) }

// spanOf reads a range as etcd means it: no end is one key, "\x00" is no end.
func spanOf(key, end []byte) span {
	switch {
	case len(end) == 0:
		after := string(append(append(make([]byte, 0, len(key)+1), key...), 0))
		return span{from: after[:len(key)], end: after}
	case len(end) == 1 && end[0] == 0:
		return span{from: string(key)}
	}
	return span{from: string(key), end: string(end)}
}

// overhead is about what the encoding adds to one operation or compare.
const overhead = 32

func footprintOf(op clientv3.Op) footprint {
	var f footprint
	f.depth = f.add(op)
	return f
}

// add adds an operation and returns its depth: 0 unless it is a transaction.
func (f *footprint) add(op clientv3.Op) int {
	if !op.IsTxn() {
		s := spanOf(op.KeyBytes(), op.RangeBytes())
		f.size += len(op.KeyBytes()) + len(op.RangeBytes()) + len(op.ValueBytes()) + overhead
		if op.IsGet() {
			f.reads = append(f.reads, s)
		} else {
			f.writes = append(f.writes, s)
		}
		return 0
	}
	cmps, then, other := op.Txn()
	f.size += overhead
	for i := range cmps {
		c := cmps[i].GetCompare()
		f.reads = append(f.reads, spanOf(c.GetKey(), c.GetRangeEnd()))
		f.size += len(c.GetKey()) + len(c.GetRangeEnd()) + len(c.GetValue()) + overhead
	}
	below := 0
	for _, branch := range [][]clientv3.Op{then, other} {
		for _, o := range branch {
			below = max(below, f.add(o))
		}
	}
	return max(len(cmps), len(then), len(other)) + below
}

// spans is a set of keys: disjoint spans in order.
type spans []span

// find gives the first span that ends after s begins, and the first after that
// which s does not reach.
func (t spans) find(s span) (from, to int) {
	from, _ = slices.BinarySearchFunc(t, s.from, func(have span, key string) int {
		if have.holdsOrPrecedes(key) {
			return 1
		}
		return -1
	})
	for to = from; to < len(t) && t[to].overlaps(s); to++ {
		continue
	}
	return from, to
}

func (t spans) overlapAny(list []span) bool {
	for _, s := range list {
		if from, to := t.find(s); from < to {
			return true
		}
	}
	return false
}

func (t *spans) insert(s span) {
	from, to := t.find(s)
	for _, have := range (*t)[from:to] {
		s.from = min(s.from, have.from)
		if s.end != "" && (have.end == "" || have.end > s.end) {
			s.end = have.end
		}
	}
	if to == from+1 && (*t)[from] == s {
		return
	}
	*t = slices.Replace(*t, from, to, s)
}

// touched is what the requests of one proposal touch together.
type touched struct{ reads, writes spans }

// compatible is the rule of this package: neither writes what the other reads,
// compares or writes.
func (t *touched) compatible(f *footprint) bool {
	return !t.writes.overlapAny(f.writes) && !t.reads.overlapAny(f.writes) && !t.writes.overlapAny(f.reads)
}

func (t *touched) add(f *footprint) {
	for _, s := range f.writes {
		t.writes.insert(s)
	}
	for _, s := range f.reads {
		t.reads.insert(s)
	}
}

// String is for tests.
func (t spans) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString("[" + s.from + " " + s.end + ")")
	}
	return b.String()
}
