package workflow

import (
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow/files"
)

// EndpointType is the activity type whose stimuli are HTTP requests.
const EndpointType = "Elsa.HttpEndpoint"

// Endpoint is what an HTTP endpoint of a workflow says about itself. As a trigger it
// becomes a route. In the middle of a workflow it is a bookmark, and what
// [Endpoint.Payload] and [Endpoint.Metadata] write there, [EndpointOf] reads.
type Endpoint struct {
	Method   string
	Template string // as written, such as orders/{id}; without slashes around it
	EndpointLimits
}

// EndpointLimits are what an HTTP endpoint asks of its requests.
type EndpointLimits struct {
	Authorize bool          `json:"authorize,omitempty"` // only authenticated callers
	Policy    string        `json:"policy,omitempty"`    // what else the caller must satisfy; "": nothing
	Timeout   time.Duration `json:"timeout,omitempty"`   // how long the caller is kept waiting, in nanoseconds; 0: the server's
	MaxBody   int64         `json:"maxBody,omitempty"`   // bytes; 0: the server's
	TooLarge  bool          `json:"tooLarge,omitempty"`  // a larger body goes on without it instead of being refused
	Files     *files.Rules  `json:"files,omitempty"`     // nil: files are refused; it was published before they were taken
}

// Guard is who may call the endpoint.
func (l *EndpointLimits) Guard() Guard { return Guard{Authorize: l.Authorize, Policy: l.Policy} }

// The members of what a bookmark keeps of its endpoint: a stored format.
const (
	endpointMethod    = "method"
	endpointPath      = "path"
	endpointTemplate  = "template"
	endpointAuthorize = "authorize"
	endpointPolicy    = "policy"
	endpointTimeout   = "timeout"
	endpointMaxBody   = "maxBody"
	endpointTooLarge  = "tooLarge"
	endpointFiles     = "files"
)

// EndpointPayload is the hashed part of the stimulus that a request is: the method,
// and the pattern of the route's template ([RoutePattern]). A pattern may stand for
// its template.
func EndpointPayload(method, template string) map[string]any {
	return map[string]any{endpointPath: RoutePattern(strings.TrimSpace(template)), endpointMethod: strings.ToUpper(method)}
}

// Payload is the payload of the endpoint's bookmark or trigger.
func (e *Endpoint) Payload() map[string]any { return EndpointPayload(e.Method, e.Template) }

// Metadata is the rest of what the endpoint's bookmark says.
func (e *Endpoint) Metadata() map[string]any {
	meta := map[string]any{
		endpointTemplate: e.Template, endpointAuthorize: e.Authorize, endpointPolicy: e.Policy,
		endpointTimeout: e.Timeout.String(), endpointMaxBody: e.MaxBody, endpointTooLarge: e.TooLarge,
	}
	if e.Files != nil {
		meta[endpointFiles] = e.Files.Kept()
	}
	return meta
}

// EndpointOf is what an HTTP endpoint's bookmark says about itself; nil if it is
// none. A bookmark that does not say who may call is for authenticated callers, and one that does not say which files
// it takes takes none.
func EndpointOf(b *Bookmark) *Endpoint {
	payload, _ := b.Payload.(map[string]any)
	meta, _ := b.Metadata.(map[string]any)
	method, _ := payload[endpointMethod].(string)
	template, said := meta[endpointTemplate].(string)
	if b.ActivityType != EndpointType || method == "" || !said {
		return nil
	}
	e := &Endpoint{Method: method, Template: template}
	authorize, said := meta[endpointAuthorize].(bool)
	e.Authorize = authorize || !said
	e.Policy, _ = meta[endpointPolicy].(string)
	e.TooLarge, _ = meta[endpointTooLarge].(bool)
	if text, _ := meta[endpointTimeout].(string); text != "" {
		e.Timeout, _ = time.ParseDuration(text)
	}
	switch n := meta[endpointMaxBody].(type) {
	case int64:
		e.MaxBody = n
	case float64:
		e.MaxBody = int64(n)
	}
	e.Files = files.Of(meta[endpointFiles])
	return e
}
