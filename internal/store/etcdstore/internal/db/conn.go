package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Conn sends the requests of a cluster's store to etcd. It knows no record and no key.
type Conn struct {
	Client  *clientv3.Client
	Log     *slog.Logger
	Metrics *metrics.Metrics
	Timeout time.Duration // of one request

	Said atomic.Int64 // when the log last told of a record that is left alone

	Halted atomic.Pointer[workflow.Error] // why nothing may be read or written any more
}

// ErrUnknown marks a write whose outcome is not known: it may have been, or may
// yet be, applied.
var ErrUnknown = errors.New("outcome unknown")

// ErrTooLarge marks a transaction that etcd would refuse for its size.
var ErrTooLarge = errors.New("transaction too large")

// Txn sends one transaction under the store's deadline. Its error is either
// definite (nothing was applied) or wraps [ErrUnknown].
func (s *Conn) Txn(ctx context.Context, what string, cmps []clientv3.Cmp, then, otherwise []clientv3.Op) (*pb.TxnResponse, error) {
	if err := s.running(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	s.Metrics.EtcdRequest(metrics.OpTxn)
	resp, err := s.Client.Txn(ctx).If(cmps...).Then(then...).Else(otherwise...).Commit()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, Classify(err))
	}
	return (*pb.TxnResponse)(resp), nil
}

// Read sends reads only, as one request at one revision.
func (s *Conn) Read(ctx context.Context, what string, ops ...clientv3.Op) (*pb.TxnResponse, error) {
	if err := s.running(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	s.Metrics.EtcdRequest(metrics.OpRange)
	resp, err := s.Client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return (*pb.TxnResponse)(resp), nil
}

// Get reads one key or range.
func (s *Conn) Get(ctx context.Context, what, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := s.running(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	s.Metrics.EtcdRequest(metrics.OpRange)
	resp, err := s.Client.Get(ctx, key, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return resp, nil
}

// running is the error for calls after the format was found to be another.
func (s *Conn) running() error {
	if halted := s.Halted.Load(); halted != nil {
		return halted
	}
	return nil
}

// Classify tells refusals, after which nothing was applied, from unknown
// outcomes (etcd notes 22 and 24). That etcd has too much to do is counted with
// the unknown: it is said of this copy only, an earlier one may be under way, and
// what follows is the same, to send it again.
func Classify(err error) error {
	for _, definite := range []error{
		rpctypes.ErrTooManyOps, rpctypes.ErrDuplicateKey, rpctypes.ErrEmptyKey,
		rpctypes.ErrPermissionDenied, rpctypes.ErrLeaseNotFound, rpctypes.ErrCompacted,
	} {
		if errors.Is(err, definite) {
			return err
		}
	}
	if errors.Is(err, rpctypes.ErrRequestTooLarge) || status.Code(err) == codes.ResourceExhausted { // etcd's own of this code are no status any more
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}
