package run

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/httpapi/strictjson"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// Endpoint is the one route of all endpoints. It is not in the table: the
// mux would clean paths that belong to the definitions. A definition says whether
// an endpoint is for authenticated callers; without a word it is for everybody.
var Endpoint = serve.Route{Kind: serve.Starts, Role: auth.Anyone, Name: "endpoint", Path: serve.EndpointPrefix, Bare: true, Files: true, Serve: answerEndpoint, AnyQuery: true, MayWait: true, Idempotent: true, Before: findEndpoint}

// findEndpoint finds out by the head of a request whether there is something for
// it, and who may ask.
func findEndpoint(c *serve.Call) error {
	// What is kept is UTF-8: a burst that is repeated would see something else.
	if !utf8.ValidString(c.Request.URL.Path) || !validValues(c.Query) || !validValues(c.Request.Header) {
		return serve.Invalid("bad-text", "", "the path, the query and the headers of a request to an endpoint must be valid UTF-8")
	}
	key, err := c.Key() // whose hash of the body comes later
	if err != nil {
		return err
	}
	req := runtime.EndpointRequest{
		Method: c.Request.Method, Path: strings.TrimPrefix(c.Request.URL.Path, serve.EndpointPrefix),
		Query: values(c.Query), Headers: endpointHeaders(c.Request.Header), ContentType: c.Request.Header.Get("Content-Type"),
		CorrelationID: cmp.Or(c.Request.Header.Get("X-Correlation-Id"), c.Query.Get("correlationId")),
		Allow:         serve.EndpointGuard(c), Key: key,
		InstanceID: cmp.Or(c.Request.Header.Get("X-Workflow-Instance-Id"), c.Query.Get("workflowInstanceId")),
	}
	if err := serve.CheckIDs([2]string{"workflowInstanceId", req.InstanceID}); err != nil {
		return err
	}
	if err := serve.CheckNames([2]string{"correlationId", req.CorrelationID}); err != nil {
		return err
	}
	if inHead, inQuery := c.Request.Header.Get("X-Correlation-Id"), c.Query.Get("correlationId"); inHead != "" && inQuery != "" && inHead != inQuery {
		return serve.Invalid("bad-parameter", "/correlationId", "X-Correlation-Id and correlationId of the query are not the same; give one")
	}
	if inHead, inQuery := c.Request.Header.Get("X-Workflow-Instance-Id"), c.Query.Get("workflowInstanceId"); inHead != "" && inQuery != "" && inHead != inQuery {
		return serve.Invalid("bad-parameter", "/workflowInstanceId", "X-Workflow-Instance-Id and workflowInstanceId of the query are not the same; give one")
	}
	if n := max(len(c.Query["correlationId"]), len(c.Query["workflowInstanceId"])); n > 1 {
		return serve.Invalid("bad-parameter", "", fmt.Sprintf("correlationId or workflowInstanceId is given %d times; give one value", n))
	}
	if req.CorrelationID == "" && (c.Query.Has("correlationId") || len(c.Request.Header.Values("X-Correlation-Id")) > 0) {
		return everyCorrelation()
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), c.API.Config.RequestTimeout)
	defer cancel()
	c.Found = req
	return c.API.Config.Runtime.Endpoints.FindEndpoint(ctx, &c.Found, c.Request.ContentLength)
}

func answerEndpoint(c *serve.Call) (serve.Reply, error) {
	req := c.Found
	raw, is, err := wire.Raw(c.Body, c.Request.Header)
	switch {
	case err != nil:
		return serve.Reply{}, serve.Invalid("bad-form", "", "the body is a file, and "+err.Error())
	case is:
		req.Length = int64(len(c.Body))
		req.Parse = func() (runtime.EndpointBody, error) {
			return runtime.EndpointBody{Files: []runtime.EndpointFile{runtime.EndpointFile(raw)}}, nil
		}
	case c.MediaType() != wire.MultipartType && !utf8.Valid(c.Body):
		return serve.Reply{}, binary()
	default:
		if c.MediaType() != wire.MultipartType || int64(len(c.Body)) <= c.API.Config.MaxBody { // else it holds files, and is no text
			req.Body = string(c.Body)
		}
		req.Length, req.Parse = int64(len(c.Body)), func() (runtime.EndpointBody, error) { return parsedBody(c) }
	}
	if req.Key, err = c.Key(); err != nil {
		return serve.Reply{}, err
	}
	var stop context.CancelFunc
	req.Waiting, stop = c.API.UntilDrain(c.Request.Context())
	defer stop()
	ctx, cancel := context.WithTimeout(c.Request.Context(), c.API.Config.RequestTimeout)
	defer cancel()
	res, err := c.API.Config.Runtime.Endpoints.Endpoint(ctx, req)
	if err != nil {
		return serve.Reply{}, err
	}
	if res.Response != nil {
		return written(c, res.Response)
	}
	if err := faulted(c, res.Result); err != nil {
		return serve.Reply{}, err
	}
	answer := shape.ViewOutcomes(res.Result)
	if sent, ok := answer.Body.(shape.Sent); ok && !res.Result.Unanswered.IsZero() {
		sent.Detail = unanswered(c, res.Result)
		answer.Status, answer.Body, answer.Location = http.StatusAccepted, sent, shape.InstancePath(sent.Outcomes[0].InstanceID)
	}
	return answer, nil
}

// unanswered says what the workflow is at whose answer the caller waited for in vain.
func unanswered(c *serve.Call, res runtime.SendResult) string {
	id, at := res.Outcomes[0].InstanceID, ""
	if in, err := c.API.Config.Runtime.Inspector.Instance(c.Request.Context(), id); err == nil {
		at = " and is " + string(in.SubStatus)
		var waits []string
		for _, b := range in.Bookmarks[:min(len(in.Bookmarks), 3)] {
			waits = append(waits, strings.TrimSpace(b.ActivityID+" "+b.Name))
		}
		if len(waits) > 0 {
			at += ", waiting at " + strings.Join(waits, ", ")
		}
	}
	text := fmt.Sprintf("instance %s took the request%s; it has not answered, and its caller was let wait until %s (requestTimeout of the endpoint)", id, at, res.Unanswered.UTC().Format(time.RFC3339))
	if c.Request.Header.Get("Idempotency-Key") == "" {
		return text
	}
	return text + "; a repeat with the same Idempotency-Key gets what it writes later"
}

// faulted looks whether there is no response because the workflow faulted.
func faulted(c *serve.Call, res runtime.SendResult) error {
	if res.Accepted() || len(res.Outcomes) != 1 || res.Outcomes[0].Outcome == workflow.OutcomeRefused {
		return nil
	}
	in, err := c.API.Config.Runtime.Inspector.Instance(c.Request.Context(), res.Outcomes[0].InstanceID)
	if err != nil || in.SubStatus != workflow.Faulted {
		return nil //nolint:nilerr // it was applied; that this look failed changes nothing
	}
	return workflow.Fail(serve.CodeFaulted, fmt.Sprintf("instance %s faulted before it answered; GET %s shows its incidents", in.ID, shape.InstancePath(in.ID)))
}

// written sends what the workflow wrote, without the headers that are the
// server's own business.
func written(c *serve.Call, res *workflow.Response) (serve.Reply, error) {
	if res.Status != 0 && (res.Status < 200 || res.Status > 599) {
		return serve.Reply{}, workflow.Fail(serve.CodeFaulted, fmt.Sprintf("the workflow answered with status %d, which is none", res.Status))
	}
	serve.ExchangeOf(c.Request).Theirs = true
	h := c.Writer.Header()
	// The page is the definition's, and so is its policy, but that it shares nothing
	// with the API, whose address it has: what it sends there is another site's.
	h.Set("Content-Security-Policy", pageSandbox)
	h.Del("Cache-Control")
	answer := serve.Reply{Status: res.Status, Raw: res.Body, RawType: res.ContentType, Headers: map[string]string{}}
	for name, value := range res.Headers {
		name = http.CanonicalHeaderKey(name)
		if name == "Content-Security-Policy" {
			value = pageSandbox + ", " + value // both hold
		}
		if cookie, _, _ := strings.Cut(value, "="); name == "Set-Cookie" && auth.OwnCookie(strings.TrimSpace(cookie)) {
			continue // whose session a browser has is for the console to say; it trims names, as here
		}
		if !ownHeaders[name] && validHeader(name, value) {
			answer.Headers[name] = value
		}
	}
	if res.Status == http.StatusNoContent || res.Status == http.StatusNotModified {
		answer.Raw, answer.RawType = nil, "" // these have no body
	}
	if answer.RawType == "" && len(answer.Raw) > 0 {
		answer.RawType = "text/plain; charset=utf-8"
	}
	if res.File != nil {
		return withFile(c, res, answer)
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

func binary() error {
	return workflow.Fail(serve.CodeMediaType, "endpoints take text, JSON, forms and files; this body, or a field of this form, is binary, or text in a charset that its Content-Type does not name")
}

// parsedBody is the body as a value if it is JSON or a form, with the files of that, else its text; nil
// if there is none. Without a word, or with what curl says by default, the body is
// told by its content. What says that it is JSON has to be JSON.
func parsedBody(c *serve.Call) (body runtime.EndpointBody, err error) {
	if len(c.Body) > 0 && c.MediaType() == wire.MultipartType {
		if err := c.Charge(int64(len(c.Body))); err != nil { // for the copies of its parts
			return body, err
		}
		form, files, err := wire.Multipart(c.Body, c.Request.Header.Get("Content-Type"))
		if err != nil {
			return body, serve.Invalid("bad-form", "", "the form of parts cannot be read: "+err.Error())
		}
		switch most := c.API.Config.MaxBody; {
		case len(files) == 0 && !utf8.Valid(c.Body):
			return body, binary()
		case len(files) == 0 && int64(len(c.Body)) > most: // it is kept as text
			return body, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the form has %d bytes and no file; without one there may be %d", len(c.Body), most))
		}
		if fields := fieldBytes(form); fields > c.API.Config.MaxBody {
			return body, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the fields of the form have %d bytes, without its files; there may be %d: send what is large as a file", fields, c.API.Config.MaxBody))
		}
		for _, f := range files {
			body.Files = append(body.Files, runtime.EndpointFile(f))
		}
		body.Value = values(form)
		return body, nil
	}
	body.Value, err = parsedText(c)
	return body, err
}

// fieldBytes is how many bytes the fields of a form have, which are kept in the state.
func fieldBytes(form url.Values) (n int64) {
	for name, all := range form {
		n += int64(len(name))
		for _, v := range all {
			n += int64(len(v))
		}
	}
	return n
}

func parsedText(c *serve.Call) (any, error) {
	if len(c.Body) == 0 {
		return nil, nil
	}
	typ, text := c.MediaType(), string(c.Body)
	if typ == wire.FormType && !looksJSON(c.Body) {
		// curl says of any text that it is a form; one without a "=" that cannot be read as one is none.
		form, err := wire.Form(text, c.Request.Header.Get("Content-Type"))
		switch {
		case err == nil:
			return values(form), nil
		case strings.Contains(text, "="):
			return nil, serve.Invalid("bad-form", "", "the body says that it is a form, and cannot be read: "+err.Error()+". Text that is none has a Content-Type of its own, such as text/plain")
		}
		return text, nil
	}
	if typ != "" && !wire.IsJSON(typ) && !looksJSON(c.Body) {
		return text, nil
	}
	if err := c.Weigh(); err != nil {
		return nil, err
	}
	dec := strictjson.NewDecoder(c.Body)
	v, err := strictjson.ReadAny(dec)
	if err == nil {
		err = strictjson.Ended(dec)
	}
	switch {
	case err == nil:
		return v, nil
	case wire.IsJSON(typ):
		return nil, &workflow.Error{Code: serve.CodeBadBody, Detail: "the body says that it is JSON, and is not", Problems: workflow.Problems{strictjson.Unreadable(c.Body, dec, err)}}
	default:
		return text, nil
	}
}

func looksJSON(body []byte) bool {
	s := strings.TrimSpace(string(body))
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
}
