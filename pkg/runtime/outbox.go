package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Outbox delivers the stimuli that were accepted earlier, as send records.
type Outbox struct {
	cfg    *front.Config
	starts *Starter
	recent *recent.Events
}

// Resolve finds out whom one send record is for and delivers a slice of it;
// more means that it is not done yet. It is for the node's upkeep.
func (o *Outbox) Resolve(ctx context.Context, send *store.Send) (more bool, err error) {
	ctx, span := o.cfg.Tracer.Resolve(ctx, tracing.Origin{Trace: send.Trace, Sent: send.CreatedAt})
	defer span.End()
	st := &send.Stimulus
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return false, err
	}
	now := o.cfg.Now().UTC()
	if len(send.Targets) > 0 {
		return o.deliverSlice(ctx, send, now)
	}
	met, err := o.cfg.Stimuli.MatchAgain(ctx, send, hash)
	if errors.Is(err, etcdstore.ErrDamaged) {
		return false, nil // until its instance is deleted, when it is a dead letter
	}
	if workflow.CodeOf(err) == workflow.CodeNotRunnable {
		return false, nil // it met what only another program can read: the record is left to that, and is in nobody's way
	}
	if err != nil {
		return false, err
	}
	if st.InstanceID != "" && (met.Instance == nil || met.Instance.Header.Status == workflow.StatusFinished) {
		reason := workflow.DeadInstanceFinished
		if met.Instance == nil {
			reason = workflow.DeadInstanceGone
		}
		return false, o.burySend(ctx, send, reason, "", now)
	}
	if met.More {
		return false, o.burySend(ctx, send, workflow.DeadTooLarge, etcdstore.TooMany().Detail, now)
	}
	if targets := targetsOf(met); len(targets) > 0 {
		more, err := o.deliverFound(ctx, send, targets, now)
		if err == nil {
			o.note(send, targets, now)
		}
		return more, err
	}
	item := store.QueueItem{ID: send.ID, Stimulus: *st, Hash: hash, Key: send.Key, CreatedAt: now, Trace: tracing.Traceparent(ctx)}
	var ok bool
	err = front.RetryUnknown(ctx, func() (err error) { // who missed what waits, and does not hear of it, would wait for the sweep of the queue
		ok, err = o.cfg.Stimuli.Enqueue(ctx, item, met)
		return err
	})
	if ok {
		o.note(send, nil, now)
	}
	return err == nil && (!ok || met.SentOn), err
}

// note remembers an event that an instance published, or a replay sent again.
func (o *Outbox) note(send *store.Send, targets []store.Target, now time.Time) {
	e := recent.Event{ID: send.ID, Name: send.Stimulus.EventName(), CorrelationID: send.Stimulus.CorrelationID, InstanceID: send.Stimulus.InstanceID, At: now, Met: len(targets)}
	if len(targets) > 0 && targets[0].Bookmark != nil {
		e.First = targets[0].Bookmark.InstanceID
	}
	if e.Name != "" {
		o.recent.Note(e)
	}
}

// deliverFound delivers to what a look found, in one transaction that compares
// all of it. What takes more than one is a fixed list first, so that the
// stimulus is for what it met at one moment.
func (o *Outbox) deliverFound(ctx context.Context, send *store.Send, targets []store.Target, now time.Time) (bool, error) {
	var answer *store.Answer
	if send.Key != nil {
		answer = &store.Answer{BodyHash: send.Key.BodyHash, Queued: send.ID, Targets: acceptedBy(send.ID, &send.Stimulus, targets, now)}
	}
	if len(targets) <= etcdstore.MaxDeliveries {
		ds, gated := deliveries(send.ID, &send.Stimulus, targets, len(targets) > 1, now)
		if len(gated) == 0 {
			more, err := o.deliverTo(ctx, send, ds, nil, nil, answer)
			if !errors.Is(err, etcdstore.ErrTooLarge) {
				return more, err
			}
		}
	}
	more, err := o.deliverTo(ctx, send, nil, targets, nil, answer)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return false, o.burySend(ctx, send, workflow.DeadTooLarge, err.Error(), now)
	}
	return more, err
}

// deliverSlice delivers to the first targets of a fixed list, as many as fit into
// one transaction, and notes how many are done.
func (o *Outbox) deliverSlice(ctx context.Context, send *store.Send, now time.Time) (bool, error) {
	left, err := o.cfg.Stimuli.Left(ctx, send)
	if err != nil || len(left) == 0 {
		return false, err
	}
	for n := min(len(left), etcdstore.MaxDeliveries); ; n /= 2 {
		more, err := o.deliverFirst(ctx, send, left, n, now)
		switch {
		case !errors.Is(err, etcdstore.ErrTooLarge):
			return more, err
		case n == 1:
			return false, o.burySend(ctx, send, workflow.DeadTooLarge, err.Error(), now)
		}
	}
}

// deliverFirst delivers to the first n of the targets that are left of a list. A bookmark that
// is gone by now gets the stimulus addressed to its instance: it may wait for it
// again. A trigger starts what it meant when the stimulus met it, although its
// definition may have been published again or retracted since: of all the
// triggers of a definition a stimulus sees one publication (G7), and none that it
// was accepted for is lost (G3).
func (o *Outbox) deliverFirst(ctx context.Context, send *store.Send, left []store.Target, n int, now time.Time) (bool, error) {
	slice, rest := left[:n], left[n:]
	standing, err := o.cfg.Stimuli.Standing(ctx, slice)
	if err != nil {
		return false, err
	}
	again := goneTargets(send, slice, standing, now)
	ds, gated := deliveries(send.ID, &send.Stimulus, standing, true, now)
	for i := range ds {
		if ds[i].New != nil {
			ds[i].New.Trigger = nil
		}
	}
	for _, p := range gated {
		trigger := *p.trigger
		p.trigger, p.send = nil, send
		free, err := o.createGated(ctx, p)
		if workflow.CodeOf(err) == workflow.CodeDefinitionMoved {
			return false, nil // another node was faster
		}
		if err != nil {
			return false, err
		}
		if !free {
			ds = append(ds, behindGate(send, p, trigger))
		}
	}
	return o.deliverTo(ctx, send, ds, rest, again, nil)
}

// burySend gives up on a stimulus that cannot be delivered.
func (o *Outbox) burySend(ctx context.Context, send *store.Send, reason workflow.DeadReason, detail string, now time.Time) error {
	dead := store.DeadLetter{ID: etcdstore.StimulusDeadID(send.ID, send.CreatedAt), Reason: reason, Detail: detail,
		Stimulus: &send.Stimulus, InstanceID: send.Stimulus.InstanceID, CreatedAt: now}
	ok, err := o.cfg.Stimuli.BurySend(ctx, send, dead)
	if ok {
		o.cfg.Metrics.DeadLetter(dead.Reason)
	}
	return err
}

// deliverTo puts the commands of ds and leaves rest in the record. If it moved,
// or another node was faster, the next pass sees. answer is what its caller's key tells from
// now on; nil: what it told before.
func (o *Outbox) deliverTo(ctx context.Context, send *store.Send, ds []etcdstore.Delivery, rest []store.Target, again []store.Send, answer *store.Answer) (more bool, err error) {
	carry(ctx, ds)
	ok, err := o.cfg.Stimuli.Deliver(ctx, ds, send, rest, again, send.Key, answer)
	if err != nil || !ok {
		return false, err
	}
	ids := make([]string, 0, len(ds))
	for i := range ds {
		if ds[i].Wait != nil {
			o.cfg.Metrics.Gated(metrics.GatedEvent, 1)
			continue
		}
		ids = append(ids, instanceOf(&ds[i]))
	}
	o.cfg.Wakeups.Hint(ids, len(rest)+len(again) > 0)
	return len(rest)+len(again) > 0, nil
}

// createGated starts behind a gate. False: it is held.
func (o *Outbox) createGated(ctx context.Context, p *plan) (free bool, err error) {
	err = o.starts.create(ctx, p)
	switch workflow.CodeOf(err) {
	case workflow.CodeInstanceGated:
		return false, nil
	case workflow.CodeInstanceExists:
		return true, nil // its id is of this very start, which was done earlier
	}
	return true, err
}

// behindGate is what becomes of a start whose gate is held: a queue item that
// waits there. The only target of a stimulus keeps its id, which a caller may
// know; of several each has one of its own.
func behindGate(send *store.Send, p *plan, t store.TriggerRef) etcdstore.Delivery {
	item := &store.QueueItem{ID: send.ID, Stimulus: send.Stimulus, Hash: t.Hash, CreatedAt: send.CreatedAt,
		Trace: send.Trace, Held: &store.HeldStart{Event: send.ID, Trigger: t, Gate: *p.gate}}
	if len(send.Targets) > 1 {
		item.ID = store.GatedItem(p.id)
	}
	p.send = nil // the delivery compares it
	return etcdstore.Delivery{Command: p.cmd, New: p.instance(), Wait: item}
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
		again = append(again, store.Send{ID: store.Again(send.ID, t.Bookmark.ID), Stimulus: st, CreatedAt: now, Trace: send.Trace})
	}
	return again
}
