package endpoint

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Request is a request for an HTTP endpoint that a definition declares.
type Request struct {
	Method        string
	Path          string // below /workflows, without a leading slash
	Query         map[string]any
	Headers       map[string]any
	ContentType   string
	Body          string               // "": it is no text
	Length        int64                // of a body that is no text, in bytes; 0: that of Body
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

	at    *etcdstore.Endpoint // that it is for
	files []File              // that its place takes
	list  []any               // what the workflow gets of them
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
	length := max(r.Length, int64(len(body)))
	tooLarge := place.MaxBody > 0 && length > place.MaxBody
	if tooLarge && !place.TooLarge {
		return nil, tooLargeFor(length, place.MaxBody)
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
	r.files, r.list = nil, []any{}
	if refused == "" {
		r.files = parsed.Files
	}
	for range r.files {
		r.list = append(r.list, nil) // until it is known of which instance they are
	}
	return map[string]any{"method": r.Method, "path": r.Path, "routeData": data, "query": r.Query, "headers": r.Headers,
		"contentType": r.ContentType, "body": body, "parsedBody": parsed.Value, "files": r.list, "refused": refused, "tooLarge": tooLarge}, nil
}

// HasFiles reports whether the place that took the input takes files of the request.
func (r *Request) HasFiles() bool { return len(r.files) > 0 }

// Keep keeps the files of a request beside the instance that gets its input, in which they are from then on; known: the
// instance is there.
func (r *Request) Keep(ctx context.Context, store *etcdstore.Contents, instance string, known bool) ([]files.Content, error) {
	kept := make([]files.Content, len(r.files))
	for i := range r.files {
		f := &r.files[i]
		var err error
		if kept[i], err = store.Put(ctx, instance, known, f.Content); err != nil {
			return nil, err
		}
		ref := files.Ref{Instance: instance, Hash: kept[i].Hash, Bytes: int64(len(f.Content)), Name: f.Name, Type: f.Type, Field: f.Field}
		r.list[i] = ref.Value()
	}
	return kept, nil
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
