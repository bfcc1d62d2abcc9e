package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Sender finds out who a stimulus is for, and delivers it.
type Sender struct {
	cfg     *front.Config
	intake  *intake.Intake
	answers *answers.Waiter
	starts  *Starter
	mailer  *front.Mailer
	recent  *recent.Events
}

// Send delivers a stimulus: it resumes the bookmarks and starts the triggers it
// meets, or waits in the queue for one.
func (s *Sender) Send(ctx context.Context, st workflow.Stimulus, key *front.Key) (front.SendResult, error) {
	return s.deliver(ctx, st, key.Command(), nil)
}

// deliver is Send; request is set for an HTTP request, which wants one target
// at once.
func (s *Sender) deliver(ctx context.Context, st workflow.Stimulus, k *workflow.CommandKey, request *endpointDelivery) (front.SendResult, error) {
	if err := s.intake.Accepts(intake.GoesOn); err != nil {
		return front.SendResult{}, err
	}
	if err := front.CheckStimulus(&st); err != nil {
		return front.SendResult{}, err
	}
	if request == nil {
		if err := front.NotByHand(st.ActivityType); err != nil {
			return front.SendResult{}, err
		}
		if err := front.Takes(s.cfg.Catalog, st.ActivityType, st.Input); err != nil {
			return front.SendResult{}, err
		}
	}
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return front.SendResult{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	d := &delivery{Sender: s, st: st, hash: hash, key: k, id: front.CommandID(k), request: request}
	if request != nil {
		defer request.leave()
	}
	for range front.MaxLooks {
		res, done, err := d.try(ctx)
		if err != nil || done {
			if err == nil && !d.repeat {
				d.note(&res)
			}
			return res, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return front.SendResult{}, front.MovesOn()
}

// note remembers an event that was sent. A repeat of its call sends nothing.
func (d *delivery) note(res *front.SendResult) {
	e := recent.Event{ID: d.id, Name: d.st.EventName(), CorrelationID: d.st.CorrelationID, InstanceID: d.st.InstanceID, At: d.cfg.Now().UTC()}
	for i := range res.Outcomes {
		if o := &res.Outcomes[i]; o.Outcome != workflow.OutcomeRefused && o.InstanceID != "" {
			e.Met++
			e.First = cmp.Or(e.First, o.InstanceID)
		}
	}
	if e.Name != "" {
		d.recent.Note(e)
	}
}

// delivery is one call of Send.
type delivery struct {
	*Sender
	st   workflow.Stimulus
	hash string
	key  *workflow.CommandKey
	id   string

	request *endpointDelivery // nil: not an HTTP request
	repeat  bool              // an earlier call with its key was answered
}

func (d *delivery) keyName() string {
	if d.key == nil {
		return ""
	}
	return d.key.Name
}

// try looks once and acts on what it saw; done is false if that had moved.
func (d *delivery) try(ctx context.Context) (res front.SendResult, done bool, err error) {
	met, err := d.cfg.Stimuli.Match(ctx, d.st, d.hash, d.keyName())
	if errors.Is(err, etcdstore.ErrDamaged) {
		return res, false, etcdstore.Damaged("what the stimulus is for", err)
	}
	if err != nil {
		return res, false, etcdstore.Unavailable("the stimulus could not be looked up", err)
	}
	if met.Answer != nil {
		if d.request != nil {
			if err := d.request.mayHave(ctx, met.Answer, d.key); err != nil {
				return res, false, err
			}
		}
		d.repeat = true
		res, err := front.Answered(ctx, met.Answer, d.key, d.answers.Effects)
		return res, true, err
	}
	if d.st.InstanceID != "" {
		if err := met.Addressable(); err != nil {
			if d.request != nil {
				err = d.request.nothing(ctx)
			}
			return res, false, err
		}
	}
	if d.request != nil {
		input, ok, err := d.request.admitted(ctx, met, d.key)
		if err != nil || !ok {
			return res, false, err
		}
		d.st.Input = input
	}
	if len(met.Triggers) > 0 { // before anything is durable: the caller repeats all of it
		if err := d.intake.Room(intake.Starts); err != nil {
			return res, false, err
		}
	}
	n := len(met.Bookmarks) + len(met.Triggers)
	switch {
	case n == 0:
		return d.queue(ctx, met)
	case n == 1 && len(met.Bookmarks) == 1:
		return d.resume(ctx, met.Bookmarks[0])
	case n == 1:
		return d.start(ctx, met.Triggers[0])
	}
	return d.several(ctx, met)
}

// resume gives the stimulus to the only bookmark that it meets.
func (d *delivery) resume(ctx context.Context, b store.BookmarkRef) (res front.SendResult, done bool, err error) {
	cmd := workflow.Command{ID: d.id, Kind: workflow.CommandResume, CreatedAt: d.cfg.Now().UTC(), Bookmark: b.ID, Input: d.st.Input, Key: d.key}
	switch {
	case d.request == nil:
		cmd.Stimulus = &d.st // else for this bookmark only: where it could go on to, nobody would ask who calls
	case !d.request.inTurn(ctx, b.InstanceID+"/"+d.hash):
		return res, false, nil
	}
	if cmd.Contents, err = d.keepFiles(ctx, b.InstanceID, true); err != nil {
		return res, false, err
	}
	return d.mailer.Resume(ctx, &b, cmd)
}

// queue keeps a stimulus that meets nothing.
func (d *delivery) queue(ctx context.Context, met *etcdstore.Match) (front.SendResult, bool, error) {
	if err := awaitable(d.cfg.Catalog, d.st.ActivityType); err != nil {
		return front.SendResult{}, false, err
	}
	now := d.cfg.Now().UTC()
	ctx, span := tracing.Send(ctx, tracing.ToQueue, "")
	defer span.End()
	item := store.QueueItem{ID: d.id, Stimulus: d.st, Hash: d.hash, Key: d.key, CreatedAt: now, Trace: tracing.Traceparent(ctx)}
	var ok bool
	err := front.RetryUnknown(ctx, func() (err error) {
		ok, err = d.cfg.Stimuli.Enqueue(ctx, item, met)
		return err
	})
	if errors.Is(err, store.ErrConflict) {
		return front.SendResult{}, false, nil // the key was used: look again and find its answer
	}
	if err != nil {
		return front.SendResult{}, false, err
	}
	if met.SentOn {
		d.cfg.Wakeups.Hint(nil, true)
	}
	return front.SendResult{Queued: item.ID}, ok, nil
}

// awaitable refuses a stimulus that nothing can ever wait for. Where something does,
// nobody asks: another program of the cluster may have the type.
func awaitable(c *catalog.Catalog, activityType string) error {
	if known := c.Types().ByType(activityType); activityType == workflow.EventType || known != nil && known.Type == activityType {
		return nil
	}
	var all, starting []string
	for _, d := range c.Types().All() {
		all = append(all, d.Type)
		if d.Trigger {
			starting = append(starting, d.Type)
		}
	}
	return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("activityType %q: nothing waits for it, and this node knows no such activity%s; those that start workflows are %s",
		activityType, workflow.DidYouMean(activityType, all), strings.Join(starting, ", ")))
}

// start runs a new instance for a trigger. Its id derives from the command, the
// definition and the activity, so a repeat meets the same instance.
func (d *delivery) start(ctx context.Context, t store.TriggerRef) (front.SendResult, bool, error) {
	p := d.planTrigger(t)
	var err error
	if p.cmd.Contents, err = d.keepFiles(ctx, p.id, false); err != nil {
		return front.SendResult{}, false, err
	}
	if p.gate != nil {
		res, err := d.startGated(ctx, p)
		return res, true, err
	}
	res, err := d.starts.executeNow(ctx, p)
	if err != nil {
		if c := workflow.CodeOf(err); c == workflow.CodeDefinitionNotFound || c == workflow.CodeDefinitionMoved {
			return front.SendResult{}, false, nil // it was retracted or changed
		}
		return front.SendResult{}, false, err
	}
	outcome := workflow.OutcomeStarted
	if res.Accepted {
		outcome = workflow.OutcomeAccepted
	}
	return front.SendResult{Outcomes: []front.TargetOutcome{{InstanceID: p.id, Outcome: outcome}}, Response: res.Response}, true, nil
}

func (d *delivery) startGated(ctx context.Context, p *plan) (front.SendResult, error) {
	res, err := d.starts.executeGated(ctx, p)
	if err != nil {
		return front.SendResult{}, err
	}
	outcome := workflow.OutcomeStarted
	if res.Accepted {
		outcome = workflow.OutcomeAccepted
	}
	return front.SendResult{Outcomes: []front.TargetOutcome{{InstanceID: p.id, Outcome: outcome}}, Response: res.Response}, nil
}

// keepFiles keeps the files of a request beside the instance that it is for, before anything says that it was accepted.
// Those that nothing refers to in the end go with the instance, or by a sweep.
func (d *delivery) keepFiles(ctx context.Context, instance string, known bool) ([]files.Content, error) {
	if d.request == nil || !d.request.HasFiles() {
		return nil, nil
	}
	kept, err := d.request.Keep(ctx, d.cfg.Contents, instance, known)
	if err != nil && workflow.CodeOf(err) == "" {
		err = etcdstore.Unavailable("the files of the request could not be kept", err)
	}
	return kept, err
}

// planTrigger makes the start that a trigger means.
func (d *delivery) planTrigger(t store.TriggerRef) *plan {
	p := triggerPlan(d.id, t, &d.st, d.cfg.Now().UTC())
	p.cmd.Key = d.key
	return p
}
