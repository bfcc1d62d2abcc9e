package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// several delivers to more than one target: one transaction puts a command for
// each, or, beyond [etcdstore.MaxDeliveries], a send record with the fixed list
// is accepted and worked off in slices.
func (s *sending) several(ctx context.Context, look *etcdstore.Look) (SendResult, bool, error) {
	targets := targetsOf(look)
	now := s.r.cfg.Now().UTC()
	deliveries, gated := s.r.deliveries(s.id, &s.st, targets, now)
	// A start behind a gate is a transaction of its own; the send record is what
	// makes it happen if this node dies in between.
	if look.More || len(gated) > 0 || len(targets) > etcdstore.MaxDeliveries {
		return s.accept(ctx, look, targets, now)
	}
	var answer *store.Answer
	if s.key != nil {
		answer = &store.Answer{BodyHash: s.key.BodyHash}
		for _, d := range deliveries {
			answer.Targets = append(answer.Targets, store.Effect{InstanceID: d.instance(), Outcome: string(Accepted), Command: d.Command.ID})
		}
	}
	ok := false
	err := s.r.settle(ctx, func() (err error) {
		ok, err = s.r.cfg.Store.Deliver(ctx, plain(deliveries), nil, nil, nil, s.key, answer, now)
		return err
	})
	if err != nil || !ok {
		return SendResult{}, false, err
	}
	return s.r.outcomes(ctx, deliveries), true, nil
}

func targetsOf(look *etcdstore.Look) []store.Target {
	var targets []store.Target
	for i := range look.Bookmarks {
		targets = append(targets, store.Target{Bookmark: &look.Bookmarks[i]})
	}
	for i := range look.Triggers {
		targets = append(targets, store.Target{Trigger: &look.Triggers[i]})
	}
	return targets
}

// delivery is one target with its command and how its outcome is called.
type delivery struct {
	etcdstore.Delivery
	applied Outcome
}

func (d *delivery) instance() string {
	if d.New != nil {
		return d.New.Header.ID
	}
	return d.Bookmark.InstanceID
}

func plain(ds []delivery) []etcdstore.Delivery {
	out := make([]etcdstore.Delivery, len(ds))
	for i, d := range ds {
		out[i] = d.Delivery
	}
	return out
}

// deliveries makes the commands for targets; starts behind a gate are planned
// apart, since a held gate must not hold up the others.
func (r *Runtime) deliveries(id string, st *workflow.Stimulus, targets []store.Target, now time.Time) (ds []delivery, gated []*plan) {
	for _, t := range targets {
		if b := t.Bookmark; b != nil {
			ds = append(ds, delivery{applied: Resumed, Delivery: etcdstore.Delivery{Bookmark: b, Command: workflow.Command{
				ID: commandFor(id, b), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: b.ID, Input: st.Input, Stimulus: st, Several: len(targets) > 1}}})
			continue
		}
		p := triggerPlan(id, *t.Trigger, st, now)
		if p.gate != nil {
			gated = append(gated, p)
			continue
		}
		ds = append(ds, delivery{applied: Started, Delivery: etcdstore.Delivery{Command: p.cmd,
			New: &etcdstore.NewInstance{Header: etcdstore.NewHeader(p.id, p.cmd, now), Command: p.cmd, Trigger: t.Trigger}}})
	}
	return ds, gated
}

// outcomes wakes the targets and waits a little for what becomes of each.
func (r *Runtime) outcomes(ctx context.Context, ds []delivery) SendResult {
	ids := make([]string, len(ds))
	for i := range ds {
		ids[i] = ds[i].instance()
	}
	r.cfg.Work.Hint(ids, false)
	effects := make([]store.Effect, len(ds))
	for i := range ds {
		effects[i] = store.Effect{InstanceID: ids[i], Outcome: string(Accepted), Command: ds[i].Command.ID}
	}
	return SendResult{Outcomes: r.awaitAll(ctx, effects)}
}

// awaitAll waits a little for what became of those that were only accepted.
func (r *Runtime) awaitAll(ctx context.Context, effects []store.Effect) []TargetOutcome {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.ReplyWait)
	defer cancel()
	out := make([]TargetOutcome, len(effects))
	var wg sync.WaitGroup
	for i := range effects {
		e := &effects[i]
		out[i] = outcomeOf(e.InstanceID, e)
		if e.Outcome != string(Accepted) || e.Command == "" {
			continue
		}
		wg.Go(func() {
			if became := r.await(ctx, e.InstanceID, e.Command); became != nil {
				out[i] = outcomeOf(e.InstanceID, became)
			}
		})
	}
	wg.Wait()
	return out
}

// accept takes a stimulus with many targets as a send record.
func (s *sending) accept(ctx context.Context, look *etcdstore.Look, targets []store.Target, now time.Time) (SendResult, bool, error) {
	send := store.Send{ID: s.id, Stimulus: s.st, Key: s.key, CreatedAt: now}
	if !look.More {
		send.Targets = targets
	}
	effects := make([]store.Effect, len(targets))
	for i, t := range targets {
		effects[i] = store.Effect{Outcome: string(Accepted)}
		if t.Bookmark != nil {
			effects[i].InstanceID, effects[i].Command = t.Bookmark.InstanceID, commandFor(s.id, t.Bookmark)
		} else {
			p := triggerPlan(s.id, *t.Trigger, &s.st, now)
			effects[i].InstanceID, effects[i].Command = p.id, p.cmd.ID
		}
	}
	var answer *store.Answer
	if s.key != nil {
		answer = &store.Answer{BodyHash: s.key.BodyHash, Targets: effects}
	}
	err := s.r.settle(ctx, func() error { return s.r.cfg.Store.PutSend(ctx, send, answer) })
	if errors.Is(err, store.ErrConflict) {
		return SendResult{}, false, nil // the key was used meanwhile: look again and find its answer
	}
	if err != nil {
		return SendResult{}, false, err
	}
	s.r.cfg.Work.Hint(nil, true)
	wait, cancel := context.WithTimeout(ctx, s.r.cfg.ReplyWait)
	defer cancel()
	return SendResult{Outcomes: s.r.awaitAll(wait, effects)}, true, nil
}

// commandFor is the id of the command that a stimulus with several targets sends
// to one bookmark.
func commandFor(id string, b *store.BookmarkRef) string { return "to-" + workflow.DeriveID(id, b.ID) }

// resolveSends works off send records: those that this node's commits left, and
// by sweep those that others left.
func (r *Runtime) resolveSends(ctx context.Context) error {
	cursor := ""
	return r.loop(ctx, "send records", time.Second, r.cfg.Work.sends, func(ctx context.Context) (bool, error) {
		if r.suspended() {
			return false, nil
		}
		sends, next, err := r.cfg.Store.Sends(ctx, cursor, 100)
		if err != nil {
			return false, err
		}
		cursor = next
		var errs []error
		again := false
		for i := range sends {
			more, err := r.resolveSend(ctx, &sends[i])
			again = again || more
			errs = append(errs, err) // one bad record never holds up the others
		}
		return next != "" || again && errors.Join(errs...) == nil, errors.Join(errs...)
	})
}

// resolveSend finds out whom one send record is for and delivers a slice of it;
// more means that it is not done yet.
func (r *Runtime) resolveSend(ctx context.Context, send *store.Send) (more bool, err error) {
	st := &send.Stimulus
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return false, err
	}
	now := r.cfg.Now().UTC()
	if len(send.Targets) > 0 {
		return r.deliverSlice(ctx, send, send.Targets, now)
	}
	look, err := r.cfg.Store.LookAgain(ctx, send, hash)
	if err != nil {
		return false, err
	}
	if st.InstanceID != "" && (look.Instance == nil || look.Instance.Header.Status == workflow.StatusFinished) {
		reason := store.DeadInstanceFinished
		if look.Instance == nil {
			reason = store.DeadInstanceGone
		}
		_, err := r.cfg.Store.BurySend(ctx, send, store.DeadLetter{ID: send.ID, Reason: reason, Stimulus: st, InstanceID: st.InstanceID, CreatedAt: now})
		r.cfg.Metrics.DeadLetter(reason)
		return false, err
	}
	targets := targetsOf(look)
	if len(targets) > 0 {
		return r.deliverSlice(ctx, send, targets, now)
	}
	item := store.QueueItem{ID: send.ID, Stimulus: *st, Hash: hash, CreatedAt: now, ExpiresAt: now.Add(r.cfg.QueueTTL)}
	ok, err := r.cfg.Store.Enqueue(ctx, item, look)
	return err == nil && !ok, err
}

// deliverSlice delivers to the first targets of a list and leaves the rest in
// the record. Of a fixed list, a bookmark that is gone by now gets the stimulus
// addressed to its instance: it may wait for it again.
func (r *Runtime) deliverSlice(ctx context.Context, send *store.Send, targets []store.Target, now time.Time) (bool, error) {
	n := min(len(targets), etcdstore.MaxDeliveries)
	slice, rest := targets[:n], targets[n:]
	var again []store.Send
	if len(send.Targets) > 0 {
		standing, err := r.cfg.Store.Standing(ctx, slice)
		if err != nil {
			return false, err
		}
		again = goneTargets(send, slice, standing, now)
		slice = standing
	}
	ds, gated := r.deliveries(send.ID, &send.Stimulus, slice, now)
	for _, p := range gated {
		if err := r.createGated(ctx, p); err != nil {
			return false, err
		}
	}
	ok, err := r.cfg.Store.Deliver(ctx, plain(ds), send, rest, again, nil, nil, now)
	if err != nil || !ok {
		return false, err // it moved, or another node was faster: the next pass sees
	}
	ids := make([]string, len(ds))
	for i := range ds {
		ids[i] = ds[i].instance()
	}
	r.cfg.Work.Hint(ids, len(rest)+len(again) > 0)
	return len(rest)+len(again) > 0, nil
}

// createGated starts behind a gate; a refusal is told to the sender and is no
// error.
func (r *Runtime) createGated(ctx context.Context, p *plan) error {
	err := r.create(ctx, p)
	switch code := workflow.CodeOf(err); code {
	case workflow.CodeInstanceGated, workflow.CodeInstanceExists, workflow.CodeDefinitionMoved:
		return r.cfg.Store.Refuse(ctx, p.id, p.cmd.ID, string(code), p.cmd.CreatedAt)
	}
	return err
}

// goneTargets makes a stimulus for each instance whose bookmark is gone.
func goneTargets(send *store.Send, slice, standing []store.Target, now time.Time) []store.Send {
	left := map[string]bool{}
	for _, t := range standing {
		if t.Bookmark != nil {
			left[t.Bookmark.ID] = true
		}
	}
	var again []store.Send
	for _, t := range slice {
		if t.Bookmark == nil || left[t.Bookmark.ID] {
			continue
		}
		st := send.Stimulus
		st.InstanceID, st.CorrelationID = t.Bookmark.InstanceID, ""
		again = append(again, store.Send{ID: "again-" + workflow.DeriveID(send.ID, t.Bookmark.ID), Stimulus: st, CreatedAt: now})
	}
	return again
}
