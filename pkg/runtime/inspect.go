package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// list reads one page of a list of the store and turns its items into what the
// API shows; show may leave one out.
func list[S, T any](ctx context.Context, what, cursor string, limit int, read func(context.Context, string, int64) ([]S, string, error), show func(S) (T, bool)) (Page[T], error) {
	page := Page[T]{Items: []T{}}
	raw, err := readCursor(cursor)
	if err != nil {
		return page, err
	}
	items, next, err := read(ctx, raw, int64(limitOf(limit)))
	if err != nil {
		return page, readFailed(what, err)
	}
	for _, item := range items {
		if t, ok := show(item); ok {
			page.Items = append(page.Items, t)
		}
	}
	page.Next = writeCursor(next)
	return page, nil
}

// Queue lists stimuli that wait for a target.
func (r *Runtime) Queue(ctx context.Context, cursor string, limit int) (Page[QueueItem], error) {
	read := func(ctx context.Context, cursor string, limit int64) ([]store.QueueItem, string, error) {
		return r.cfg.Reader.QueueItems(ctx, "", cursor, limit)
	}
	age := r.cfg.Age()
	return list(ctx, "queue", cursor, limit, read, func(i store.QueueItem) (QueueItem, bool) {
		item := QueueItem{ID: i.ID, Stimulus: i.Stimulus, CreatedAt: i.CreatedAt, ExpiresAt: r.expiresAt(&i, age)}
		if errors.Is(i.Unreadable, etcdstore.ErrDamaged) {
			item.Damaged, item.Damage = true, i.Unreadable.Error()
		}
		if i.Held != nil {
			item.Gated = i.Held.Trigger.DefinitionID
		}
		return item, true
	})
}

// expiresAt is about when a queue item becomes a dead letter, by this node's clock.
func (r *Runtime) expiresAt(item *store.QueueItem, age *store.Age) time.Time {
	return r.cfg.Now().UTC().Add(max(0, r.cfg.QueueTTL-age.Of(item.Created)))
}

// Timers lists what is to come: timers of instances, then the next occurrence of each schedule.
func (r *Runtime) Timers(ctx context.Context, cursor string, limit int) (Page[TimerItem], error) {
	read := func(ctx context.Context, cursor string, limit int64) ([]TimerItem, string, error) {
		rest, schedules := strings.CutPrefix(cursor, schedulesCursor)
		if schedules {
			return r.readSchedules(ctx, rest, limit)
		}
		due, next, err := r.cfg.Reader.Timers(ctx, cursor, limit)
		var items []TimerItem
		for _, d := range due {
			items = append(items, showTimer(d))
		}
		if err != nil || next != "" || int64(len(items)) == limit {
			return items, cmp.Or(next, schedulesCursor), err
		}
		more, next, err := r.readSchedules(ctx, "", limit-int64(len(items)))
		return append(items, more...), next, err
	}
	return list(ctx, "timers", cursor, limit, read, func(t TimerItem) (TimerItem, bool) { return t, true })
}

// schedulesCursor begins the cursors of the second part of the list.
const schedulesCursor = "schedules:"

func (r *Runtime) readSchedules(ctx context.Context, cursor string, limit int64) ([]TimerItem, string, error) {
	entries, next, err := r.cfg.Reader.Schedules(ctx, cursor, limit)
	items := make([]TimerItem, len(entries))
	for i, e := range entries {
		items[i] = TimerItem{DueAt: e.Due, Kind: string(e.Kind), DefinitionID: e.DefinitionID, ActivityID: e.ActivityID, Gated: e.Gated, GatedAt: e.GatedAt, Damaged: e.Damaged != "", Damage: e.Damaged}
	}
	if next != "" {
		next = schedulesCursor + next
	}
	return items, next, err
}

// DeadLetters lists work that could not be done.
func (r *Runtime) DeadLetters(ctx context.Context, cursor string, limit int) (Page[DeadLetter], error) {
	return list(ctx, "dead letters", cursor, limit, r.cfg.Reader.DeadLetters, func(d store.DeadLetter) (DeadLetter, bool) {
		return DeadLetter{ID: d.ID, Reason: d.Reason, Detail: d.Detail, Stimulus: d.Stimulus, Command: d.Command, Dropped: d.Dropped, InstanceID: d.InstanceID, CreatedAt: d.CreatedAt, Damaged: d.Damaged != "", Damage: d.Damaged}, true
	})
}

// ReplayDeadLetter gives an instance the command of a dead letter again, or sends
// its stimulus again, as new, if it is for no instance, or for one that is gone.
func (r *Runtime) ReplayDeadLetter(ctx context.Context, id string) (SendResult, error) {
	if err := r.accepting(goesOn); err != nil {
		return SendResult{}, err
	}
	d, err := r.deadLetter(ctx, id)
	if err != nil {
		return SendResult{}, err
	}
	if d.Dropped != nil {
		return SendResult{}, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("what dead letter %q brought was too large to be kept (%d bytes, SHA-256 %s); send it again yourself, smaller", id, d.Dropped.Bytes, d.Dropped.SHA256))
	}
	if d.Command != nil {
		res, done, err := r.replayCommand(ctx, d)
		if err != nil || done {
			return res, err
		}
	}
	if d.Stimulus == nil {
		return SendResult{}, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("dead letter %q holds no stimulus that could be sent again (%s)", id, d.Reason))
	}
	send := &store.Send{ID: "replay-" + newID(), Stimulus: *d.Stimulus, Targets: d.Targets, CreatedAt: r.cfg.Now().UTC(), Trace: tracing.Traceparent(ctx)}
	var ok bool
	err = r.settle(ctx, func() (err error) {
		ok, err = r.cfg.Stimuli.TakeDeadLetter(ctx, d, send)
		return err
	})
	if err != nil {
		return SendResult{}, err
	}
	if !ok {
		return SendResult{}, noDeadLetter(id)
	}
	r.cfg.Hint(nil, true)
	return SendResult{Queued: send.ID}, nil
}

// replayCommand is not done if the command's instance is gone.
func (r *Runtime) replayCommand(ctx context.Context, d *store.DeadLetter) (res SendResult, done bool, err error) {
	id := "replay-" + newID()
	var out etcdstore.ReplayOutcome
	err = r.settle(ctx, func() (err error) {
		out, err = r.cfg.Stimuli.ReplayCommand(ctx, d, id)
		return err
	})
	if err != nil {
		return res, false, err
	}
	switch out {
	case etcdstore.ReplayGone:
		return res, true, noDeadLetter(d.ID)
	case etcdstore.ReplayNobody:
		if d.Stimulus != nil {
			return res, false, nil
		}
		return res, true, workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("dead letter %q is a %s command for instance %q, which is gone", d.ID, d.Command.Kind, d.InstanceID))
	case etcdstore.ReplayInMail:
		return res, true, busy(d.InstanceID)
	case etcdstore.Replayed:
	}
	r.cfg.Hint([]string{d.InstanceID}, false)
	return SendResult{Outcomes: []TargetOutcome{{InstanceID: d.InstanceID, Outcome: workflow.OutcomeAccepted}}}, true, nil
}

// DeleteDeadLetter forgets a dead letter.
func (r *Runtime) DeleteDeadLetter(ctx context.Context, id string) error {
	d, err := r.deadLetter(ctx, id)
	if err != nil && d == nil { // one that cannot be read can be deleted
		return err
	}
	return r.settle(ctx, func() error {
		_, err := r.cfg.Stimuli.TakeDeadLetter(ctx, d, nil)
		return err
	})
}

func (r *Runtime) deadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
	d, err := r.cfg.Stimuli.DeadLetter(ctx, id)
	if errors.Is(err, etcdstore.ErrDamaged) {
		return d, damaged(fmt.Sprintf("dead letter %q", id), err)
	}
	if err != nil {
		return d, unavailable("the dead letter could not be read", err)
	}
	if d == nil {
		return nil, noDeadLetter(id)
	}
	return d, nil
}

func noDeadLetter(id string) error {
	return workflow.Fail(workflow.CodeDeadLetterNotFound, fmt.Sprintf("there is no dead letter %q", id))
}
