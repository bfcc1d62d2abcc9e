package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Counts are how many instances there are, all as they were at one revision.
type Counts struct {
	Lists    []Count // by definition id, version and sub-status
	More     bool    // there are more versions and sub-statuses than were counted
	Revision int64
	At       time.Time // when they were counted, by this node's clock
}

// Count is how many instances of a version are in one sub-status.
type Count = etcdstore.InstanceCount

// Counting costs etcd time in which it takes no write. So what was counted is told again for a
// while: for countsKept at least, and for so many times as long as it took to count.
const (
	countsKept  = 2 * time.Second
	countsShare = 20
)

// counter counts for all who ask.
type counter struct {
	mu    sync.Mutex // held while it counts: who asks then is told the same
	last  Counts
	until time.Time // zero: nothing was counted
}

// Counts tells how many instances there are. Who asks soon after another is told what that one was.
func (i *Inspector) Counts(ctx context.Context) (Counts, error) {
	c := &i.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if began.Before(c.until) {
		return c.last, nil
	}
	if err := ctx.Err(); err != nil { // while another counted
		return Counts{}, err
	}
	counted, err := i.cfg.Reader.Counts(ctx)
	if err != nil {
		return Counts{}, etcdstore.ReadFailed("counts of instances", err)
	}
	c.last = Counts{Lists: counted.Lists, More: counted.More, Revision: counted.Revision, At: i.cfg.Now().UTC()}
	now := time.Now()
	c.until = now.Add(max(countsKept, countsShare*now.Sub(began)))
	return c.last, nil
}
