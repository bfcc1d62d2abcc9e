package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// EndpointRequest is a request for an HTTP endpoint that a definition declares.
type EndpointRequest struct {
	Method        string
	Path          string // below /workflows, without a leading slash
	Query         map[string]any
	Headers       map[string]any
	ContentType   string
	Body          string
	Parse         func() (any, error) // gives the body as JSON, if it is; asked once it is known who takes it
	CorrelationID string
	InstanceID    string
	Key           *Key
	// Allow is asked when the endpoint is for authenticated callers only, with the
	// policy that they must satisfy, "" if none. Nil: there are no such callers.
	Allow func(ctx context.Context, policy string) error

	// Waiting ends the wait for an answer that comes after the request was handed
	// over; nil: that ends with the call's context.
	Waiting context.Context

	at *etcdstore.Endpoint // that it is for
}

// EndpointAnswer is what the workflow wrote, nil if it wrote nothing (yet), and
// what became of the request.
type EndpointAnswer struct {
	Response *workflow.Response
	Result   SendResult
}

// Endpoint hands an HTTP request to the definition that it starts or the
// instance that waits for it. Returns route-not-found if there is none: a
// request is not queued. When several instances wait, the caller has to say
// which by correlation or instance. Who may call, and with how large a body, says
// the very activity that takes the request, also if others have the same path.
func (r *Runtime) Endpoint(ctx context.Context, req EndpointRequest) (EndpointAnswer, error) {
	if err := r.accepting(goesOn); err != nil {
		return EndpointAnswer{}, err
	}
	if req.at == nil {
		if err := r.FindEndpoint(ctx, &req, 0); err != nil {
			return EndpointAnswer{}, err
		}
	}
	at := req.at
	st := workflow.Stimulus{ActivityType: workflow.EndpointType, Payload: workflow.EndpointPayload(at.Method, at.Pattern), CorrelationID: req.CorrelationID, InstanceID: req.InstanceID}
	if req.Key == nil {
		// What the workflow writes is found by a key, also when another node runs
		// it. Once this call is over nobody can ask by it any more.
		req.Key = &Key{Value: newID(), made: true}
	}
	a := &arrival{EndpointRequest: req}
	key := *req.Key
	for range maxLooks {
		k := commandKey(&key)
		res, err := r.arrive(ctx, st, k, a)
		if err != nil || !missed(res) {
			return EndpointAnswer{Response: res.Response, Result: res}, err
		}
		// It was in the mailbox of an instance that did not wait there any more when
		// its turn came. That is the key's answer for good, so it goes on under
		// another, which a repeat comes to as well.
		key.Scope, key.Value = "again", k.Name
	}
	return EndpointAnswer{}, movesOn()
}

// FindEndpoint finds by the head of a request what it is for, before there is a
// body, of length bytes if that is known; [Runtime.Endpoint] goes on from there. It
// refuses what no body can mend: no such endpoint, and, where a definition starts,
// a caller who may not and a body that is too large. A request with a key of its
// caller is not refused so early: it may be known.
func (r *Runtime) FindEndpoint(ctx context.Context, req *EndpointRequest, length int64) error {
	at, err := r.findEndpoint(ctx, req)
	if err != nil {
		return err
	}
	req.at = at
	if at.Route == nil || at.Waiting != "" || req.Key != nil || req.InstanceID != "" {
		return nil
	}
	if err := req.allowed(ctx, at.Route.Guard()); err != nil {
		return err
	}
	if limit := at.Route.MaxBody; limit > 0 && length > limit && !at.Route.TooLarge {
		return endpointTooLarge(length, limit)
	}
	return nil
}

// findEndpoint finds the endpoint that a path is for, of those at which something
// starts or waits the one that matches it best. What it costs does not depend on
// how many there are. A request with a key of its caller goes on without one: its
// answer may be there.
func (r *Runtime) findEndpoint(ctx context.Context, req *EndpointRequest) (*etcdstore.Endpoint, error) {
	method := strings.ToUpper(req.Method)
	shapes, err := r.cfg.Stimuli.Shapes(ctx, method, workflow.RouteSegments(req.Path))
	if err != nil {
		return nil, unavailable("the shapes of endpoints could not be read", err)
	}
	var among []etcdstore.Endpoint
	for _, pattern := range workflow.RoutePatterns(shapes, req.Path) {
		hash, err := workflow.Hash(workflow.EndpointType, workflow.EndpointPayload(method, pattern))
		if err != nil {
			return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
		among = append(among, etcdstore.Endpoint{Method: method, Pattern: pattern, Hash: hash})
	}
	for {
		at, err := r.cfg.Stimuli.FindEndpoint(ctx, among)
		switch {
		case err != nil:
			return nil, unavailable("the endpoints could not be read", err)
		case at == nil && req.Key != nil:
			return &etcdstore.Endpoint{Method: method, Pattern: workflow.RoutePattern(req.Path)}, nil
		case at == nil:
			return nil, noRoute(req)
		case at.Route == nil || at.Waiting != "": // who waits says it when the request is there
			return at, nil
		}
		if _, ok := workflow.RouteData(at.Route.Template, req.Path); ok {
			return at, nil
		}
		i := slices.IndexFunc(among, func(e etcdstore.Endpoint) bool { return e.Pattern == at.Pattern })
		among = among[i+1:]
	}
}

// missed tells whether a request had no effect, since what it was for was gone.
func missed(res SendResult) bool {
	if len(res.Outcomes) != 1 || res.Outcomes[0].Outcome != workflow.OutcomeRefused {
		return false
	}
	switch workflow.Code(res.Outcomes[0].Code) {
	case workflow.CodeBookmarkNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceNotFound:
		return true
	}
	return false
}

// arrival is a request on its way to the one place that it is for.
type arrival struct {
	EndpointRequest
	limits workflow.EndpointLimits // of that place, once it is known
	turn   string                  // which it has of the runtime's
}

// inTurn waits until no other request of this node is on its way to the same
// endpoint of the same instance. Of several each but the first would find it
// gone, at the cost of a command in the mailbox that is refused and of the answer
// that says so. False: others went before; look again.
func (a *arrival) inTurn(ctx context.Context, r *Runtime, name string) bool {
	if a.turn == name {
		return true
	}
	a.leave(r)
	atOnce := r.turns.TryLock(name)
	if atOnce || r.turns.Lock(ctx, name) == nil {
		a.turn = name
	}
	return atOnce
}

// leave gives the turn to the next.
func (a *arrival) leave(r *Runtime) {
	if a.turn != "" {
		r.turns.Unlock(a.turn)
		a.turn = ""
	}
}

// arrive hands the request over, and waits for what the workflow writes.
func (r *Runtime) arrive(ctx context.Context, st workflow.Stimulus, k *workflow.CommandKey, a *arrival) (SendResult, error) {
	res, err := r.deliver(ctx, st, k, a)
	if err != nil || res.Response != nil {
		return res, err
	}
	waiting := cmp.Or(a.Waiting, ctx)
	if res.Accepted() {
		wait, cancel := context.WithTimeout(waiting, cmp.Or(a.limits.Timeout, endpointWait))
		defer cancel()
		res = r.relayed(wait, k, res)
	}
	if res.Response == nil && !res.Accepted() && !missed(res) {
		// A burst that was not in this call's hands left it in the key's answer.
		if answer, err := r.usedKey(waiting, k); err == nil && answer != nil {
			res.Response = answer.Response
		}
	}
	return res, nil
}

// mayHave asks whether the caller may have the answer to an earlier request with
// the same key. One from before answers said whose it is goes by the path.
func (a *arrival) mayHave(ctx context.Context, r *Runtime, answer *store.Answer, k *workflow.CommandKey) error {
	limits, err := r.limitsOf(ctx, a.at)
	if err != nil {
		return err
	}
	if limits != nil {
		a.limits = *limits
	}
	if answer.Guard != nil {
		k.Guard = answer.Guard
		return a.allowed(ctx, *answer.Guard)
	}
	if limits == nil {
		return noRoute(&a.EndpointRequest)
	}
	return a.allowed(ctx, limits.Guard())
}

// nothing says that nothing takes the request, in the same words for any
// reason: strangers must not learn whether an instance that they name exists, and
// how it ended. Who may not call learns no more than that.
func (a *arrival) nothing(ctx context.Context, r *Runtime) error {
	limits, err := r.limitsOf(ctx, a.at)
	if err != nil {
		return err
	}
	if limits != nil {
		if err := a.allowed(ctx, limits.Guard()); err != nil {
			return err
		}
	}
	return noRoute(&a.EndpointRequest)
}

// limitsOf are those of one of the places at an endpoint; nil: there is none.
func (r *Runtime) limitsOf(ctx context.Context, at *etcdstore.Endpoint) (*workflow.EndpointLimits, error) {
	if at.Route != nil || at.Waiting == "" {
		if at.Route == nil {
			return nil, nil
		}
		return &at.Route.EndpointLimits, nil
	}
	rec, err := r.cfg.Reader.Instance(ctx, at.Waiting)
	if err != nil {
		return nil, unavailable("instance "+at.Waiting+" could not be read", err)
	}
	if rec == nil {
		return nil, nil
	}
	for i := range rec.Header.Bookmarks {
		if b := &rec.Header.Bookmarks[i]; b.Hash == at.Hash {
			if e := workflow.EndpointOf(b); e != nil {
				return &e.EndpointLimits, nil
			}
		}
	}
	return nil, nil
}

// maxAsked is of how many places that a request met each is asked whether the path
// fits it: each that waits costs a request to etcd.
const maxAsked = 8

// onePlace leaves in the look the one place that the request is for, and asks it. False:
// a place moved; look again.
func (s *sending) onePlace(ctx context.Context, look *etcdstore.Match) (bool, error) {
	if n := len(look.Bookmarks) + len(look.Triggers); n > 1 && n <= maxAsked {
		if ok, err := s.fitting(ctx, look); err != nil || !ok {
			return false, err
		}
	}
	switch n := len(look.Bookmarks) + len(look.Triggers); n {
	case 0:
		return false, s.request.nothing(ctx, s.r)
	case 1:
		return s.admitted(ctx, look)
	default:
		return false, workflow.Fail(workflow.CodeAmbiguous, fmt.Sprintf("%d places wait for %s /workflows/%s; say which by ?correlationId= or ?workflowInstanceId=", n, s.request.Method, s.request.Path))
	}
}

// fitting leaves out of a look the places whose constraints refuse the path: they are
// no part of the pattern that the places share. False: a place moved; look again.
func (s *sending) fitting(ctx context.Context, look *etcdstore.Match) (bool, error) {
	var bookmarks []store.BookmarkRef
	for i, b := range look.Bookmarks {
		place, err := s.place(ctx, &etcdstore.Match{Bookmarks: look.Bookmarks[i : i+1], Instance: look.Instance})
		if err != nil || place == nil {
			return false, err
		}
		if _, ok := workflow.RouteData(place.Template, s.request.Path); ok {
			bookmarks = append(bookmarks, b)
		}
	}
	var triggers []store.TriggerRef
	for i, t := range look.Triggers {
		place, err := s.place(ctx, &etcdstore.Match{Triggers: look.Triggers[i : i+1]})
		if err != nil || place == nil {
			return false, err
		}
		if _, ok := workflow.RouteData(place.Template, s.request.Path); ok {
			triggers = append(triggers, t)
		}
	}
	look.Bookmarks, look.Triggers = bookmarks, triggers
	return true, nil
}

// admitted asks the one place that a request met whether it takes it, and what it
// gets then. False: the place moved; look again.
func (s *sending) admitted(ctx context.Context, look *etcdstore.Match) (bool, error) {
	place, err := s.place(ctx, look)
	if err != nil || place == nil {
		return false, err
	}
	guard := place.Guard()
	if err := s.request.allowed(ctx, guard); err != nil {
		return false, err
	}
	s.key.Guard, s.request.limits = &guard, place.EndpointLimits
	s.st.Input, err = s.request.input(place)
	return err == nil, err
}

// place reads what the one place says about itself: a trigger in its route, a
// bookmark in its instance, since the entry of its template is everybody's who
// waits there. Nil: it is not as the look found it.
func (s *sending) place(ctx context.Context, look *etcdstore.Match) (*workflow.Endpoint, error) {
	if len(look.Triggers) > 0 {
		return s.startingPlace(ctx, &look.Triggers[0])
	}
	b, rec := &look.Bookmarks[0], look.Instance
	if rec == nil {
		var err error
		if rec, err = s.r.cfg.Reader.Instance(ctx, b.InstanceID); err != nil {
			return nil, unavailable("instance "+b.InstanceID+" could not be read", err)
		}
	}
	if rec == nil {
		return nil, nil
	}
	for i := range rec.Header.Bookmarks {
		if m := &rec.Header.Bookmarks[i]; m.ID == b.ID {
			return workflow.EndpointOf(m), nil
		}
	}
	return nil, nil
}

func (s *sending) startingPlace(ctx context.Context, t *store.TriggerRef) (*workflow.Endpoint, error) {
	at := s.request.at
	for fresh := false; ; fresh = true {
		if e := at.Route; e != nil && e.DefinitionID == t.DefinitionID && e.Version == t.Version && e.ActivityID == t.ActivityID && e.Hash == t.Hash {
			return e.Endpoint(), nil
		}
		if fresh {
			return nil, nil
		}
		now, err := s.r.cfg.Stimuli.FindEndpoint(ctx, []etcdstore.Endpoint{{Method: at.Method, Pattern: at.Pattern, Hash: at.Hash}})
		if err != nil {
			return nil, unavailable("the route could not be read", err)
		}
		if now == nil {
			return nil, nil
		}
		s.request.at, at = now, now // published since it was read
	}
}

// input is what the activity gets of the request.
func (a *arrival) input(place *workflow.Endpoint) (map[string]any, error) {
	data, ok := workflow.RouteData(place.Template, a.Path)
	if !ok {
		return nil, noRoute(&a.EndpointRequest)
	}
	body, parsed := a.Body, any(nil)
	tooLarge := place.MaxBody > 0 && int64(len(body)) > place.MaxBody
	if tooLarge && !place.TooLarge {
		return nil, endpointTooLarge(int64(len(body)), place.MaxBody)
	}
	if tooLarge {
		body = ""
	} else if a.Parse != nil {
		var err error
		if parsed, err = a.Parse(); err != nil {
			return nil, err
		}
	}
	return map[string]any{"method": a.Method, "path": a.Path, "routeData": data, "query": a.Query, "headers": a.Headers,
		"contentType": a.ContentType, "body": body, "parsedBody": parsed, "tooLarge": tooLarge}, nil
}

func endpointTooLarge(length, limit int64) error {
	return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the body has %d bytes; this endpoint takes up to %d", length, limit))
}

// allowed asks whether the caller may call an endpoint with this guard.
func (req *EndpointRequest) allowed(ctx context.Context, g workflow.Guard) error {
	if g == (workflow.Guard{}) {
		return nil
	}
	if req.Allow == nil {
		return workflow.Fail(workflow.CodeUnauthenticated, fmt.Sprintf("%s /workflows/%s is for authenticated callers only, and none are known here", req.Method, req.Path))
	}
	return req.Allow(ctx, g.Policy)
}

// endpointWait is how long the caller of an endpoint without a timeout of its
// own is kept waiting for an answer.
const endpointWait = 20 * time.Second

// relayMost is how long it is at most between two looks for an answer.
const relayMost = time.Second

// relayed waits for the answer of a burst that runs late or elsewhere; what was
// accepted stays so when ctx ends first, which it must in the end. The commit of that
// burst writes the key's record, so one watch tells; the looks behind it become seldom.
func (r *Runtime) relayed(ctx context.Context, key *workflow.CommandKey, accepted SendResult) SendResult {
	ctx = tracing.Quiet(ctx)
	hint := r.cfg.Stimuli.WatchAnswer(ctx, key.Name)
	for every := awaitFirst; ; every = min(2*every, relayMost) {
		if a, err := r.cfg.Stimuli.Answer(ctx, key.Name); err == nil && a != nil {
			if res, err := r.told(ctx, a, key, r.became); err == nil && !res.Accepted() {
				return res
			}
		}
		next := time.NewTimer(every)
		select {
		case <-ctx.Done():
		case _, ok := <-hint:
			if !ok {
				hint = nil // the looks go on
			}
		case <-next.C:
		}
		next.Stop()
		if ctx.Err() != nil {
			return accepted
		}
	}
}

func noRoute(req *EndpointRequest) error {
	of := ""
	if req.InstanceID != "" || req.CorrelationID != "" {
		of = " with the instance and correlation that the request names"
	}
	return workflow.Fail(workflow.CodeRouteNotFound, fmt.Sprintf("no workflow waits for %s /workflows/%s%s", req.Method, req.Path, of))
}
