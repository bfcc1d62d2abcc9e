package turns

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// QuickTime is how long a script may run before it is a long one.
const QuickTime = 5 * time.Millisecond

// turns bounds the scripts that run at once in the process, whose processors and
// memory they share. Long ones have as many places as there are processors, but one
// processor, if there are several, is left to everything else. Those that are not
// known to be long have places beside them, so that a script of microseconds does
// not wait behind one of seconds. Places go to the definition whose scripts have
// used the least time of late: however many of one definition wait, those of
// another have their share.
type turns struct {
	places, spare int // of long scripts, and of the others

	mu          sync.Mutex
	quick, long int              // that run; guarded by mu, as all below
	alone       bool             // the long one that runs is to have no other beside it
	started     int              // in all
	waiting     [kinds]int       // by kind
	lines       map[string]*line // by definition, of those that wait or have used time
	floor       time.Duration    // the used time of the line that was served last
	over        uint64           // waits that have ended
	waited      time.Duration    // in these
}

// Kind is what is known of a script before it runs.
type Kind int

// The kinds of scripts.
const (
	Quick Kind = iota // nothing, or that it is short
	Long              // it took longer than QuickTime
	Alone             // it was ended beside others, and is to show what it takes by itself
	kinds
)

// line has the turns of one definition that wait.
type line struct {
	used  time.Duration // counted from where the others stood when it came
	queue [2][]*Turn    // quick ones; long and alone ones
}

// Turn is one script's place, or its wait for one. It is used by one goroutine,
// and its watcher.
type Turn struct {
	of         *turns
	definition string
	kind       Kind         // guarded by of.mu
	slow       *atomic.Bool // whether the script is known to be long
	granted    chan struct{}
	asked      time.Time // since when it waits
	before     int       // of.started, when it began
	company    bool      // when it began, others ran
}

// scripts are the turns of this process.
var scripts = newTurns(max(1, runtime.GOMAXPROCS(0)-1))

func newTurns(processors int) *turns {
	return &turns{places: processors, spare: 2*processors + 2, lines: map[string]*line{}}
}

// Take waits for a place in this process until ctx ends. slow is kept with the
// script: it says whether it is long, and learns it.
func Take(ctx context.Context, definition string, k Kind, slow *atomic.Bool) (*Turn, error) {
	return scripts.take(ctx, definition, k, slow)
}

func (t *turns) take(ctx context.Context, definition string, k Kind, slow *atomic.Bool) (*Turn, error) {
	if k == Quick && slow.Load() {
		k = Long
	}
	u := &Turn{of: t, definition: definition, kind: k, slow: slow}
	t.mu.Lock()
	if t.waiting[k] == 0 && (k == Quick || t.waiting[Long]+t.waiting[Alone] == 0) && t.fits(k) {
		t.start(u)
		t.mu.Unlock()
		return u, nil
	}
	u.granted, u.asked = make(chan struct{}), time.Now()
	l := t.line(definition)
	l.queue[u.class()] = append(l.queue[u.class()], u)
	t.waiting[k]++
	t.mu.Unlock()
	select {
	case <-u.granted:
		return u, nil
	case <-ctx.Done():
		t.leave(u)
		return nil, evaluation.Ended(ctx)
	}
}

// class is the queue that a turn waits in.
func (u *Turn) class() int { return int(min(u.kind, Long)) }

func (t *turns) line(definition string) *line {
	l := t.lines[definition]
	if l == nil {
		l = &line{used: t.floor}
		t.lines[definition] = l
	}
	return l
}

func (t *turns) fits(k Kind) bool {
	switch k {
	case Quick: // those that turn out to be long leave room, but not without end
		return t.quick < t.spare && t.quick+t.long < t.spare+t.places
	case Long:
		return t.long < t.places && !t.alone
	default:
		return t.long == 0
	}
}

func (t *turns) start(u *Turn) {
	u.before, u.company = t.started, t.quick+t.long > 0
	t.started++
	switch u.kind {
	case Quick:
		t.quick++
	case Alone:
		t.alone = true
		fallthrough
	default:
		t.long++
	}
}

// leave takes a turn back when its caller waits no more.
func (t *turns) leave(u *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-u.granted: // just now
		t.end(u, 0)
		return
	default:
	}
	q := &t.lines[u.definition].queue[u.class()]
	for i, w := range *q {
		if w == u {
			*q = append((*q)[:i], (*q)[i+1:]...)
			t.waitEnds(u)
			break
		}
	}
	t.serve() // what waited behind it may fit
}

// waitEnds counts a turn that has left its queue.
func (t *turns) waitEnds(u *Turn) {
	t.waiting[u.kind]--
	t.over++
	t.waited += time.Since(u.asked)
}

// Waits tells how scripts wait for their turn in this process: how many do now,
// how many waits are over, also of those whose caller gave up, and how long these
// were together. A script that finds a place free does not wait.
func Waits() (now int, over uint64, took time.Duration) { return scripts.counts() }

func (t *turns) counts() (now int, over uint64, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.waiting {
		now += n
	}
	return now, t.over, t.waited
}

// Done gives the place back, after used time.
func (u *Turn) Done(used time.Duration) {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	u.of.end(u, used)
}

func (t *turns) end(u *Turn, used time.Duration) {
	switch u.kind {
	case Quick:
		t.quick--
	case Alone:
		t.alone = false
		fallthrough
	default:
		t.long--
	}
	u.kind = kinds // its watcher may still look
	if used >= QuickTime {
		t.line(u.definition).used += used
	} else if used > 0 && u.slow.Load() {
		u.slow.Store(false) // its time depends on its input
	}
	t.serve()
}

// TurnsOut notes that a script runs longer than QuickTime.
func (u *Turn) TurnsOut() {
	u.slow.Store(true)
	t := u.of
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.kind == Quick {
		u.kind = Long
		t.quick--
		t.long++
		t.serve()
	}
}

// Shared reports whether others ran beside it.
func (u *Turn) Shared() bool {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	return u.company || u.of.started > u.before+1
}

// serve lets those begin for whom there is room.
func (t *turns) serve() {
	if t.waiting == [kinds]int{} {
		if t.quick+t.long == 0 {
			clear(t.lines)
			t.floor = 0
		}
		return
	}
	for class := range 2 {
		for {
			l := t.next(class)
			if l == nil || !t.fits(l.queue[class][0].kind) {
				break
			}
			u := l.queue[class][0]
			l.queue[class] = l.queue[class][1:]
			t.waitEnds(u)
			t.floor = max(t.floor, l.used)
			t.start(u)
			close(u.granted)
		}
	}
}

// next is the line to be served, of those of a class. A quick one that is known
// to be long by now moves to the long ones.
func (t *turns) next(class int) *line {
	var first *line
	for definition, l := range t.lines {
		for class == int(Quick) && len(l.queue[Quick]) > 0 && l.queue[Quick][0].slow.Load() {
			u := l.queue[Quick][0]
			l.queue[Quick] = l.queue[Quick][1:]
			l.queue[Long] = append(l.queue[Long], u)
			t.waiting[Quick]--
			t.waiting[Long]++
			u.kind = Long
		}
		switch {
		case len(l.queue[Quick])+len(l.queue[Long]) == 0 && l.used <= t.floor:
			delete(t.lines, definition)
		case len(l.queue[class]) == 0:
		case first == nil || l.used < first.used:
			first = l
		}
	}
	return first
}
