package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Starter starts instances.
type Starter struct {
	cfg       *front.Config
	intake    *intake.Intake
	inspector *inspect.Inspector
	answers   *answers.Waiter
}

// Execute starts an instance and answers when its first burst is committed, or
// (Accepted) durable and still running.
func (s *Starter) Execute(ctx context.Context, req front.StartRequest) (front.StartResult, error) {
	var res front.StartResult
	p, err := s.planned(ctx, req, func(p *plan) (err error) {
		switch {
		case p.answer != nil:
			res, err = s.answeredStart(ctx, p, p.answer)
		case p.gate != nil || p.elsewhere:
			res, err = s.executeGated(ctx, p)
		default:
			res, err = s.executeNow(ctx, p)
		}
		return err
	})
	if err != nil || req.Wait <= 0 || res.Instance.Status == workflow.StatusFinished {
		return res, err
	}
	in, err := s.inspector.WaitInstance(ctx, p.id, req.Wait)
	if err != nil {
		return res, nil //nolint:nilerr // it is committed; that is the answer
	}
	res.Instance, res.Accepted = in, false
	return res, nil
}

// Dispatch makes an instance durable as Pending and answers with its id; it runs
// as soon as a node takes it.
func (s *Starter) Dispatch(ctx context.Context, req front.StartRequest) (string, error) {
	return s.dispatch(ctx, req, s.create)
}

// dispatch plans a start and gives it to create, unless its key was used.
func (s *Starter) dispatch(ctx context.Context, req front.StartRequest, create func(context.Context, *plan) error) (string, error) {
	id := ""
	_, err := s.planned(ctx, req, func(p *plan) error {
		if id = p.id; p.answer != nil {
			id = startAnswer(p.answer).Instance.ID
			return nil
		}
		return create(ctx, p)
	})
	return id, err
}

// planned plans a start and does it; when the definition's head turns out to
// have moved since this node learned of it, once more with the head read again.
func (s *Starter) planned(ctx context.Context, req front.StartRequest, do func(*plan) error) (p *plan, err error) {
	var before retried
	for range front.MaxLooks {
		if p, err = s.plan(ctx, req, before); err != nil {
			return p, err
		}
		if err = do(p); workflow.CodeOf(err) != workflow.CodeDefinitionMoved {
			return p, err
		}
		before.headMoved = true
		if p.unseen {
			before.ran = p
		}
	}
	return p, err
}

// retried is what earlier tries of a start have shown; the zero value is of the first.
type retried struct {
	headMoved bool  // what this node knows of the definition's head is not true any more
	ran       *plan // a plan that may have run: it is done again under the same ids; nil: none
}

func (s *Starter) plan(ctx context.Context, req front.StartRequest, before retried) (*plan, error) {
	if err := s.intake.Accepts(intake.Starts); err != nil {
		return nil, err
	}
	if err := checkStart(&req); err != nil {
		return nil, err
	}
	version, modified, err := s.startVersion(ctx, &req, before.headMoved)
	if err != nil {
		return nil, err
	}
	p := &plan{id: req.InstanceID, chosen: req.InstanceID != ""}
	activation, err := s.admits(ctx, &req, version, p)
	if err != nil {
		return nil, err
	}
	key := req.Key.Command()
	p.cmd = workflow.Command{ID: front.CommandID(key), Kind: workflow.CommandStart, CreatedAt: s.cfg.Now().UTC(), Key: key, Start: &workflow.Start{
		DefinitionID: req.DefinitionID, Version: version, Head: modified, Input: req.Input, Name: req.Name, CorrelationID: req.CorrelationID, Properties: req.Properties,
		Trigger: req.Trigger, TriggerInput: req.TriggerInput}}
	if key != nil {
		if p.answer, err = s.answers.Used(ctx, key); err != nil || p.answer != nil {
			return p, err
		}
	}
	if p.id == "" {
		// With a key the id derives from it, so that repeats on any node meet at
		// one instance.
		if p.id, p.unseen = workflow.NewID(), true; key != nil {
			p.id, p.unseen = store.KeyedInstance(key.Name), false
		}
	}
	if !p.unseen && s.cfg.Archive != nil {
		if p.cmd.Start.Free, err = s.free(ctx, p); err != nil {
			return p, err
		}
	}
	if before.ran != nil {
		p.id, p.cmd.ID, p.unseen = before.ran.id, before.ran.cmd.ID, true
	}
	p.gate = store.GateOf(activation, p.cmd.Start)
	return p, nil
}

// free finds out whether an id that more than one start may have is free in the archive, too, which an instance leaves etcd for within
// seconds: one that the caller chose, or that derives from its key. at is the revision of etcd at which that was found: what left
// etcd before is in the archive. While that is away a start with a key goes on: the answer to its key is what a repeat finds.
func (s *Starter) free(ctx context.Context, p *plan) (at int64, err error) {
	if at, err = s.cfg.Stimuli.RevisionFor(ctx, p.id); err != nil {
		return 0, err
	}
	switch in, err := s.cfg.Archive.Instance(ctx, p.id); {
	case err != nil && p.chosen:
		return 0, err
	case in != nil:
		return 0, front.Exists(p.id)
	}
	return at, nil
}

// startVersion is the version that a start is of, and the mod revision of the head by
// which it is.
func (s *Starter) startVersion(ctx context.Context, req *front.StartRequest, headMoved bool) (version int, modified int64, err error) {
	var head store.DefinitionHead
	switch {
	case req.Version != 0:
		head, err = s.cfg.Catalog.Standing(ctx, req.DefinitionID, req.Version)
		return req.Version, head.Modified, err
	case headMoved:
		head, err = s.cfg.Catalog.Confirm(ctx, req.DefinitionID)
	default:
		head, err = s.cfg.Catalog.Head(ctx, req.DefinitionID)
	}
	return head.Published, head.Modified, err
}

// admits checks the input of a start against its definition, and gives the
// definition's activation strategy. If only another live node's program can run
// the definition, the input is left to it to check: the start faults if it is wrong.
func (s *Starter) admits(ctx context.Context, req *front.StartRequest, version int, p *plan) (activation string, err error) {
	prog, def, err := s.cfg.Catalog.Program(ctx, req.DefinitionID, version)
	if err == nil {
		if problems := prog.CheckInput(req.Input); len(problems) > 0 {
			return "", &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
		}
		return def.Options.ActivationStrategy, nil
	}
	if err := front.Elsewhere(ctx, s.cfg.Session, err); err != nil {
		return "", err
	}
	head, herr := s.cfg.Catalog.Head(ctx, req.DefinitionID)
	if herr != nil {
		return "", herr
	}
	if head.Published != version { // its strategy stands in a source that this node cannot read
		return "", err
	}
	p.elsewhere = true
	return head.Activation, nil
}

func checkStart(req *front.StartRequest) error {
	for _, err := range []error{
		workflow.CheckID("the definition id", req.DefinitionID),
		workflow.CheckName("correlationId", req.CorrelationID),
		workflow.CheckName("name", req.Name),
	} {
		if err != nil {
			return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
	}
	if req.InstanceID != "" {
		if err := workflow.CheckID("instanceId", req.InstanceID); err != nil {
			return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
	}
	if _, given := req.Properties[workflow.CallersProperty]; given { // it says whose requests the instance may answer
		return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("properties: %s is what Weft keeps itself", workflow.CallersProperty))
	}
	return nil
}

// answeredStart gives the answer of an earlier call with the same key. If that is
// still under way it waits a little for its outcome.
func (s *Starter) answeredStart(ctx context.Context, p *plan, a *store.Answer) (front.StartResult, error) {
	if len(a.Targets) == 1 && a.Targets[0].Outcome == workflow.OutcomeRefused {
		// Its record names the instance as it is: somebody else's.
		return front.StartResult{}, front.Refused(ctx, s.cfg.Reader, a.Targets[0].InstanceID, workflow.CommandStart, front.OutcomeOf(a.Targets[0].InstanceID, &a.Targets[0]))
	}
	res := startAnswer(a)
	if a.Instance != nil || res.Instance.ID == "" {
		return res, nil
	}
	p.id = res.Instance.ID
	return s.awaitStart(ctx, p)
}

func startAnswer(a *store.Answer) front.StartResult {
	res := front.StartResult{Response: a.Response}
	switch {
	case a.Instance != nil:
		res.Instance = *a.Instance
	case len(a.Targets) > 0:
		res.Instance.ID, res.Accepted = a.Targets[0].InstanceID, true
	}
	return res
}

// executeNow runs the first burst with the start in hand: two writes in all.
func (s *Starter) executeNow(ctx context.Context, p *plan) (front.StartResult, error) {
	for tries := 1; ; tries++ {
		c := s.cfg.Client(p.id)
		take := c.Do
		if p.unseen {
			take = c.Begin
		}
		res, err := take(ctx, p.cmd)
		switch {
		case err == nil && !notStarted(&res):
			return s.started(ctx, p, res)
		case err == nil:
			if tries >= front.MaxLooks {
				return front.StartResult{}, front.Busy(p.id)
			}
			continue
		case workflow.CodeOf(err) == workflow.CodeNotRunnable:
			if err := front.Elsewhere(ctx, s.cfg.Session, err); err != nil {
				return front.StartResult{}, err
			}
			return s.executeGated(ctx, p)
		case errors.Is(err, admission.ErrCrowded):
			return s.executeGated(ctx, p) // its turn comes
		case !errors.Is(err, client.ErrBusy):
			return front.StartResult{}, err
		}
		// Another node is at this very id: a twin of this call, or another start
		// or an instance with the same chosen id.
		if p.cmd.Key != nil {
			a, err := s.answers.Used(ctx, p.cmd.Key)
			if err != nil {
				return front.StartResult{}, err
			}
			if a != nil {
				return s.answeredStart(ctx, p, a)
			}
		} else if rec, err := s.cfg.Reader.Header(ctx, p.id); err == nil && rec != nil {
			return front.StartResult{}, front.Exists(p.id)
		}
		if !pace.Pause(ctx, pace.Jitter(20*time.Millisecond)) {
			return front.StartResult{}, front.Busy(p.id)
		}
	}
}

// notStarted reports whether a start did nothing, and its id is free: the instance
// that had it was deleted in the same burst.
func notStarted(res *client.Result) bool {
	e := &res.Effect
	return res.Answer == nil && (e.Outcome == workflow.OutcomeGone || e.Outcome == workflow.OutcomeRefused && e.Code != string(workflow.CodeInstanceExists))
}

func (s *Starter) started(ctx context.Context, p *plan, res client.Result) (front.StartResult, error) {
	switch {
	case res.Answer != nil:
		if err := answers.Check(res.Answer, p.cmd.Key); err != nil {
			return front.StartResult{}, err
		}
		return s.answeredStart(ctx, p, res.Answer)
	case res.Effect.Code == string(workflow.CodeInstanceExists):
		return front.StartResult{}, front.Exists(p.id)
	}
	return front.StartResult{Instance: res.Instance, Accepted: res.Accepted, Response: res.Response}, nil
}

// executeGated creates the instance with its gate before its first burst, so
// that no two can run.
func (s *Starter) executeGated(ctx context.Context, p *plan) (front.StartResult, error) {
	if err := s.create(ctx, p); err != nil {
		return front.StartResult{}, err
	}
	return s.awaitStart(ctx, p)
}

// awaitStart waits a little for the first burst of an instance that is durable.
func (s *Starter) awaitStart(ctx context.Context, p *plan) (front.StartResult, error) {
	s.answers.Effect(ctx, p.id, p.cmd.ID)
	if p.cmd.Key != nil {
		if a, err := s.answers.Used(ctx, p.cmd.Key); err == nil && a != nil && a.Instance != nil {
			return startAnswer(a), nil
		}
	}
	in, err := s.inspector.Instance(ctx, p.id)
	if err != nil {
		return front.StartResult{Instance: etcdstore.NewHeader(p.id, p.cmd, p.cmd.CreatedAt), Accepted: true}, nil //nolint:nilerr // it is durable; that is the answer
	}
	return front.StartResult{Instance: in, Accepted: in.SubStatus == workflow.Pending || in.SubStatus == workflow.Executing}, nil
}

// create makes a planned instance durable and wakes a worker.
func (s *Starter) create(ctx context.Context, p *plan) error {
	ctx, span := tracing.Send(ctx, tracing.ToInstance, p.id)
	defer span.End()
	if trace := tracing.Traceparent(ctx); trace != "" {
		p.cmd.Trace = trace
	}
	n := p.instance()
	var answer *store.Answer
	if k := p.cmd.Key; k != nil {
		answer = &store.Answer{BodyHash: k.BodyHash, Targets: []store.Effect{{InstanceID: p.id, Outcome: workflow.OutcomeAccepted}}}
	}
	var out etcdstore.CreateOutcome
	err := front.RetryUnknown(ctx, func() (err error) {
		out, err = s.cfg.Stimuli.Create(ctx, n, answer)
		return err
	})
	if err != nil {
		return err
	}
	switch out {
	case etcdstore.CreateUsed:
		if k := p.cmd.Key; k != nil {
			_, err := s.answers.Used(ctx, k) // another body came first
			return err
		}
	case etcdstore.CreateExists:
		return front.Exists(p.id)
	case etcdstore.CreateMoved:
		return workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %q was changed at the same time", p.cmd.Start.DefinitionID))
	case etcdstore.CreateGated:
		return workflow.Fail(workflow.CodeInstanceGated, fmt.Sprintf("definition %q allows one running instance (%s), and there is one",
			p.cmd.Start.DefinitionID, describeGate(p.gate)))
	}
	s.cfg.Wakeups.Hint([]string{p.id}, false)
	return nil
}
