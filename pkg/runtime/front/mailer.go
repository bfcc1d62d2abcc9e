package front

import (
	"context"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/workflow"
)

// Mailer brings commands to instances that exist.
type Mailer struct {
	cfg     *Config
	answers *answers.Waiter
}

// NewMailer makes the way to mailboxes.
func NewMailer(cfg *Config, waiter *answers.Waiter) *Mailer { return &Mailer{cfg, waiter} }

// Resume delivers a command to one bookmark: in hand if its instance is idle,
// through the mailbox if it is busy.
func (m *Mailer) Resume(ctx context.Context, b *store.BookmarkRef, cmd workflow.Command) (SendResult, bool, error) {
	c := m.cfg.Client(b.InstanceID)
	isBusy, err := c.Busy(ctx)
	if err != nil {
		return SendResult{}, false, etcdstore.Unavailable("the lock of instance "+b.InstanceID+" could not be read", err)
	}
	if !isBusy {
		res, err := c.Resume(ctx, cmd, b)
		if err == nil {
			return m.resumed(ctx, b.InstanceID, cmd, res)
		}
		if workflow.CodeOf(err) == workflow.CodeInstanceNotFound {
			return SendResult{}, false, nil // it was deleted: look again
		}
		if err := Elsewhere(ctx, m.cfg.Session, err); err != nil {
			return SendResult{}, false, err
		}
	}
	return m.Mail(ctx, b.InstanceID, cmd, b)
}

// InHand delivers a command to one bookmark if its instance is idle, without a look at it. False: it did nothing, and
// nothing of it is durable.
func (m *Mailer) InHand(ctx context.Context, id string, found *store.BookmarkRef, cmd workflow.Command) (SendResult, bool, error) {
	c := m.cfg.Client(id)
	if isBusy, err := c.Busy(ctx); err != nil || isBusy {
		return SendResult{}, false, nil //nolint:nilerr // who looks finds out
	}
	res, err := c.Resume(ctx, cmd, found)
	if err == nil {
		return m.resumed(ctx, id, cmd, res)
	}
	if workflow.CodeOf(err) == workflow.CodeInstanceNotFound {
		return SendResult{}, false, nil
	}
	return SendResult{}, false, Elsewhere(ctx, m.cfg.Session, err)
}

// resumed tells what a command in hand did; a gone bookmark means looking
// again.
func (m *Mailer) resumed(ctx context.Context, id string, cmd workflow.Command, res client.Result) (SendResult, bool, error) {
	switch {
	case res.Answer != nil:
		out, err := Answered(ctx, res.Answer, cmd.Key, m.answers.Effects)
		return out, true, err
	case res.Accepted:
		return SendResult{Outcomes: []TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeAccepted}}}, true, nil
	case res.Effect.Outcome == workflow.OutcomeGone:
		return SendResult{}, false, nil
	case res.Effect.Code == string(workflow.CodeInstanceFinished):
		return SendResult{}, false, nil
	}
	return SendResult{Outcomes: []TargetOutcome{OutcomeOf(id, &res.Effect)}, Response: res.Response}, true, nil
}

// Mail makes a command durable in a busy instance's mailbox and waits a little
// for what it does.
func (m *Mailer) Mail(ctx context.Context, id string, cmd workflow.Command, b *store.BookmarkRef) (SendResult, bool, error) {
	out, err := m.put(ctx, id, cmd, b)
	if err != nil {
		return SendResult{}, false, err
	}
	switch out {
	case etcdstore.PutGone:
		return SendResult{}, false, nil
	case etcdstore.PutConsumed:
		if cmd.Key != nil {
			return SendResult{}, false, nil // look again, and find its answer
		}
	case etcdstore.PutDone:
		// The holder may have left between: then it is ours to run.
		m.cfg.Wakeups.Hint([]string{id}, false)
	}
	effect := m.answers.Effect(ctx, id, cmd.ID)
	if effect == nil {
		return SendResult{Outcomes: []TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeAccepted}}}, true, nil
	}
	if effect.Outcome == workflow.OutcomeRequeued {
		return SendResult{Queued: effect.Code}, true, nil
	}
	return SendResult{Outcomes: []TargetOutcome{OutcomeOf(id, effect)}}, true, nil
}

func (m *Mailer) put(ctx context.Context, id string, cmd workflow.Command, b *store.BookmarkRef) (out etcdstore.PutOutcome, err error) {
	ctx, span := tracing.Send(ctx, tracing.ToMailbox, id)
	defer span.End()
	cmd.Trace = tracing.Traceparent(ctx)
	err = RetryUnknown(ctx, func() (err error) {
		out, _, err = m.cfg.Stimuli.PutMail(ctx, id, cmd, b)
		return err
	})
	return out, err
}

// FindBookmark is a place where an instance waits, as commands are sent there; nil: it does not.
func FindBookmark(rec *store.Record, id string) *store.BookmarkRef {
	h := &rec.Header
	for i := range h.Bookmarks {
		if m := &h.Bookmarks[i]; m.ID == id {
			return &store.BookmarkRef{ID: id, InstanceID: h.ID, Hash: m.Hash, CorrelationID: h.CorrelationID, Moved: rec.Modified, Unindexed: rec.Unwritten != nil}
		}
	}
	return nil
}
