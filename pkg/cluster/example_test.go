package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// join makes a node of a cluster; leave ends it as a drain does.
func join(ctx context.Context, etcd *clientv3.Client, name, id, mode string) (session *cluster.Session, leave func(), err error) {
	s, err := cluster.Open(ctx, cluster.Config{Client: etcd, Cluster: name, NodeID: id, Mode: mode, TTL: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	return s, func() { _, _ = s.Close(ctx), <-ran }, nil
}

// A fence goes into the transaction that the lock protects. What a former holder
// sends late is refused: what that node believes does not count.
func ExampleFence() {
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		a, leaveA, err := join(ctx, etcd, name, "a", cluster.ModeDistributed)
		if err != nil {
			return err
		}
		b, leaveB, err := join(ctx, etcd, name, "b", cluster.ModeDistributed)
		if err != nil {
			return err
		}
		defer leaveB()
		write := func(f cluster.Fence, by string) error {
			resp, err := etcd.Txn(ctx).
				If(clientv3.Compare(clientv3.CreateRevision(f.Key), "=", f.Revision),
					clientv3.Compare(clientv3.CreateRevision(f.Prefix), ">", f.Revision-1).WithPrefix()).
				Then(clientv3.OpPut(cluster.Root(name)+"example", by)).
				Commit()
			if err == nil {
				fmt.Printf("%s writes: %t\n", by, resp.Succeeded)
			}
			return err
		}

		order := cluster.InstanceLock("order-1")
		first, err := a.Locks().TryAcquire(ctx, order)
		if err != nil {
			return err
		}
		if err := write(first.Fence(), "a"); err != nil {
			return err
		}
		leaveA() // or it dies, and its lease ends
		second, err := b.Locks().TryAcquire(ctx, order)
		if err != nil {
			return err
		}
		return errors.Join(write(first.Fence(), "a"), write(second.Fence(), "b"), second.Release(ctx))
	})
	// Output:
	// a writes: true
	// a writes: false
	// b writes: true
}

// A lock that is held is refused at once, and the refusal names the holder. Giving
// it back frees it for others.
func ExampleLocks_TryAcquire() {
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		a, leaveA, err := join(ctx, etcd, name, "a", cluster.ModeDistributed)
		if err != nil {
			return err
		}
		defer leaveA()
		b, leaveB, err := join(ctx, etcd, name, "b", cluster.ModeDistributed)
		if err != nil {
			return err
		}
		defer leaveB()

		lock, err := a.Locks().TryAcquire(ctx, cluster.ReloadLock())
		if err != nil {
			return err
		}
		_, err = b.Locks().TryAcquire(ctx, cluster.ReloadLock())
		var held *cluster.HeldError
		if errors.As(err, &held) {
			fmt.Println(err)
		}
		if err := lock.Release(ctx); err != nil {
			return err
		}
		fmt.Println("a's work under the lock:", context.Cause(lock.Context()))
		lock, err = b.Locks().TryAcquire(ctx, cluster.ReloadLock())
		if err != nil {
			return err
		}
		fmt.Println("b has", lock.Name())
		return lock.Release(ctx)
	})
	// Output:
	// reload is locked by node a
	// a's work under the lock: the lock was released
	// b has reload
}

// A node in local mode takes no locks, so it does not join others.
func ExampleOpen() {
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		_, leave, err := join(ctx, etcd, name, "a", cluster.ModeDistributed)
		if err != nil {
			return err
		}
		defer leave()
		_, _, err = join(ctx, etcd, name, "b", cluster.ModeLocal)
		var conflict *cluster.ConflictError
		if errors.As(err, &conflict) {
			fmt.Printf("%s: %s\n", conflict.Reason, conflict.Other.ID)
		}
		return nil
	})
	// Output: a local node must be alone, and another node is live: a
}
