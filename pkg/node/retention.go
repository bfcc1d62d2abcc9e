package node

import (
	"cmp"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
)

// Retention says how long what has ended is kept. Zero fields keep everything;
// answers to keys as long as etcd has room.
type Retention struct {
	runtime.Retention
	Journal     int64         // about how many of the newest journal entries of each instance; at least 100
	Idempotency time.Duration // the answers to callers' Idempotency-Keys, from when they were written; at least 10 min
}

// DefaultRetention is what a node does if it is not told otherwise. The sizes fit
// etcd's own default quota of 2 GiB.
func DefaultRetention() Retention {
	return Retention{
		Retention: runtime.Retention{
			Versions: 100,
			Finished: 7 * 24 * time.Hour, FinishedCount: 500_000, FinishedBytes: 1 << 30,
			DeadLetters: 30 * 24 * time.Hour, DeadLettersCount: 100_000, DeadLettersBytes: 128 << 20,
		},
		Journal: 500, Idempotency: 24 * time.Hour,
	}
}

// keepKeys is how long the store keeps callers' keys.
func (r *Retention) keepKeys() time.Duration {
	const forEver = 100 * 365 * 24 * time.Hour
	return cmp.Or(r.Idempotency, forEver)
}

func (r *Retention) check() error {
	for name, n := range map[string]int64{
		"retain-finished": int64(r.Finished), "retain-finished-count": r.FinishedCount, "retain-finished-bytes": r.FinishedBytes,
		"retain-dead-letters": int64(r.DeadLetters), "retain-dead-letters-count": r.DeadLettersCount, "retain-dead-letters-bytes": r.DeadLettersBytes,
		"retain-idempotency": int64(r.Idempotency), "retain-idempotency-count": r.IdempotencyCount, "retain-idempotency-bytes": r.IdempotencyBytes,
		"retain-journal": r.Journal, "retain-versions": r.Versions,
	} {
		if n < 0 {
			return fmt.Errorf("%s is %d; it must be positive, or 0 to keep everything", name, n)
		}
	}
	return nil
}
