package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client/warm"
	"github.com/weft-run/weft/pkg/workflow"
)

// sendInParts makes c durable in several transactions, as it changes more of the index than one takes:
// the decision, pages of the index, and unless the burst goes on with a commit of its own the
// one that says that nothing is left (docs/keys.md). Callers are answered behind the last
// one, or with "accepted" behind the decision if they have waited for long. If this owner ends
// between two of them, the next one of the instance goes on.
func (o *owner) sendInParts(ctx context.Context, c *store.Commit, x *burst) (*store.Committed, error) {
	first := etcdstore.Decide(c)
	first.Unlocked = nil
	res, err := o.sendWhole(ctx, first)
	if err != nil {
		return nil, err
	}
	o.inbox.decide(x.served)
	left := first.After
	left.Modified = res.Modified
	if !c.Delete {
		c.After = first.After
		c.After.Unwritten = nil
	}
	c.After.Seq = first.After.Seq
	if res.Released { // somebody else has the lock, and goes on
		return res, nil
	}
	if err := o.writeIndex(ctx, &left); err != nil {
		return nil, decided(o.id, err)
	}
	if x.goOn {
		return res, nil
	}
	left.Unwritten = nil
	last := o.completion(c, &left, first.Continue, res)
	done, err := o.send(ctx, last)
	if err != nil {
		return nil, decided(o.id, err)
	}
	c.After.Seq, c.After.JournalFrom, c.After.JournalBytes = last.After.Seq, last.After.JournalFrom, last.After.JournalBytes
	c.After.Parts, c.After.Cut, c.After.Waits = last.After.Parts, last.After.Cut, last.After.Waits
	done.Unseen = !done.Released
	return done, nil
}

// completion is the commit behind the pages: it writes, or takes away, the record that said
// what was left, and consumes ~continue, which was there for a crash.
func (o *owner) completion(c *store.Commit, left *store.Record, rest *workflow.Command, res *store.Committed) *store.Commit {
	last := &store.Commit{
		ID: workflow.NewID(), Fence: o.own.Fence(), Before: left, After: *left, Delete: c.Delete,
		At: o.n.cfg.Env().Now(), Node: o.n.cfg.NodeID, SeenMail: o.seen,
		Consumed: []store.Consumed{{Command: *rest, Created: res.Modified, Drop: true,
			Effect: store.Effect{InstanceID: o.id, Outcome: workflow.OutcomeDropped}}},
	}
	last.After.Seq++
	if res.Kept != nil && len(res.Kept.Mail) <= 1 && !res.Kept.More { // nothing but ~continue
		// Of new places to wait at stimuli may be queued: who commits looks for them.
		last.SeenMail, last.Release = res.Kept.Revision, c.Release && etcdstore.Waits(c) == 0
	}
	return last
}

// decided is the error of who lost an instance after the decision: what it decided holds, so
// that the outcome is not known to the caller, and nothing of it may be run again here.
func decided(id string, err error) error {
	if errors.Is(err, store.ErrFenced) || errors.Is(err, etcdstore.ErrUnknown) {
		return fmt.Errorf("instance %s, behind a decision: %w: %w", id, etcdstore.ErrUnknown, err)
	}
	return fmt.Errorf("instance %s, behind a decision: %w: %v", id, etcdstore.ErrUnknown, err) //nolint:errorlint // it must not be taken for one that allows another try
}

// writeIndex writes what a commit left of the index, again while it gets no answer.
func (o *owner) writeIndex(ctx context.Context, r *store.Record) error {
	waits := pace.Doubling(50 * time.Millisecond).UpTo(2 * time.Second).Spread(20)
	return pace.Repeat(ctx, waits, func() (bool, error) {
		lines, err := o.n.cfg.Store.WriteIndex(ctx, o.own.Fence(), r)
		o.n.cfg.Wakeups.Lines(lines)
		return isUnknown(err), err
	})
}

// writeLeft goes on where the owner before ended: it writes what is left of the index, and
// deletes the instance if that was decided. The record says so with the next commit, that of
// ~continue at the latest.
func (o *owner) writeLeft(ctx context.Context) error {
	o.n.cfg.Log.InfoContext(ctx, "the index of an instance is written on, where another node left it", "instanceId", o.id)
	if err := o.writeIndex(ctx, o.base); err != nil {
		return err
	}
	written := *o.base
	written.Unwritten = nil
	if !o.base.Unwritten.Delete {
		o.base = &written
		return nil
	}
	gone := &store.Commit{ID: workflow.NewID(), Fence: o.own.Fence(), Before: &written, After: written, Delete: true,
		At: o.n.cfg.Env().Now(), Node: o.n.cfg.NodeID, SeenMail: o.seen}
	gone.After.Seq++
	if _, err := o.send(ctx, gone); err != nil {
		return err
	}
	if g := gone.After.Gate; g != nil {
		o.n.cfg.Wakeups.Freed(*g)
	}
	o.base, o.live = nil, warm.Instance{}
	return nil
}
