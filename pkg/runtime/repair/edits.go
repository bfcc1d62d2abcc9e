package repair

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Edit is what is changed of a stimulus before it is sent again; nil fields stay as they
// are.
type Edit struct {
	CorrelationID *string
	InstanceID    *string        // "": for all who wait for it
	Name          *string        // of an event
	Input         map[string]any // in the place of what it brings
}

func (e *Edit) none() bool {
	return e.CorrelationID == nil && e.InstanceID == nil && e.Name == nil && e.Input == nil
}

// apply gives the edited stimulus. It is checked as one that is sent; one that is not
// edited was.
func (e *Edit) apply(c *catalog.Catalog, st workflow.Stimulus) (workflow.Stimulus, error) {
	if e.none() {
		return st, nil
	}
	if e.Name != nil {
		if st.ActivityType != workflow.EventType {
			return st, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("it is no event, but %s: it has no name that could be another one", st.ActivityType))
		}
		st.Payload = workflow.EventPayload(*e.Name)
	}
	if e.CorrelationID != nil {
		st.CorrelationID = *e.CorrelationID
	}
	if e.InstanceID != nil {
		st.InstanceID, st.BookmarkID = *e.InstanceID, ""
	}
	if e.Input != nil {
		st.Input = e.Input
	}
	if err := front.CheckStimulus(&st); err != nil {
		return st, err
	}
	if err := front.NotByHand(st.ActivityType); err != nil {
		return st, err
	}
	if err := front.Takes(c, st.ActivityType, st.Input); err != nil {
		return st, err
	}
	_, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return st, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	return st, nil
}

// Several tells what became of a page of dead letters, or of the queue.
type Several struct {
	Done    []string
	Refused []Refusal
	Next    string // of the next page; "" at the end
}

// Refusal is one of many for which something was not done.
type Refusal struct {
	ID     string
	Code   workflow.Code
	Detail string
}

// ReplayDeadLetters replays those of a page that the filter takes, edited. Each is taken
// once, however often it is asked for.
func (l *DeadLetters) ReplayDeadLetters(ctx context.Context, f front.DeadLetterFilter, edit Edit, cursor string, limit int) (Several, error) {
	if err := l.intake.Accepts(intake.GoesOn); err != nil {
		return Several{}, err
	}
	return l.severalLetters(ctx, f, cursor, limit, func(id string) error {
		_, err := l.ReplayDeadLetter(ctx, id, edit, nil)
		return err
	})
}

// DeleteDeadLetters forgets those of a page that the filter takes.
func (l *DeadLetters) DeleteDeadLetters(ctx context.Context, f front.DeadLetterFilter, cursor string, limit int) (Several, error) {
	return l.severalLetters(ctx, f, cursor, limit, func(id string) error { return l.DeleteDeadLetter(ctx, id) })
}

func (l *DeadLetters) severalLetters(ctx context.Context, f front.DeadLetterFilter, cursor string, limit int, do func(id string) error) (Several, error) {
	page, err := l.inspector.DeadLetters(ctx, f, cursor, limit)
	if err != nil {
		return Several{}, err
	}
	out := Several{Done: []string{}, Next: page.Next}
	for _, d := range page.Items {
		if err := out.note(ctx, d.ID, do(d.ID)); err != nil {
			return Several{}, err
		}
	}
	return out, nil
}

// SendQueueItems takes those of a page of the queue that the filter takes out of it, and
// sends them again, edited. What comes into the queue after the first page was asked for is
// left alone, as what is sent again may come there.
func (l *DeadLetters) SendQueueItems(ctx context.Context, f front.QueueFilter, edit Edit, cursor string, limit int) (Several, error) {
	if err := l.intake.Accepts(intake.GoesOn); err != nil {
		return Several{}, err
	}
	began := l.cfg.Now()
	if cursor != "" {
		ns, rest, _ := strings.Cut(cursor, "~")
		n, err := strconv.ParseInt(ns, 10, 64)
		if err != nil {
			return Several{}, workflow.Fail(workflow.CodeInvalid, "the cursor is not one that this API gave out")
		}
		began, cursor = time.Unix(0, n), rest
	}
	if f.Before.IsZero() || began.Before(f.Before) {
		f.Before = began
	}
	out, err := l.severalItems(ctx, f, cursor, limit, func(item *store.QueueItem) error {
		_, err := l.sendItem(ctx, item, edit, nil)
		return err
	})
	if out.Next != "" {
		out.Next = fmt.Sprintf("%d~%s", began.UnixNano(), out.Next)
	}
	return out, err
}

// DeleteQueueItems forgets those of a page of the queue that the filter takes.
func (l *DeadLetters) DeleteQueueItems(ctx context.Context, f front.QueueFilter, cursor string, limit int) (Several, error) {
	return l.severalItems(ctx, f, cursor, limit, func(item *store.QueueItem) error { return l.deleteItem(ctx, item) })
}

func (l *DeadLetters) severalItems(ctx context.Context, f front.QueueFilter, cursor string, limit int, do func(*store.QueueItem) error) (Several, error) {
	page, err := l.inspector.QueueRecords(ctx, f, cursor, limit)
	if err != nil {
		return Several{}, err
	}
	out := Several{Done: []string{}, Next: page.Next}
	for i := range page.Items {
		if err := out.note(ctx, page.Items[i].ID, do(&page.Items[i])); err != nil {
			return Several{}, err
		}
	}
	return out, nil
}

// note adds what became of one. The error is of a caller whose time is over; repeating is
// harmless.
func (s *Several) note(ctx context.Context, id string, err error) error {
	switch {
	case err == nil:
		s.Done = append(s.Done, id)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	r := Refusal{ID: id, Code: workflow.CodeInternal}
	var e *workflow.Error
	if errors.As(err, &e) {
		r.Code, r.Detail = e.Code, e.Detail
	}
	s.Refused = append(s.Refused, r)
	return nil
}

// OneDeadLetter reads a dead letter.
func (l *DeadLetters) OneDeadLetter(ctx context.Context, id string) (front.DeadLetter, error) {
	d, err := l.deadLetter(ctx, id)
	if err != nil {
		return front.DeadLetter{}, err
	}
	return inspect.ShowDeadLetter(*d), nil
}

// OneQueueItem reads a stimulus that waits in the queue.
func (l *DeadLetters) OneQueueItem(ctx context.Context, id string) (front.QueueItem, error) {
	item, err := l.queueItem(ctx, id)
	if err != nil {
		return front.QueueItem{}, err
	}
	return l.inspector.ShowQueueItem(item), nil
}

func (l *DeadLetters) queueItem(ctx context.Context, id string) (*store.QueueItem, error) {
	item, err := l.cfg.Stimuli.FindQueueItem(ctx, id)
	switch {
	case err != nil:
		return nil, etcdstore.Unavailable("the queue could not be read", err)
	case item == nil:
		return nil, noQueueItem(id)
	}
	return item, nil
}

// SendQueueItem takes a stimulus out of the queue and sends it again, edited.
func (l *DeadLetters) SendQueueItem(ctx context.Context, id string, edit Edit, key *front.Key) (front.SendResult, error) {
	if err := l.intake.Accepts(intake.GoesOn); err != nil {
		return front.SendResult{}, err
	}
	k := key.Command()
	return l.once(ctx, k, func() (front.SendResult, error) {
		item, err := l.queueItem(ctx, id)
		if err != nil {
			return front.SendResult{}, err
		}
		return l.sendItem(ctx, item, edit, k)
	})
}

func (l *DeadLetters) sendItem(ctx context.Context, item *store.QueueItem, edit Edit, k *workflow.CommandKey) (front.SendResult, error) {
	if err := sendable(item); err != nil {
		return front.SendResult{}, err
	}
	send, err := l.send(ctx, &item.Stimulus, edit, k)
	if err != nil {
		return front.SendResult{}, err
	}
	return l.taken(send, noQueueItem(item.ID), front.RetryUnknown(ctx, func() error { return gone(l.cfg.Stimuli.TakeQueueItem(ctx, item, send)) }))
}

// sendable says why an item of the queue cannot be sent again.
func sendable(item *store.QueueItem) error {
	switch {
	case item.Unreadable != nil:
		return etcdstore.Damaged(fmt.Sprintf("queue item %q", item.ID), item.Unreadable)
	case item.Held != nil:
		return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("queue item %q has met definition %s, and waits until no other instance of it runs; it can be deleted", item.ID, item.Held.Trigger.DefinitionID))
	}
	return nil
}

// DeleteQueueItem forgets a stimulus that waits in the queue.
func (l *DeadLetters) DeleteQueueItem(ctx context.Context, id string) error {
	item, err := l.queueItem(ctx, id)
	if err != nil {
		return err
	}
	return l.deleteItem(ctx, item)
}

func (l *DeadLetters) deleteItem(ctx context.Context, item *store.QueueItem) error {
	err := front.RetryUnknown(ctx, func() error { return gone(l.cfg.Stimuli.TakeQueueItem(ctx, item, nil)) })
	if errors.Is(err, errGone) {
		return noQueueItem(item.ID)
	}
	return err
}

func noQueueItem(id string) error {
	return workflow.Fail(workflow.CodeQueueItemNotFound, fmt.Sprintf("there is no queue item %q (any more): it has met something, or is a dead letter", id))
}
