package lists

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// The newest come first in every list, and the other way round etcd sorts only what it has
// read whole. So a list that begins with the oldest is read in eras, from the end of the keys
// on: each is counted, made narrower if it has too many, and then read whole. Of one millisecond
// the entries stand in the order of their ids, whichever way the list goes.
//
// Nothing tells at which time a list begins. An era that is too wide costs that etcd counts what
// is in it, so a node remembers where the lists began that it has read, and looks there first.

// era is a part of all lists: the milliseconds from one to another, as [record.Newest] counts them, so
// that the larger number is the older time.
type era struct{ from, to int64 }

func (e era) window() window { return window{from: eraPart(e.from), to: eraPart(e.to) + "0"} } // 0 comes after /

func eraPart(ms int64) string { return fmt.Sprintf("%013d", ms) }

// madeAt is the millisecond of a place, counted so.
func madeAt(place string) int64 {
	made, _, _ := strings.Cut(place, "/")
	ms, _ := strconv.ParseInt(made, 10, 64) // 0 of what is none, and the largest of one with more digits
	return min(max(0, ms), record.LastShort)
}

// The first era where nothing is known but where it begins, how much longer each is than the one
// before, and how many entries one may have: of so many times as many as are wanted the others are
// read for nothing.
const (
	firstEra   = 100
	widerEras  = 8
	mostOfEra  = 4
	rememberAt = 50 // entries from its beginning on
)

// oldest reads the next entries of several lists, the oldest first.
func (l *listing) oldest(ctx context.Context, lists []string, p places, limit int64) (entries []entry, more bool, err error) {
	left := era{0, record.LastShort}
	if p.from != "" {
		left.from = madeAt(p.from)
	}
	if p.to != "" {
		left.to = madeAt(strings.TrimSuffix(p.to, "0"))
	}
	if p.last != "" {
		at := madeAt(p.last)
		if at >= left.from && at <= left.to {
			rest := window{from: p.last + "\x00", to: eraPart(at) + "0"}
			if entries, err = l.mergedIn(ctx, rest, nil, lists, limit); err != nil || int64(len(entries)) == limit {
				return entries, true, err
			}
		}
		left.to, l.wide = min(left.to, at-1), cmp.Or(l.wide, firstEra)
	}
	first, guessed := p.last == "" && left.to == record.LastShort, false
	if began := l.s.began.of(lists); first && began > left.from {
		l.wide, guessed = left.to-began+1, true
	}
	if len(lists) == 0 {
		return nil, false, nil
	}
	for left.from <= left.to && int64(len(entries)) < limit {
		e := l.era(left, time.Now())
		n, err := l.inEra(ctx, e, lists, &entries, limit)
		if err != nil {
			return nil, false, err
		}
		l.widen(e, n, guessed)
		guessed = false
		if n >= 0 {
			left.to = e.from - 1
		}
	}
	if first && len(entries) > 0 {
		l.s.began.are(lists, madeAt(entries[min(len(entries), rememberAt)-1].place))
	}
	if int64(len(entries)) > limit {
		entries = entries[:limit]
	}
	return entries, int64(len(entries)) == limit, nil
}

// era is the next one of what is left. Where nothing is known it has seven eighths of the age that
// is left: so what is counted for nothing is not much more than what there is.
func (l *listing) era(left era, now time.Time) era {
	wide := l.wide
	if wide == 0 {
		age := left.to - madeAt(record.Newest(now))
		if wide = age - age/widerEras; age < firstEra { // what a clock that is ahead has made
			wide = record.LastShort
		}
	}
	return era{max(left.from, left.to-wide+1), left.to}
}

// widen tells how wide the next era is, behind one with so many entries (-1: too many). One that
// was guessed tells nothing of how dense the others are.
func (l *listing) widen(e era, n int64, guessed bool) {
	wide := e.to - e.from + 1
	switch {
	case guessed && n < 0:
		l.wide = 0
	case guessed:
		l.wide = firstEra
	case n < 0:
		l.wide, l.narrowed = max(1, wide/widerEras), true
	case n > 0:
		l.wide, l.narrowed = min(widerEras*wide, record.LastShort), false
	case l.wide > 0 && !l.narrowed:
		l.wide = min(widerEras*wide, record.LastShort)
	}
}

// inEra adds what is in an era, and gives how many; -1: too many to be read.
func (l *listing) inEra(ctx context.Context, e era, lists []string, entries *[]entry, limit int64) (int64, error) {
	counts := make([]int64, 1)
	if err := l.count(ctx, e.window(), [][]string{lists}, counts); err != nil {
		return 0, err
	}
	n := counts[0]
	switch {
	case n == 0:
		return 0, nil
	case n > mostOfEra*max(limit, rememberAt) && e.from < e.to:
		return -1, nil
	case e.from == e.to: // in the order of the keys, however many there are
		var err error
		*entries, err = l.mergedIn(ctx, e.window(), *entries, lists, limit)
		return n, err
	}
	found, err := l.whole(ctx, e.window(), lists)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(found, func(a, b entry) int { return places{oldest: true}.compare(a.place, b.place) })
	*entries = append(*entries, found...)
	return n, nil
}

// whole reads all of a window.
func (l *listing) whole(ctx context.Context, w window, lists []string) (entries []entry, err error) {
	for chunk := range slices.Chunk(lists, db.MaxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, list := range chunk {
			reads[i] = l.at(list+w.from, clientv3.WithRange(w.endOf(list)), clientv3.WithKeysOnly())
		}
		resp, err := l.read(ctx, reads)
		if err != nil {
			return nil, err
		}
		for i, list := range chunk {
			for _, kv := range db.Read(i).In(resp).Kvs {
				entries = append(entries, entry{list, strings.TrimPrefix(string(kv.Key), list)})
			}
		}
	}
	return entries, nil
}

// beginnings are where lists began that were read: the millisecond, as [record.Newest] counts them,
// up to which the first entries went. A wrong one costs some reads, and nothing else.
type beginnings struct {
	mu    sync.Mutex
	known map[string]int64 // by list; guarded by mu
}

// of is the oldest beginning of some lists; 0: none is known.
func (b *beginnings) of(lists []string) (oldest int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, list := range lists {
		oldest = max(oldest, b.known[list])
	}
	return oldest
}

// are remembers where some lists begin. Of too many all are forgotten.
func (b *beginnings) are(lists []string, at int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known)+len(lists) > mostKnown {
		b.known = map[string]int64{}
	}
	for _, list := range lists {
		b.known[list] = at
	}
}
