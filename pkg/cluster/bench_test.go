package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// BenchmarkLockCycle takes and gives back one lock after the other, each under
// its own name, many at a time. Client and etcd share the process and its
// processors.
func BenchmarkLockCycle(b *testing.B) {
	etcd := clustertest.Shared(b)
	s, err := Open(b.Context(), Config{
		Client: etcd.Client(b), Cluster: clustertest.Namespace(b), NodeID: "a", TTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.Background())
	var next atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		name := InstanceLock(fmt.Sprint(next.Add(1)))
		for pb.Next() {
			l, err := s.Locks().TryAcquire(b.Context(), name)
			if err != nil {
				b.Error(err)
				return
			}
			if err := l.Release(b.Context()); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkNote46_PutsBesideAWatchInThePast is puts, alone and while watches that begin 200,000 versions back catch up one after the other: how many a second, and
// how long the slowest took.
func BenchmarkNote46_PutsBesideAWatchInThePast(b *testing.B) {
	etcd := clustertest.Start(b)
	c := etcd.Client(b)
	const versions, together = 200_000, 100
	for range versions / together {
		ops := make([]clientv3.Op, together)
		for i := range ops {
			ops[i] = clientv3.OpPut(fmt.Sprint("past/", i), "")
		}
		if _, err := c.Txn(b.Context()).Then(ops...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
	puts := func(b *testing.B) {
		b.Helper()
		slowest := time.Duration(0)
		for b.Loop() {
			begin := time.Now()
			if _, err := c.Put(b.Context(), "now", ""); err != nil {
				b.Fatal(err)
			}
			slowest = max(slowest, time.Since(begin))
		}
		b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest")
	}
	b.Run("alone", puts)
	b.Run("beside", func(b *testing.B) {
		past := etcd.Client(b)
		ctx, stop := context.WithCancel(b.Context())
		var caught atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				one, end := context.WithCancel(ctx)
				got := 0
				for resp := range past.Watch(one, "past/", clientv3.WithPrefix(), clientv3.WithRev(2)) {
					if got += len(resp.Events); got >= versions {
						caught.Add(1)
						break
					}
				}
				end()
			}
		}()
		puts(b)
		stop()
		<-ended
		b.ReportMetric(float64(caught.Load()), "watches")
	})
}
