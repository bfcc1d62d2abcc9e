package upkeep

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
)

// worker is what every job has.
type worker struct {
	cfg    *Config
	intake *intake.Intake
}

// loop runs step at every tick of about every (with jitter) and at every wake,
// until ctx ends. An error is logged and the loop goes on: nothing that a step
// meets may end a worker. A step that asks for more runs again at once.
func (w *worker) loop(ctx context.Context, what string, every time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	return w.pacedLoop(ctx, what, func() time.Duration { return every }, wake, step)
}

// pacedLoop is loop with a period that is asked for after each step.
func (w *worker) pacedLoop(ctx context.Context, what string, every func() time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
	timer := time.NewTimer(pace.Jitter(every()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-wake:
		}
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = step(ctx); err != nil {
				if ctx.Err() == nil {
					w.cfg.Log.WarnContext(ctx, "worker step failed; it is tried again", "worker", what, "error", err)
				}
				break
			}
		}
		timer.Reset(pace.Jitter(every()))
	}
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

// sideBySide does each of n, at most limit at a time, and joins the errors: one
// that fails never holds up the others.
func sideBySide(limit, n int, do func(i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = group.Wait()
	return errors.Join(errs...)
}

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
