package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/tracing"
)

// Traced shows the requests that are made within a span. It stands in
// front of group commit: a request's own time is what its sender waits for, and
// the proposal that it shares with others belongs to none of them. For the same
// reason it is no interceptor of the connection, of which an embedded etcd has
// none.
func Traced(kv clientv3.KV) clientv3.KV { return tracedKV{kv} }

type tracedKV struct{ clientv3.KV }

func (k tracedKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, span := tracing.Etcd(ctx, "range", 1)
	resp, err := k.KV.Get(ctx, key, opts...)
	return resp, ended(span, err)
}

func (k tracedKV) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	ctx, span := tracing.Etcd(ctx, "put", 1)
	resp, err := k.KV.Put(ctx, key, value, opts...)
	return resp, ended(span, err)
}

func (k tracedKV) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	ctx, span := tracing.Etcd(ctx, "delete", 1)
	resp, err := k.KV.Delete(ctx, key, opts...)
	return resp, ended(span, err)
}

func (k tracedKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	ctx, span := tracing.Etcd(ctx, "do", 1)
	resp, err := k.KV.Do(ctx, op)
	return resp, ended(span, err)
}

func (k tracedKV) Txn(ctx context.Context) clientv3.Txn {
	return &tracedTxn{kv: k.KV, ctx: ctx}
}

// tracedTxn is a transaction that is begun when all of it is known.
type tracedTxn struct {
	kv              clientv3.KV
	ctx             context.Context
	cmps            []clientv3.Cmp
	then, otherwise []clientv3.Op
}

func (t *tracedTxn) If(cmps ...clientv3.Cmp) clientv3.Txn {
	t.cmps = append(t.cmps, cmps...)
	return t
}

func (t *tracedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}

func (t *tracedTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.otherwise = append(t.otherwise, ops...)
	return t
}

func (t *tracedTxn) Commit() (*clientv3.TxnResponse, error) {
	ctx, span := tracing.Etcd(t.ctx, "txn", len(t.then))
	resp, err := t.kv.Txn(ctx).If(t.cmps...).Then(t.then...).Else(t.otherwise...).Commit()
	if err == nil && !resp.Succeeded {
		span.Outcome("else")
	}
	return resp, ended(span, err)
}

// codeOf reads the code of an error of the etcd client, which has types of its
// own for those that it knows.
func codeOf(err error) codes.Code {
	var known rpctypes.EtcdError
	switch {
	case errors.As(err, &known):
		return known.Code()
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	return status.Code(err)
}

func ended(span tracing.Span, err error) error {
	if err != nil {
		span.Fail(codeOf(err).String())
	}
	span.End()
	return err
}
