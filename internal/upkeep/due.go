package upkeep

import (
	"context"
	"fmt"
	"slices"
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
)

// dueWorker fires what is due of one kind, at its time: it knows from its last look
// when the next is due, and from watches what was put since into the shards that
// this node is preferred for.
type dueWorker struct {
	t   *timers
	of  etcdstore.Dated
	may func() bool // costs nothing
	// fire tells whether there was something to fire; more: look again at once.
	fire func(ctx context.Context, now time.Time) (fired, more bool, err error)

	left   time.Time        // what was due before it was not to be fired at the last look; zero: it is looked at
	shards []int            // that are watched
	news   <-chan time.Time // nil: nothing is watched
	unfold context.CancelFunc
}

// run looks when something is due, when the shards of this node change, and by sweep.
func (w *dueWorker) run(ctx context.Context) error {
	sub := w.t.cfg.Session.Subscribe()
	defer sub.Close()
	defer w.unwatch()
	next := time.Now().Add(pace.Jitter(dueLeast))
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
		case due, ok := <-w.news:
			if !ok {
				w.unwatch()
				next = sooner(next, time.Now().Add(pace.Jitter(time.Second))) // the next look watches again
				continue
			}
			next = sooner(next, later(looked.Add(dueLeast), w.from(due)))
			continue
		case <-timer.C:
		}
		next = w.look(ctx)
		looked = time.Now()
	}
}

// look fires what is due, and tells when to look again.
func (w *dueWorker) look(ctx context.Context) (next time.Time) {
	soon := time.Now().Add(pace.Jitter(dueLeast))
	if !w.may() {
		return soon
	}
	if mine := w.mine(); w.news == nil || !slices.Equal(mine, w.shards) {
		w.watch(ctx, mine) // before the read: what it does not see, they do
	}
	now := w.t.cfg.Now().UTC()
	left := w.left
	w.left = time.Time{}
	first, err := w.t.cfg.Store.FirstDue(ctx, w.of, left, now.Add(2*w.t.cfg.Rest)) // only what is put and due before the next look needs the watches
	if err == nil {
		at := w.turn(first)
		if at.IsZero() || at.After(now) {
			return sooner(time.Now().Add(pace.Jitter(w.t.cfg.Rest)), later(soon, w.from(at)))
		}
		var fired, more bool
		fired, more, err = w.fire(ctx, now)
		switch {
		case err == nil && more:
			return time.Now()
		case err == nil && !fired: // this program cannot read it: what comes next is behind it, and the sweep looks at it again
			w.left = now.Add(-dueGrace) // later, others may be late
		}
	}
	if err != nil && ctx.Err() == nil {
		w.t.cfg.Log.WarnContext(ctx, "worker step failed; it is tried again", "worker", w.of.String(), "error", err)
	}
	return soon // what is behind those that were due is seen then
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
	if w.shards = shards; len(shards) == 0 {
		return
	}
	ctx, w.unfold = context.WithCancel(ctx)
	w.news = w.t.cfg.Store.WatchDue(ctx, w.of, shards)
}

func (w *dueWorker) unwatch() {
	if w.news != nil {
		w.unfold()
		w.news = nil
	}
}

// turn is when this node has to fire something of what is first in each shard; zero:
// it knows of nothing.
func (w *dueWorker) turn(first []time.Time) (at time.Time) {
	for i, due := range first {
		if due.IsZero() {
			continue
		}
		if !prefers(w.t.cfg.Session, i) {
			due = due.Add(dueGrace)
		}
		if at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
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

// from is when the wall clock shows a time, by the monotonic clock; for a zero one,
// after the next sweep.
func (w *dueWorker) from(at time.Time) time.Time {
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
