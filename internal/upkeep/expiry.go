package upkeep

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/metrics"
)

// expiry ends what waits in the queue, and the records of commands and keys, by their age.
type expiry struct{ worker }

// expireQueue turns what has waited in the queue for as long as QueueTTL, also behind
// a gate, into dead letters, on the node preferred for it. No wall clock has a part
// in it: what was queued up to the mark that is so old goes, and all of the queue is
// looked at once for each such mark.
func (x *expiry) expireQueue(ctx context.Context) error {
	var done int64 // the revision up to which it is done
	return x.loop(ctx, "expiry of the queue", x.cfg.AgeEvery, nil, func(ctx context.Context) (bool, error) {
		if x.intake.HoldsBack() || x.cfg.Session.PreferredNode("queue-expiry") != x.cfg.Session.NodeID() {
			return false, nil
		}
		mark, ok := x.cfg.Age.Now().Before(x.cfg.Runtime.QueueTTL())
		if !ok || mark.Revision == done {
			return false, nil
		}
		err := x.expireUpTo(ctx, mark.Revision)
		if err == nil {
			done = mark.Revision
		}
		return false, err
	})
}

// expireUpTo expires what was queued up to a revision. It reads keys only, and what
// goes: what waits may be large, and there may be much of it.
func (x *expiry) expireUpTo(ctx context.Context, revision int64) error {
	var errs []error
	for cursor := ""; ; {
		items, next, err := x.cfg.Store.Queued(ctx, "", cursor, queuePageSize)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		items = slices.DeleteFunc(items, func(q etcdstore.Queued) bool { return q.Created > revision })
		errs = append(errs, loop.SideBySide(sendsAtOnce, len(items), func(i int) error { // one that fails never holds up the others
			reason, err := x.cfg.Store.ExpireQueueItem(ctx, items[i], x.cfg.Runtime.QueueTTL(), x.cfg.Now().UTC())
			if reason != "" {
				x.cfg.Metrics.DeadLetter(reason)
			}
			return err
		}))
		if cursor = next; next == "" {
			return errors.Join(errs...)
		}
	}
}

// expireRecords deletes idempotency records that are old enough, a page at a time.
func (x *expiry) expireRecords(ctx context.Context) error {
	cursor := ""
	var done etcdstore.Expired // what all of the index was looked at for
	return x.loop(ctx, "expired records", x.cfg.AgeEvery, nil, func(ctx context.Context) (bool, error) {
		if x.cfg.Session.PreferredNode("expiry") != x.cfg.Session.NodeID() {
			return false, nil
		}
		age := x.cfg.Age.Now()
		now := x.cfg.Store.Expired(age)
		if cursor == "" && now == done {
			return false, nil // nothing more is old enough
		}
		n, next, err := x.cfg.Store.ExpireRecords(ctx, age, cursor)
		x.cfg.Metrics.Purged(metrics.PurgedRecord, n)
		if cursor = next; err == nil && next == "" {
			done = now
		}
		return next != "" && err == nil, err
	})
}
