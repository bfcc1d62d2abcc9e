package runtime

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// expireQueue turns what has waited in the queue for as long as QueueTTL, also behind
// a gate, into dead letters, on the node preferred for it. No wall clock has a part
// in it: what was queued up to the mark that is so old goes, and all of the queue is
// looked at once for each such mark.
func (r *Runtime) expireQueue(ctx context.Context) error {
	var done int64 // the revision up to which it is done
	return r.loop(ctx, "expiry of the queue", r.cfg.AgeEvery, nil, func(ctx context.Context) (bool, error) {
		if r.holdsBack() || r.cfg.Session.PreferredNode("queue-expiry") != r.cfg.Session.NodeID() {
			return false, nil
		}
		mark, ok := r.age().Before(r.cfg.QueueTTL)
		if !ok || mark.Revision == done {
			return false, nil
		}
		err := r.expireUpTo(ctx, mark.Revision)
		if err == nil {
			done = mark.Revision
		}
		return false, err
	})
}

// expireUpTo expires what was queued up to a revision. It reads keys only, and what
// goes: what waits may be large, and there may be much of it.
func (r *Runtime) expireUpTo(ctx context.Context, revision int64) error {
	var errs []error
	for cursor := ""; ; {
		items, next, err := r.cfg.Upkeep.Queued(ctx, "", cursor, queuePageSize)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		items = slices.DeleteFunc(items, func(q etcdstore.Queued) bool { return q.Created > revision })
		errs = append(errs, sideBySide(sendsAtOnce, len(items), func(i int) error { // one that fails never holds up the others
			reason, err := r.cfg.Upkeep.ExpireQueueItem(ctx, items[i], r.cfg.QueueTTL, r.cfg.Now().UTC())
			if reason != "" {
				r.cfg.Metrics.DeadLetter(reason)
			}
			return err
		}))
		if cursor = next; next == "" {
			return errors.Join(errs...)
		}
	}
}

// expiresAt is about when a queue item becomes a dead letter, by this node's clock.
func (r *Runtime) expiresAt(item *store.QueueItem, age *store.Age) time.Time {
	return r.cfg.Now().UTC().Add(max(0, r.cfg.QueueTTL-age.Of(item.Created)))
}
