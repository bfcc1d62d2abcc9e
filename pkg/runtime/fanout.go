package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// several delivers to more than one target: one transaction puts a command for
// each, or, beyond [etcdstore.MaxDeliveries], a send record with the fixed list
// is accepted and worked off in slices.
func (s *sending) several(ctx context.Context, look *etcdstore.Match) (SendResult, bool, error) {
	if look.More {
		return SendResult{}, false, workflow.Fail(workflow.CodeTooLarge, tooMany)
	}
	targets := targetsOf(look)
	now := s.r.cfg.Now().UTC()
	deliveries, gated := s.r.deliveries(s.id, &s.st, targets, len(targets) > 1, now)
	// A start behind a gate is a transaction of its own; the send record is what
	// makes it happen if this node dies in between.
	if len(gated) > 0 || len(targets) > etcdstore.MaxDeliveries {
		return s.accept(ctx, targets, now)
	}
	var answer *store.Answer
	if s.key != nil {
		answer = &store.Answer{BodyHash: s.key.BodyHash}
		for _, d := range deliveries {
			answer.Targets = append(answer.Targets, store.Effect{InstanceID: d.instance(), Outcome: workflow.OutcomeAccepted, Command: d.Command.ID})
		}
	}
	ok, err := s.put(ctx, deliveries, answer)
	if workflow.CodeOf(err) == workflow.CodeTooLarge { // together; a record is worked off in slices
		return s.accept(ctx, targets, now)
	}
	if err != nil || !ok {
		return SendResult{}, false, err
	}
	return s.r.outcomes(ctx, deliveries), true, nil
}

var tooMany = fmt.Sprintf("more than %d places wait for this; send it with a correlationId, or to an instance", etcdstore.MaxTargets)

func (s *sending) put(ctx context.Context, ds []delivery, answer *store.Answer) (ok bool, err error) {
	ctx, span := tracing.Send(ctx, tracing.ToSeveral, "")
	defer span.End()
	carry(ctx, ds)
	err = s.r.settle(ctx, func() (err error) {
		ok, err = s.r.cfg.Stimuli.Deliver(ctx, plain(ds), nil, nil, nil, s.key, answer)
		return err
	})
	return ok, err
}

// carry lets what is delivered go on in the trace of ctx.
func carry(ctx context.Context, ds []delivery) {
	trace := tracing.Traceparent(ctx)
	for i := range ds {
		ds[i].Command.Trace = trace
		if ds[i].New != nil {
			ds[i].New.Command.Trace = trace
		}
	}
}

func targetsOf(look *etcdstore.Match) []store.Target {
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
	applied workflow.Outcome
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
// apart, since a held gate must not hold up the others. several is whether the
// stimulus has more targets than one, here or in another slice.
func (r *Runtime) deliveries(id string, st *workflow.Stimulus, targets []store.Target, several bool, now time.Time) (ds []delivery, gated []*plan) {
	for _, t := range targets {
		if b := t.Bookmark; b != nil {
			ds = append(ds, delivery{applied: workflow.OutcomeResumed, Delivery: etcdstore.Delivery{Bookmark: b, Command: workflow.Command{
				ID: commandFor(id, b), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: b.ID, Input: st.Input, Stimulus: st, Several: several}}})
			continue
		}
		p := triggerPlan(id, *t.Trigger, st, now)
		if p.gate != nil {
			gated = append(gated, p)
			continue
		}
		ds = append(ds, delivery{applied: workflow.OutcomeStarted, Delivery: etcdstore.Delivery{Command: p.cmd,
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
	r.cfg.Hint(ids, false)
	effects := make([]store.Effect, len(ds))
	for i := range ds {
		effects[i] = store.Effect{InstanceID: ids[i], Outcome: workflow.OutcomeAccepted, Command: ds[i].Command.ID}
	}
	return SendResult{Outcomes: r.awaitAll(ctx, effects)}
}

const (
	// maxAwaited bounds the commands that one call waits for.
	maxAwaited = 500
	// How often it looks at those of several, at first and at most: a watch for each
	// would be hundreds for one call, and the same requests behind them.
	awaitFirst, awaitMost = 10 * time.Millisecond, 200 * time.Millisecond
)

// awaitAll waits a little for what became of those that were only accepted.
func (r *Runtime) awaitAll(ctx context.Context, effects []store.Effect) []TargetOutcome {
	ctx, cancel := context.WithTimeout(tracing.Quiet(ctx), r.cfg.ReplyWait)
	defer cancel()
	out, open := outcomesOf(effects)
	if len(open) == 1 {
		e := &effects[open[0]]
		if became := r.await(ctx, e.InstanceID, e.Command); became != nil {
			out[open[0]] = outcomeOf(e.InstanceID, became)
		}
		return out
	}
	for every := awaitFirst; len(open) > 0; every = min(2*every, awaitMost) {
		if open = r.ask(ctx, effects, open, out); len(open) > 0 && !pace.Pause(ctx, pace.Jitter(every)) {
			break
		}
	}
	return out
}

// became asks once what became of those that were only accepted.
func (r *Runtime) became(ctx context.Context, effects []store.Effect) []TargetOutcome {
	out, open := outcomesOf(effects)
	r.ask(ctx, effects, open, out)
	return out
}

// outcomesOf are those of effects as they are known, and which may be known better.
func outcomesOf(effects []store.Effect) (out []TargetOutcome, open []int) {
	out = make([]TargetOutcome, len(effects))
	for i := range effects {
		e := &effects[i]
		out[i] = outcomeOf(e.InstanceID, e)
		if e.Outcome == workflow.OutcomeAccepted && e.Command != "" && i < maxAwaited {
			open = append(open, i)
		}
	}
	return out, open
}

// ask puts into out what became of the open ones, and tells which still are.
func (r *Runtime) ask(ctx context.Context, effects []store.Effect, open []int, out []TargetOutcome) (left []int) {
	asked := make([]store.Effect, len(open))
	for n, i := range open {
		asked[n] = effects[i]
	}
	became, err := r.cfg.Stimuli.Effects(ctx, asked)
	if err != nil {
		return open
	}
	for n, i := range open {
		if became[n] != nil {
			out[i] = outcomeOf(effects[i].InstanceID, became[n])
		} else {
			left = append(left, i)
		}
	}
	return left
}

// accept takes a stimulus with many targets as a send record.
func (s *sending) accept(ctx context.Context, targets []store.Target, now time.Time) (SendResult, bool, error) {
	send := store.Send{ID: s.id, Stimulus: s.st, Targets: targets, Key: s.key, CreatedAt: now}
	effects := make([]store.Effect, len(targets))
	for i, t := range targets {
		effects[i] = store.Effect{Outcome: workflow.OutcomeAccepted}
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
	sctx, span := tracing.Send(ctx, tracing.ToSends, "")
	send.Trace = tracing.Traceparent(sctx)
	err := s.r.settle(sctx, func() error { return s.r.cfg.Stimuli.PutSend(sctx, send, answer) })
	span.End()
	if errors.Is(err, store.ErrConflict) {
		return SendResult{}, false, nil // the key was used: look again and find its answer
	}
	if err != nil {
		return SendResult{}, false, err
	}
	s.r.cfg.Hint(nil, true)
	wait, cancel := context.WithTimeout(ctx, s.r.cfg.ReplyWait)
	defer cancel()
	return SendResult{Outcomes: s.r.awaitAll(wait, effects)}, true, nil
}

// commandFor is the id of the command that a stimulus with several targets sends
// to one bookmark.
func commandFor(id string, b *store.BookmarkRef) string { return "to-" + workflow.DeriveID(id, b.ID) }
