package groupcommit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/metrics"
)

// Config is what a [KV] needs.
type Config struct {
	// KV sends the proposals. Its client must not repeat requests on its own
	// (MaxUnaryRetries 1). Required.
	KV clientv3.KV
	// InFlight is how many proposals of a kind (reads, writes) may be under way
	// before requests gather; default 2.
	InFlight int
	Metrics  *metrics.Metrics // may be nil
}

const defaultInFlight = 2

// KV is a clientv3.KV that folds requests. Make it with [New].
type KV struct {
	clientv3.KV // sends proposals, and takes what is not folded

	reads, writes queue

	ctx    context.Context // of all proposals; ends when Close has to hurry
	cancel context.CancelFunc
	tasks  sync.WaitGroup // proposals under way that no caller sends himself

	patience time.Duration // changed by tests only, before the first request
}

// ErrClosed is the answer to requests after [KV.Close].
var ErrClosed = errors.New("groupcommit: closed")

// New makes a KV. It starts nothing.
func New(cfg Config) *KV {
	k := &KV{KV: cfg.KV, patience: defaultPatience}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	inFlight := cmp.Or(cfg.InFlight, defaultInFlight)
	k.reads = queue{kv: k, kind: metrics.BatchReads, permits: inFlight, metrics: cfg.Metrics}
	k.writes = queue{kv: k, kind: metrics.BatchWrites, permits: inFlight, metrics: cfg.Metrics}
	return k
}

// Close refuses new requests, cancels the proposals that are under way, whose
// outcome is unknown then, and waits for them. Close it when nobody uses it any
// more. It may be called more than once.
func (k *KV) Close() {
	k.reads.close()
	k.writes.close()
	k.cancel()
	k.tasks.Wait()
}

// Put implements clientv3.KV.
func (k *KV) Put(ctx context.Context, key, val string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	r, err := k.Do(ctx, clientv3.OpPut(key, val, opts...))
	return r.Put(), err
}

// Get implements clientv3.KV.
func (k *KV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	r, err := k.Do(ctx, clientv3.OpGet(key, opts...))
	return r.Get(), err
}

// Delete implements clientv3.KV.
func (k *KV) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	r, err := k.Do(ctx, clientv3.OpDelete(key, opts...))
	return r.Del(), err
}

// Do implements clientv3.KV.
func (k *KV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	q := k.queueOf(ctx, op)
	if q == nil {
		return k.KV.Do(ctx, op)
	}
	return q.do(ctx, op)
}

// Txn implements clientv3.KV.
func (k *KV) Txn(ctx context.Context) clientv3.Txn { return &txn{k: k, ctx: ctx} }

// queueOf is where a request may be folded; nil for nowhere. Reads have requests of their
// own: one that writes is a proposal, which goes through the raft log and is executed by
// every member. One that only reads is none, but if there is a transaction inside of it:
// etcd looks no deeper (IsTxnReadonly).
func (k *KV) queueOf(ctx context.Context, op clientv3.Op) *queue {
	if !foldableContext(ctx) {
		return nil
	}
	writes, ok := foldable(op)
	switch {
	case !ok:
		return nil
	case writes:
		return &k.writes
	case plain(op):
		return &k.reads
	}
	return nil
}

// txn collects a transaction.
type txn struct {
	k           *KV
	ctx         context.Context // of this one call, as clientv3's own Txn keeps it
	cmps        []clientv3.Cmp
	then, other []clientv3.Op
}

func (t *txn) If(cs ...clientv3.Cmp) clientv3.Txn   { t.cmps = joined(t.cmps, cs); return t }
func (t *txn) Then(ops ...clientv3.Op) clientv3.Txn { t.then = joined(t.then, ops); return t }
func (t *txn) Else(ops ...clientv3.Op) clientv3.Txn { t.other = joined(t.other, ops); return t }

// joined is more itself where there was nothing, as nearly always: what was
// handed in is not changed any more, and an operation is large.
func joined[T any](list, more []T) []T {
	if len(list) == 0 {
		return slices.Clip(more)
	}
	return append(list, more...)
}

func (t *txn) Commit() (*clientv3.TxnResponse, error) {
	r, err := t.k.Do(t.ctx, clientv3.OpTxn(t.cmps, t.then, t.other))
	return r.Txn(), err
}
