package clustertest

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// faultyKV is the KV of a wrapped client.
type faultyKV struct {
	clientv3.KV
	f *Faults
}

func (k *faultyKV) Put(ctx context.Context, key, val string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return spoil(ctx, k.f, Call{Op: "put", Keys: []string{key}, Puts: []string{key}, Mutating: true},
		func(ctx context.Context) (*clientv3.PutResponse, error) { return k.KV.Put(ctx, key, val, opts...) })
}

func (k *faultyKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return spoil(ctx, k.f, Call{Op: "get", Keys: []string{key}},
		func(ctx context.Context) (*clientv3.GetResponse, error) {
			resp, err := k.KV.Get(ctx, key, opts...)
			if err == nil {
				k.f.read(resp.Kvs, resp.Count)
			}
			return resp, err
		})
}

func (k *faultyKV) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	return spoil(ctx, k.f, Call{Op: "delete", Keys: []string{key}, Deletes: []string{key}, Mutating: true},
		func(ctx context.Context) (*clientv3.DeleteResponse, error) { return k.KV.Delete(ctx, key, opts...) })
}

func (k *faultyKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	c := Call{Op: opName(op)}
	c.add(op)
	return spoil(ctx, k.f, c,
		func(ctx context.Context) (clientv3.OpResponse, error) { return k.KV.Do(ctx, op) })
}

func opName(op clientv3.Op) string {
	switch {
	case op.IsTxn():
		return "txn"
	case op.IsPut():
		return "put"
	case op.IsDelete():
		return "delete"
	default:
		return "get"
	}
}

func (c *Call) add(op clientv3.Op) {
	if op.IsTxn() {
		_, then, other := op.Txn()
		for _, o := range append(append([]clientv3.Op(nil), then...), other...) {
			c.add(o)
		}
		return
	}
	key := string(op.KeyBytes())
	c.Keys = append(c.Keys, key)
	switch {
	case op.IsPut():
		c.Puts = append(c.Puts, key)
	case op.IsDelete():
		c.Deletes = append(c.Deletes, key)
	default:
		return
	}
	c.Mutating = true
}

func (k *faultyKV) Txn(ctx context.Context) clientv3.Txn { return &faultyTxn{k: k, ctx: ctx} }

// faultyTxn collects a transaction, so that it can be sent more than once.
type faultyTxn struct {
	k           *faultyKV
	ctx         context.Context
	cmps        []clientv3.Cmp
	then, other []clientv3.Op
}

func (t *faultyTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	t.cmps = append(t.cmps, cs...)
	return t
}

func (t *faultyTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}

func (t *faultyTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.other = append(t.other, ops...)
	return t
}

func (t *faultyTxn) Commit() (*clientv3.TxnResponse, error) {
	c := Call{Op: "txn"}
	c.add(clientv3.OpTxn(t.cmps, t.then, t.other))
	return spoil(t.ctx, t.k.f, c, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		resp, err := t.k.KV.Txn(ctx).If(t.cmps...).Then(t.then...).Else(t.other...).Commit()
		if err == nil {
			for _, r := range resp.Responses {
				t.k.f.read(r.GetResponseRange().GetKvs(), r.GetResponseRange().GetCount())
			}
		}
		return resp, err
	})
}
