package node

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/upkeep/retention"
)

// Retention says how long what has ended is kept. Zero fields keep everything;
// answers to keys as long as etcd has room. The limits on number and size of finished
// instances are shared out evenly over parts of them, so that small ones are kept about.
type Retention struct {
	Finished                     time.Duration // finished instances, from their end
	FinishedCount, FinishedBytes int64

	DeadLetters                        time.Duration // from when they came to be
	DeadLettersCount, DeadLettersBytes int64

	// The answers to callers' Idempotency-Keys, from when they were written; at least
	// 10 min. While etcd is nearly full they are kept to a tenth of its quota in any case.
	Idempotency                        time.Duration
	IdempotencyCount, IdempotencyBytes int64

	Live     time.Duration // with an archive, finished instances in etcd, but for those that faulted or have files; 0: as without one
	Archived time.Duration // instances in the archive, from their end

	// Versions is how many versions of each definition are kept, the newest, and
	// beside them those that something needs.
	Versions int64

	Journal int64 // about how many of the newest journal entries of each instance; at least 100

	// Grace is how long a finished instance and the answer to a key stay at least.
	// Default 10 min, the life of the records that refuse a late copy of an
	// instance's start: less is for tests.
	Grace time.Duration
}

// DefaultRetention is what a node does if it is not told otherwise. The sizes fit
// etcd's own default quota of 2 GiB.
func DefaultRetention() Retention {
	return Retention{
		Finished: 7 * 24 * time.Hour, Live: 10 * time.Second, FinishedCount: 500_000, FinishedBytes: 1 << 30,
		DeadLetters: 30 * 24 * time.Hour, DeadLettersCount: 100_000, DeadLettersBytes: 128 << 20,
		Idempotency: 24 * time.Hour, Versions: 100, Journal: 500,
	}
}

// upkeep is what the node's upkeep has to know of it; the rest is the store's.
func (r *Retention) upkeep() retention.Limits {
	return retention.Limits{
		Finished: r.Finished, Live: r.Live, FinishedCount: r.FinishedCount, FinishedBytes: r.FinishedBytes,
		DeadLetters: r.DeadLetters, DeadLettersCount: r.DeadLettersCount, DeadLettersBytes: r.DeadLettersBytes,
		IdempotencyCount: r.IdempotencyCount, IdempotencyBytes: r.IdempotencyBytes, Archived: r.Archived,
		Versions: r.Versions, Grace: r.Grace,
	}
}

// keepKeys is how long the store keeps callers' keys.
func (r *Retention) keepKeys() time.Duration {
	const forEver = 100 * 365 * 24 * time.Hour
	return cmp.Or(r.Idempotency, forEver)
}

func (r *Retention) check(archive bool) error {
	if r.Archived > 0 && !archive {
		return errors.New("retain-archived is about an archive, and there is none")
	}
	for name, n := range map[string]int64{
		"retain-finished": int64(r.Finished), "retain-finished-count": r.FinishedCount, "retain-finished-bytes": r.FinishedBytes,
		"retain-dead-letters": int64(r.DeadLetters), "retain-dead-letters-count": r.DeadLettersCount, "retain-dead-letters-bytes": r.DeadLettersBytes,
		"retain-idempotency": int64(r.Idempotency), "retain-idempotency-count": r.IdempotencyCount, "retain-idempotency-bytes": r.IdempotencyBytes,
		"retain-live": int64(r.Live), "retain-archived": int64(r.Archived), "retain-journal": r.Journal, "retain-versions": r.Versions,
	} {
		if n < 0 {
			return fmt.Errorf("%s is %d; it must be positive, or 0 to keep everything", name, n)
		}
	}
	return nil
}
