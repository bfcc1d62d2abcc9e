package giving

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

const (
	look   = 500 * time.Millisecond // what failed is tried again
	sweep  = 30 * time.Second
	atOnce = 64 // lines that are looked at side by side, so that their writes share proposals
)

// Told are the lines at which somebody may be given a place, as commits of this node told. They are hints: what is lost here, a
// sweep finds. Make it with [NewTold].
type Told struct {
	mu    sync.Mutex
	lines map[limit.Line]bool      // guarded by mu
	later map[limit.Line]time.Time // when somebody may be given a place by the time alone; guarded by mu
	soon  time.Time                // not after the soonest of them; zero: there is none; guarded by mu
	wake  chan struct{}            // capacity 1
}

// NewTold makes an empty set.
func NewTold() *Told {
	return &Told{lines: map[limit.Line]bool{}, later: map[limit.Line]time.Time{}, wake: make(chan struct{}, 1)}
}

// Lines adds some. It never blocks.
func (t *Told) Lines(lines []limit.Line) {
	if len(lines) == 0 {
		return
	}
	t.keep(lines)
	t.signal()
}

func (t *Told) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// keep adds some without waking anybody: for a later try.
func (t *Told) keep(lines []limit.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range lines {
		t.lines[l] = true
	}
}

// at keeps a line for a time; zero: for none.
func (t *Told) at(l limit.Line, next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if next.IsZero() {
		delete(t.later, l)
		return
	}
	t.later[l] = next
	if t.soon.IsZero() || next.Before(t.soon) {
		t.soon = next
	}
}

// rest is for how long nothing is to be looked at, at most most.
func (t *Told) rest(now time.Time, most time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.soon.IsZero() {
		return most
	}
	return min(max(t.soon.Sub(now), time.Millisecond), most)
}

// take gives what was added since it was asked last, and whose time has come.
func (t *Told) take(now time.Time) []limit.Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.soon.IsZero() && !now.Before(t.soon) {
		t.soon = time.Time{}
		for l, at := range t.later {
			switch {
			case !now.Before(at):
				t.lines[l] = true
				delete(t.later, l)
			case t.soon.IsZero() || at.Before(t.soon):
				t.soon = at
			}
		}
	}
	lines := slices.Collect(maps.Keys(t.lines))
	clear(t.lines)
	return lines
}

// Giver gives places. Keep [Giver.Run] running.
type Giver struct {
	Store   *etcdstore.Limits
	Told    *Told
	Session *cluster.Session
	Intake  *intake.Intake
	Hint    func(instances []string, sent bool) // told which instances have mail
	Log     *slog.Logger
	Metrics *metrics.Metrics
	Now     func() time.Time
}

// Run works until ctx ends.
func (g *Giver) Run(ctx context.Context) error {
	swept := time.Time{}
	var vanished atomic.Bool
	sub := g.Session.Subscribe()
	defer sub.Close()
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-sub.C():
				if len(sub.Vanished()) > 0 {
					vanished.Store(true)
					g.Told.signal()
				}
			}
		}
	})
	both.Go(func() error {
		return loop.Run(ctx, g.Log, "limits", func() time.Duration { return g.Told.rest(g.Now(), look) }, g.Told.wake, func(ctx context.Context) (bool, error) {
			if g.Intake.HoldsBack() {
				return false, nil // those that were told are kept
			}
			if vanished.Swap(false) || time.Since(swept) >= sweep {
				swept = time.Now()
				if err := g.sweep(ctx); err != nil {
					swept = time.Time{} // all of it again
					return false, err
				}
			}
			return false, g.give(ctx)
		})
	})
	return both.Wait()
}

// give looks at the lines that were told.
func (g *Giver) give(ctx context.Context) error {
	lines := g.Told.take(g.Now())
	return loop.SideBySide(atOnce, len(lines), func(i int) error {
		gave, err := g.Store.Give(ctx, lines[i], g.Now().UTC())
		if len(gave.Woken) > 0 {
			g.Hint(gave.Woken, false)
		}
		if err != nil {
			g.Told.keep(lines[i : i+1])
			return err
		}
		g.Told.at(lines[i], gave.Next)
		return nil
	})
}

// sweep finds the lines at which somebody waits who can have a place, on the node that is preferred for it, and forgets those
// at which nobody is any more.
func (g *Giver) sweep(ctx context.Context) error {
	if g.Session.PreferredNode("limits") != g.Session.NodeID() {
		metrics.Lines{}.Tell(g.Metrics)
		return nil
	}
	limits, err := g.Store.List(ctx)
	if err != nil {
		return err
	}
	stands, err := g.Store.Stands(ctx, "", limits...)
	if err != nil {
		return err
	}
	var free []limit.Line
	var empty []*etcdstore.Stand
	var lines metrics.Lines
	now := g.Now()
	for _, s := range stands {
		switch {
		case s.Free(now):
			free = append(free, s.Line)
		case s.Empty(now):
			empty = append(empty, s)
		default:
			g.Told.at(s.Line, s.Next(now))
		}
		lines.Taken, lines.Waiting = lines.Taken+s.Taken, lines.Waiting+s.Waiting
		if s.Waiting > 0 {
			lines.Longest = max(lines.Longest, now.Sub(s.Since))
		}
	}
	lines.Tell(g.Metrics)
	g.Told.keep(free)
	for some := range slices.Chunk(empty, etcdstore.MostHeads) {
		if err := g.Store.DropHeads(ctx, some); err != nil {
			return err
		}
	}
	return nil
}
