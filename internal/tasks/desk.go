package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/pkg/workflow"
)

// Config is what a desk needs.
type Config struct {
	Claims *etcdstore.Claims // required
	Node   string            // of this node, for people
	// Mine tells whether this node is preferred for a task: others leave it to that one for a moment. Nil: it is for all.
	Mine func(task string) bool
	// Accepts gives the error for a worker while the node takes up nothing. Nil: it always does.
	Accepts func() error
	Waiting int // calls that wait at once, at most; default 250
	Log     *slog.Logger
	Now     func() time.Time // default time.Now
}

// Desk gives tasks to the workers of one node. Make it with [New], and keep [Desk.Run] running.
type Desk struct {
	cfg    Config
	wanted chan struct{} // somebody asks for tasks

	mu       sync.Mutex
	feeds    map[string]*feed // by name as places hold it; guarded by mu
	waiting  int              // calls that wait; guarded by mu
	watching bool             // the watch tells of all; guarded by mu
}

const (
	// deference is how long a node leaves a task to the one that is preferred for it.
	deference = 50 * time.Millisecond
	// looksAgain is how often who waits looks whether the node still takes up work, and, where nothing is watched, for tasks.
	looksAgain = time.Second
	// sweepEvery is how often the free tasks of a name are read from the first one on while somebody waits in vain.
	sweepEvery = time.Minute
	// feedIdle is after how long without a call a name is forgotten, and mostFeeds how many names are known.
	feedIdle, mostFeeds = 10 * time.Minute, 1000
	// mostWaiting is how many calls wait at once.
	mostWaiting = 250
	// watchRests is the pause after a watch that broke.
	watchRests = time.Second
)

// New makes a desk. It starts nothing.
func New(cfg Config) *Desk {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Waiting = cmp.Or(cfg.Waiting, mostWaiting)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Mine == nil {
		cfg.Mine = func(string) bool { return true }
	}
	if cfg.Accepts == nil {
		cfg.Accepts = func() error { return nil }
	}
	return &Desk{cfg: cfg, wanted: make(chan struct{}, 1), feeds: map[string]*feed{}}
}

// Run watches the free tasks from the first call of a worker on, until ctx ends.
func (d *Desk) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.wanted:
		}
		err := d.cfg.Claims.Follow(ctx, d.begin, d.tell)
		d.reset(false)
		if ctx.Err() == nil {
			d.cfg.Log.WarnContext(ctx, "the watch of free tasks has ended; workers that wait are served by reads until it begins again", "error", err)
			pace.Pause(ctx, watchRests)
			d.want()
		}
	}
}

// want has the free tasks watched.
func (d *Desk) want() {
	select {
	case d.wanted <- struct{}{}:
	default:
	}
}

// begin is told that the watch tells of all from now on: what was read before is read again.
func (d *Desk) begin() { d.reset(true) }

// reset has everything read again.
func (d *Desk) reset(watching bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watching = watching
	for name, f := range d.feeds {
		fresh := &feed{waiters: f.waiters, used: f.used, turns: f.turns}
		f.waiters = nil
		d.feeds[name] = fresh // who reads for the old one reads in vain, and wakes nobody
		fresh.wake()
	}
}

// tell takes what the watch says.
func (d *Desk) tell(news []claims.News) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, n := range news {
		if f := d.feeds[claims.Name(n.Place)]; f != nil {
			if f.tell(n, now); !n.Gone {
				f.wake()
			}
		}
	}
}

// Ask is what a worker asks for.
type Ask struct {
	Names  []string // of tasks, at least one
	Max    int      // tasks at most, at least 1
	Lease  time.Duration
	Wait   time.Duration // for the first task; 0: not at all
	Worker string
}

// waiter is a call that waits for a task.
type waiter struct {
	wake  chan struct{} // has room for one
	woken bool          // guarded by the desk's mu
}

// wake wakes the one who has waited longest of those who sleep.
func (f *feed) wake() {
	for _, w := range f.waiters {
		if !w.woken {
			w.woken = true
			w.wake <- struct{}{}
			return
		}
	}
}

// Claim gives a worker tasks, as soon as there is one, or none when it has waited for so long. With an error nothing is
// claimed that is known of; if it wraps [etcdstore.ErrUnknown] something may be, until its lease ends.
func (d *Desk) Claim(ctx context.Context, a Ask) ([]claims.Got, error) {
	if err := d.enter(&a); err != nil {
		return nil, err
	}
	defer d.out(&a)
	over := time.NewTimer(a.Wait)
	defer over.Stop()
	w := &waiter{wake: make(chan struct{}, 1)}
	defer d.leave(w, a.Names)
	for {
		if err := d.cfg.Accepts(); err != nil {
			return nil, err
		}
		got, wait, err := d.now(ctx, w, &a)
		if err != nil || len(got) > 0 {
			return got, err
		}
		again, end := time.NewTimer(wait.ripe), over.C
		if wait.reads {
			end = nil // what is free is found
		}
		select {
		case <-end:
			again.Stop()
			return nil, nil
		case <-ctx.Done():
			again.Stop()
			return nil, context.Cause(ctx)
		case <-w.wake:
			d.mu.Lock()
			w.woken = false
			d.mu.Unlock()
		case <-again.C:
		}
		again.Stop()
	}
}

// enter finds a place for a call that waits: each holds one of the node's requests.
func (d *Desk) enter(a *Ask) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.Wait > 0 && d.waiting >= d.cfg.Waiting {
		return &workflow.Error{Code: workflow.CodeBusy, RetryAfter: time.Second,
			Detail: fmt.Sprintf("as many workers wait on this node as may: %d in all; ask another node, or without wait", d.cfg.Waiting)}
	}
	if a.Wait > 0 {
		d.waiting++
	}
	return nil
}

func (d *Desk) out(a *Ask) {
	if a.Wait > 0 {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.waiting--
	}
}

// leave takes a call that is over out of those who wait; what it was woken for is another's.
func (d *Desk) leave(w *waiter, names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		f := d.feeds[claims.Listed(name)]
		if f == nil {
			continue
		}
		f.waiters = slices.DeleteFunc(f.waiters, func(other *waiter) bool { return other == w })
		if len(f.in) > 0 {
			f.wake()
		}
	}
}

// pause is what a call waits for beside being woken.
type pause struct {
	ripe  time.Duration // it looks again then
	reads bool          // another call reads what is free
}

// now claims what is free. If that is nothing, the call is among those who wait.
func (d *Desk) now(ctx context.Context, w *waiter, a *Ask) (got []claims.Got, wait pause, err error) {
	for {
		free, unread, wait := d.pick(w, a)
		switch {
		case unread != "":
			if err := d.fill(ctx, unread); err != nil {
				return nil, wait, err
			}
		case len(free) > 0:
			got, err := d.claim(ctx, free, a)
			if err != nil || len(got) > 0 {
				return got, wait, err
			}
		default:
			return nil, wait, nil
		}
	}
}

// claim takes what it can of free tasks.
func (d *Desk) claim(ctx context.Context, free []claims.Free, a *Ask) (got []claims.Got, err error) {
	now := d.cfg.Now().UTC()
	by := store.TaskClaim{ID: workflow.NewID(), Worker: a.Worker, Node: d.cfg.Node, Since: now, Until: now.Add(a.Lease), Lease: a.Lease}
	err = pace.Repeat(ctx, pace.Doubling(20*time.Millisecond).UpTo(time.Second).Spread(20), func() (again bool, err error) {
		got, err = d.cfg.Claims.Claim(ctx, free, by)
		return errors.Is(err, etcdstore.ErrUnknown), err
	})
	if err != nil {
		d.giveBack(free)
	}
	return got, err
}

// giveBack lets tasks be found again of which it is not known that they are taken.
func (d *Desk) giveBack(free []claims.Free) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range free {
		if f := d.feeds[claims.Name(one.Place)]; f != nil {
			f.take(claims.News{Free: one}, time.Now())
		}
	}
}

// pick takes the free tasks whose turn it is and that this node may give now, of all names of a call. If there are none, it names one of
// which more is to be read, or the call is among those who wait.
func (d *Desk) pick(w *waiter, a *Ask) (free []claims.Free, unread string, wait pause) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, waits := time.Now(), true
	wait.ripe = looksAgain
	for _, name := range a.Names {
		f := d.feed(claims.Listed(name), now)
		if f.reading {
			wait.reads = true
			continue // who reads wakes
		}
		if f.ready == 0 && f.all && (!d.watching && now.Sub(f.swept) >= looksAgain || now.Sub(f.swept) >= sweepEvery) {
			f.upTo, f.all, f.span = "", false, 0
		}
		if f.ready < fewReady && !f.all {
			unread, waits = name, false
		}
	}
	if unread != "" {
		return nil, unread, wait
	}
	most := min(a.Max, etcdstore.MostClaims)
	for len(free) < most {
		f, is, at := d.next(a.Names, now, true)
		if f == nil && a.Wait == 0 {
			f, is, at = d.next(a.Names, now, false) // it does not come again for it
		}
		if f == nil {
			wait.ripe = min(wait.ripe, max(at, time.Millisecond))
			break
		}
		free = append(free, is)
		f.given(is.Place)
	}
	d.passOn(w, a.Names, len(free) > 0, waits)
	return free, unread, wait
}

// passOn wakes the next for what one who got something leaves, and has one who got nothing wait, if it may; mu is held.
func (d *Desk) passOn(w *waiter, names []string, got, waits bool) {
	for _, name := range names {
		f := d.feeds[claims.Listed(name)]
		if got && len(f.in) > 0 {
			f.wake()
		}
		if !got && waits && !slices.Contains(f.waiters, w) {
			f.waiters = append(f.waiters, w)
		}
	}
}

// feed is that of a name; mu is held.
func (d *Desk) feed(name string, now time.Time) *feed {
	f := d.feeds[name]
	if f == nil {
		if len(d.feeds) >= mostFeeds {
			d.forget(now)
		}
		f = &feed{}
		d.feeds[name] = f
		d.want()
	}
	f.used = now
	return f
}

// forget forgets the names that nobody has asked for, or the one that nobody has asked for the longest; mu is held.
func (d *Desk) forget(now time.Time) {
	oldest := ""
	for name, f := range d.feeds {
		switch {
		case len(f.waiters) > 0 || f.reading:
		case now.Sub(f.used) > feedIdle:
			delete(d.feeds, name)
		case oldest == "" || f.used.Before(d.feeds[oldest].used):
			oldest = name
		}
	}
	if len(d.feeds) >= mostFeeds {
		delete(d.feeds, oldest)
	}
}

// next is a task that this node may give now, of the name whose task has the first rank; nil: there is none, and in so
// long there may be; mu is held.
func (d *Desk) next(names []string, now time.Time, polite bool) (of *feed, is claims.Free, ripe time.Duration) {
	ripe = looksAgain
	may := func(k *known) bool {
		rests := k.since.Add(deference).Sub(now)
		if !polite || rests <= 0 {
			return true
		}
		if b := k.Task(); d.cfg.Mine(b.ID) {
			return true
		}
		ripe = min(ripe, rests)
		return false
	}
	for _, name := range names {
		f := d.feeds[claims.Listed(name)]
		if k := f.next(may); k != nil && (of == nil || older(&k.Free, &is)) {
			of, is = f, k.Free
		}
	}
	return of, is, ripe
}

// older compares by the ranks of tasks.
func older(a, b *claims.Free) bool {
	x, y := a.Task(), b.Task()
	return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), strings.Compare(x.ID, y.ID)) < 0
}

// fill reads the next page of a name.
func (d *Desk) fill(ctx context.Context, name string) error {
	name = claims.Listed(name)
	d.mu.Lock()
	f := d.feeds[name]
	if f == nil || f.reading {
		d.mu.Unlock()
		return nil
	}
	behind, before := f.behind()
	if f.reading = true; behind == "" {
		f.swept = time.Now()
	}
	d.mu.Unlock()
	p, err := d.cfg.Claims.Free(ctx, name, behind, before, pageSize)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		p = claims.Page{More: true}
	}
	f.read(p, before, time.Now())
	for range f.waiters {
		f.wake()
	}
	return err
}
