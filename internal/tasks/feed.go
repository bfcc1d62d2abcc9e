package tasks

import (
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/pkg/workflow/task"
)

const (
	pageSize  = 200          // free tasks that are read at once
	mostReady = 5 * pageSize // of a name that a desk knows
	// crowd is how many tasks etcd may count for a page. Where it counted more, the pages that follow are read in spans of time, the
	// first of which is firstSpan.
	crowd, firstSpan, widerSpan = 5 * pageSize, time.Second, 8
	// lowest is how far ahead of when it was made the rank of the least urgent task is.
	lowest = task.UsualPriority * task.PriorityStep
)

// feed are the oldest free tasks of one name, as a desk knows them.
type feed struct {
	ready []known // in the order of their places
	upTo  string  // what is free up to this place is in ready; "": nothing was read
	all   bool    // all that is free is

	span    time.Duration // of the next read; 0: to the end
	reading bool
	heard   []claims.News // while it reads

	waiters []*waiter // who wait for a task of it, in the order of their coming
	used    time.Time
	swept   time.Time // when it was last read from the first one on
}

// known is a free task, and since when it is known.
type known struct {
	claims.Free
	since time.Time
}

func byPlace(k known, place string) int { return strings.Compare(k.Place, place) }

// tell takes what the watch says.
func (f *feed) tell(n claims.News, now time.Time) {
	if f.reading {
		f.heard = append(f.heard, n)
		return
	}
	f.take(n, now)
}

func (f *feed) take(n claims.News, now time.Time) {
	i, there := slices.BinarySearchFunc(f.ready, n.Place, byPlace)
	switch {
	case there && n.Gone:
		f.ready = slices.Delete(f.ready, i, i+1)
	case n.Gone:
	case there:
		f.ready[i].Free = n.Free
	case f.all || n.Place <= f.upTo:
		f.ready = slices.Insert(f.ready, i, known{n.Free, now})
		f.cut()
	}
}

// cut forgets the last ones of too many.
func (f *feed) cut() {
	if len(f.ready) > mostReady {
		f.ready = slices.Delete(f.ready, mostReady, len(f.ready))
		f.upTo, f.all = f.ready[mostReady-1].Place, false
	}
}

// behind is where the next page begins, and before when what it has was made; zero: at any time.
func (f *feed) behind() (place string, before time.Time) {
	if f.span == 0 || f.upTo == "" {
		return f.upTo, time.Time{}
	}
	return f.upTo, madeAt(f.upTo).Add(f.span)
}

func madeAt(place string) time.Time {
	f := claims.Free{Place: place}
	return f.Task().CreatedAt
}

// read takes a page that begins where [feed.behind] said.
func (f *feed) read(p claims.Page, before, now time.Time) {
	for i := range p.Free {
		free := p.Free[i]
		f.ready = append(f.ready, known{free, now})
		f.upTo = free.Place
	}
	switch {
	case p.More && f.span == 0 && p.Counted > crowd:
		f.span = firstSpan
	case p.More && p.Counted > crowd:
		f.span = max(f.span/widerSpan, time.Millisecond)
	case p.More:
	case f.span == 0:
		f.all = true
	case before.After(now.Add(lowest)):
		f.span = 0 // what clocks that are ahead made comes with the next
	default:
		f.span *= widerSpan
	}
	f.reading = false
	for _, n := range f.heard {
		f.take(n, now)
	}
	f.heard = nil
	f.cut()
}
