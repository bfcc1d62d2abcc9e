package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// endpointPrefix is where HTTP endpoints live that definitions declare.
const endpointPrefix = "/workflows/"

// endpointRoute is the one route of all endpoints. It is not in the table: the
// mux would clean paths that belong to the definitions. A definition says whether
// an endpoint is for authenticated callers; without a word it is for everybody.
var endpointRoute = route{kind: starts, role: auth.Anyone, name: "endpoint", path: endpointPrefix, bare: true, serve: (*call).endpoint, anyQuery: true, mayWait: true, before: (*call).findEndpoint}

// codeFaulted says that the workflow behind an endpoint faulted before it wrote
// an answer.
const codeFaulted workflow.Code = "instance-faulted"

// findEndpoint finds out by the head of a request whether there is something for
// it, and who may ask.
func (c *call) findEndpoint() error {
	// What is kept is UTF-8: a burst that is repeated would see something else.
	if !utf8.ValidString(c.r.URL.Path) || !validValues(c.query) || !validValues(c.r.Header) {
		return invalid("bad-text", "", "the path, the query and the headers of a request to an endpoint must be valid UTF-8")
	}
	key, err := c.key() // whose hash of the body comes later
	if err != nil {
		return err
	}
	req := runtime.EndpointRequest{
		Method: c.r.Method, Path: strings.TrimPrefix(c.r.URL.Path, endpointPrefix),
		Query: values(c.query), Headers: endpointHeaders(c.r.Header), ContentType: c.r.Header.Get("Content-Type"),
		CorrelationID: cmp.Or(c.r.Header.Get("X-Correlation-Id"), c.query.Get("correlationId")),
		Allow:         c.endpointGuard(), Key: key,
		InstanceID: cmp.Or(c.r.Header.Get("X-Workflow-Instance-Id"), c.query.Get("workflowInstanceId")),
	}
	if err := checkIDs([2]string{"workflowInstanceId", req.InstanceID}); err != nil {
		return err
	}
	if err := checkNames([2]string{"correlationId", req.CorrelationID}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), c.api.cfg.RequestTimeout)
	defer cancel()
	c.found = req
	return c.api.cfg.Runtime.FindEndpoint(ctx, &c.found, c.r.ContentLength)
}

func (c *call) endpoint() (reply, error) {
	if !utf8.Valid(c.body) {
		return reply{}, workflow.Fail(codeMediaType, "endpoints take text and JSON; this body is binary")
	}
	req := c.found
	req.Body, req.Parse = string(c.body), c.parsedBody
	var err error
	if req.Key, err = c.key(); err != nil {
		return reply{}, err
	}
	var stop context.CancelFunc
	req.Waiting, stop = c.api.untilDrain(c.r.Context())
	defer stop()
	ctx, cancel := context.WithTimeout(c.r.Context(), c.api.cfg.RequestTimeout)
	defer cancel()
	res, err := c.api.cfg.Runtime.Endpoint(ctx, req)
	if err != nil {
		return reply{}, err
	}
	if res.Response != nil {
		return c.written(res.Response)
	}
	if err := c.faulted(res.Result); err != nil {
		return reply{}, err
	}
	return c.viewSent(res.Result), nil
}

// faulted looks whether there is no response because the workflow faulted.
func (c *call) faulted(res runtime.SendResult) error {
	if res.Accepted() || len(res.Outcomes) != 1 || res.Outcomes[0].Outcome == workflow.OutcomeRefused {
		return nil
	}
	in, err := c.api.cfg.Runtime.Instance(c.r.Context(), res.Outcomes[0].InstanceID)
	if err != nil || in.SubStatus != workflow.Faulted {
		return nil //nolint:nilerr // it was applied; that this look failed changes nothing
	}
	return workflow.Fail(codeFaulted, fmt.Sprintf("instance %s faulted before it answered; GET %s shows its incidents", in.ID, instancePath(in.ID)))
}

// written sends what the workflow wrote, without the headers that are the
// server's own business.
func (c *call) written(res *workflow.Response) (reply, error) {
	if res.Status != 0 && (res.Status < 200 || res.Status > 599) {
		return reply{}, workflow.Fail(codeFaulted, fmt.Sprintf("the workflow answered with status %d, which is none", res.Status))
	}
	exchangeOf(c.r).theirs = true
	h := c.w.Header()
	// The page is the definition's, and so is its policy, but that it shares nothing
	// with the API, whose address it has: what it sends there is another site's.
	h.Set("Content-Security-Policy", pageSandbox)
	h.Del("Cache-Control")
	answer := reply{status: res.Status, raw: res.Body, rawType: res.ContentType, headers: map[string]string{}}
	for name, value := range res.Headers {
		name = http.CanonicalHeaderKey(name)
		if name == "Content-Security-Policy" {
			value = pageSandbox + ", " + value // both hold
		}
		if cookie, _, _ := strings.Cut(value, "="); name == "Set-Cookie" && auth.OwnCookie(strings.TrimSpace(cookie)) {
			continue // whose session a browser has is for the console to say; it trims names, as here
		}
		if !ownHeaders[name] && validHeader(name, value) {
			answer.headers[name] = value
		}
	}
	if answer.rawType == "" && len(res.Body) > 0 {
		answer.rawType = "text/plain; charset=utf-8"
	}
	return answer, nil
}

// pageSandbox gives a page an origin of its own. Without allow-same-origin what its
// scripts send to the API is refused as that of another site, and they read nothing.
const pageSandbox = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-scripts"

// ownHeaders are about the connection or this node.
var ownHeaders = map[string]bool{
	"Clear-Site-Data": true, // it would end the sessions of the console
	"Connection":      true, "Content-Length": true, "Date": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "X-Request-Id": true, "X-Content-Type-Options": true,
}

func validHeader(name, value string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) &&
		!strings.ContainsAny(value, "\r\n\x00")
}

// endpointHeaders are what the workflow sees. Credentials are not among them:
// they would be kept in the instance's state.
func endpointHeaders(h http.Header) map[string]any {
	shown := h.Clone()
	for _, secret := range []string{"Authorization", "Proxy-Authorization", "Cookie"} {
		shown.Del(secret)
	}
	return values(url.Values(shown))
}

func validValues(of map[string][]string) bool {
	for name, values := range of {
		if !utf8.ValidString(name) || !utf8.ValidString(strings.Join(values, "")) {
			return false
		}
	}
	return true
}

// values gives one value as itself and several as a list.
func values(v url.Values) map[string]any {
	out := make(map[string]any, len(v))
	for name, all := range v {
		if len(all) == 1 {
			out[name] = all[0]
			continue
		}
		list := make([]any, len(all))
		for i := range all {
			list[i] = all[i]
		}
		out[name] = list
	}
	return out
}

// parsedBody is the body as a value if it is JSON or a form, else its text; nil
// if there is none. Without a word, or with what curl says by default, the body is
// told by its content. What says that it is JSON has to be JSON.
func (c *call) parsedBody() (any, error) {
	if len(c.body) == 0 {
		return nil, nil
	}
	typ, text := c.mediaType(), string(c.body)
	if typ == formType && !looksJSON(c.body) {
		form, err := url.ParseQuery(text)
		if err != nil {
			return text, nil //nolint:nilerr // it is no form, though it says so
		}
		return values(form), nil
	}
	if typ != "" && !isJSON(typ) && !looksJSON(c.body) {
		return text, nil
	}
	if err := c.weigh(); err != nil {
		return nil, err
	}
	dec := newDecoder(c.body)
	v, err := readAny(dec)
	if err == nil {
		err = ended(dec)
	}
	switch {
	case err == nil:
		return v, nil
	case isJSON(typ):
		return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: "the body says that it is JSON, and is not", Problems: workflow.Problems{unreadable(c.body, dec, err)}}
	default:
		return text, nil
	}
}

func looksJSON(body []byte) bool {
	s := strings.TrimSpace(string(body))
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
}
