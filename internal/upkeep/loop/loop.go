package loop

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/pace"
)

// Run runs step at every tick of about every (with jitter), which is asked for after
// each step, and at every wake, until ctx ends. An error is logged and the loop goes on: nothing that a step
// meets may end a worker. A step that asks for more runs again at once.
func Run(ctx context.Context, log *slog.Logger, what string, every func() time.Duration, wake <-chan struct{}, step func(context.Context) (more bool, err error)) error {
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
					log.WarnContext(ctx, "worker step failed; it is tried again", "worker", what, "error", err)
				}
				break
			}
		}
		timer.Reset(pace.Jitter(every()))
	}
}

// SideBySide does each of n, at most limit at a time, and joins the errors: one
// that fails never holds up the others.
func SideBySide(limit, n int, do func(i int) error) error {
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

// pauses is how long a purge pauses between two requests.
const pauses = 20 * time.Millisecond

// Pause keeps a purge from taking what etcd can do; an error if ctx ended.
func Pause(ctx context.Context) error {
	if !pace.Pause(ctx, pace.Jitter(pauses)) {
		return ctx.Err()
	}
	return nil
}
