package runtime

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/store"
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
	ParsedBody    any // the body as JSON, if it is
	CorrelationID string
	InstanceID    string
	Key           *Key
	// Allow is asked when the endpoint is for authenticated callers only, with the
	// policy that they must satisfy, "" if none. Nil: there are no such callers.
	Allow func(ctx context.Context, policy string) error
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
// which by correlation or instance.
func (r *Runtime) Endpoint(ctx context.Context, req EndpointRequest) (EndpointAnswer, error) {
	if err := r.accepting(goesOn); err != nil {
		return EndpointAnswer{}, err
	}
	method := strings.ToUpper(req.Method)
	routes, err := r.cfg.Store.Routes(ctx, method)
	if err == nil {
		var waiting []store.RouteEntry
		waiting, err = r.cfg.Store.Endpoints(ctx, method)
		routes = append(routes, waiting...)
	}
	if err != nil {
		return EndpointAnswer{}, unavailable("the routes could not be read", err)
	}
	route, data := match(routes, req.Path)
	if route == nil {
		return EndpointAnswer{}, noRoute(&req)
	}
	if route.Authorize || route.Policy != "" {
		if err := req.allowed(ctx, route.Policy); err != nil {
			return EndpointAnswer{}, err
		}
	}
	tooLarge := route.MaxBody > 0 && int64(len(req.Body)) > route.MaxBody
	if tooLarge && !route.TooLarge {
		return EndpointAnswer{}, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the body has %d bytes; this endpoint takes up to %d", len(req.Body), route.MaxBody))
	}
	if tooLarge {
		req.Body, req.ParsedBody = "", nil
	}
	st := workflow.Stimulus{ActivityType: activities.EndpointType, Payload: activities.EndpointPayload(route.Method, route.Template), CorrelationID: req.CorrelationID, InstanceID: req.InstanceID,
		Input: map[string]any{"method": req.Method, "path": req.Path, "routeData": data, "query": req.Query, "headers": req.Headers, "contentType": req.ContentType, "body": req.Body, "parsedBody": req.ParsedBody, "tooLarge": tooLarge}}
	if req.Key == nil {
		// What the workflow writes is found by a key, also when another node runs
		// it. Once this call is over nobody can ask by it any more.
		req.Key = &Key{Value: newID(), made: true}
	}
	res, err := r.deliver(ctx, st, req.Key, &req)
	if err == nil && res.Response == nil && res.Accepted() {
		wait, cancel := context.WithTimeout(ctx, cmp.Or(route.Timeout, endpointWait))
		defer cancel()
		res = r.relayed(wait, commandKey(req.Key), res)
	}
	return EndpointAnswer{Response: res.Response, Result: res}, err
}

func (req *EndpointRequest) allowed(ctx context.Context, policy string) error {
	if req.Allow == nil {
		return workflow.Fail(workflow.CodeUnauthenticated, fmt.Sprintf("%s /workflows/%s is for authenticated callers only, and none are known here", req.Method, req.Path))
	}
	return req.Allow(ctx, policy)
}

// endpointWait is how long the caller of an endpoint without a timeout of its
// own is kept waiting for an answer.
const endpointWait = 20 * time.Second

// relayed waits for the answer of a burst that runs late or elsewhere; what was
// accepted stays so when ctx ends first.
func (r *Runtime) relayed(ctx context.Context, key *workflow.CommandKey, accepted SendResult) SendResult {
	for pause(ctx, 50*time.Millisecond) == nil {
		a, err := r.cfg.Store.Answer(ctx, key.Name)
		if err != nil || a == nil {
			continue
		}
		if res, err := r.answered(ctx, a, key); err == nil && !res.Accepted() {
			return res
		}
	}
	return accepted
}

func noRoute(req *EndpointRequest) error {
	return workflow.Fail(workflow.CodeRouteNotFound, fmt.Sprintf("no workflow waits for %s /workflows/%s", req.Method, req.Path))
}

// match finds the route for a path: literal segments win over parameters.
func match(routes []store.RouteEntry, path string) (best *store.RouteEntry, data map[string]any) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	bestLiterals := -1
	for i := range routes {
		values, literals, ok := matchTemplate(routes[i].Template, segments)
		if ok && literals > bestLiterals {
			best, data, bestLiterals = &routes[i], values, literals
		}
	}
	return best, data
}

// matchTemplate matches one template such as orders/{id} or files/{*rest}.
func matchTemplate(template string, segments []string) (values map[string]any, literals int, ok bool) {
	values = map[string]any{}
	parts := strings.Split(strings.Trim(template, "/"), "/")
	for i, part := range parts {
		name, isParam := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		if rest, greedy := strings.CutPrefix(name, "*"); isParam && greedy {
			values[rest] = strings.Join(segments[min(i, len(segments)):], "/")
			return values, literals, true
		}
		switch {
		case i >= len(segments):
			return nil, 0, false
		case isParam:
			values[name] = segments[i]
		case !strings.EqualFold(part, segments[i]):
			return nil, 0, false
		default:
			literals++
		}
	}
	return values, literals, len(parts) == len(segments)
}
