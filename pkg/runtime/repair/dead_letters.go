package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// DeadLetters brings back, or forgets, what could not be done.
type DeadLetters struct {
	cfg     *front.Config
	intake  *intake.Intake
	answers *answers.Waiter

	inspector *inspect.Inspector
}

// New makes the part for what could not be done.
func New(cfg *front.Config, in *intake.Intake, inspector *inspect.Inspector, waiter *answers.Waiter) *DeadLetters {
	return &DeadLetters{cfg: cfg, intake: in, answers: waiter, inspector: inspector}
}

// ReplayDeadLetter gives an instance the command of a dead letter again, or sends
// its stimulus again, as new, if it is for no instance, or for one that is gone. What is
// edited is always sent as new.
func (l *DeadLetters) ReplayDeadLetter(ctx context.Context, id string, edit Edit, key *front.Key) (front.SendResult, error) {
	if err := l.intake.Accepts(intake.GoesOn); err != nil {
		return front.SendResult{}, err
	}
	k := key.Command()
	return l.once(ctx, k, func() (front.SendResult, error) {
		d, err := l.deadLetter(ctx, id)
		if err != nil {
			return front.SendResult{}, err
		}
		if d.Dropped != nil {
			return front.SendResult{}, droppedLetter(d)
		}
		if d.Command != nil && edit.none() {
			res, done, err := l.replayCommand(ctx, d, k)
			if err != nil || done {
				return res, err
			}
		}
		if d.Stimulus == nil {
			return front.SendResult{}, noStimulus(d)
		}
		send, err := l.send(ctx, d.Stimulus, edit, k)
		if err != nil {
			return front.SendResult{}, err
		}
		if edit.none() {
			send.Targets = d.Targets
		}
		return l.taken(send, noDeadLetter(id), front.RetryUnknown(ctx, func() error { return gone(l.cfg.Stimuli.TakeDeadLetter(ctx, d, send)) }))
	})
}

// send is the record of a stimulus that is sent again. One that is sent to an instance by hand is
// refused where that is gone or has ended, as a new one is: what it is taken from stays.
func (l *DeadLetters) send(ctx context.Context, st *workflow.Stimulus, edit Edit, k *workflow.CommandKey) (*store.Send, error) {
	edited, err := edit.apply(l.cfg.Catalog, *st)
	if err != nil {
		return nil, err
	}
	if edit.InstanceID != nil && edited.InstanceID != "" {
		rec, err := inspect.Brief(ctx, l.cfg.Reader, edited.InstanceID)
		if err != nil {
			return nil, err
		}
		if rec.Header.Status == workflow.StatusFinished {
			return nil, workflow.Fail(workflow.CodeInstanceFinished, fmt.Sprintf("instance %q is finished (%s); nothing waits there any more", rec.Header.ID, rec.Header.SubStatus))
		}
	}
	return &store.Send{ID: store.Replayed + workflow.NewID(), Stimulus: edited, Key: k, CreatedAt: l.cfg.Now().UTC(), Trace: tracing.Traceparent(ctx)}, nil
}

// errGone says that what was to be taken is not there.
var errGone = errors.New("it is gone")

func gone(ok bool, err error) error {
	if err == nil && !ok {
		return errGone
	}
	return err
}

// taken is the answer of a call that took something and sent it again.
func (l *DeadLetters) taken(send *store.Send, missing, err error) (front.SendResult, error) {
	if errors.Is(err, errGone) {
		err = missing
	}
	if err != nil {
		return front.SendResult{}, err
	}
	l.cfg.Wakeups.Hint(nil, true)
	return front.SendResult{Queued: send.ID}, nil
}

// once does what a call with a key asks for unless that was done.
func (l *DeadLetters) once(ctx context.Context, k *workflow.CommandKey, do func() (front.SendResult, error)) (front.SendResult, error) {
	for range front.MaxLooks {
		if k != nil {
			a, err := l.answers.Used(ctx, k)
			if err != nil {
				return front.SendResult{}, err
			}
			if a != nil {
				return front.Answered(ctx, a, k, l.answers.Effects)
			}
		}
		res, err := do()
		if !errors.Is(err, store.ErrConflict) {
			return res, err
		}
	}
	return front.SendResult{}, front.MovesOn()
}

// replayCommand is not done if the command's instance is gone.
func (l *DeadLetters) replayCommand(ctx context.Context, d *store.DeadLetter, k *workflow.CommandKey) (res front.SendResult, done bool, err error) {
	id := store.Replayed + workflow.NewID()
	var out etcdstore.ReplayOutcome
	err = front.RetryUnknown(ctx, func() (err error) {
		out, err = l.cfg.Stimuli.ReplayCommand(ctx, d, id, k)
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
		return res, true, nobodyFor(d)
	case etcdstore.ReplayInMail:
		return res, true, front.Busy(d.InstanceID)
	case etcdstore.Replayed:
	}
	l.cfg.Wakeups.Hint([]string{d.InstanceID}, false)
	return front.SendResult{Outcomes: []front.TargetOutcome{{InstanceID: d.InstanceID, Outcome: workflow.OutcomeAccepted}}}, true, nil
}

// DeleteDeadLetter forgets a dead letter.
func (l *DeadLetters) DeleteDeadLetter(ctx context.Context, id string) error {
	d, err := l.deadLetter(ctx, id)
	if err != nil && d == nil { // one that cannot be read can be deleted
		return err
	}
	unknown := false // what an earlier attempt did
	err = front.RetryUnknown(ctx, func() error {
		ok, err := l.cfg.Stimuli.TakeDeadLetter(ctx, d, nil)
		if errors.Is(err, etcdstore.ErrUnknown) {
			unknown = true
		}
		return gone(ok || unknown, err)
	})
	if errors.Is(err, errGone) {
		return noDeadLetter(id)
	}
	return err
}

func (l *DeadLetters) deadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
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
