package endpoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Request is a request for an HTTP endpoint that a definition declares.
type Request struct {
	Method        string
	Path          string // below /workflows, without a leading slash
	Query         map[string]any
	Headers       map[string]any
	ContentType   string
	Body          string
	Parse         func() (Body, error) // reads the body; asked once it is known who takes it
	CorrelationID string
	InstanceID    string
	Key           *answers.Key
	// Allow is asked when the endpoint is for authenticated callers only, with the
	// policy that they must satisfy, "" if none. Nil: there are no such callers.
	Allow func(ctx context.Context, policy string) error

	// Waiting ends the wait for an answer that comes after the request was handed
	// over; nil: that ends with the call's context.
	Waiting context.Context

	at *etcdstore.Endpoint // that it is for
}

// Found reports whether [Finder.Find] found the endpoint of the request.
func (r *Request) Found() bool { return r.at != nil }

// Stimulus is what a request that was found is to those who wait for it.
func (r *Request) Stimulus() workflow.Stimulus {
	return workflow.Stimulus{ActivityType: workflow.EndpointType, Payload: workflow.EndpointPayload(r.at.Method, r.at.Pattern), CorrelationID: r.CorrelationID, InstanceID: r.InstanceID}
}

// Allowed asks whether the caller may call an endpoint with this guard.
func (r *Request) Allowed(ctx context.Context, g workflow.Guard) error {
	if g == (workflow.Guard{}) {
		return nil
	}
	if r.Allow == nil {
		return workflow.Fail(workflow.CodeUnauthenticated, fmt.Sprintf("%s /workflows/%s is for authenticated callers only, and none are known here", r.Method, r.Path))
	}
	return r.Allow(ctx, g.Policy)
}

// Input is what the activity gets of the request.
func (r *Request) Input(place *workflow.Endpoint) (map[string]any, error) {
	data, ok := workflow.RouteData(place.Template, r.Path)
	if !ok {
		return nil, r.NoRoute()
	}
	for name, v := range data { // Elsa makes a template's letters small
		if small := strings.ToLower(name); small != name {
			if _, other := data[small]; !other {
				data[small] = v
			}
		}
	}
	body, parsed, refused := r.Body, Body{}, ""
	tooLarge := place.MaxBody > 0 && int64(len(body)) > place.MaxBody
	if tooLarge && !place.TooLarge {
		return nil, tooLargeFor(int64(len(body)), place.MaxBody)
	}
	if tooLarge {
		body = ""
	} else if r.Parse != nil {
		var err error
		if parsed, err = r.Parse(); err != nil {
			return nil, err
		}
		if len(parsed.Files) > 0 {
			body = "" // which is no text, and holds them too
			if refused, err = refusedFiles(parsed.Files, place.Files); err != nil {
				return nil, err
			}
		}
	}
	files := []any{}
	for i := range parsed.Files {
		if refused == "" {
			files = append(files, parsed.Files[i].value())
		}
	}
	return map[string]any{"method": r.Method, "path": r.Path, "routeData": data, "query": r.Query, "headers": r.Headers,
		"contentType": r.ContentType, "body": body, "parsedBody": parsed.Value, "files": files, "refused": refused, "tooLarge": tooLarge}, nil
}

func tooLargeFor(length, limit int64) error {
	return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the body has %d bytes; this endpoint takes up to %d", length, limit))
}

// NoRoute is the error of a request for which there is nothing.
func (r *Request) NoRoute() error {
	of := ""
	if r.InstanceID != "" || r.CorrelationID != "" {
		of = " with the instance and correlation that the request names"
	}
	return workflow.Fail(workflow.CodeRouteNotFound, fmt.Sprintf("no workflow waits for %s /workflows/%s%s", r.Method, r.Path, of))
}
