package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Client is one instance as this node sees it. [Local] and [Distributed]
// implement it.
type Client interface {
	// Do gives the instance a command that nobody has made durable yet. It
	// returns when the command's effect is committed, or (Accepted) when the
	// command is durable and its burst goes on. Errors: [ErrBusy] when another
	// node owns the instance, [admission.ErrCrowded] when it runs enough of the definition
	// (nothing was done); *workflow.Error otherwise.
	Do(ctx context.Context, cmd workflow.Command) (Result, error)
	// Resume is Do for a command that resumes a bookmark which was just found.
	Resume(ctx context.Context, cmd workflow.Command, found *store.BookmarkRef) (Result, error)
	// Begin is Do for the start of an instance whose id was made for it and shown
	// to nobody. Nobody else can want it, so it takes no lock.
	Begin(ctx context.Context, cmd workflow.Command) (Result, error)
	// Work runs what lies in the instance's mailbox. recovered says that a sweep
	// found it there, so that its attempts are counted. It returns when that is done;
	// placed (which may be nil) is called when its burst begins, which may last. Errors
	// as for Do.
	Work(ctx context.Context, recovered bool, placed func()) error
	// Remove deletes the instance without reading its state, which no live node can
	// run, or nobody can read. [ErrBusy]: somebody is at it; repeat it.
	Remove(ctx context.Context) error
	// Busy tells, without waiting, whether somebody else owns the instance.
	Busy(ctx context.Context) (bool, error)
}

// Result is what a command did.
type Result struct {
	Effect   store.Effect
	Instance workflow.Instance  // after the commit
	Accepted bool               // durable, not applied yet; Instance is as far as it is known
	Answer   *store.Answer      // the caller's key had been used before: the answer of then
	Response *workflow.Response // what WriteHttpResponse wrote
}

// ErrBusy says that another node owns the instance; the command was not taken.
var ErrBusy = errors.New("the instance is busy on another node")

// unavailable says that nothing was acknowledged and the caller may repeat.
func unavailable(what string, err error) error {
	if workflow.CodeOf(err) == workflow.CodeNotRunnable {
		return err // a repetition here helps nobody
	}
	return &workflow.Error{Code: workflow.CodeUnavailable, Detail: what + "; nothing was acknowledged, repeat the request with the same Idempotency-Key", RetryAfter: retryAfter, Err: err}
}

// unknown says that the effect may or may not have happened.
func unknown(what string, err error) error {
	return &workflow.Error{Code: workflow.CodeUnknownOutcome, Detail: what + ": it may or may not have been applied; repeat the request with the same Idempotency-Key to learn which", RetryAfter: retryAfter, Err: err}
}

func notFound(id string) error {
	return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
}
