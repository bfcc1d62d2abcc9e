package repair

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Sendable is what a dead letter, or an item of the queue, would be sent as: a stimulus, or a command for one
// instance that would have it in its mailbox again.
type Sendable struct {
	Stimulus *workflow.Stimulus // nil: it is a command
	Instance string             // of a command
}

// Trial looks at what would be sent, and says why it would be refused; nil: it would be taken.
type Trial func(ctx context.Context, s Sendable) error

// TryReplay tells what a dead letter would be sent as, edited, and does nothing.
func (l *DeadLetters) TryReplay(ctx context.Context, id string, edit Edit) (Sendable, error) {
	d, err := l.deadLetter(ctx, id)
	if err != nil {
		return Sendable{}, err
	}
	return l.wouldReplay(ctx, d, edit)
}

func (l *DeadLetters) wouldReplay(ctx context.Context, d *store.DeadLetter, edit Edit) (Sendable, error) {
	if d.Dropped != nil {
		return Sendable{}, droppedLetter(d)
	}
	if d.Command != nil && edit.none() {
		_, err := inspect.Brief(ctx, l.cfg.Reader, d.InstanceID)
		switch gone := workflow.CodeOf(err) == workflow.CodeInstanceNotFound; {
		case err == nil:
			return Sendable{Instance: d.InstanceID}, nil
		case !gone:
			return Sendable{}, err
		case d.Stimulus == nil:
			return Sendable{}, nobodyFor(d)
		}
	}
	if d.Stimulus == nil {
		return Sendable{}, noStimulus(d)
	}
	send, err := l.send(ctx, d.Stimulus, edit, nil)
	if err != nil {
		return Sendable{}, err
	}
	return Sendable{Stimulus: &send.Stimulus}, nil
}

// TrySend tells what an item of the queue would be sent as, edited, and does nothing.
func (l *DeadLetters) TrySend(ctx context.Context, id string, edit Edit) (Sendable, error) {
	item, err := l.queueItem(ctx, id)
	if err != nil {
		return Sendable{}, err
	}
	return l.wouldSend(ctx, item, edit)
}

func (l *DeadLetters) wouldSend(ctx context.Context, item *store.QueueItem, edit Edit) (Sendable, error) {
	if err := sendable(item); err != nil {
		return Sendable{}, err
	}
	send, err := l.send(ctx, &item.Stimulus, edit, nil)
	if err != nil {
		return Sendable{}, err
	}
	return Sendable{Stimulus: &send.Stimulus}, nil
}

// TryReplays tells which dead letters of a page would be sent again, and does nothing. Without a trial it tells
// which would be deleted.
func (l *DeadLetters) TryReplays(ctx context.Context, f front.DeadLetterFilter, edit Edit, cursor string, limit int, try Trial) (Several, error) {
	return l.severalLetters(ctx, f, cursor, limit, func(id string) error {
		if try == nil {
			return nil
		}
		s, err := l.TryReplay(ctx, id, edit)
		if err != nil {
			return err
		}
		return try(ctx, s)
	})
}

// TrySends tells which items of a page of the queue would be sent again, and does nothing. Without a trial it
// tells which would be deleted.
func (l *DeadLetters) TrySends(ctx context.Context, f front.QueueFilter, edit Edit, cursor string, limit int, try Trial) (Several, error) {
	return l.severalItems(ctx, f, cursor, limit, func(item *store.QueueItem) error {
		if try == nil {
			return nil
		}
		s, err := l.wouldSend(ctx, item, edit)
		if err != nil {
			return err
		}
		return try(ctx, s)
	})
}

func droppedLetter(d *store.DeadLetter) error {
	return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("what dead letter %q brought was too large to be kept (%d bytes, SHA-256 %s); send it again yourself, smaller", d.ID, d.Dropped.Bytes, d.Dropped.SHA256))
}

func noStimulus(d *store.DeadLetter) error {
	return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("dead letter %q holds no stimulus that could be sent again (%s)", d.ID, d.Reason))
}

func nobodyFor(d *store.DeadLetter) error {
	return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("dead letter %q is a %s command for instance %q, which is gone", d.ID, d.Command.Kind, d.InstanceID))
}
