// Package pace says how long to wait before something is done again.
//
// It guarantees that every wait ends with its context, that waits which are to
// be spread differ between nodes which began together, and that what is
// repeated is tried at least once. It guarantees no upper bound: a timer fires
// late on a busy machine, and a wait that is spread may be longer than the one
// it was made of. It does not know what may be repeated: that is the caller's
// knowledge, who says it after each try.
//
// All functions may be called from any goroutine. A [Waits] belongs to one loop:
// it counts, and begins again only with a new one.
package pace

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/sethvargo/go-retry"
)

// withoutPauses is the key of contexts of [WithoutPauses].
type withoutPauses struct{}

// WithoutPauses gives a context in which nothing waits, for tests of workflows: their clock is not that of the
// machine.
func WithoutPauses(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutPauses{}, true)
}

// Pause waits for d. It reports false if ctx has ended, at once when it does.
func Pause(ctx context.Context, d time.Duration) bool {
	if ctx.Value(withoutPauses{}) != nil {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Jitter spreads a period, which is not negative, by up to a fifth to either side.
func Jitter(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}

// Waits is how long to wait before each next try. Make it with [Every] or
// [Doubling]; what is put behind them changes the waits in that order: a limit
// before a spread is spread, one behind it is the end of the matter.
type Waits struct{ backoff retry.Backoff }

// Every waits for d, which is above 0, each time.
func Every(d time.Duration) Waits { return Waits{retry.NewConstant(d)} }

// Doubling waits for first, which is above 0, and then each time twice as long.
func Doubling(first time.Duration) Waits { return Waits{retry.NewExponential(first)} }

// UpTo limits each wait.
func (w Waits) UpTo(most time.Duration) Waits {
	return Waits{retry.WithCappedDuration(most, w.backoff)}
}

// Spread moves each wait by up to so many percent to either side.
func (w Waits) Spread(percent uint64) Waits {
	return Waits{retry.WithJitterPercent(percent, w.backoff)}
}

// Times ends the waits after n of them.
func (w Waits) Times(n uint64) Waits { return Waits{retry.WithMaxRetries(n, w.backoff)} }

// Within ends the waits d after this call, and shortens the last one to that.
func (w Waits) Within(d time.Duration) Waits { return Waits{retry.WithMaxDuration(d, w.backoff)} }

// Next is the next wait; false if there is none.
func (w Waits) Next() (time.Duration, bool) {
	d, stop := w.backoff.Next()
	return d, !stop
}

// Repeat calls do, and again after each wait for as long as do asks for that. It
// gives the error of the last call; if that had none, and ctx ended before the
// next, the cause of that. The first call is made in any case, also when ctx has
// ended.
func Repeat(ctx context.Context, waits Waits, do func() (again bool, err error)) error {
	for {
		again, err := do()
		if !again {
			return err
		}
		wait, ok := waits.Next()
		if !ok {
			return err
		}
		if !Pause(ctx, wait) {
			if err == nil {
				err = context.Cause(ctx)
			}
			return err
		}
	}
}
