package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/workflow"
)

// maxLooks bounds how often a call looks again because what it found moved.
const maxLooks = 50

// Send delivers a stimulus: it resumes the bookmarks and starts the triggers it
// meets, or waits in the queue for one.
func (r *Runtime) Send(ctx context.Context, st workflow.Stimulus, key *Key) (SendResult, error) {
	return r.deliver(ctx, st, commandKey(key), nil)
}

// deliver is Send; request is set for an HTTP request, which wants one target
// at once.
func (r *Runtime) deliver(ctx context.Context, st workflow.Stimulus, k *workflow.CommandKey, request *arrival) (SendResult, error) {
	if err := r.accepting(goesOn); err != nil {
		return SendResult{}, err
	}
	if err := checkStimulus(&st); err != nil {
		return SendResult{}, err
	}
	if request == nil {
		if err := notByHand(st.ActivityType); err != nil {
			return SendResult{}, err
		}
		if err := r.takes(st.ActivityType, st.Input); err != nil {
			return SendResult{}, err
		}
	}
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return SendResult{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	s := &sending{r: r, st: st, hash: hash, key: k, id: commandID(k), request: request}
	if request != nil {
		defer request.leave(r)
	}
	for range maxLooks {
		res, done, err := s.try(ctx)
		if err != nil || done {
			return res, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return SendResult{}, movesOn()
}

func movesOn() error {
	return &workflow.Error{Code: workflow.CodeBusy, Detail: "what the stimulus was for kept moving; repeat the request with the same Idempotency-Key", RetryAfter: time.Second}
}

func checkStimulus(st *workflow.Stimulus) error {
	if st.BookmarkID != "" && st.InstanceID == "" {
		id, ok := workflow.BookmarkInstance(st.BookmarkID)
		if !ok {
			return workflow.Fail(workflow.CodeBookmarkNotFound, fmt.Sprintf("there is no bookmark %q", st.BookmarkID))
		}
		st.InstanceID = id
	}
	if err := workflow.CheckName("correlationId", st.CorrelationID); err != nil {
		return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	if st.InstanceID != "" {
		if err := workflow.CheckID("instanceId", st.InstanceID); err != nil {
			return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
	}
	if startsChildren(st.ActivityType) {
		return workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("what waits at %s is resumed by a child's end, and by nothing else", st.ActivityType))
	}
	if st.ActivityType == "" {
		return workflow.Fail(workflow.CodeInvalid, "activityType is required")
	}
	return nil
}

// notByHand refuses to make up an HTTP request: who may send one, and what its
// headers say, is looked at where requests come in.
func notByHand(activityType string) error {
	if activityType != workflow.EndpointType {
		return nil
	}
	return workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("what waits at %s takes an HTTP request and nothing else, since its endpoint may say who may send one: send it to /workflows/ and the path", activityType))
}

// sending is one call of Send.
type sending struct {
	r    *Runtime
	st   workflow.Stimulus
	hash string
	key  *workflow.CommandKey
	id   string

	request *arrival // nil: not an HTTP request
}

func (s *sending) keyName() string {
	if s.key == nil {
		return ""
	}
	return s.key.Name
}

// try looks once and acts on what it saw; done is false if that had moved.
func (s *sending) try(ctx context.Context) (res SendResult, done bool, err error) {
	look, err := s.r.cfg.Stimuli.Match(ctx, s.st, s.hash, s.keyName())
	if errors.Is(err, etcdstore.ErrDamaged) {
		return res, false, damaged("what the stimulus is for", err)
	}
	if err != nil {
		return res, false, unavailable("the stimulus could not be looked up", err)
	}
	if look.Answer != nil {
		if s.request != nil {
			if err := s.request.mayHave(ctx, s.r, look.Answer, s.key); err != nil {
				return res, false, err
			}
		}
		res, err := s.r.answered(ctx, look.Answer, s.key)
		return res, true, err
	}
	if s.st.InstanceID != "" {
		if err := addressable(s.st, look); err != nil {
			if s.request != nil {
				err = s.request.nothing(ctx, s.r)
			}
			return res, false, err
		}
	}
	if s.request != nil {
		if ok, err := s.onePlace(ctx, look); err != nil || !ok {
			return res, false, err
		}
	}
	if len(look.Triggers) > 0 { // before anything is durable: the caller repeats all of it
		if err := s.r.room(starts); err != nil {
			return res, false, err
		}
	}
	n := len(look.Bookmarks) + len(look.Triggers)
	switch {
	case n == 0:
		return s.queue(ctx, look)
	case n == 1 && len(look.Bookmarks) == 1:
		b := look.Bookmarks[0]
		cmd := workflow.Command{ID: s.id, Kind: workflow.CommandResume, CreatedAt: s.r.cfg.Now().UTC(), Bookmark: b.ID, Input: s.st.Input, Key: s.key}
		switch {
		case s.request == nil:
			cmd.Stimulus = &s.st // else for this bookmark only: where it could go on to, nobody would ask who calls
		case !s.request.inTurn(ctx, s.r, b.InstanceID+"/"+s.hash):
			return res, false, nil
		}
		return s.r.resume(ctx, &b, cmd)
	case n == 1:
		return s.start(ctx, look.Triggers[0])
	}
	return s.several(ctx, look)
}

func addressable(st workflow.Stimulus, look *etcdstore.Match) error {
	switch {
	case look.Instance == nil:
		return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", st.InstanceID))
	case look.Instance.Header.Status == workflow.StatusFinished:
		return workflow.Fail(workflow.CodeInstanceFinished, fmt.Sprintf("instance %q is finished (%s); nothing waits there any more", st.InstanceID, look.Instance.Header.SubStatus))
	case st.BookmarkID != "" && len(look.Bookmarks) == 0:
		return workflow.Fail(workflow.CodeBookmarkNotFound, fmt.Sprintf("instance %q does not wait at bookmark %q (any more)", st.InstanceID, st.BookmarkID))
	}
	return nil
}

// queue keeps a stimulus that meets nothing.
func (s *sending) queue(ctx context.Context, look *etcdstore.Match) (SendResult, bool, error) {
	if err := s.r.awaitable(s.st.ActivityType); err != nil {
		return SendResult{}, false, err
	}
	now := s.r.cfg.Now().UTC()
	ctx, span := tracing.Send(ctx, tracing.ToQueue, "")
	defer span.End()
	item := store.QueueItem{ID: s.id, Stimulus: s.st, Hash: s.hash, Key: s.key, CreatedAt: now, Trace: tracing.Traceparent(ctx)}
	var ok bool
	err := s.r.settle(ctx, func() (err error) {
		ok, err = s.r.cfg.Stimuli.Enqueue(ctx, item, look)
		return err
	})
	if errors.Is(err, store.ErrConflict) {
		return SendResult{}, false, nil // the key was used: look again and find its answer
	}
	if err != nil {
		return SendResult{}, false, err
	}
	return SendResult{Queued: item.ID}, ok, nil
}

// awaitable refuses a stimulus that nothing can ever wait for. Where something does,
// nobody asks: another program of the cluster may have the type.
func (r *Runtime) awaitable(activityType string) error {
	if d := r.cfg.Catalog.Types().ByType(activityType); activityType == workflow.EventType || d != nil && d.Type == activityType {
		return nil
	}
	var all, starting []string
	for _, d := range r.cfg.Catalog.Types().All() {
		all = append(all, d.Type)
		if d.Trigger {
			starting = append(starting, d.Type)
		}
	}
	return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("activityType %q: nothing waits for it, and this node knows no such activity%s; those that start workflows are %s",
		activityType, workflow.DidYouMean(activityType, all), strings.Join(starting, ", ")))
}

// resume delivers a command to one bookmark: in hand if its instance is idle,
// through the mailbox if it is busy.
func (r *Runtime) resume(ctx context.Context, b *store.BookmarkRef, cmd workflow.Command) (SendResult, bool, error) {
	c := r.cfg.Client(b.InstanceID)
	isBusy, err := c.Busy(ctx)
	if err != nil {
		return SendResult{}, false, unavailable("the lock of instance "+b.InstanceID+" could not be read", err)
	}
	if !isBusy {
		res, err := c.Do(ctx, cmd)
		if err == nil {
			return r.resumed(ctx, b.InstanceID, cmd, res)
		}
		if workflow.CodeOf(err) == workflow.CodeInstanceNotFound {
			return SendResult{}, false, nil // it was deleted: look again
		}
		if err := r.elsewhere(ctx, err); err != nil {
			return SendResult{}, false, err
		}
	}
	return r.mail(ctx, b.InstanceID, cmd, b)
}

// resumed tells what a command in hand did; a gone bookmark means looking
// again.
func (r *Runtime) resumed(ctx context.Context, id string, cmd workflow.Command, res client.Result) (SendResult, bool, error) {
	switch {
	case res.Answer != nil:
		out, err := r.answered(ctx, res.Answer, cmd.Key)
		return out, true, err
	case res.Accepted:
		return SendResult{Outcomes: []TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeAccepted}}}, true, nil
	case res.Effect.Outcome == workflow.OutcomeGone:
		return SendResult{}, false, nil
	case res.Effect.Code == string(workflow.CodeInstanceFinished):
		return SendResult{}, false, nil
	}
	return SendResult{Outcomes: []TargetOutcome{outcomeOf(id, &res.Effect)}, Response: res.Response}, true, nil
}

func outcomeOf(id string, e *store.Effect) TargetOutcome {
	t := TargetOutcome{InstanceID: id, Code: e.Code, Detail: e.Detail}
	switch e.Outcome {
	case workflow.OutcomeStarted:
		t.Outcome = workflow.OutcomeStarted
	case workflow.OutcomeResumed, workflow.OutcomeApplied:
		t.Outcome = workflow.OutcomeResumed
	case workflow.OutcomeRequeued, workflow.OutcomeAccepted:
		t.Outcome = workflow.OutcomeAccepted
	default:
		t.Outcome = workflow.OutcomeRefused
	}
	return t
}

// mail makes a command durable in a busy instance's mailbox and waits a little
// for what it does.
func (r *Runtime) mail(ctx context.Context, id string, cmd workflow.Command, b *store.BookmarkRef) (SendResult, bool, error) {
	out, err := r.putMail(ctx, id, cmd, b)
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
		r.cfg.Hint([]string{id}, false)
	}
	wait, cancel := context.WithTimeout(ctx, r.cfg.ReplyWait)
	defer cancel()
	effect := r.await(wait, id, cmd.ID)
	if effect == nil {
		return SendResult{Outcomes: []TargetOutcome{{InstanceID: id, Outcome: workflow.OutcomeAccepted}}}, true, nil
	}
	if effect.Outcome == workflow.OutcomeRequeued {
		return SendResult{Queued: effect.Code}, true, nil
	}
	return SendResult{Outcomes: []TargetOutcome{outcomeOf(id, effect)}}, true, nil
}

func (r *Runtime) putMail(ctx context.Context, id string, cmd workflow.Command, b *store.BookmarkRef) (out etcdstore.PutOutcome, err error) {
	ctx, span := tracing.Send(ctx, tracing.ToMailbox, id)
	defer span.End()
	cmd.Trace = tracing.Traceparent(ctx)
	err = r.settle(ctx, func() (err error) {
		out, _, err = r.cfg.Stimuli.PutMail(ctx, id, cmd, b)
		return err
	})
	return out, err
}

// await waits for the record of a command; nil if ctx ends first.
func (r *Runtime) await(ctx context.Context, id, cmd string) *store.Effect {
	ctx = tracing.Quiet(ctx)
	hint := r.cfg.Stimuli.WatchEffect(ctx, id, cmd)
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for {
		if e, err := r.cfg.Stimuli.Effect(ctx, id, cmd); err == nil && e != nil {
			return e
		}
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-hint:
			if !ok {
				hint = nil // the poll goes on
			}
		case <-poll.C:
		}
	}
}

// start runs a new instance for a trigger. Its id derives from the command, the
// definition and the activity, so a repeat meets the same instance.
func (s *sending) start(ctx context.Context, t store.TriggerRef) (SendResult, bool, error) {
	p := s.planTrigger(t)
	if p.gate != nil {
		res, err := s.startGated(ctx, p)
		return res, true, err
	}
	res, err := s.r.executeNow(ctx, p)
	if err != nil {
		if c := workflow.CodeOf(err); c == workflow.CodeDefinitionNotFound || c == workflow.CodeDefinitionMoved {
			return SendResult{}, false, nil // it was retracted or changed
		}
		return SendResult{}, false, err
	}
	outcome := workflow.OutcomeStarted
	if res.Accepted {
		outcome = workflow.OutcomeAccepted
	}
	return SendResult{Outcomes: []TargetOutcome{{InstanceID: p.id, Outcome: outcome}}, Response: res.Response}, true, nil
}

func (s *sending) startGated(ctx context.Context, p *plan) (SendResult, error) {
	res, err := s.r.executeGated(ctx, p)
	if workflow.CodeOf(err) == workflow.CodeInstanceGated {
		return SendResult{Outcomes: []TargetOutcome{{Outcome: workflow.OutcomeRefused, Code: string(workflow.CodeInstanceGated)}}}, nil
	}
	if err != nil {
		return SendResult{}, err
	}
	outcome := workflow.OutcomeStarted
	if res.Accepted {
		outcome = workflow.OutcomeAccepted
	}
	return SendResult{Outcomes: []TargetOutcome{{InstanceID: p.id, Outcome: outcome}}, Response: res.Response}, nil
}

// planTrigger makes the start that a trigger means.
func (s *sending) planTrigger(t store.TriggerRef) *plan {
	p := triggerPlan(s.id, t, &s.st, s.r.cfg.Now().UTC())
	p.cmd.Key = s.key
	return p
}

func triggerPlan(id string, t store.TriggerRef, st *workflow.Stimulus, at time.Time) *plan {
	cmd := workflow.Command{ID: "start-" + workflow.DeriveID(id, t.DefinitionID, t.ActivityID), Kind: workflow.CommandStart, CreatedAt: at, Start: &workflow.Start{
		DefinitionID: t.DefinitionID, Version: t.Version, CorrelationID: st.CorrelationID, Trigger: t.ActivityID, TriggerInput: st.Input}}
	return &plan{id: workflow.DeriveID("triggered", id, t.DefinitionID, t.ActivityID), cmd: cmd, trigger: &t, gate: GateOf(t.Activation, cmd.Start)}
}

// answered gives the answer of an earlier call; what was only accepted then may
// have been applied since.
func (r *Runtime) answered(ctx context.Context, a *store.Answer, k *workflow.CommandKey) (SendResult, error) {
	return r.told(ctx, a, k, r.awaitAll)
}

// told is what an answer says, and became of what was only accepted.
func (r *Runtime) told(ctx context.Context, a *store.Answer, k *workflow.CommandKey, became func(context.Context, []store.Effect) []TargetOutcome) (SendResult, error) {
	if err := checkBody(a, k); err != nil {
		return SendResult{}, err
	}
	res := SendResult{Queued: a.Queued, Response: a.Response}
	if len(a.Targets) > 0 {
		res.Outcomes = became(ctx, a.Targets)
	}
	if a.Instance != nil && len(res.Outcomes) == 0 {
		res.Outcomes = []TargetOutcome{{InstanceID: a.Instance.ID, Outcome: workflow.OutcomeStarted}}
	}
	return res, ctx.Err()
}
