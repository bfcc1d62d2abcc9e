package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

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
