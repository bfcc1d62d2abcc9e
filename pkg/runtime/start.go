package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/workflow"
)

// Execute starts an instance and answers when its first burst is committed, or
// (Accepted) durable and still running.
func (r *Runtime) Execute(ctx context.Context, req StartRequest) (StartResult, error) {
	var res StartResult
	p, err := r.planned(ctx, req, func(p *plan) (err error) {
		switch {
		case p.answer != nil:
			res, err = r.answeredStart(ctx, p, p.answer)
		case p.gate != nil || p.elsewhere:
			res, err = r.executeGated(ctx, p)
		default:
			res, err = r.executeNow(ctx, p)
		}
		return err
	})
	if err != nil || req.Wait <= 0 || res.Instance.Status == workflow.StatusFinished {
		return res, err
	}
	in, err := r.WaitInstance(ctx, p.id, req.Wait)
	if err != nil {
		return res, nil //nolint:nilerr // it is committed; that is the answer
	}
	res.Instance, res.Accepted = in, false
	return res, nil
}

// Dispatch makes an instance durable as Pending and answers with its id; it runs
// as soon as a node takes it.
func (r *Runtime) Dispatch(ctx context.Context, req StartRequest) (string, error) {
	id := ""
	_, err := r.planned(ctx, req, func(p *plan) error {
		if id = p.id; p.answer != nil {
			id = startAnswer(p.answer).Instance.ID
			return nil
		}
		return r.create(ctx, p)
	})
	return id, err
}

// planned plans a start and does it; when the definition's head turns out to
// have moved since this node learned of it, once more with the head read again.
func (r *Runtime) planned(ctx context.Context, req StartRequest, do func(*plan) error) (p *plan, err error) {
	var before retried
	for range maxLooks {
		if p, err = r.plan(ctx, req, before); err != nil {
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

// plan is a start that was checked.
type plan struct {
	id      string
	cmd     workflow.Command
	gate    *store.Gate
	answer  *store.Answer // the key was used before
	trigger *store.TriggerRef
	send    *store.Send // the record of the stimulus that starts it
	chosen  bool        // the caller chose the id
	unseen  bool        // the id was made here, and nobody can know it

	elsewhere bool // the program of this node cannot run it, and that of another can
}

// instance is what the plan makes durable.
func (p *plan) instance() *etcdstore.NewInstance {
	return &etcdstore.NewInstance{Header: etcdstore.NewHeader(p.id, p.cmd, p.cmd.CreatedAt), Command: p.cmd, Gate: p.gate, Trigger: p.trigger, Send: p.send}
}

func (r *Runtime) plan(ctx context.Context, req StartRequest, before retried) (*plan, error) {
	if err := r.accepting(starts); err != nil {
		return nil, err
	}
	if err := checkStart(&req); err != nil {
		return nil, err
	}
	version, modified, err := r.startVersion(ctx, &req, before.headMoved)
	if err != nil {
		return nil, err
	}
	p := &plan{id: req.InstanceID, chosen: req.InstanceID != ""}
	activation, err := r.admits(ctx, &req, version, p)
	if err != nil {
		return nil, err
	}
	key := commandKey(req.Key)
	p.cmd = workflow.Command{ID: commandID(key), Kind: workflow.CommandStart, CreatedAt: r.cfg.Now().UTC(), Key: key, Start: &workflow.Start{
		DefinitionID: req.DefinitionID, Version: version, Head: modified, Input: req.Input, Name: req.Name, CorrelationID: req.CorrelationID, Properties: req.Properties}}
	if key != nil {
		if p.answer, err = r.usedKey(ctx, key); err != nil || p.answer != nil {
			return p, err
		}
	}
	if p.id == "" {
		// With a key the id derives from it, so that repeats on any node meet at
		// one instance.
		if p.id, p.unseen = newID(), true; key != nil {
			p.id, p.unseen = workflow.DeriveID("instance", key.Name), false
		}
	}
	if before.ran != nil {
		p.id, p.cmd.ID, p.unseen = before.ran.id, before.ran.cmd.ID, true
	}
	p.gate = GateOf(activation, p.cmd.Start)
	return p, nil
}

// startVersion is the version that a start is of, and the mod revision of the head by
// which it is.
func (r *Runtime) startVersion(ctx context.Context, req *StartRequest, headMoved bool) (version int, modified int64, err error) {
	var head store.DefinitionHead
	switch {
	case req.Version != 0:
		head, err = r.cfg.Catalog.Standing(ctx, req.DefinitionID, req.Version)
		return req.Version, head.Modified, err
	case headMoved:
		head, err = r.cfg.Catalog.Confirm(ctx, req.DefinitionID)
	default:
		head, err = r.cfg.Catalog.Head(ctx, req.DefinitionID)
	}
	return head.Published, head.Modified, err
}

// admits checks the input of a start against its definition, and gives the
// definition's activation strategy. If only another live node's program can run
// the definition, the input is left to it to check: the start faults if it is wrong.
func (r *Runtime) admits(ctx context.Context, req *StartRequest, version int, p *plan) (activation string, err error) {
	prog, def, err := r.cfg.Catalog.Program(ctx, req.DefinitionID, version)
	if err == nil {
		if problems := prog.CheckInput(req.Input); len(problems) > 0 {
			return "", &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
		}
		return def.Options.ActivationStrategy, nil
	}
	if err := r.elsewhere(ctx, err); err != nil {
		return "", err
	}
	head, herr := r.cfg.Catalog.Head(ctx, req.DefinitionID)
	if herr != nil {
		return "", herr
	}
	if head.Published != version { // its strategy stands in a source that this node cannot read
		return "", err
	}
	p.elsewhere = true
	return head.Activation, nil
}

func checkStart(req *StartRequest) error {
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
	return nil
}

// GateOf tells which gate a start has to pass; nil for none.
func GateOf(strategy string, st *workflow.Start) *store.Gate {
	switch strategy {
	case "Singleton":
		return &store.Gate{Definition: st.DefinitionID}
	case "CorrelatedSingleton":
		return &store.Gate{Definition: st.DefinitionID, Correlation: st.CorrelationID}
	case "Correlation":
		return &store.Gate{Correlation: st.CorrelationID}
	}
	return nil
}

// Gate tells the gate that a start has to pass; nil for none. It is the
// client.Config's Gate, for children that instances start.
func Gate(ctx context.Context, c *catalog.Catalog, st *workflow.Start) (*store.Gate, error) {
	head, err := c.Head(ctx, st.DefinitionID)
	if err != nil {
		return nil, err
	}
	return GateOf(head.Activation, st), nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func commandKey(k *Key) *workflow.CommandKey {
	if k == nil {
		return nil
	}
	name := workflow.DeriveID("key", k.Scope, k.Value)
	if k.made {
		name = etcdstore.MadeKey + name
	}
	return &workflow.CommandKey{Name: name, BodyHash: k.BodyHash}
}

// commandID is the id that a command keeps for life: the caller's key if there
// is one.
func commandID(k *workflow.CommandKey) string {
	if k == nil {
		return newID()
	}
	return k.Name
}

// usedKey gives the answer of an earlier call with this key; nil if there is
// none, an error if its body was another.
func (r *Runtime) usedKey(ctx context.Context, k *workflow.CommandKey) (*store.Answer, error) {
	a, err := r.cfg.Stimuli.Answer(ctx, k.Name)
	if err != nil {
		return nil, unavailable("the Idempotency-Key could not be looked up", err)
	}
	return a, checkBody(a, k)
}

// checkBody also holds that the answer of an HTTP endpoint goes only to callers
// that were asked what its callers are asked.
func checkBody(a *store.Answer, k *workflow.CommandKey) error {
	switch {
	case a == nil || k == nil:
		return nil
	case a.BodyHash != k.BodyHash:
		return workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key was used with another request before; use a new key for a new request")
	case a.Guard != nil && (k.Guard == nil || *a.Guard != *k.Guard):
		return workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key was used for another endpoint before; use a new key for a new request")
	}
	return nil
}

// answeredStart gives the answer of an earlier call with the same key. If that is
// still under way it waits a little for its outcome.
func (r *Runtime) answeredStart(ctx context.Context, p *plan, a *store.Answer) (StartResult, error) {
	if len(a.Targets) == 1 && a.Targets[0].Outcome == workflow.OutcomeRefused {
		// Its record names the instance as it is: somebody else's.
		return StartResult{}, r.refused(ctx, a.Targets[0].InstanceID, workflow.CommandStart, outcomeOf(a.Targets[0].InstanceID, &a.Targets[0]))
	}
	res := startAnswer(a)
	if a.Instance != nil || res.Instance.ID == "" {
		return res, nil
	}
	p.id = res.Instance.ID
	return r.awaitStart(ctx, p)
}

func startAnswer(a *store.Answer) StartResult {
	res := StartResult{Response: a.Response}
	switch {
	case a.Instance != nil:
		res.Instance = *a.Instance
	case len(a.Targets) > 0:
		res.Instance.ID, res.Accepted = a.Targets[0].InstanceID, true
	}
	return res
}

// executeNow runs the first burst with the start in hand: two writes in all.
func (r *Runtime) executeNow(ctx context.Context, p *plan) (StartResult, error) {
	for tries := 1; ; tries++ {
		c := r.cfg.Client(p.id)
		take := c.Do
		if p.unseen {
			take = c.Begin
		}
		res, err := take(ctx, p.cmd)
		switch {
		case err == nil && !notStarted(&res):
			return r.started(ctx, p, res)
		case err == nil:
			if tries >= maxLooks {
				return StartResult{}, busy(p.id)
			}
			continue
		case workflow.CodeOf(err) == workflow.CodeNotRunnable:
			if err := r.elsewhere(ctx, err); err != nil {
				return StartResult{}, err
			}
			return r.executeGated(ctx, p)
		case errors.Is(err, client.ErrCrowded):
			return r.executeGated(ctx, p) // its turn comes
		case !errors.Is(err, client.ErrBusy):
			return StartResult{}, err
		}
		// Another node is at this very id: a twin of this call, or another start
		// or an instance with the same chosen id.
		if p.cmd.Key != nil {
			a, err := r.usedKey(ctx, p.cmd.Key)
			if err != nil {
				return StartResult{}, err
			}
			if a != nil {
				return r.answeredStart(ctx, p, a)
			}
		} else if rec, err := r.cfg.Reader.Instance(ctx, p.id); err == nil && rec != nil {
			return StartResult{}, exists(p.id)
		}
		if !pace.Pause(ctx, pace.Jitter(20*time.Millisecond)) {
			return StartResult{}, busy(p.id)
		}
	}
}

// notStarted reports whether a start did nothing, and its id is free: the instance
// that had it was deleted in the same burst.
func notStarted(res *client.Result) bool {
	e := &res.Effect
	return res.Answer == nil && (e.Outcome == workflow.OutcomeGone || e.Outcome == workflow.OutcomeRefused && e.Code != string(workflow.CodeInstanceExists))
}

func (r *Runtime) started(ctx context.Context, p *plan, res client.Result) (StartResult, error) {
	switch {
	case res.Answer != nil:
		if err := checkBody(res.Answer, p.cmd.Key); err != nil {
			return StartResult{}, err
		}
		return r.answeredStart(ctx, p, res.Answer)
	case res.Effect.Code == string(workflow.CodeInstanceExists):
		return StartResult{}, exists(p.id)
	}
	return StartResult{Instance: res.Instance, Accepted: res.Accepted, Response: res.Response}, nil
}

// executeGated creates the instance with its gate before its first burst, so
// that no two can run.
func (r *Runtime) executeGated(ctx context.Context, p *plan) (StartResult, error) {
	if err := r.create(ctx, p); err != nil {
		return StartResult{}, err
	}
	return r.awaitStart(ctx, p)
}

// awaitStart waits a little for the first burst of an instance that is durable.
func (r *Runtime) awaitStart(ctx context.Context, p *plan) (StartResult, error) {
	wait, cancel := context.WithTimeout(ctx, r.cfg.ReplyWait)
	defer cancel()
	r.await(wait, p.id, p.cmd.ID)
	if p.cmd.Key != nil {
		if a, err := r.usedKey(ctx, p.cmd.Key); err == nil && a != nil && a.Instance != nil {
			return startAnswer(a), nil
		}
	}
	in, err := r.Instance(ctx, p.id)
	if err != nil {
		return StartResult{Instance: etcdstore.NewHeader(p.id, p.cmd, p.cmd.CreatedAt), Accepted: true}, nil
	}
	return StartResult{Instance: in, Accepted: in.SubStatus == workflow.Pending || in.SubStatus == workflow.Executing}, nil
}

// create makes a planned instance durable and wakes a worker.
func (r *Runtime) create(ctx context.Context, p *plan) error {
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
	err := r.settle(ctx, func() (err error) {
		out, err = r.cfg.Stimuli.Create(ctx, n, answer)
		return err
	})
	if err != nil {
		return err
	}
	switch out {
	case etcdstore.CreateUsed:
		if k := p.cmd.Key; k != nil {
			_, err := r.usedKey(ctx, k) // another body came first
			return err
		}
	case etcdstore.CreateExists:
		return exists(p.id)
	case etcdstore.CreateMoved:
		return workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %q was changed at the same time", p.cmd.Start.DefinitionID))
	case etcdstore.CreateGated:
		return workflow.Fail(workflow.CodeInstanceGated, fmt.Sprintf("definition %q allows one running instance (%s), and there is one",
			p.cmd.Start.DefinitionID, describeGate(p.gate)))
	}
	r.cfg.Hint([]string{p.id}, false)
	return nil
}

func describeGate(g *store.Gate) string {
	switch {
	case g.Definition == "":
		return fmt.Sprintf("of any definition with correlation %q", g.Correlation)
	case g.Correlation == "":
		return "singleton"
	}
	return fmt.Sprintf("with correlation %q", g.Correlation)
}

func exists(id string) error {
	return workflow.Fail(workflow.CodeInstanceExists, fmt.Sprintf("there is an instance %q already; choose another instanceId or leave it out", id))
}

func busy(id string) error {
	return &workflow.Error{Code: workflow.CodeBusy, Detail: fmt.Sprintf("instance %q is busy on another node; repeat the request with the same Idempotency-Key", id), RetryAfter: time.Second}
}

func unavailable(what string, err error) error {
	if workflow.CodeOf(err) == workflow.CodeNotRunnable {
		return err // a repetition here helps nobody
	}
	return &workflow.Error{Code: workflow.CodeUnavailable, Detail: what + "; repeat the request with the same Idempotency-Key", RetryAfter: time.Second, Err: err}
}

// settle repeats a transaction that is safe to repeat while its outcome is
// unknown and the caller waits.
func (r *Runtime) settle(ctx context.Context, txn func() error) error {
	waits := pace.Doubling(20 * time.Millisecond).UpTo(time.Second).Spread(20)
	err := pace.Repeat(ctx, waits, func() (bool, error) {
		err := txn()
		return errors.Is(err, etcdstore.ErrUnknown), err
	})
	switch {
	case errors.Is(err, etcdstore.ErrUnknown):
		return &workflow.Error{Code: workflow.CodeUnknownOutcome, RetryAfter: time.Second, Err: err,
			Detail: "etcd gave no answer: the request may or may not have been accepted; repeat it with the same Idempotency-Key"}
	case errors.Is(err, etcdstore.ErrTooLarge):
		return &workflow.Error{Code: workflow.CodeTooLarge, Detail: "the request is too large to be stored", Err: err}
	}
	return err
}
