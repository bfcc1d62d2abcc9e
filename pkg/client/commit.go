package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// ground is what a commit is built on.
type ground struct {
	before    *store.Record // as last committed; nil: absent
	fence     *store.Fence
	seen      int64 // mail up to this revision is known
	release   bool  // free the lock, if nothing else came
	unmatched bool  // stimuli that were queued before the bookmarks are still to be looked for
}

// commit builds the transaction of this burst.
func (x *burst) commit(ctx context.Context, g ground) (*store.Commit, error) {
	res, err := x.b.Result()
	if workflow.CodeOf(err) == workflow.CodeTooLarge {
		return nil, fmt.Errorf("%w: %w", etcdstore.ErrTooLarge, err) // what it keeps is too much to be encoded
	}
	if err != nil {
		return nil, err
	}
	for _, m := range x.handle.inbox.runningMail() { // it may have become durable since it ran
		for i := range x.consumed {
			if x.consumed[i].Command.ID == m.Command.ID {
				x.consumed[i].Created = m.Created
			}
		}
	}
	c := &store.Commit{
		ID: workflow.NewID(), Fence: g.fence, Before: g.before, At: x.env.Now(), Delete: x.deleting, Trace: x.trace,
		After: store.Record{Header: res.Instance, State: res.State, Seq: 1},
		Node:  x.handle.n.cfg.NodeID, Takeover: x.env.Takeover, Joined: res.Joined,
		Journal: res.Journal, Variables: res.Variables, Created: res.Created, Burned: res.Burned, Consumed: x.consumed,
		Requeue: x.requeue, Dead: x.dead, Contents: res.Contents, SeenMail: g.seen,
		// The release looks for stimuli of as many bookmarks only.
		Release: g.release && !x.goOn && (!g.unmatched || len(res.Instance.Bookmarks) <= etcdstore.MaxUnlocked),
	}
	if g.before != nil {
		c.After.Seq = g.before.Seq + 1
	}
	if gated, ok := errors.AsType[*store.GatedError](x.gated); ok {
		c.Instead = gated.Commit
	}
	if c.After.Gate, err = x.gate(ctx, g.before, &c.After.Header); err != nil {
		return nil, err
	}
	c.After.Header.Incidents = append(slices.Clone(c.After.Header.Incidents), x.extra...)
	x.replaceBookmarks(c)
	if err := x.tellOthers(ctx, c, res); err != nil {
		return nil, err
	}
	x.tellParent(c)
	if x.goOn {
		c.Continue = &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: c.At, Trace: c.Trace}
	}
	for i := range c.Consumed {
		if a := c.Consumed[i].Answer; a != nil && c.Consumed[i].Command.Kind == workflow.CommandStart {
			hd := c.After.Header
			a.Instance = &hd
		}
	}
	return c, nil
}

// replaceBookmarks burns all that the instance had, if it goes, or an import took its
// place.
func (x *burst) replaceBookmarks(c *store.Commit) {
	if x.replaced != nil {
		c.Burned, c.Created = nil, x.replaced.Bookmarks
		if c.Before != nil {
			c.Burned = c.Before.Header.Bookmarks
		}
	}
	if x.deleting && c.Before != nil {
		c.Burned, c.Created = nil, nil
		if !c.Before.Apart { // else the store knows them
			c.Burned = c.Before.Header.Bookmarks
		}
	}
}

// tellOthers adds what the burst sends: starts and cancels of children, and events.
func (x *burst) tellOthers(ctx context.Context, c *store.Commit, res engine.Result) error {
	for _, ch := range res.Children {
		start := ch.Start
		gate, err := x.handle.n.cfg.Definitions.Gate(ctx, &start)
		if err != nil {
			return err
		}
		c.Children = append(c.Children, store.Child{ID: ch.InstanceID, Gate: gate,
			Command: workflow.Command{ID: ch.CommandID, Kind: workflow.CommandStart, CreatedAt: c.At, Start: &start, Trace: c.Trace}})
	}
	for _, child := range res.Cancel {
		c.Outgoing = append(c.Outgoing, store.Outgoing{InstanceID: child,
			Command: workflow.Command{ID: store.CancelCommand(x.handle.id, child), Kind: workflow.CommandCancel, CreatedAt: c.At, Trace: c.Trace}})
	}
	for _, end := range x.missed {
		end.Trace = c.Trace
		c.Outgoing = append(c.Outgoing, store.Outgoing{InstanceID: x.handle.id, Command: end})
	}
	for _, a := range res.Answers {
		c.Answers = append(c.Answers, store.LaterAnswer(a))
	}
	for _, ev := range res.Events {
		c.Sends = append(c.Sends, store.Send{ID: ev.ID, Stimulus: ev.Stimulus, CreatedAt: c.At, Trace: c.Trace})
	}
	return nil
}

// tellParent sends the end of a child with the commit that makes it durable.
func (x *burst) tellParent(c *store.Commit) {
	hd := &c.After.Header
	if hd.Parent == nil || hd.Parent.BookmarkID == "" {
		return
	}
	if c.Before != nil && c.Before.Header.Status == workflow.StatusFinished {
		return // told when it ended; a deletion later says nothing new
	}
	if hd.Status == workflow.StatusFinished || c.Delete {
		end := etcdstore.ChildEnd(hd.Parent.BookmarkID, hd.ID, hd.SubStatus, hd.Output, c.At)
		end.Trace = c.Trace
		c.Outgoing = append(c.Outgoing, store.Outgoing{InstanceID: hd.Parent.InstanceID, Command: end})
	}
}
