package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/metrics"
)

// expiry ends what waits in the queue, the records of commands and keys, and files without an instance, by their age.
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

const (
	filesEvery = 10 * time.Minute // how often files are looked for that have no instance
	filesLife  = time.Hour        // of a file before there is its instance
)

// sweepFiles deletes files that were put for an instance which never came, or went before them. One node does
// it; two at once do no harm.
func (x *expiry) sweepFiles(ctx context.Context) error {
	cursor := ""
	var last time.Time
	return x.loop(ctx, "files without an instance", x.cfg.AgeEvery, nil, func(ctx context.Context) (bool, error) {
		if x.cfg.Session.PreferredNode("files") != x.cfg.Session.NodeID() || cursor == "" && time.Since(last) < filesEvery {
			return false, nil
		}
		last = time.Now()
		var err error
		cursor, err = x.sweepSome(ctx, cursor)
		return cursor != "" && err == nil, err
	})
}

// sweepSome is one step of that, behind a cursor.
func (x *expiry) sweepSome(ctx context.Context, cursor string) (next string, err error) {
	mark, ok := x.cfg.Age.Now().Before(filesLife)
	if !ok {
		return "", nil
	}
	gone, next, err := x.cfg.Contents.Sweep(ctx, mark.Revision, cursor)
	if gone > 0 {
		x.cfg.Log.InfoContext(ctx, "files deleted of which there is no instance: requests that brought them were not accepted", "instances", gone)
	}
	return next, err
}
