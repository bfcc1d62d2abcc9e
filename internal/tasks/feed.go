package tasks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/pkg/workflow/task"
)

const (
	pageSize  = 200           // free tasks that are read at once
	mostReady = 5 * pageSize  // of a name that a desk knows without a gap
	fewReady  = mostReady / 2 // so many, and the next page is read
	// mostBeyond is how many more a desk knows of each lane, as the watch told of them, and mostAllBeyond of all lanes.
	mostBeyond, mostAllBeyond = 20, 2 * mostReady
	// mostTurns is of how many lanes a desk remembers when they had their turn.
	mostTurns = 4096
	// crowd is how many tasks etcd may count for a page. Where it counted more, the pages that follow are read in spans of time, the
	// first of which is firstSpan.
	crowd, firstSpan, widerSpan = 5 * pageSize, time.Second, 8
	// lowest is how far ahead of when it was made the rank of the least urgent task is.
	lowest = task.UsualPriority * task.PriorityStep
)

// feed are free tasks of one name, as a desk knows them: all up to some place, and of each lane some that lie beyond it.
type feed struct {
	lanes map[lane]*queue // those that have tasks
	in    map[string]lane // by place
	ready int             // how many lie where nothing is unknown
	upTo  string          // what is free up to this place is known; "": nothing was read
	all   bool            // all that is free is
	turns turns

	span    time.Duration // of the next read; 0: to the end
	reading bool
	heard   []claims.News // while it reads

	waiters []*waiter // who wait for a task of it, in the order of their coming
	used    time.Time
	swept   time.Time // when it was last read from the first one on
}

// lane is what takes turns with others: the tasks of a definition, and among those the ones that have a value in common.
type lane struct{ definition, by string }

// queue are the tasks of a lane, in the order of their places.
type queue []known

// known is a free task, and since when it is known.
type known struct {
	claims.Free
	since time.Time
}

func byPlace(k known, place string) int { return strings.Compare(k.Place, place) }

// turns is when lanes, and definitions, were given a task: who was not for the longest is next. It remembers those that
// have no task now, so that one whose tasks come one by one does not go before the others each time.
type turns struct {
	lanes       map[lane]int64
	definitions map[string]int64
	last        int64
}

func (t *turns) had(l lane) {
	if t.lanes == nil || len(t.lanes) >= mostTurns {
		t.lanes, t.definitions = map[lane]int64{}, map[string]int64{}
	}
	t.last++
	t.lanes[l], t.definitions[l.definition] = t.last, t.last
}

// before compares whose turn is first.
func (t *turns) before(a, b lane) int {
	return cmp.Or(cmp.Compare(t.definitions[a.definition], t.definitions[b.definition]), cmp.Compare(t.lanes[a], t.lanes[b]))
}

// tell takes what the watch says.
func (f *feed) tell(n claims.News, now time.Time) {
	if f.reading {
		f.heard = append(f.heard, n)
		return
	}
	f.take(n, now)
}

func (f *feed) take(n claims.News, now time.Time) {
	if n.Gone {
		f.remove(n.Place)
		return
	}
	f.put(n.Free, now)
	f.cut()
}

// within tells whether all that is free is known around a place.
func (f *feed) within(place string) bool { return f.all || place <= f.upTo }

// known is how many tasks of a lane lie where nothing is unknown.
func (f *feed) known(q *queue) int {
	if f.all {
		return len(*q)
	}
	i, there := slices.BinarySearchFunc(*q, f.upTo, byPlace)
	if there {
		i++
	}
	return i
}

// put takes a free task up, unless it lies beyond what is known, and enough do.
func (f *feed) put(free claims.Free, now time.Time) {
	l, there := f.in[free.Place]
	if !there {
		l = lane{free.Past.Definition, free.Past.FairBy}
	}
	q := f.lanes[l]
	if q == nil {
		q = &queue{}
	}
	i, _ := slices.BinarySearchFunc(*q, free.Place, byPlace)
	if there {
		(*q)[i].Free = free
		return
	}
	if f.within(free.Place) {
		f.ready++
	} else if len(*q)-f.known(q) >= mostBeyond || len(f.in)-f.ready >= mostAllBeyond {
		return
	}
	if f.lanes == nil {
		f.lanes, f.in = map[lane]*queue{}, map[string]lane{}
	}
	*q = slices.Insert(*q, i, known{free, now})
	f.lanes[l], f.in[free.Place] = q, l
}

// remove forgets a task.
func (f *feed) remove(place string) {
	l, there := f.in[place]
	if !there {
		return
	}
	q := f.lanes[l]
	i, _ := slices.BinarySearchFunc(*q, place, byPlace)
	*q = slices.Delete(*q, i, i+1)
	if len(*q) == 0 {
		delete(f.lanes, l)
	}
	delete(f.in, place)
	if f.within(place) {
		f.ready--
	}
}

// given forgets a task that is given, and takes note of whose turn that was.
func (f *feed) given(place string) {
	f.turns.had(f.in[place])
	f.remove(place)
}

// next is the first task of the lane whose turn it is, of those that may be given; nil: there is none. While tasks before
// those that are known are to be read, none is given.
func (f *feed) next(may func(*known) bool) (is *known) {
	if f.ready == 0 && !f.all {
		return nil
	}
	var of lane
	for l, q := range f.lanes {
		for i := range *q {
			k := &(*q)[i]
			if !may(k) {
				continue
			}
			if is == nil || cmp.Or(f.turns.before(l, of), strings.Compare(k.Place, is.Place)) < 0 {
				is, of = k, l
			}
			break
		}
	}
	return is
}

// cut forgets the last ones of too many.
func (f *feed) cut() {
	if f.ready <= mostReady+pageSize {
		return
	}
	places := make([]string, 0, len(f.in))
	for place := range f.in {
		if f.within(place) {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	f.upTo, f.all, f.ready = places[mostReady-1], false, mostReady
	for _, place := range slices.Backward(places[mostReady:]) {
		q := f.lanes[f.in[place]]
		if len(*q)-f.known(q) > mostBeyond || len(f.in)-f.ready > mostAllBeyond {
			f.remove(place)
		}
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
		f.upTo = free.Place
		f.put(free, now)
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
	f.ready = 0 // what was told of before may lie before the new end
	for _, q := range f.lanes {
		f.ready += f.known(q)
	}
	f.reading = false
	for _, n := range f.heard {
		f.take(n, now)
	}
	f.heard = nil
	f.cut()
}
