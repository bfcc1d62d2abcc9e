package runtime

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/endpoint"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/keylock"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// EndpointRequest is a request for an HTTP endpoint that a definition declares.
type EndpointRequest = endpoint.Request

// EndpointBody is the body of such a request.
type EndpointBody = endpoint.Body

// EndpointFile is a file in such a body.
type EndpointFile = endpoint.File

// Endpoints hands HTTP requests to the definitions and instances that wait for them.
type Endpoints struct {
	cfg     *front.Config
	intake  *intake.Intake
	answers *answers.Waiter
	finder  *endpoint.Finder
	sender  *Sender
	turns   keylock.Table // of requests for the same endpoint of the same instance
}

// EndpointAnswer is what the workflow wrote, nil if it wrote nothing (yet), and
// what became of the request.
type EndpointAnswer struct {
	Response *workflow.Response
	Result   front.SendResult
}

// Endpoint hands an HTTP request to the definition that it starts or the
// instance that waits for it. Returns route-not-found if there is none: a
// request is not queued. When several instances wait, the caller has to say
// which by correlation or instance. Who may call, and with how large a body, says
// the very activity that takes the request, also if others have the same path.
func (e *Endpoints) Endpoint(ctx context.Context, req EndpointRequest) (EndpointAnswer, error) {
	if err := e.intake.Accepts(intake.GoesOn); err != nil {
		return EndpointAnswer{}, err
	}
	if !req.Found() {
		if err := e.finder.Find(ctx, &req, 0); err != nil {
			return EndpointAnswer{}, err
		}
	}
	if req.Key == nil {
		// What the workflow writes is found by a key, also when another node runs
		// it. Once this call is over nobody can ask by it any more.
		req.Key = answers.Made(workflow.NewID())
	}
	a := &endpointDelivery{Request: req, endpoints: e}
	key := *req.Key
	for range front.MaxLooks {
		k := key.Command()
		res, err := e.arrive(ctx, req.Stimulus(), k, a)
		if err != nil || !missed(res) {
			return EndpointAnswer{Response: res.Response, Result: res}, err
		}
		// It was in the mailbox of an instance that did not wait there any more when
		// its turn came. That is the key's answer for good, so it goes on under
		// another, which a repeat comes to as well.
		key.Scope, key.Value = "again", k.Name
	}
	return EndpointAnswer{}, front.MovesOn()
}

// FindEndpoint finds by the head of a request what it is for, as [endpoint.Finder.Find]
// says; [Endpoints.Endpoint] goes on from there with the body.
func (e *Endpoints) FindEndpoint(ctx context.Context, req *EndpointRequest, length int64) error {
	return e.finder.Find(ctx, req, length)
}

// OpenFile is the file that an answer has in the place of a body, as [endpoint.OpenFile] says.
func (e *Endpoints) OpenFile(ctx context.Context, ref files.Ref, next func()) (io.ReadSeeker, error) {
	return endpoint.OpenFile(ctx, e.cfg.Contents, ref, next)
}

// missed tells whether a request had no effect, since what it was for was gone.
func missed(res front.SendResult) bool {
	if len(res.Outcomes) != 1 || res.Outcomes[0].Outcome != workflow.OutcomeRefused {
		return false
	}
	switch workflow.Code(res.Outcomes[0].Code) {
	case workflow.CodeBookmarkNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceNotFound:
		return true
	}
	return false
}

// endpointDelivery is a request on its way to the one place that it is for.
type endpointDelivery struct {
	endpoint.Request
	endpoints *Endpoints
	limits    workflow.EndpointLimits // of that place, once it is known
	turn      string                  // which it has of the endpoints'
}

// inTurn waits until no other request of this node is on its way to the same
// endpoint of the same instance. Of several each but the first would find it
// gone, at the cost of a command in the mailbox that is refused and of the answer
// that says so. False: others went before; look again.
func (a *endpointDelivery) inTurn(ctx context.Context, name string) bool {
	if a.turn == name {
		return true
	}
	a.leave()
	atOnce := a.endpoints.turns.TryLock(name)
	if atOnce || a.endpoints.turns.Lock(ctx, name) == nil {
		a.turn = name
	}
	return atOnce
}

// leave gives the turn to the next.
func (a *endpointDelivery) leave() {
	if a.turn != "" {
		a.endpoints.turns.Unlock(a.turn)
		a.turn = ""
	}
}

// arrive hands the request over, and waits for what the workflow writes.
func (e *Endpoints) arrive(ctx context.Context, st workflow.Stimulus, k *workflow.CommandKey, a *endpointDelivery) (front.SendResult, error) {
	res, err := e.sender.deliver(ctx, st, k, a)
	if err != nil || res.Response != nil {
		return res, err
	}
	waiting := cmp.Or(a.Waiting, ctx)
	until := cmp.Or(k.AnswerBy, e.cfg.Now().Add(a.wait())) // of a repeat, from now on
	wait, cancel := context.WithTimeout(waiting, until.Sub(e.cfg.Now()))
	defer cancel()
	if res.Accepted() {
		res = e.relayed(wait, k, res)
	}
	if res.Response == nil && !res.Accepted() && !missed(res) {
		// A burst that was not in this call's hands left it in the key's answer.
		if answer, err := e.answers.Used(waiting, k); err == nil && answer != nil {
			res.Response = answer.Response
			if answer.Open {
				res.Unanswered = until
				e.later(waiting, wait, k, &res)
			}
		}
	}
	return res, nil
}

// later waits for the answer that a workflow writes with a later commit, on whichever node, until wait ends. Then it
// looks once more, in the time of the call: a repeat that waits for no time finds what is there.
func (e *Endpoints) later(ctx, wait context.Context, k *workflow.CommandKey, res *front.SendResult) {
	key := etcdstore.LaterKey(k.Name)
	take := func(_ context.Context, a *store.Answer) bool {
		res.Response, res.Unanswered = a.Response, time.Time{}
		return true
	}
	e.answers.Answer(wait, key, take)
	if res.Unanswered.IsZero() {
		return
	}
	if a, err := e.answers.Used(ctx, &workflow.CommandKey{Name: key}); err == nil && a != nil {
		take(ctx, a)
	}
}

// wait is how long the caller is kept waiting.
func (a *endpointDelivery) wait() time.Duration {
	return min(cmp.Or(a.limits.Timeout, endpointWait), workflow.MaxEndpointWait)
}

// mayHave asks whether the caller may have the answer to an earlier request with
// the same key. One from before answers said whose it is goes by the path.
func (a *endpointDelivery) mayHave(ctx context.Context, answer *store.Answer, k *workflow.CommandKey) error {
	limits, err := a.endpoints.finder.Limits(ctx, &a.Request)
	if err != nil {
		return err
	}
	if limits != nil {
		a.limits = *limits
	}
	if answer.Guard != nil {
		k.Guard = answer.Guard
		return a.Allowed(ctx, *answer.Guard)
	}
	if limits == nil {
		return a.NoRoute()
	}
	return a.Allowed(ctx, limits.Guard())
}

// nothing is the error of a request that nothing takes.
func (a *endpointDelivery) nothing(ctx context.Context) error {
	return a.endpoints.finder.Nothing(ctx, &a.Request)
}

// admitted leaves in what the request met the one place that it is for, asks that
// whether it takes it, and gives what it gets then. False: a place moved; match again.
func (a *endpointDelivery) admitted(ctx context.Context, met *etcdstore.Match, k *workflow.CommandKey) (input map[string]any, ok bool, err error) {
	place, err := a.endpoints.finder.OnePlace(ctx, &a.Request, met)
	if err != nil || place == nil {
		return nil, false, err
	}
	guard := place.Guard()
	if err := a.Allowed(ctx, guard); err != nil {
		return nil, false, err
	}
	k.Guard, a.limits = &guard, place.EndpointLimits
	k.AnswerBy, k.Kept = a.endpoints.cfg.Now().Add(a.wait()).UTC(), !strings.HasPrefix(k.Name, etcdstore.MadeKey)
	input, err = a.Input(place)
	return input, err == nil, err
}

// endpointWait is how long the caller of an endpoint without a timeout of its
// own is kept waiting for an answer.
const endpointWait = 20 * time.Second

// relayed waits for the answer of a burst that runs late or elsewhere; what was
// accepted stays so when ctx ends first.
func (e *Endpoints) relayed(ctx context.Context, key *workflow.CommandKey, accepted front.SendResult) front.SendResult {
	res := accepted
	e.answers.Answer(ctx, key.Name, func(ctx context.Context, a *store.Answer) bool {
		told, err := front.Answered(ctx, a, key, e.answers.EffectsNow)
		if err != nil || told.Accepted() {
			return false
		}
		res = told
		return true
	})
	return res
}
