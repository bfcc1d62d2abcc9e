package upkeep

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

// expireQueue turns what has waited in the queue for as long as QueueTTL, also behind
// a gate, into dead letters, on the node preferred for it. No wall clock has a part
// in it: what was queued up to the mark that is so old goes, and all of the queue is
// looked at once for each such mark.
func (r *Upkeep) expireQueue(ctx context.Context) error {
	var done int64 // the revision up to which it is done
	return r.loop(ctx, "expiry of the queue", r.cfg.AgeEvery, nil, func(ctx context.Context) (bool, error) {
		if r.intake.HoldsBack() || r.cfg.Session.PreferredNode("queue-expiry") != r.cfg.Session.NodeID() {
			return false, nil
		}
		mark, ok := r.cfg.Age.Now().Before(r.cfg.Runtime.QueueTTL())
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
func (r *Upkeep) expireUpTo(ctx context.Context, revision int64) error {
	var errs []error
	for cursor := ""; ; {
		items, next, err := r.cfg.Store.Queued(ctx, "", cursor, queuePageSize)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		items = slices.DeleteFunc(items, func(q etcdstore.Queued) bool { return q.Created > revision })
		errs = append(errs, sideBySide(sendsAtOnce, len(items), func(i int) error { // one that fails never holds up the others
			reason, err := r.cfg.Store.ExpireQueueItem(ctx, items[i], r.cfg.Runtime.QueueTTL(), r.cfg.Now().UTC())
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
