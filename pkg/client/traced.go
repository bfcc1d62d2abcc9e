package client

import (
	"cmp"
	"context"
	"errors"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// trace begins the span of a burst, in the trace of its first command. A lock
// that was taken before anybody knew for which command shows up below it.
func (o *owner) trace(ctx context.Context, work *batch) (context.Context, tracing.Span) {
	if o.n.cfg.Tracer == nil {
		return ctx, tracing.Span{}
	}
	var first *workflow.Command
	mailed := len(work.mail) > 0
	if mailed {
		first = &work.mail[0].Command
	} else {
		first = &work.hands[0].cmd
	}
	definition := ""
	if o.base != nil {
		definition = o.base.Header.DefinitionID
	} else if first.Start != nil {
		definition = first.Start.DefinitionID
	}
	ctx, span := o.n.cfg.Tracer.Burst(ctx, o.id, definition, work.size(), mailed,
		tracing.Origin{Trace: first.Trace, Sent: first.CreatedAt})
	if _, ok := o.own.(owned); ok && !o.taken.lock.from.IsZero() {
		tracing.Locked(ctx, o.id, o.taken.lock.from, o.taken.lock.till)
	}
	o.taken.lock = lockWait{}
	return ctx, span
}

// failure names an error in one of few words.
func failure(err error) string {
	switch {
	case errors.Is(err, store.ErrFenced):
		return "fenced"
	case errors.Is(err, ErrBusy):
		return "busy"
	case errors.Is(err, store.ErrStale):
		return "stale"
	case errors.Is(err, store.ErrBreach):
		return "breach"
	case errors.Is(err, store.ErrConflict):
		return "conflict"
	case errors.Is(err, etcdstore.ErrTooLarge):
		return "too-large"
	case isUnknown(err):
		return "unknown-outcome"
	}
	return cmp.Or(string(workflow.CodeOf(err)), "error")
}
