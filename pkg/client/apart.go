package client

import (
	"context"
	"errors"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// An instance that waits at thousands of places is read without its parts, as an end of it does not need them all at a
// time. What else is run on it wants the whole of it.

// ran reports whether an instance has a state, which may not have been read.
func ran(r *store.Record) bool { return len(r.State) > 0 || r.Apart }

// whole reads the parts of the instance, if it was read without them.
func (o *owner) whole(ctx context.Context) error {
	if o.base == nil || !o.base.Apart {
		return nil
	}
	full, err := etcdstore.Whole(ctx, o.n.cfg.Store, o.base)
	if err != nil {
		return err
	}
	o.base = full
	return nil
}

// endsApart reports whether all that is known of the instance is enough for what comes first: that ends it.
func (o *owner) endsApart(work *batch) bool {
	if o.base == nil || !o.base.Apart || !work.ending || work.why != "" {
		return false
	}
	first, is := workflow.CommandKind(""), &o.base.Header
	if work.front() > 0 {
		first = work.hands[0].cmd.Kind
	} else if len(work.mail) > 0 {
		first = work.mail[0].Command.Kind
	}
	return is.Status == workflow.StatusRunning && ends(first) || is.SubStatus == workflow.Faulted && first == workflow.CommandDelete
}

// openApart makes the engine's burst for that end.
func (x *burst) openApart(ctx context.Context, prog *engine.Program) (*engine.Burst, error) {
	unread := func(err error) error {
		return unavailable("the parts of instance "+x.handle.id+" could not be read", err)
	}
	known, state, err := etcdstore.Ending(ctx, x.handle.n.cfg.Store, x.before)
	if err != nil {
		return nil, unread(err)
	}
	b, err := engine.LoadEnding(prog, known.Header, state, x.env)
	switch {
	case state.Broken() != nil:
		return nil, unread(state.Broken())
	case !errors.Is(err, engine.ErrAtWork):
		return b, err
	}
	if x.before, err = etcdstore.Whole(ctx, x.handle.n.cfg.Store, x.before); err != nil {
		return nil, unread(err)
	}
	return engine.Load(prog, x.before.Header, x.before.State, x.env)
}
