package front

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Elsewhere decides about a call that this node cannot serve itself: nil if it is
// to be made durable, since another node is at the instance already, this one has no
// place for it now, or its program cannot run it and a live one's can. Otherwise the error for
// the caller.
func Elsewhere(ctx context.Context, s *cluster.Session, err error) error {
	if errors.Is(err, client.ErrBusy) || errors.Is(err, admission.ErrCrowded) {
		return nil
	}
	if errors.Is(err, etcdstore.ErrDamaged) {
		return etcdstore.Damaged("what this is for", err) // no other node reads it either
	}
	if workflow.CodeOf(err) != workflow.CodeNotRunnable {
		return err
	}
	var e *workflow.Error
	errors.As(err, &e)
	able, aerr := s.Able(ctx, e.Needs)
	if aerr != nil {
		return etcdstore.Unavailable("the program of this node cannot run it, and which other can was not to be read", errors.Join(err, aerr))
	}
	if len(able) > 0 {
		return nil
	}
	return &workflow.Error{Code: e.Code, Problems: e.Problems, Needs: e.Needs, Err: e.Err, RetryAfter: 10 * time.Second,
		Detail: e.Detail + "; no live node has a program that can, and nothing was acknowledged"}
}
