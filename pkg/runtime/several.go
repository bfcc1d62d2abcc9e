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
	if look.More || len(targets) > etcdstore.MaxDeliveries {
		return s.accept(ctx, look, targets, now)
	}
	deliveries, gated := s.r.deliveries(s.id, &s.st, targets, now)
	var answer *store.Answer
	if s.key != nil {
		answer = &store.Answer{BodyHash: s.key.BodyHash}
		for _, d := range deliveries {
			answer.Targets = append(answer.Targets, store.Effect{InstanceID: d.instance(), Outcome: string(Accepted)})
		}
		for _, p := range gated {
			answer.Targets = append(answer.Targets, store.Effect{InstanceID: p.id, Outcome: string(Accepted)})
		}
	}
	ok := false
	err := s.r.settle(ctx, func() (err error) {
		ok, err = s.r.cfg.Store.Deliver(ctx, plain(deliveries), nil, nil, s.key, answer, now)
		return err
	})
	if err != nil || !ok {
		return SendResult{}, false, err
	}
	res := s.r.outcomes(ctx, deliveries)
	for _, p := range gated {
		one, err := s.startGated(ctx, p)
		if err != nil {
			return res, true, err
		}
		res.Outcomes = append(res.Outcomes, one.Outcomes...)
	}
	return res, true, nil
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
				ID: "to-" + workflow.DeriveID(id, b.ID), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: b.ID, Input: st.Input, Stimulus: st, Several: len(targets) > 1}}})
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
	ctx, cancel := context.WithTimeout(ctx, r.cfg.ReplyWait)
	defer cancel()
	res := SendResult{Outcomes: make([]TargetOutcome, len(ds))}
	var wg sync.WaitGroup
	for i := range ds {
		wg.Go(func() {
			res.Outcomes[i] = TargetOutcome{InstanceID: ids[i], Outcome: Accepted}
			if e := r.await(ctx, ids[i], ds[i].Command.ID); e != nil {
				res.Outcomes[i] = outcomeOf(ids[i], e)
			}
		})
	}
	wg.Wait()
	return res
}

// accept takes a stimulus with many targets as a send record.
func (s *sending) accept(ctx context.Context, look *etcdstore.Look, targets []store.Target, now time.Time) (SendResult, bool, error) {
	send := store.Send{ID: s.id, Stimulus: s.st, Key: s.key, CreatedAt: now}
	if !look.More {
		send.Targets = targets
	}
	res := SendResult{}
	var answer *store.Answer
	if s.key != nil {
		answer = &store.Answer{BodyHash: s.key.BodyHash}
	}
	for _, t := range targets {
		o := TargetOutcome{Outcome: Accepted}
		if t.Bookmark != nil {
			o.InstanceID = t.Bookmark.InstanceID
		} else {
			o.InstanceID = triggerPlan(s.id, *t.Trigger, &s.st, now).id
		}
		res.Outcomes = append(res.Outcomes, o)
		if answer != nil {
			answer.Targets = append(answer.Targets, store.Effect{InstanceID: o.InstanceID, Outcome: string(Accepted)})
		}
	}
	err := s.r.settle(ctx, func() error { return s.r.cfg.Store.PutSend(ctx, send, answer) })
	if errors.Is(err, store.ErrConflict) {
		return SendResult{}, false, nil // the key was used meanwhile: look again and find its answer
	}
	if err != nil {
		return SendResult{}, false, err
	}
	s.r.cfg.Work.Hint(nil, true)
	return res, true, nil
}

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
		return r.deliverSlice(ctx, send, send.Targets, true, now)
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
		return r.deliverSlice(ctx, send, targets, false, now)
	}
	item := store.QueueItem{ID: send.ID, Stimulus: *st, Hash: hash, CreatedAt: now, ExpiresAt: now.Add(r.cfg.QueueTTL)}
	ok, err := r.cfg.Store.Enqueue(ctx, item, look)
	return err == nil && !ok, err
}

// deliverSlice delivers to the first targets of a list and leaves the rest in
// the record. What is gone since the look is left out, unless nothing is left:
// then the next look tells. What is gone of a fixed list was promised to its
// instance: it becomes a send record for that one.
func (r *Runtime) deliverSlice(ctx context.Context, send *store.Send, targets []store.Target, fixed bool, now time.Time) (bool, error) {
	n := min(len(targets), etcdstore.MaxDeliveries)
	slice, rest := targets[:n], targets[n:]
	slice, gone, err := r.cfg.Store.Standing(ctx, slice)
	if err != nil {
		return false, err
	}
	if !fixed && len(slice) == 0 {
		return true, nil
	}
	var again []store.Send
	if fixed {
		again = addressedAgain(send, gone, now)
	}
	ds, gated := r.deliveries(send.ID, &send.Stimulus, slice, now)
	for _, p := range gated {
		if err := r.create(ctx, p); err != nil && workflow.CodeOf(err) == "" {
			return false, err // a refused start is done with; an unknown one is tried again
		}
	}
	ok, err := r.cfg.Store.Deliver(ctx, plain(ds), send, rest, nil, nil, now, again...)
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

// addressedAgain are send records for the instances whose bookmarks are gone.
func addressedAgain(send *store.Send, gone []store.Target, now time.Time) []store.Send {
	var out []store.Send
	for _, t := range gone {
		st := send.Stimulus
		st.InstanceID = t.Bookmark.InstanceID
		out = append(out, store.Send{ID: "again-" + workflow.DeriveID(send.ID, t.Bookmark.ID), Stimulus: st, CreatedAt: now})
	}
	return out
}
