package places

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// mostSeen is how many lines a node remembers.
const mostSeen = 10_000

// seen is what this node knows of limits and lines. It is as old as it is: what is built on it is compared with etcd,
// so that it can only be useless, never wrong.
type seen struct {
	mu     sync.Mutex
	limits map[string]store.Limit           // guarded by mu
	lines  *lru.Cache[limit.Line, *counted] // guarded by mu
}

// counted is a line as it was when its head was put last.
type counted struct {
	head   int64           // its mod revision; 0: it is not there, nobody has a place, and all units are back
	bucket limit.Bucket    // what it says of the units
	others int64           // places beside those of known
	known  map[string]bool // bookmarks that have places, and that this node has not seen go
	waited bool            // somebody waits, or a guess was wrong: it has to be read
}

func newSeen() *seen {
	lines, err := lru.New[limit.Line, *counted](mostSeen)
	if err != nil {
		panic(err) // its size is not positive
	}
	return &seen{limits: map[string]store.Limit{}, lines: lines}
}

// guess is how a line is, as far as this node knows; false: that nobody waits and a place is free, with so many units, is not to be expected.
func (s *seen) guess(l limit.Line, units int64, clock func() (time.Time, bool)) (store.PlaceGuess, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is, ok := s.limits[l.Limit]
	if !ok {
		return store.PlaceGuess{}, false
	}
	c, ok := s.lines.Get(l)
	if !ok {
		c = &counted{}
	}
	if c.waited || is.FreeOf(c.others+int64(len(c.known))) <= 0 || !mayTake(&is, &c.bucket, units, clock) {
		return store.PlaceGuess{}, false
	}
	return store.PlaceGuess{Line: l, Limit: is.Modified, Head: c.head, Units: units, Rate: is.Rate, Bucket: c.bucket}, true
}

// mayTake tells whether a commit may take so many units by itself.
func mayTake(is *store.Limit, b *limit.Bucket, units int64, clock func() (time.Time, bool)) bool {
	if is.Rate == nil && b.Hold.IsZero() {
		return true
	}
	if clock == nil {
		return false
	}
	now, sure := clock()
	return sure && b.May(is.Rate, now, units)
}

// took notes that a commit was right: a bookmark has a place since a revision.
func (s *seen) took(g *store.PlaceGuess, revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.lines.Get(g.Line)
	switch {
	case !ok && g.Head != 0:
		return // what was counted is forgotten
	case !ok:
		c = &counted{}
	case c.head > g.Head:
		return // it was read since
	}
	if c.known == nil {
		c.known = map[string]bool{}
	}
	c.head, c.bucket, c.known[g.Bookmark] = revision, g.After, true
	s.lines.Add(g.Line, c)
}

// wrong notes that a guess was: the line has to be read before the next one, and its limit.
func (s *seen) wrong(l limit.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.Add(l, &counted{waited: true})
}

// gone notes that a bookmark has given its place back.
func (s *seen) gone(l limit.Line, bookmark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.lines.Get(l); ok {
		delete(c.known, bookmark)
	}
}

// read notes a line as it was read at a revision, or as it is after places were given at that.
func (s *seen) read(is *store.Limit, l limit.Line, c counted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is == nil {
		delete(s.limits, l.Limit)
	} else if had, ok := s.limits[l.Limit]; !ok || had.Modified < is.Modified {
		s.limits[l.Limit] = *is
	}
	if had, ok := s.lines.Peek(l); ok && !had.waited && had.head > c.head {
		return
	}
	s.lines.Add(l, &c)
}
