package upkeep

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store"
)

// ageEvery is how often the cluster's age goes on, at least, and how old what a node
// knows of it may be.
const ageEvery = 10 * time.Second

// processStart has a monotonic reading.
var processStart = time.Now()

// Age is how old the cluster is, as this node knows. Make it with [NewAge]; the
// node's [Upkeep] keeps it going, and its front tells callers by it when what waits expires.
type Age struct {
	elapsed func() time.Duration
	seen    atomic.Pointer[seenAge] // nil: not seen yet
}

// NewAge makes an age that is not known yet. elapsed is a monotonic clock; nil: the
// process's, others are for tests.
func NewAge(elapsed func() time.Duration) *Age {
	if elapsed == nil {
		elapsed = func() time.Duration { return time.Since(processStart) }
	}
	return &Age{elapsed: elapsed}
}

// Now tells how old what lies in etcd is; see [store.Age]. What has passed since it
// was seen counts: when etcd has no space, and takes no new age, what is to be
// deleted goes on to grow older.
func (a *Age) Now() *store.Age {
	seen := a.seen.Load()
	if seen == nil {
		return new(store.Age)
	}
	now := *seen.Age
	now.Elapsed += max(0, a.elapsed()-seen.at)
	return &now
}

// seenAge is the cluster's age as this node saw it, not before it was so.
type seenAge struct {
	*store.Age
	at time.Duration // by the monotonic clock
}

// is tells whether nobody let the age go on since this node saw it first: then what
// has passed since then counts.
func (s *seenAge) is(a *store.Age) bool {
	n := len(a.Marks)
	return s != nil && n > 0 && s.Etcd == a.Etcd && len(s.Marks) > 0 && s.Marks[len(s.Marks)-1] == a.Marks[n-1]
}

// aging lets the age of the cluster go on.
type aging struct{ worker }

// keepAge lets the cluster's age go on, on the preferred node, by the time that
// has passed here since this node saw the age as it is. The others follow.
func (a *aging) keepAge(ctx context.Context) error {
	var seen *seenAge // nil: not seen yet, or another node let it go on since
	if _, err := a.cfg.Store.Age(ctx); err != nil && ctx.Err() == nil {
		a.cfg.Log.WarnContext(ctx, "age of the cluster not read; it is tried again", "error", err)
	}
	return a.loop(ctx, "age of the cluster", a.cfg.AgeEvery, nil, func(ctx context.Context) (bool, error) {
		if a.cfg.Session.PreferredNode("age") != a.cfg.Session.NodeID() {
			seen = nil
		}
		next, err := a.nextAge(ctx, seen)
		if err != nil {
			return false, err // what was seen stands: its time still counts
		}
		if seen = nil; next == nil {
			return true, nil
		}
		if seen = a.cfg.Age.seen.Load(); !seen.is(next) {
			seen = &seenAge{next, a.cfg.Age.elapsed()}
			a.cfg.Age.seen.Store(seen)
		}
		a.cfg.Metrics.SetAge(next.Elapsed)
		return false, nil
	})
}

// nextAge lets the age that was seen go on, or reads it if none was, or if it is of a newer
// program. Nil: look again.
func (a *aging) nextAge(ctx context.Context, seen *seenAge) (*store.Age, error) {
	if seen == nil || seen.Foreign {
		return a.cfg.Store.Age(ctx)
	}
	next, ok, err := a.cfg.Store.AdvanceAge(ctx, seen.Age, a.cfg.Age.elapsed()-seen.at)
	if err != nil || !ok {
		return nil, err
	}
	return next, nil
}
