package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/metrics"
)

var (
	// ErrHeld says that a lock is held, possibly by this node. The
	// error in hand is a [*HeldError], which names the holder.
	ErrHeld = errors.New("the lock is held")

	// ErrSessionLost says that this node has no live session: its lease ended
	// or can no longer be renewed, and everything that was bound to it is void.
	// It is the cause of the end of an epoch's context.
	ErrSessionLost = errors.New("the session with etcd is lost")

	// ErrLockLost is the cause of the end of a held lock's context when its
	// epoch ended. It is a reason to stop, not a proof: the proof is the fence.
	ErrLockLost = fmt.Errorf("the lock is lost: %w", ErrSessionLost)

	// ErrLockReleased is the cause of the end of a lock's context after the
	// holder itself gave the lock back.
	ErrLockReleased = errors.New("the lock was released")

	// ErrClosed says that the session was ended on purpose.
	ErrClosed = errors.New("the session is closed")
)

// HeldError says that a lock could not be taken at once and who holds it.
// errors.Is(err, ErrHeld) is true for it.
type HeldError struct {
	Name   Name
	Holder Holder
	// Confirmed is true if the holder was read twice, before and after the
	// refusal, with the same fence. If it is false the refusal met a node that was
	// just coming or leaving: perhaps no node does the work, so look again.
	Confirmed bool
}

func (e *HeldError) Error() string {
	if e.Holder.NodeID == "" {
		return fmt.Sprintf("%s is locked by an unknown holder", e.Name)
	}
	return fmt.Sprintf("%s is locked by node %s", e.Name, e.Holder.NodeID)
}

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// ConflictError says that this node must not join because of another live node.
type ConflictError struct {
	Other  Node
	Reason string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: node %q at %s (%s), started %s",
		e.Reason, e.Other.ID, e.Other.Address, e.Other.Mode, e.Other.StartedAt.Format(time.RFC3339))
}

// reason is why there is no session, in words of this package alone: a node's
// readiness shows it to strangers. What an error says goes to the log.
type reason string

// sessionLost says what went wrong and is [ErrSessionLost].
func sessionLost(why reason) error { return fmt.Errorf("%w: %s", ErrSessionLost, why) }

// IsTransient tells whether acquiring a lock again may help: the outcome is
// unknown, etcd was not reachable or overloaded, or a read was overtaken by a
// compaction. Held locks, a lost session, conflicts, the caller's own
// cancellation and definite refusals (permission, size, too many operations, a
// dead lease) are not transient: the same call would end the same way.
//
// It is about repeating an acquisition. Whether a commit took effect is a
// different question; see docs/keys.md.
func IsTransient(err error) bool {
	var held *HeldError
	var conflict *ConflictError
	switch {
	case err == nil:
		return false
	case errors.As(err, &held), errors.As(err, &conflict):
		return false
	case errors.Is(err, ErrSessionLost), errors.Is(err, ErrClosed), errors.Is(err, ErrLockReleased):
		return false
	case errors.Is(err, rpctypes.ErrCompacted), errors.Is(err, rpctypes.ErrTooManyRequests):
		// Definite, and yet the next try has a fresh revision or a free server.
		return true
	case call.IsDefinite(err):
		return false
	case errors.Is(err, context.Canceled):
		// clientv3 reports the caller's own cancellation as this very value; a
		// Canceled from the server stays a gRPC status.
		return false
	}
	return true
}

// RetryReason is what a metric calls a transient error; see [IsTransient].
func RetryReason(err error) metrics.RetryReason {
	var etcd rpctypes.EtcdError
	code := status.Code(err)
	if errors.As(err, &etcd) {
		code = etcd.Code()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), code == codes.DeadlineExceeded,
		errors.Is(err, rpctypes.ErrTimeout), errors.Is(err, rpctypes.ErrTimeoutDueToLeaderFail),
		errors.Is(err, rpctypes.ErrTimeoutDueToConnectionLost), errors.Is(err, rpctypes.ErrTimeoutWaitAppliedIndex):
		return metrics.RetryTimeout // etcd's own timeouts have the code Unavailable
	case code == codes.Unavailable:
		return metrics.RetryUnavailable
	}
	return metrics.RetryOther
}
