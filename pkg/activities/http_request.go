package activities

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	maxResponseBody = 1 << 20
	maxRetries      = 10
	defaultTimeout  = 30 * time.Second
)

// usualMethods are the methods that servers know.
var usualMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "QUERY", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PURGE", "LINK", "UNLINK"}

// requestInputs are the inputs of both activities that send requests.
func requestInputs() []workflow.InputDescriptor {
	return []workflow.InputDescriptor{
		{Name: "url", Type: "String", Required: true, Description: "Where to send the request; http or https."},
		{Name: "method", Type: "String", Default: "GET", Usual: usualMethods, Description: "The HTTP method."},
		{Name: "content", Type: "Object", Description: "The body: text is sent as it is, anything else as JSON."},
		{Name: "contentType", Type: "String", Description: "The body's type; the default follows from the content."},
		{Name: "authorization", Type: "String", Sensitive: true, Description: "The Authorization header."},
		{Name: "requestHeaders", Type: "Object", Sensitive: true, Description: "Headers, an object of texts."},
		{Name: "headers", Type: "Object", Sensitive: true, Description: "The same under a shorter name."},
		{Name: "timeout", Type: "TimeSpan", Default: defaultTimeout.String(), Positive: true, Description: "How long one attempt may take."},
		{Name: "retries", Type: "Int32", Description: "How often to try again (up to 10) when the other side cannot be reached, is late, or answers 408, 429 or 5xx."},
		{Name: "retryDelay", Type: "TimeSpan", Default: "500ms", Positive: true, Description: "How long to wait before the first retry; it doubles with each."},
		{Name: "enableResiliency", Type: "Boolean", Description: "Elsa's switch: three retries."},
	}
}

func requestOutputs() []workflow.OutputDescriptor {
	return []workflow.OutputDescriptor{
		{Name: "result", Type: "Object", Fields: []string{"statusCode", "headers", "body"}, Description: "The answer."},
		{Name: "statusCode", Type: "Int32", Description: "The answer's status."},
		{Name: "parsedContent", Type: "Object", Description: "The answer's body: JSON as a value, other text as text, anything else in base64."},
		{Name: "responseHeaders", Type: "Object", Fields: []string{}, Description: "The answer's headers."},
	}
}

// exchange is what became of a request. Exactly one of status and failure is
// set.
type exchange struct {
	url     string // without the password
	status  int
	header  http.Header
	body    []byte
	failure error
	late    bool // the failure is a timeout
}

// failed are the answers that are tried again.
var failed = []int{408, 429, 500, 502, 503, 504}

// send sends the request that x's inputs describe, with retries. It returns an
// error if the request itself is wrong or not allowed, or ctx ended.
func send(ctx context.Context, x *engine.Execution) (*exchange, error) {
	client, err := x.HTTP()
	if err != nil {
		return nil, err
	}
	body, contentType, err := requestBody(x)
	if err != nil {
		return nil, err
	}
	method := strings.ToUpper(strings.TrimSpace(x.Text("method")))
	target, err := checkURL(x.Text("url"))
	if err != nil {
		return nil, err
	}
	shown := target.Redacted()
	retries := min(max(x.Int("retries"), 0), maxRetries)
	if !x.Given("retries") && x.Bool("enableResiliency") {
		retries = 3
	}
	timeout := x.Duration("timeout")
	if timeout == 0 { // it was given, and has no value
		timeout = defaultTimeout
	}
	delay := max(x.Duration("retryDelay"), time.Millisecond)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	waits := pace.Doubling(delay).Spread(20).UpTo(30 * time.Second).Times(uint64(retries))
	var last *exchange
	var tries int64
	err = pace.Repeat(ctx, waits, func() (again bool, err error) {
		if tries++; retries > 0 {
			x.TellAttempt(tries)
		}
		req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
		if err != nil {
			return false, fmt.Errorf("the request is not valid: %w", err)
		}
		if err := setHeaders(x, req, contentType); err != nil {
			return false, err
		}
		last = attempt(client, req, timeout)
		if last.failure != nil {
			x.Log().InfoContext(ctx, "request not answered", "method", method, "server", outgoing.Origin(target), "error", outgoing.WithoutURL(last.failure))
			last.failure = outgoing.Explain(last.failure)
		}
		if errors.Is(last.failure, outgoing.ErrPrivateAddress) {
			return false, fmt.Errorf("%s %s: %w", method, shown, last.failure)
		}
		return last.failure != nil || slices.Contains(failed, last.status), nil //nolint:nilerr // an outcome of the activity, in last
	})
	switch {
	case ctx.Err() != nil && (err != nil || last == nil || last.failure != nil): // a whole answer counts all the same
		return nil, errors.Join(context.Cause(ctx), err)
	case err != nil:
		return nil, err
	}
	last.url = shown
	return last, nil
}

// attempt makes one request within its time.
func attempt(client *http.Client, req *http.Request, timeout time.Duration) *exchange {
	ctx, cancel := context.WithTimeout(req.Context(), timeout)
	defer cancel()
	resp, err := client.Do(req.WithContext(ctx))
	if err == nil {
		defer resp.Body.Close()
		var body []byte
		if body, err = io.ReadAll(io.LimitReader(resp.Body, maxResponseBody+1)); err == nil {
			if len(body) > maxResponseBody {
				err = fmt.Errorf("the answer is larger than %d bytes", maxResponseBody)
			} else {
				return &exchange{status: resp.StatusCode, header: resp.Header, body: body}
			}
		}
	}
	var ne net.Error
	late := errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
	return &exchange{failure: err, late: late}
}

func checkURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("the URL is not valid: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the URL %q needs http:// or https:// and a host", u.Redacted())
	}
	return u, nil
}

func requestBody(x *engine.Execution) (body []byte, contentType string, err error) {
	switch v := x.Value("content").(type) {
	case nil:
	case string:
		body, contentType = []byte(v), "text/plain; charset=utf-8"
	default:
		if body, err = json.Marshal(v); err != nil {
			return nil, "", fmt.Errorf("the content has no JSON form: %w", err)
		}
		contentType = "application/json"
	}
	if t := x.Text("contentType"); t != "" {
		contentType = t
	}
	return body, contentType, nil
}

func setHeaders(x *engine.Execution, req *http.Request, contentType string) error {
	req.Header.Set("Idempotency-Key", x.IdempotencyKey())
	req.Header.Set("User-Agent", outgoing.UserAgent)
	if contentType != "" && (req.ContentLength != 0 || x.Text("contentType") != "") {
		req.Header.Set("Content-Type", contentType)
	}
	if a := x.Text("authorization"); a != "" {
		req.Header.Set("Authorization", a)
	}
	for _, input := range []string{"requestHeaders", "headers"} {
		headers := x.Object(input)
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			value := headers[name]
			values, ok := value.([]any)
			if !ok {
				values = []any{value}
			}
			req.Header.Del(name)
			for _, v := range values {
				text := engine.Text(v)
				if strings.ContainsAny(text, "\r\n") {
					return fmt.Errorf("the header %s has a line break in it", name)
				}
				req.Header.Add(name, text)
			}
			if strings.EqualFold(name, "Host") {
				req.Host = req.Header.Get(name)
			}
		}
	}
	return nil
}

// publish sets the outputs of a request that was answered.
func (e *exchange) publish(x *engine.Execution) {
	headers := map[string]any{}
	for k, v := range e.header {
		headers[k] = strings.Join(v, ", ")
	}
	body := parseBody(e.header.Get("Content-Type"), e.body)
	x.SetOutput("statusCode", e.status)
	x.SetOutput("responseHeaders", headers)
	x.SetOutput("parsedContent", body)
	x.SetOutput("result", map[string]any{"statusCode": e.status, "headers": headers, "body": body})
}

// parseBody gives a body as a value: JSON decoded, other text as text, anything
// else in base64.
func parseBody(contentType string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		var v any
		if workflow.Unmarshal(body, &v) == nil {
			return v
		}
	}
	if utf8.Valid(body) {
		return string(body)
	}
	return base64.StdEncoding.EncodeToString(body)
}

// checkRequest checks what is known of a request at compile time.
func checkRequest(p *engine.Preparation) {
	if v, ok := p.Constant("url"); ok && v != nil {
		if _, err := checkURL(engine.Text(v)); err != nil {
			p.Problem("bad-literal", p.Place("url"), "%v", err)
		}
	}
	if v, ok := p.Constant("method"); ok && v != nil {
		if _, err := http.NewRequest(strings.TrimSpace(engine.Text(v)), "http://localhost", http.NoBody); err != nil {
			p.Problem("bad-literal", p.Place("method"), "%q is no HTTP method", engine.Text(v))
		}
	}
}
