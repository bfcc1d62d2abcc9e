// Package fair shares out what a node has among its callers.
//
// Guaranteed: no more is taken than there is, and one caller, or a few, leave some of it to
// the others. Not guaranteed: an equal part for each, nor an order among callers.
package fair

import (
	"context"
	"sync"
)

// Shares are places of which each caller gets some and not all.
type Shares struct {
	Most, Each int // of all, and of one caller

	mu    sync.Mutex
	taken int
	by    map[string]int
}

// Take takes a place for a caller, if there is one for it.
func (s *Shares) Take(caller string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.Most || s.by[caller] >= s.Each {
		return false
	}
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.taken++
	s.by[caller]++
	return true
}

// Give gives a caller's place back.
func (s *Shares) Give(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.by[caller]--; s.by[caller] <= 0 {
		delete(s.by, caller)
	}
}

// Lines are where the requests of each caller wait for each other: a few of one caller run
// at once, and those of another do not wait behind them.
type Lines struct {
	Most  int // of one caller, that run at once
	Waits Shares

	mu sync.Mutex
	by map[string]*line // by caller, of those who are in one; guarded by mu
}

type line struct {
	places chan struct{}
	in     int // who run or wait; guarded by Lines.mu
}

// NewLines makes lines in which as many wait, half of them of one caller.
func NewLines(most, waits int) Lines {
	return Lines{Most: most, Waits: Shares{Most: waits, Each: max(1, waits/2)}, by: map[string]*line{}}
}

// Enter waits for a place in the caller's line until ctx ends. It is refused at once
// when as many wait as may.
func (s *Lines) Enter(ctx context.Context, caller string) (leave func(), ok bool) {
	l := s.join(caller)
	leave = func() {
		<-l.places
		s.part(caller, l)
	}
	select {
	case l.places <- struct{}{}:
		return leave, true
	default:
	}
	if !s.Waits.Take(caller) {
		s.part(caller, l)
		return nil, false
	}
	defer s.Waits.Give(caller)
	select {
	case l.places <- struct{}{}:
		return leave, true
	case <-ctx.Done():
		s.part(caller, l)
		return nil, false
	}
}

func (s *Lines) join(caller string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[caller]
	if l == nil {
		l = &line{places: make(chan struct{}, s.Most)}
		s.by[caller] = l
	}
	l.in++
	return l
}

func (s *Lines) part(caller string, l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.in--; l.in == 0 {
		delete(s.by, caller)
	}
}

// Bytes is a number of bytes that all requests share. The last quarter of it is
// for callers who have less than is left: a few who send much keep out nobody else.
type Bytes struct {
	Most int64

	mu    sync.Mutex
	taken int64
	by    map[string]int64 // by caller
}

// Take takes n bytes for a request that has own by now. The only one that there is
// may have all of it.
func (b *Bytes) Take(caller string, own, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	has := b.by[caller]
	left := b.Most - b.taken
	scarce, alone := left-n < b.Most/4, b.taken == own
	if n > left || scarce && has+n > left && !alone {
		return false
	}
	if b.by == nil {
		b.by = map[string]int64{}
	}
	b.taken += n
	b.by[caller] = has + n
	return true
}

// Give gives bytes of a caller back.
func (b *Bytes) Give(caller string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	if b.by[caller] -= n; b.by[caller] <= 0 {
		delete(b.by, caller)
	}
}

// Taken is how many places are taken, and how many callers have them.
func (s *Shares) Taken() (places, callers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, len(s.by)
}

// Taken is how many bytes are taken, and how many callers have them.
func (b *Bytes) Taken() (bytes int64, callers int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken, len(b.by)
}

// Callers is how many callers have somebody in line.
func (s *Lines) Callers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.by)
}
