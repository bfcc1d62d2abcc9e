package refresh

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// tries bounds how often a refusal is looked at again that met nobody for sure:
// somebody was just coming or leaving.
const tries = 10

// hold takes a lock without waiting for its holder and runs work under it. The
// work's context ends when the lock is lost. Held elsewhere, it does nothing and
// gives the holder.
func hold(ctx context.Context, locks *cluster.Locks, name cluster.Name, log *slog.Logger, work func(context.Context) error) (*cluster.HeldError, error) {
	lock, held, err := take(ctx, locks, name)
	if err != nil || held != nil {
		return held, err
	}
	// A failed release is counted there and ends with the lease; the work is done.
	defer func() {
		if err := lock.Release(ctx); err != nil {
			log.WarnContext(ctx, "lock not released, it ends with the session", "lock", name.String(), "error", err)
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(lock.Context(), func() { cancel(context.Cause(lock.Context())) })
	defer stop()
	return nil, work(ctx)
}

func take(ctx context.Context, locks *cluster.Locks, name cluster.Name) (*cluster.Lock, *cluster.HeldError, error) {
	for i := 1; ; i++ {
		lock, err := locks.TryAcquire(ctx, name)
		if err == nil {
			return lock, nil, nil
		}
		var held *cluster.HeldError
		if !errors.As(err, &held) {
			return nil, nil, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "it is not known whether another node does this already; repeat", RetryAfter: time.Second, Err: err}
		}
		if held.Confirmed || i == tries || !pace.Pause(ctx, 5*time.Millisecond+rand.N(20*time.Millisecond)) {
			return nil, held, nil
		}
	}
}

// refused makes the result of what somebody else is doing.
func refused(held *cluster.HeldError, ids []string) Result {
	r := newResult(AlreadyInProgress)
	r.Holder = held.Holder.NodeID
	by := "another node"
	if r.Holder != "" {
		by = "node " + r.Holder
	}
	for _, id := range ids {
		r.not(id, by+" is doing it already")
	}
	return r
}
