package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }

// world is one cluster on the shared etcd.
type world struct {
	t    *testing.T
	etcd *clustertest.Etcd
	name string
	raw  *clientv3.Client // outside of all sessions
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return worldOn(t, clustertest.Shared(t))
}

func worldOn(t *testing.T, etcd *clustertest.Etcd) *world {
	t.Helper()
	return &world{t: t, etcd: etcd, name: clustertest.Namespace(t), raw: etcd.Client(t)}
}

func (w *world) config(node string) Config {
	return Config{
		Client:  w.etcd.Client(w.t),
		Cluster: w.name, NodeID: node, Address: node + ".test:1", Version: "test",
		TTL:    10 * time.Second,
		Logger: slog.New(slog.DiscardHandler),
	}
}

// open joins without running: no renewals, no janitor, no watch of members.
func (w *world) open(node string, change ...func(*Config)) *Session {
	w.t.Helper()
	c := w.config(node)
	for _, f := range change {
		f(&c)
	}
	s, err := Open(w.ctx(), c)
	if err != nil {
		w.t.Fatalf("open %s: %v", node, err)
	}
	w.t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// run joins and runs until the test ends.
func (w *world) run(node string, change ...func(*Config)) *Session {
	w.t.Helper()
	s := w.open(node, change...)
	w.start(s)
	return s
}

// start runs s until the test ends or the returned func is called.
func (w *world) start(s *Session) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(ctx); err != nil {
			w.t.Errorf("run: %v", err)
		}
	})
	stop = func() { cancel(); wg.Wait() }
	w.t.Cleanup(stop)
	return stop
}

func ttl(d time.Duration) func(*Config) { return func(c *Config) { c.TTL = d } }

// ctx bounds a step of a test.
func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(cancel)
	return ctx
}

// take tries again and again as long as the lock is held.
func (w *world) take(s *Session, n Name) (*Lock, error) {
	ctx := w.ctx()
	for {
		l, err := s.Locks().TryAcquire(ctx, n)
		if !errors.Is(err, ErrHeld) || ctx.Err() != nil {
			return l, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *world) lock(s *Session, n Name) *Lock {
	w.t.Helper()
	l, err := w.take(s, n)
	if err != nil {
		w.t.Fatalf("acquire: %v", err)
	}
	return l
}

// waiter puts the key of a session that waits behind the holder of a lock, as other
// programs with etcd's mutex do.
func (w *world) waiter(s *Session, n Name) Fence {
	w.t.Helper()
	lease := s.Epoch().Lease
	key := w.prefix(n) + leaseHex(lease)
	return Fence{Key: key, Prefix: w.prefix(n), Revision: w.put(key, "", clientv3.WithLease(lease))}
}

func (w *world) release(l *Lock) {
	w.t.Helper()
	if err := l.Release(w.ctx()); err != nil {
		w.t.Fatalf("release: %v", err)
	}
}

// try expects a refusal.
func (w *world) refused(s *Session, n Name) *HeldError {
	w.t.Helper()
	l, err := s.Locks().TryAcquire(w.ctx(), n)
	var held *HeldError
	if !errors.As(err, &held) || !errors.Is(err, ErrHeld) {
		w.t.Fatalf("try: lock %v, error %v; want held", l, err)
	}
	return held
}

func (w *world) put(key, value string, opts ...clientv3.OpOption) int64 {
	w.t.Helper()
	resp, err := w.raw.Put(w.ctx(), key, value, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.Header.Revision
}

func (w *world) get(key string, opts ...clientv3.OpOption) *clientv3.GetResponse {
	w.t.Helper()
	resp, err := w.raw.Get(w.ctx(), key, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

func (w *world) revoke(lease clientv3.LeaseID) {
	w.t.Helper()
	if _, err := w.raw.Revoke(w.ctx(), lease); err != nil {
		w.t.Fatal(err)
	}
}

// commit is what a store does with a fence.
func (w *world) commit(f Fence) bool {
	w.t.Helper()
	resp, err := w.raw.Txn(w.ctx()).
		If(clientv3.Compare(clientv3.CreateRevision(f.Key), "=", f.Revision),
			clientv3.Compare(clientv3.CreateRevision(f.Prefix), ">", f.Revision-1).WithPrefix()).
		Then(clientv3.OpPut(Root(w.name)+"committed", f.Key)).
		Commit()
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.Succeeded
}

func (w *world) prefix(n Name) string { return Root(w.name) + n.path() + "/" }

// keys counts the keys of a lock: holder and waiters.
func (w *world) keys(n Name) int {
	w.t.Helper()
	return len(w.get(w.prefix(n), clientv3.WithPrefix()).Kvs)
}

// waiters waits until the lock has n keys.
func (w *world) waitKeys(n Name, count int) {
	w.t.Helper()
	polltest.Eventually(w.t, fmt.Sprintf("%d keys of %s", count, n), func() bool { return w.keys(n) == count })
}

// lateness tells by how much this process slept too long between the two calls, all in
// all: what has to be quick is late by as much on a machine that is busy.
func lateness(t *testing.T) func() time.Duration {
	t.Helper()
	over, result := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		const nap = 5 * time.Millisecond
		late := time.Duration(0)
		for {
			slept := time.Now()
			select {
			case <-time.After(nap):
				late += time.Since(slept) - nap
			case <-over:
				result <- late
				return
			}
		}
	}()
	end := sync.OnceValue(func() time.Duration { close(over); return <-result })
	t.Cleanup(func() { end() })
	return end
}

// ended waits for the end of a context that has to end.
func ended(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the context does not end")
	}
}
