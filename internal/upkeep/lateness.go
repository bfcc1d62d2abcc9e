package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
)

const (
	lateAfter = 30 * time.Second // then what is due and does not fire is told
	lateSaid  = 5 * time.Minute  // so often, as long as it is
)

// lateness is what is known of what is due and does not fire.
type lateness struct {
	looked time.Time         // when a look last saw what is first
	left   map[int]time.Time // when the oldest was due that a look left in a shard, as this program cannot read it
	said   time.Time         // when the log said it, last; zero: nothing is late
}

// leave notes what a look leaves in a shard.
func (l *lateness) leave(shard int, due time.Time) {
	if was, ok := l.left[shard]; !ok || due.Before(was) {
		if l.left == nil {
			l.left = map[int]time.Time{}
		}
		l.left[shard] = due
	}
}

// of tells which shards have something that is due for long, and for how long the oldest of all has been due.
func (l *lateness) of(first []etcdstore.First, now time.Time) (shards []int, oldest time.Duration) {
	for i, f := range first {
		var late time.Duration
		if f.Place != "" && !f.Misplaced {
			late = now.Sub(f.At)
		}
		if due, ok := l.left[i]; ok {
			late = max(late, now.Sub(due))
		}
		if late >= lateAfter {
			shards = append(shards, i)
		}
		oldest = max(oldest, late)
	}
	return shards, oldest
}

// tellLate tells the metrics, and the log of a node that is preferred for it, what is due for long and does not fire; the log
// of the others when that node does not. A look from the beginning of a shard sees again what is left there.
func (w *dueWorker) tellLate(ctx context.Context, first []etcdstore.First, now time.Time) {
	l := &w.late
	l.looked = time.Now()
	for i := range first {
		if w.from[i] == "" {
			delete(l.left, i)
		}
	}
	shards, oldest := l.of(first, now)
	metrics.DueLate(w.t.cfg.Metrics, metrics.Due(w.of.String()), len(shards), oldest)
	mine := oldest >= 2*lateAfter // then that node does not say it
	for _, shard := range shards {
		mine = mine || prefers(w.t.cfg.Session, shard)
	}
	switch {
	case len(shards) == 0 && !l.said.IsZero():
		l.said = time.Time{}
		w.t.cfg.Log.InfoContext(ctx, "what is due fires in time again", "what", w.of.String())
	case len(shards) > 0 && mine && !w.t.intake.Suspended() && time.Since(l.said) >= lateSaid:
		l.said = time.Now()
		w.t.cfg.Log.WarnContext(ctx, "what is due does not fire; see docs/runbooks/late-timers.md",
			"what", w.of.String(), "late", oldest.Truncate(time.Millisecond), "shards", shards, "firesHere", w.may())
	}
}
