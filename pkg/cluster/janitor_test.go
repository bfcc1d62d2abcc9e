package cluster

import (
	"context"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
)

// looksAtLeases counts who asks for the keys of a lease.
type looksAtLeases struct {
	clientv3.Lease
	n atomic.Int64
}

func (l *looksAtLeases) TimeToLive(ctx context.Context, id clientv3.LeaseID, opts ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	l.n.Add(1)
	return l.Lease.TimeToLive(ctx, id, opts...)
}

// The janitor of a session that never asked for a lock rests, as it can have no key
// that nobody knows of; the first lock wakes it.
func TestTheJanitorRestsUntilALockIsAskedFor(t *testing.T) {
	w := newWorld(t)
	looks := &looksAtLeases{}
	s := w.run("a", func(c *Config) { looks.Lease = c.Client.Lease; c.Client.Lease = looks })
	record := func() int64 { return w.get(s.nodeKey()).Kvs[0].ModRevision }
	first := record()
	polltest.Eventually(t, "a heartbeat, which is later than the janitor would be", func() bool { return record() != first })
	if n := looks.n.Load(); n != 0 {
		t.Errorf("it has looked %d times for keys of locks that nobody asked for", n)
	}
	w.release(w.lock(s, someLock))
	polltest.Eventually(t, "it looks after the first lock", func() bool { return looks.n.Load() > 1 })
}

// A lock that was asked for long ago keeps no janitor awake, and the next one wakes it.
func TestTheJanitorRestsWhenNoCopyCanCome(t *testing.T) {
	w := newWorld(t)
	e := w.open("a").Epoch()
	rests := func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return !e.keysMayCome(ctx)
	}
	if !rests() {
		t.Error("it does not rest before the first lock")
	}
	if !e.enter("one") || rests() {
		t.Error("it rests after a lock")
	}
	e.asked.Store(e.asked.Load() - lateCopies.Nanoseconds())
	if !rests() {
		t.Error("it does not rest when all copies have come")
	}
	if e.enter("one") || rests() { // also one that is refused here
		t.Error("it rests after the next lock")
	}
}
