package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
)

const (
	// dueLeast is how long a worker rests at least between two looks at what is due,
	// so that what is due at about one time is read at once.
	dueLeast = 200 * time.Millisecond
	dueGrace = 2 * time.Second // then a node that is not preferred fires too
	// dueSettled is how much before now a look begins where no watch tells what is put: so late what is put may be that
	// was due when a burst made it, with the clocks of nodes as far apart as they may be.
	dueSettled = 5 * time.Second

	duePerShard = 100
	duePages    = 10 // looked at in one pass
)

// dueWorker fires what is due of one kind, at its time: it knows from its last look
// when the next is due, and from watches what was put since into the shards that
// this node is preferred for.
//
// A look begins in each shard where the one before ended. Etcd keeps what is deleted until it is
// compacted, and a look walks over it: one from the beginning of a shard walks over all that has fired in the last
// minutes. What is put before such a place the watches tell of, in the shards of this node. In
// those of others a look begins a while before now, as they have a preferred node. Behind both the sweep reads one shard
// after another from its beginning.
type dueWorker struct {
	t   *timers
	of  etcdstore.Dated
	may func() bool // costs nothing
	// fire fires what is due, and gives what of it could not be.
	fire func(ctx context.Context, due []etcdstore.Due, now time.Time) (failed []etcdstore.Due, err error)

	from   etcdstore.Places // where the next look begins: before it there was nothing, or what this program leaves
	swept  int              // the shard that is read from its beginning next
	sweeps time.Time        // then

	late lateness

	shards  []int                   // that are watched
	watched bool                    // the watches have begun
	news    <-chan etcdstore.Places // nil: nothing is watched
	unfold  context.CancelFunc
}

// run looks when something is due, when the shards of this node change, and by sweep.
func (w *dueWorker) run(ctx context.Context) error {
	sub := w.t.cfg.Session.Subscribe()
	defer sub.Close()
	defer w.unwatch()
	next := time.Now().Add(pace.Jitter(dueLeast))
	w.from, w.sweeps = etcdstore.Places{}, next.Add(w.t.cfg.Rest)
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	for looked := next; ; timer.Reset(time.Until(next)) {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.C():
			if slices.Equal(w.mine(), w.shards) {
				continue
			}
		case put, ok := <-w.news:
			if !ok {
				w.unwatch()
				next = sooner(next, time.Now().Add(pace.Jitter(time.Second))) // the next look watches again
				continue
			}
			w.goesBack(put)
			next = sooner(next, later(looked.Add(dueLeast), w.until(put.Soonest())))
			continue
		case <-timer.C:
		}
		next = w.look(ctx)
		looked = time.Now()
	}
}

// goesBack lets the next look begin before what was put.
func (w *dueWorker) goesBack(put etcdstore.Places) {
	w.watched = true // those that began late say so
	for shard, place := range put {
		w.from[shard] = min(w.from[shard], place)
	}
}

// advance lets the next look of a shard begin at a place that all before is gone, or left; "": all is that was due.
func (w *dueWorker) advance(shard int, place string, now time.Time) {
	if !w.watched || !slices.Contains(w.shards, shard) {
		now = now.Add(-dueSettled)
	}
	end := etcdstore.PlaceAt(now)
	w.from[shard] = max(w.from[shard], min(cmp.Or(place, end), end))
}

// sweep lets the next look read one shard from its beginning, if it is time.
func (w *dueWorker) sweep() {
	if time.Now().Before(w.sweeps) {
		return
	}
	w.from[w.swept] = ""
	w.swept = (w.swept + 1) % etcdstore.TimerShards
	w.sweeps = time.Now().Add(w.t.cfg.Rest)
}

// look fires what is due, and tells when to look again.
func (w *dueWorker) look(ctx context.Context) (next time.Time) {
	soon := time.Now().Add(pace.Jitter(dueLeast))
	may := w.may()
	if !may && time.Since(w.late.looked) < w.t.cfg.Rest {
		return soon
	}
	if mine := w.mine(); !slices.Equal(mine, w.shards) || w.news == nil && len(mine) > 0 {
		w.watch(ctx, mine) // before the read: what it does not see, they do
	}
	w.sweep()
	now := w.t.cfg.Now().UTC()
	first, err := w.t.cfg.Store.FirstDue(ctx, w.of, w.from, now.Add(2*w.t.cfg.Rest)) // only what is put and due before the next look needs the watches
	if err == nil {
		w.tellLate(ctx, first, now)
		at, due := w.turn(first, now)
		switch {
		case !may:
			return soon
		case len(due) == 0:
			return sooner(time.Now().Add(pace.Jitter(w.t.cfg.Rest)), later(soon, w.until(at)))
		}
		var more bool
		if more, err = w.pass(ctx, due, now); more && err == nil {
			return time.Now()
		}
	}
	if err != nil && ctx.Err() == nil {
		w.t.cfg.Log.WarnContext(ctx, "worker step failed; it is tried again", "worker", w.of.String(), "error", err)
	}
	return soon // what is behind those that were due is seen then
}

// pass fires what is due at now in some shards, from places on, as far as it looks. more: it did not look at all of that, and the
// next pass sees further.
func (w *dueWorker) pass(ctx context.Context, from etcdstore.Places, now time.Time) (more bool, err error) {
	var errs []error
	failed := etcdstore.Places{} // the first of each shard
	for n := 0; len(from) > 0 && n < duePages; n++ {
		page, rest, err := w.t.cfg.Store.Due(ctx, w.of, from, now, duePerShard)
		if err != nil {
			return false, errors.Join(append(errs, err)...)
		}
		fires, moves, stays := w.sort(page, rest, now)
		not, err := w.fire(ctx, fires, now)
		if err != nil {
			errs = append(errs, err)
		}
		for _, d := range not {
			if _, ok := failed[d.Shard]; !ok {
				failed[d.Shard] = d.Place
			}
		}
		if err := w.move(ctx, moves); err != nil {
			errs = append(errs, err)
		}
		for shard := range from {
			w.advance(shard, cmp.Or(failed[shard], stays[shard], rest[shard]), now)
		}
		if from = rest; errors.Is(err, etcdstore.ErrUnknown) {
			break // what is behind would fare no better
		}
	}
	return len(from) > 0, errors.Join(errs...)
}

// sort tells of a page what is to be fired, which misplaced timers are to be moved, and the first place of each shard
// of what stays until later. What stays is the last of its shard that matters: those of a shard are in the order of
// their times, so it takes it out of rest.
func (w *dueWorker) sort(page []etcdstore.Due, rest etcdstore.Places, now time.Time) (fires []etcdstore.Due, moves map[int][]string, stays etcdstore.Places) {
	moves, stays = map[int][]string{}, etcdstore.Places{}
	for _, d := range page {
		_, ended := stays[d.Shard]
		switch {
		case d.Misplaced && (d.Unreadable || d.At.After(now)):
			moves[d.Shard] = append(moves[d.Shard], d.Place)
		case ended:
		case d.At.After(now) && !strings.HasPrefix(d.Place, etcdstore.PlaceAt(now)):
			// Its key does not say when it is due. It is in nobody's way, and the sweep looks at it again.
		case d.At.After(now), !w.t.mine(d.Shard, d.At, now): // the first: within this millisecond
			stays[d.Shard] = d.Place
			delete(rest, d.Shard)
		case d.Unreadable: // likewise: others may know it
			w.late.leave(d.Shard, d.At)
		default:
			fires = append(fires, d)
		}
	}
	return fires, moves, stays
}

// move puts misplaced timers where they belong, by whom they may be: a node of before looks at nothing behind them.
func (w *dueWorker) move(ctx context.Context, places map[int][]string) error {
	if w.of != etcdstore.Timers {
		return nil // of schedules there are none but those that a program wrote which no upgrade comes from
	}
	var errs []error
	for shard, places := range places {
		errs = append(errs, w.t.moveMisplaced(ctx, shard, places))
	}
	return errors.Join(errs...)
}

// mine are the shards that this node is preferred for.
func (w *dueWorker) mine() (shards []int) {
	for i := range etcdstore.TimerShards {
		if prefers(w.t.cfg.Session, i) {
			shards = append(shards, i)
		}
	}
	return shards
}

func (w *dueWorker) watch(ctx context.Context, shards []int) {
	w.unwatch()
	clear(w.from) // what was put in between nobody told
	if w.shards = shards; len(shards) == 0 {
		return
	}
	ctx, w.unfold = context.WithCancel(ctx)
	w.news, w.watched = w.t.cfg.Store.WatchDue(ctx, w.of, shards)
}

func (w *dueWorker) unwatch() {
	if w.news != nil {
		w.unfold()
		w.news, w.watched = nil, false
	}
}

// turn is when this node has to fire something of what is first in each shard, zero: it knows of nothing; and where
// it begins in those shards where that is now. Before what is first there was nothing.
func (w *dueWorker) turn(first []etcdstore.First, now time.Time) (at time.Time, due etcdstore.Places) {
	due = etcdstore.Places{}
	for i, f := range first {
		turn := f.At
		if !f.Misplaced && !prefers(w.t.cfg.Session, i) {
			turn = turn.Add(dueGrace)
		}
		w.advance(i, f.Place, now)
		if f.Place != "" && !turn.After(now) {
			due[i] = f.Place
		}
		if f.Place != "" && (at.IsZero() || turn.Before(at)) {
			at = turn
		}
	}
	return at, due
}

// prefers reports whether this node is preferred for what is due in a shard.
func prefers(s *cluster.Session, shard int) bool {
	return s.PreferredNode(fmt.Sprintf("timer/%d", shard)) == s.NodeID()
}

// mine reports whether this node does what is due in a shard: it is preferred, or
// the preferred node is late by more than [dueGrace].
func (t *timers) mine(shard int, due, now time.Time) bool {
	return now.Sub(due) >= dueGrace || prefers(t.cfg.Session, shard)
}

// until is when the wall clock shows a time, by the monotonic clock; for a zero one,
// after the next sweep.
func (w *dueWorker) until(at time.Time) time.Time {
	if at.IsZero() {
		return time.Now().Add(2 * w.t.cfg.Rest)
	}
	return time.Now().Add(at.Sub(w.t.cfg.Now()))
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
