package etcdstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Config says where a store keeps its keys.
type Config struct {
	Client  *clientv3.Client // required; dialled with MaxUnaryRetries 1 (etcd note 23)
	Root    string           // required; such as /weft/default/
	Log     *slog.Logger     // nil: discarded
	Metrics *metrics.Metrics // nil: none
	Timeout time.Duration    // of one request; default 5 s

	// KeepJournal is about how many entries an instance's journal keeps, the newest
	// ones; at least 100. 0: all.
	KeepJournal int64
	// KeepKeys is how long the answer to a caller's Idempotency-Key is kept; default
	// 24 h, at least 10 min, the life of our own records.
	KeepKeys time.Duration
}

// Store keeps definitions, instances and everything around them in etcd. It is
// safe for concurrent use and owns no goroutine.
type Store struct {
	client  *clientv3.Client
	keys    keys
	log     *slog.Logger
	metrics *metrics.Metrics
	timeout time.Duration
	said    *atomic.Int64 // when the log last told of a record that is left alone

	halted *atomic.Pointer[workflow.Error] // why nothing may be read or written any more; see KeepFormat

	keepEntries int64 // of a journal; 0: all
	keepKeys    time.Duration

	elapsed *atomic.Int64 // milliseconds; how old the cluster is, as far as this node knows; see Age
}

// New makes a store; it does not touch etcd.
func New(cfg Config) (*Store, error) {
	if cfg.Client == nil || cfg.Root == "" {
		return nil, errors.New("etcdstore: Client and Root are required")
	}
	s := &Store{client: cfg.Client, keys: keys{root: cfg.Root}, log: cfg.Log, metrics: cfg.Metrics, timeout: cfg.Timeout, said: new(atomic.Int64), halted: new(atomic.Pointer[workflow.Error]),
		keepKeys: max(recordTTL, cmp.Or(cfg.KeepKeys, keyTTL)), elapsed: new(atomic.Int64)}
	if cfg.KeepJournal > 0 {
		// A commit whose answer was lost is found by its entry, however many came
		// after it while its sender waited.
		s.keepEntries = max(minJournal, cfg.KeepJournal)
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.timeout == 0 {
		s.timeout = 5 * time.Second
	}
	return s, nil
}

const minJournal = 100

// ErrUnknown marks a write whose outcome is not known: it may have been, or may
// yet be, applied.
var ErrUnknown = errors.New("outcome unknown")

// ErrTooLarge marks a transaction that etcd would refuse for its size.
var ErrTooLarge = errors.New("transaction too large")

// txn sends one transaction under the store's deadline. Its error is either
// definite (nothing was applied) or wraps [ErrUnknown].
func (s *Store) txn(ctx context.Context, what string, cmps []clientv3.Cmp, then, otherwise []clientv3.Op) (*clientv3.TxnResponse, error) {
	if err := s.running(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	s.metrics.EtcdRequest(metrics.OpTxn)
	resp, err := s.client.Txn(ctx).If(cmps...).Then(then...).Else(otherwise...).Commit()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, classify(err))
	}
	return resp, nil
}

// read sends reads only, as one request at one revision.
func (s *Store) read(ctx context.Context, what string, ops ...clientv3.Op) (*clientv3.TxnResponse, error) {
	if err := s.running(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	s.metrics.EtcdRequest(metrics.OpRange)
	resp, err := s.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return resp, nil
}

// get reads one key or range.
func (s *Store) get(ctx context.Context, what, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := s.running(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	s.metrics.EtcdRequest(metrics.OpRange)
	resp, err := s.client.Get(ctx, key, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return resp, nil
}

// classify tells refusals, after which nothing was applied, from unknown
// outcomes (etcd notes 22 and 24). That etcd has too much to do is counted with
// the unknown: it is said of this copy only, an earlier one may be under way, and
// what follows is the same, to send it again.
func classify(err error) error {
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
