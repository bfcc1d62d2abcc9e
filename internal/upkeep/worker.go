package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/cluster"
)

// worker is what every job has.
type worker struct {
	cfg    *Config
	intake *intake.Intake
}

// loop is [loop.Run] with one period.
func (w *worker) loop(ctx context.Context, what string, every time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	return w.pacedLoop(ctx, what, func() time.Duration { return every }, wake, step)
}

func (w *worker) pacedLoop(ctx context.Context, what string, every func() time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	return loop.Run(ctx, w.cfg.Log, what, every, wake, step)
}

// rest is how long a sweep rests that comes behind hints of this node and found
// nothing: only what another node left that died is not hinted, and that is seen
// before the lease of the dead one ends.
func (w *worker) rest(least time.Duration) time.Duration {
	ttl := cluster.MinTTL
	if e := w.cfg.Session.Epoch(); e != nil {
		ttl = e.TTL
	}
	return restOf(ttl, least, w.cfg.Rest)
}

const defaultRest = 5 * time.Second

func restOf(ttl, least, most time.Duration) time.Duration { return max(least, min(ttl/2, most)) }

// sendsAtOnce is how many stimuli a worker has under way at a time: enough that
// their writes share proposals.
const sendsAtOnce = 64

// besideVanished runs work, and calls gone whenever nodes have vanished.
func (w *worker) besideVanished(ctx context.Context, gone func(), work func(context.Context) error) error {
	sub := w.cfg.Session.Subscribe()
	defer sub.Close()
	return both(ctx, func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-sub.C():
				if len(sub.Vanished()) > 0 {
					gone()
				}
			}
		}
	}, work)
}
