package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// several delivers to more than one target: one transaction puts a command for
// each, or, beyond [etcdstore.MaxDeliveries], a send record with the fixed list
// is accepted and worked off in slices.
func (d *delivery) several(ctx context.Context, met *etcdstore.Match) (front.SendResult, bool, error) {
	if met.More {
		return front.SendResult{}, false, etcdstore.TooMany()
	}
	targets := targetsOf(met)
	now := d.cfg.Now().UTC()
	ds, gated := deliveries(d.id, &d.st, targets, len(targets) > 1, now)
	// A start behind a gate is a transaction of its own; the send record is what
	// makes it happen if this node dies in between.
	if len(gated) > 0 || len(targets) > etcdstore.MaxDeliveries {
		return d.accept(ctx, targets, now)
	}
	var answer *store.Answer
	if d.key != nil {
		answer = &store.Answer{BodyHash: d.key.BodyHash}
		for i := range ds {
			answer.Targets = append(answer.Targets, store.Effect{InstanceID: instanceOf(&ds[i]), Outcome: workflow.OutcomeAccepted, Command: ds[i].Command.ID})
		}
	}
	ok, err := d.put(ctx, ds, answer)
	if workflow.CodeOf(err) == workflow.CodeTooLarge { // together; a record is worked off in slices
		return d.accept(ctx, targets, now)
	}
	if err != nil || !ok {
		return front.SendResult{}, false, err
	}
	return d.outcomes(ctx, ds), true, nil
}

func (d *delivery) put(ctx context.Context, ds []etcdstore.Delivery, answer *store.Answer) (ok bool, err error) {
	ctx, span := tracing.Send(ctx, tracing.ToSeveral, "")
	defer span.End()
	carry(ctx, ds)
	err = front.RetryUnknown(ctx, func() (err error) {
		ok, err = d.cfg.Stimuli.Deliver(ctx, ds, nil, nil, nil, d.key, answer)
		return err
	})
	return ok, err
}

// carry lets what is delivered go on in the trace of ctx.
func carry(ctx context.Context, ds []etcdstore.Delivery) {
	trace := tracing.Traceparent(ctx)
	for i := range ds {
		ds[i].Command.Trace = trace
		if ds[i].New != nil {
			ds[i].New.Command.Trace = trace
		}
	}
}

func targetsOf(met *etcdstore.Match) []store.Target {
	var targets []store.Target
	for i := range met.Bookmarks {
		targets = append(targets, store.Target{Bookmark: &met.Bookmarks[i]})
	}
	for i := range met.Triggers {
		targets = append(targets, store.Target{Trigger: &met.Triggers[i]})
	}
	return targets
}

// instanceOf is the instance that a command is delivered to.
func instanceOf(d *etcdstore.Delivery) string {
	if d.New != nil {
		return d.New.Header.ID
	}
	return d.Bookmark.InstanceID
}

// deliveries makes the commands for targets; starts behind a gate are planned
// apart, since a held gate must not hold up the others. several is whether the
// stimulus has more targets than one, here or in another slice.
func deliveries(id string, st *workflow.Stimulus, targets []store.Target, several bool, now time.Time) (ds []etcdstore.Delivery, gated []*plan) {
	for _, t := range targets {
		if b := t.Bookmark; b != nil {
			ds = append(ds, etcdstore.Delivery{Bookmark: b, Command: workflow.Command{
				ID: store.TargetCommand(id, b.ID), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: b.ID, Input: st.Input, Stimulus: st, Several: several}})
			continue
		}
		p := triggerPlan(id, *t.Trigger, st, now)
		if p.gate != nil {
			gated = append(gated, p)
			continue
		}
		ds = append(ds, etcdstore.Delivery{Command: p.cmd,
			New: &etcdstore.NewInstance{Header: etcdstore.NewHeader(p.id, p.cmd, now), Command: p.cmd, Trigger: t.Trigger}})
	}
	return ds, gated
}

// outcomes wakes the targets and waits a little for what becomes of each.
func (d *delivery) outcomes(ctx context.Context, ds []etcdstore.Delivery) front.SendResult {
	ids := make([]string, len(ds))
	for i := range ds {
		ids[i] = instanceOf(&ds[i])
	}
	d.cfg.Wakeups.Hint(ids, false)
	effects := make([]store.Effect, len(ds))
	for i := range ds {
		effects[i] = store.Effect{InstanceID: ids[i], Outcome: workflow.OutcomeAccepted, Command: ds[i].Command.ID}
	}
	return front.SendResult{Outcomes: front.OutcomesOf(d.answers.Effects(ctx, effects))}
}

// accept takes a stimulus with many targets as a send record.
func (d *delivery) accept(ctx context.Context, targets []store.Target, now time.Time) (front.SendResult, bool, error) {
	send := store.Send{ID: d.id, Stimulus: d.st, Targets: targets, Key: d.key, CreatedAt: now}
	effects := acceptedBy(d.id, &d.st, targets, now)
	var answer *store.Answer
	if d.key != nil {
		answer = &store.Answer{BodyHash: d.key.BodyHash, Targets: effects}
	}
	sctx, span := tracing.Send(ctx, tracing.ToSends, "")
	send.Trace = tracing.Traceparent(sctx)
	err := front.RetryUnknown(sctx, func() error { return d.cfg.Stimuli.PutSend(sctx, send, answer) })
	span.End()
	if errors.Is(err, store.ErrConflict) {
		return front.SendResult{}, false, nil // the key was used: look again and find its answer
	}
	if err != nil {
		return front.SendResult{}, false, err
	}
	d.cfg.Wakeups.Hint(nil, true)
	return front.SendResult{Outcomes: front.OutcomesOf(d.answers.Effects(ctx, effects))}, true, nil
}

// acceptedBy is what is known of a stimulus that is on its way to these targets, in their order.
func acceptedBy(id string, st *workflow.Stimulus, targets []store.Target, now time.Time) []store.Effect {
	effects := make([]store.Effect, len(targets))
	for i, t := range targets {
		effects[i] = store.Effect{Outcome: workflow.OutcomeAccepted}
		if t.Bookmark != nil {
			effects[i].InstanceID, effects[i].Command = t.Bookmark.InstanceID, store.TargetCommand(id, t.Bookmark.ID)
		} else {
			p := triggerPlan(id, *t.Trigger, st, now)
			effects[i].InstanceID, effects[i].Command = p.id, p.cmd.ID
		}
	}
	return effects
}
