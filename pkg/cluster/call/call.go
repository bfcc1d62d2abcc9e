package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// definite lists the answers of etcd that prove that nothing was applied.
// Everything else (Unavailable, DeadlineExceeded, Canceled, Unknown, Internal, a
// broken transport, also ErrNoSpace) leaves the outcome unknown.
var definite = []error{
	rpctypes.ErrTooManyOps,
	rpctypes.ErrDuplicateKey,
	rpctypes.ErrEmptyKey,
	rpctypes.ErrRequestTooLarge,
	rpctypes.ErrTooManyRequests,
	rpctypes.ErrPermissionDenied,
	rpctypes.ErrLeaseNotFound,
	rpctypes.ErrCompacted,
	rpctypes.ErrFutureRev,
	rpctypes.ErrUserEmpty,
	rpctypes.ErrAuthFailed,
	rpctypes.ErrInvalidAuthToken,
}

// IsDefinite tells whether an answer of etcd proves that nothing was applied.
func IsDefinite(err error) bool {
	for _, d := range definite {
		if errors.Is(err, d) {
			return true
		}
	}
	return false
}

// callTimeout bounds every single call to etcd. A call that takes longer is
// treated as unknown.
const callTimeout = 5 * time.Second

// WithTimeout bounds one call to etcd; the cause of its end is [ErrNoAnswer].
func WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, callTimeout, ErrNoAnswer)
}

// ErrNoAnswer says that a call took too long: whether it was applied is not known.
var ErrNoAnswer = fmt.Errorf("no answer from etcd within %v: %w", callTimeout, context.DeadlineExceeded)

// RequireLeader makes a watch end when its member loses its leader instead of
// staying silent.
func RequireLeader(ctx context.Context) context.Context { return clientv3.WithRequireLeader(ctx) }
