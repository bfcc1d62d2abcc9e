package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// deadLetters brings back, or forgets, what could not be done.
type deadLetters struct {
	cfg    *Config
	intake *intake.Intake
}

// ReplayDeadLetter gives an instance the command of a dead letter again, or sends
// its stimulus again, as new, if it is for no instance, or for one that is gone.
func (l *deadLetters) ReplayDeadLetter(ctx context.Context, id string) (SendResult, error) {
	if err := l.intake.Accepts(intake.GoesOn); err != nil {
		return SendResult{}, err
	}
	d, err := l.deadLetter(ctx, id)
	if err != nil {
		return SendResult{}, err
	}
	if d.Dropped != nil {
		return SendResult{}, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("what dead letter %q brought was too large to be kept (%d bytes, SHA-256 %s); send it again yourself, smaller", id, d.Dropped.Bytes, d.Dropped.SHA256))
	}
	if d.Command != nil {
		res, done, err := l.replayCommand(ctx, d)
		if err != nil || done {
			return res, err
		}
	}
	if d.Stimulus == nil {
		return SendResult{}, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("dead letter %q holds no stimulus that could be sent again (%s)", id, d.Reason))
	}
	send := &store.Send{ID: "replay-" + newID(), Stimulus: *d.Stimulus, Targets: d.Targets, CreatedAt: l.cfg.Now().UTC(), Trace: tracing.Traceparent(ctx)}
	var ok bool
	err = retryUnknown(ctx, func() (err error) {
		ok, err = l.cfg.Stimuli.TakeDeadLetter(ctx, d, send)
		return err
	})
	if err != nil {
		return SendResult{}, err
	}
	if !ok {
		return SendResult{}, noDeadLetter(id)
	}
	l.cfg.Hint(nil, true)
	return SendResult{Queued: send.ID}, nil
}

// replayCommand is not done if the command's instance is gone.
func (l *deadLetters) replayCommand(ctx context.Context, d *store.DeadLetter) (res SendResult, done bool, err error) {
	id := "replay-" + newID()
	var out etcdstore.ReplayOutcome
	err = retryUnknown(ctx, func() (err error) {
		out, err = l.cfg.Stimuli.ReplayCommand(ctx, d, id)
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
	l.cfg.Hint([]string{d.InstanceID}, false)
	return SendResult{Outcomes: []TargetOutcome{{InstanceID: d.InstanceID, Outcome: workflow.OutcomeAccepted}}}, true, nil
}

// DeleteDeadLetter forgets a dead letter.
func (l *deadLetters) DeleteDeadLetter(ctx context.Context, id string) error {
	d, err := l.deadLetter(ctx, id)
	if err != nil && d == nil { // one that cannot be read can be deleted
		return err
	}
	return retryUnknown(ctx, func() error {
		_, err := l.cfg.Stimuli.TakeDeadLetter(ctx, d, nil)
		return err
	})
}

func (l *deadLetters) deadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
	d, err := l.cfg.Stimuli.DeadLetter(ctx, id)
	if errors.Is(err, etcdstore.ErrDamaged) {
		return d, etcdstore.Damaged(fmt.Sprintf("dead letter %q", id), err)
	}
	if err != nil {
		return d, etcdstore.Unavailable("the dead letter could not be read", err)
	}
	if d == nil {
		return nil, noDeadLetter(id)
	}
	return d, nil
}

func noDeadLetter(id string) error {
	return workflow.Fail(workflow.CodeDeadLetterNotFound, fmt.Sprintf("there is no dead letter %q", id))
}
