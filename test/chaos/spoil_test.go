package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// spoil arms the faults of one node. The rules are tried in order, each with its
// own chance.
func (w *world) spoil(f *clustertest.Faults) {
	if w.calm.Load() {
		return
	}
	everything := func(clustertest.Call) bool { return true }
	var armed []*clustertest.Armed
	for _, r := range []struct {
		name string
		clustertest.Rule
	}{
		{"failed before", clustertest.Rule{Fault: clustertest.FailBefore, Prob: 0.02}},
		{"answer lost", clustertest.Rule{Fault: clustertest.LoseAnswer, Prob: 0.02}},
		{"no space, though applied", clustertest.Rule{Fault: clustertest.LoseAnswer, Prob: 0.005, Err: rpctypes.ErrNoSpace}},
		{"applied late", clustertest.Rule{Fault: clustertest.DeliverLate, Prob: 0.015}},
		{"applied twice", clustertest.Rule{Fault: clustertest.ApplyTwice, Prob: 0.02}},
		{"sent late", clustertest.Rule{Fault: clustertest.DelayBefore, Prob: 0.02, Delay: 60 * time.Millisecond}},
		{"sent very late", clustertest.Rule{Fault: clustertest.DelayBefore, Prob: 0.002, Delay: ttl + 500*time.Millisecond}},
		{"answered late", clustertest.Rule{Fault: clustertest.DelayAnswer, Prob: 0.025, Delay: lateAfter * 2}},
		{"read failed", clustertest.Rule{Fault: clustertest.FailBefore, Prob: 0.003, Match: everything}},
	} {
		a := f.Add(r.Rule)
		armed = append(armed, a)
		w.track(r.name, a)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = append(w.armed, armed...)
}

var errDead = errors.New("chaos: this node is dead")

// mortalKV lets nothing through once its node is dead; what is under way by then
// arrives or not, as with a process that was killed.
type mortalKV struct {
	clientv3.KV
	dead *atomic.Bool
}

func (k *mortalKV) Put(ctx context.Context, key, val string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	if k.dead.Load() {
		return nil, errDead
	}
	return k.KV.Put(ctx, key, val, opts...)
}

func (k *mortalKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if k.dead.Load() {
		return nil, errDead
	}
	return k.KV.Get(ctx, key, opts...)
}

func (k *mortalKV) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	if k.dead.Load() {
		return nil, errDead
	}
	return k.KV.Delete(ctx, key, opts...)
}

func (k *mortalKV) Txn(ctx context.Context) clientv3.Txn {
	return &mortalTxn{Txn: k.KV.Txn(ctx), dead: k.dead}
}

type mortalTxn struct {
	clientv3.Txn
	dead *atomic.Bool
}

func (t *mortalTxn) If(cs ...clientv3.Cmp) clientv3.Txn   { t.Txn = t.Txn.If(cs...); return t }
func (t *mortalTxn) Then(ops ...clientv3.Op) clientv3.Txn { t.Txn = t.Txn.Then(ops...); return t }
func (t *mortalTxn) Else(ops ...clientv3.Op) clientv3.Txn { t.Txn = t.Txn.Else(ops...); return t }
func (t *mortalTxn) Commit() (*clientv3.TxnResponse, error) {
	if t.dead.Load() {
		return nil, errDead
	}
	return t.Txn.Commit()
}

// mortalLease does not revoke the lease of a dead node.
type mortalLease struct {
	clientv3.Lease
	dead *atomic.Bool
}

func (l *mortalLease) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	if l.dead.Load() {
		return nil, errDead
	}
	return l.Lease.Revoke(ctx, id)
}

// fickle drops watches: some end after a while, as when their stream broke.
type fickle struct {
	clientv3.Watcher
	w *world
}

func (f *fickle) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if f.w.calm.Load() || rand.IntN(3) > 0 {
		return f.Watcher.Watch(ctx, key, opts...)
	}
	ctx, cancel := context.WithCancel(ctx)
	in := f.Watcher.Watch(ctx, key, opts...)
	out := make(chan clientv3.WatchResponse)
	drop := time.NewTimer(time.Duration(rand.IntN(3000)) * time.Millisecond)
	go func() {
		defer close(out)
		defer cancel()
		defer drop.Stop()
		for {
			select {
			case <-drop.C:
				f.w.coverage.watchesDropped.Add(1)
				return
			case resp, ok := <-in:
				if !ok {
					return
				}
				select {
				case out <- resp:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}
