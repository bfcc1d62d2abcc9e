package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

const (
	maxPause        = 30 * time.Second // before another try of one attempt
	maxResponseBody = 1 << 20          // a larger one is a file
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
		{Name: "content", Type: "Object", Description: "The body: text is sent as it is, a file as what is in it, a list of bytes under a type that is no text as these bytes, anything else as JSON, or as a form if contentType is application/x-www-form-urlencoded."},
		{Name: "contentType", Type: "String", Description: "The body's type; the default follows from the content. The body is written in the charset that it names."},
		{Name: "authorization", Type: "String", Sensitive: true, Description: "The Authorization header."},
		{Name: "authorizationSecret", Type: "String", Description: "The name of a secret whose value is the Authorization header, in place of authorization. It is looked up at each try, so that one that was renewed counts."},
		{Name: "authorizationScheme", Type: "String", Usual: []string{"Bearer", "Basic"}, Description: "What stands before the value of authorizationSecret; for Basic that is user:password, and is encoded."},
		{Name: "clientCertificate", Type: "String", Description: "The name of a secret with the certificate that the client shows, as PEM, with its chain. It is looked up at each try, and shown to the server of the url only."},
		{Name: "clientKey", Type: "String", Description: "The name of the secret with its key, as PEM; not given, clientCertificate has both."},
		{Name: "caCertificate", Type: "String", Description: "The name of a secret with the certificates that sign the server's, as PEM; not given, the system's."},
		{Name: "requestHeaders", Type: "Object", Sensitive: true, Description: "Headers, an object of texts."},
		{Name: "headers", Type: "Object", Sensitive: true, Description: "The same under a shorter name."},
		{Name: "timeout", Type: "TimeSpan", Default: defaultTimeout.String(), Positive: true, Description: "How long one attempt may take."},
		{Name: "retries", Type: "Int32", Description: "How often to try again (up to 10) when the other side cannot be reached, is late, answers 408, 429, 500, 502, 503 or 504, or what expect does not have."},
		{Name: "retryDelay", Type: "TimeSpan", Default: "500ms", Positive: true, Description: "How long to wait before the first retry; it doubles with each. A Retry-After of the answer is kept up to 30 s, which is the longest pause."},
		{Name: "expect", Type: "Object", Description: "Which answers are none to fail for, one or a list: a status such as 404, or 2xx. Another one, without a branch or port for its status, is a failure as no answer is; not given, any answer will do."},
		{Name: "enableResiliency", Type: "Boolean", Description: "Elsa's switch: three retries."},
	}
}

func requestOutputs() []workflow.OutputDescriptor {
	return []workflow.OutputDescriptor{
		{Name: "result", Type: "Object", Fields: []string{"statusCode", "headers", "body"}, Description: "The answer."},
		{Name: "statusCode", Type: "Int32", Description: "The answer's status."},
		{Name: "parsedContent", Type: "Object", Description: "The answer's body: JSON as a value, other text as text, from the charset that the answer names, anything else in base64. One of more than " + strconv.Itoa(maxResponseBody) + " bytes, up to " + strconv.Itoa(files.MaxSize) + ", is a file beside the instance, as downloadHttpFile gives it, whichever its type."},
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
	large   bool // the body has one of the places
	size    int  // of the body
	file    any  // what refers to the body, which lies beside the instance; nil: it does not
	failure error
	late    bool // the failure is a timeout

	expected, unexpected bool // by expect; neither, if it was not given
}

// failed are the answers that are tried again.
var failed = []int{408, 429, 500, 502, 503, 504}

// keep keeps a large body beside the instance, and gives back its place: what waits for its turn in the instance has none.
func (e *exchange) keep(ctx context.Context, beside files.Beside) error {
	if !e.large {
		return nil
	}
	ref, err := beside.Keep(ctx, e.fileName(), e.header.Get("Content-Type"), e.body)
	if err != nil {
		return err
	}
	<-places
	e.large, e.body, e.file = false, nil, ref.Value()
	return nil
}

// done gives back the place of a large body. Without that it is no answer any more.
func (e *exchange) done() {
	if e.large {
		<-places
		e.large, e.body, e.status = false, nil, 0
	}
}

// send sends the request that x's inputs describe, with retries. It returns an
// error if the request itself is wrong or not allowed, or ctx ended; else the caller calls done.
func send(ctx context.Context, x *engine.Execution) (_ *exchange, err error) {
	client, err := x.HTTP()
	if err != nil {
		return nil, err
	}
	body, contentType, err := sentBody(ctx, x)
	if err != nil {
		return nil, err
	}
	method := strings.ToUpper(strings.TrimSpace(x.Text("method")))
	target, err := checkURL(x.Text("url"))
	if err != nil {
		return nil, err
	}
	shown := target.Redacted()
	retries := Retries(x)
	timeout := cmp.Or(x.Duration("timeout"), defaultTimeout) // 0: it was given, and has no value
	expect, err := expected(x.Value("expect"))
	if err != nil {
		return nil, err
	}
	delay := max(x.Duration("retryDelay"), time.Millisecond)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	waits := pace.Doubling(delay).Spread(20).UpTo(maxPause).Times(uint64(retries))
	last := &exchange{}
	defer func() {
		if err != nil {
			last.done()
		}
	}()
	err = repeat(ctx, x, waits, func(tries int64) (pause time.Duration, again bool, err error) {
		if retries > 0 {
			x.TellAttempt(tries)
		}
		req, err := newRequest(ctx, x, method, target, body, contentType)
		if err != nil {
			return 0, false, err
		}
		log, beside := x.Log(), x.Files()
		kept, own := beside.Kept, []files.Content(nil)
		beside.Kept = &own
		err = engine.Outside(ctx, x, func(ctx context.Context) error {
			last = attempt(client, req, timeout)
			if last.failure != nil {
				last.explain(ctx, log, req, timeout)
			}
			if again = last.again(expect) && tries <= retries; again {
				last.done() // nobody reads this answer
			}
			last.url = shown
			return last.keep(ctx, beside)
		})
		*kept = append(*kept, own...)
		switch {
		case err != nil:
			return 0, false, err
		case errors.Is(last.failure, outgoing.ErrPrivateAddress):
			return 0, false, fmt.Errorf("%s %s: %w", method, shown, last.failure)
		}
		return min(last.retryAfter(time.Now()), maxPause), again, nil
	})
	switch {
	case ctx.Err() != nil && (err != nil || last.status == 0): // a whole answer counts all the same
		return nil, errors.Join(context.Cause(ctx), err)
	case err != nil:
		return nil, err
	}
	return last, nil
}

// repeat calls try, and again after each of the waits for as long as try asks for that; before those it makes the pause
// that try wants.
func repeat(ctx context.Context, x *engine.Execution, waits pace.Waits, try func(tries int64) (pause time.Duration, again bool, err error)) error {
	for tries := int64(1); ; tries++ {
		pause, again, err := try(tries)
		if !again || err != nil {
			return err
		}
		wait, ok := waits.Next()
		if !ok {
			return nil
		}
		if err := engine.Outside(ctx, x, func(ctx context.Context) error {
			if pace.Pause(ctx, pause) && pace.Pause(ctx, wait) {
				return nil
			}
			return context.Cause(ctx)
		}); err != nil {
			return err
		}
	}
}

// newRequest makes the request of one try: with the secrets as they are by then.
func newRequest(ctx context.Context, x *engine.Execution, method string, target *url.URL, body []byte, contentType string) (*http.Request, error) {
	identity, err := identityOf(x)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(outgoing.WithIdentity(ctx, target, identity), method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the request is not valid: %w", err)
	}
	return req, setHeaders(x, req, contentType)
}

// Retries is how often the inputs of a request have it tried again within one attempt of its activity.
func Retries(x *engine.Execution) int64 {
	if !x.Given("retries") && x.Bool("enableResiliency") {
		return 3
	}
	return min(max(x.Int("retries"), 0), maxRetries)
}

// explain says in words why a request was not answered, and in the node's log all that is known.
func (e *exchange) explain(ctx context.Context, log *slog.Logger, req *http.Request, timeout time.Duration) {
	log.InfoContext(ctx, "request not answered", "method", req.Method, "server", outgoing.Origin(req.URL), "error", outgoing.WithoutURL(e.failure))
	e.failure = outgoing.Explain(e.failure)
	var name *net.DNSError
	if e.late && !errors.As(e.failure, &name) && errors.Is(e.failure, context.DeadlineExceeded) {
		e.failure = &lateError{timeout, e.failure}
	}
}

// again tells whether a request is worth another try, and notes whether its answer is one of expect; nil: any answer will do.
func (e *exchange) again(expect []string) bool {
	if expect == nil || e.failure != nil {
		return e.failure != nil || slices.Contains(failed, e.status)
	}
	e.expected = slices.ContainsFunc(expect, func(entry string) bool { return retry.HasStatus(entry, e.status) })
	e.unexpected = !e.expected
	return e.unexpected
}

// expected reads expect: one entry or a list of them; nil: any answer will do.
func expected(v any) ([]string, error) {
	list, ok := v.([]any)
	switch {
	case v == nil:
		return nil, nil
	case !ok:
		list = []any{v}
	}
	out := []string{}
	for _, e := range list {
		text := strings.TrimSpace(engine.Text(e))
		if !retry.StatusEntry.MatchString(text) {
			return nil, fmt.Errorf("expect: %q is no HTTP status such as 404 or 2xx", text)
		}
		out = append(out, text)
	}
	return out, nil
}

// retryAfter is how long an answer of 429 or 503 asks to wait, 0 if it does not.
func (e *exchange) retryAfter(now time.Time) time.Duration {
	if e.status != http.StatusTooManyRequests && e.status != http.StatusServiceUnavailable {
		return 0
	}
	value := strings.TrimSpace(e.header.Get("Retry-After"))
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// asksToWait tells the limit in whose body the call is, the innermost, that its service asks to wait.
func (e *exchange) asksToWait(x *engine.Execution) {
	wait := e.retryAfter(x.Clock())
	if wait <= 0 {
		return
	}
	for p := x.Parent(); p != nil; p = p.Parent() {
		for _, b := range p.Waiting() {
			if w, ok := limit.Of(&b); ok {
				p.Journal(limit.Held(w.Line, x.Clock(), wait))
				return
			}
		}
	}
}

// attempt makes one request within its time.
func attempt(client *http.Client, req *http.Request, timeout time.Duration) *exchange {
	ctx, cancel := context.WithTimeout(req.Context(), timeout)
	defer cancel()
	resp, err := client.Do(req.WithContext(ctx))
	if err == nil {
		defer resp.Body.Close()
		body, large, failure := readBody(ctx, resp)
		if err = failure; err == nil {
			return &exchange{status: resp.StatusCode, header: resp.Header, body: body, size: len(body), large: large}
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
	u.RawQuery = escapedQuery(u.RawQuery)
	return u, nil
}

func setHeaders(x *engine.Execution, req *http.Request, contentType string) error {
	req.Header.Set("Idempotency-Key", x.IdempotencyKey())
	req.Header.Set("User-Agent", outgoing.UserAgent)
	if contentType != "" && (req.ContentLength != 0 || givenType(x) != "") {
		req.Header.Set("Content-Type", contentType)
	}
	a, err := authorizationOf(x)
	if err != nil {
		return err
	}
	if a != "" {
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

// headers are those of the answer, each as one text.
func (e *exchange) headers() map[string]any {
	all := map[string]any{}
	for name, values := range e.header {
		all[name] = strings.Join(values, ", ")
	}
	return all
}

// publish sets the outputs of a request that was answered. A body that is too large for the state of the instance is kept
// beside it, and the outputs refer to it.
func (e *exchange) publish(x *engine.Execution) {
	headers := e.headers()
	var body any
	if e.file != nil {
		x.Journal("Kept", fmt.Sprintf("the answer has %d bytes, and a value at most %d: it lies beside the instance, and parsedContent and body of result are a file, for readFile, writeFileHttpResponse or another request", e.size, maxResponseBody), nil)
		body = e.file
	} else {
		body = receivedBody(e.header.Get("Content-Type"), e.body)
	}
	x.SetOutput("statusCode", e.status)
	x.SetOutput("responseHeaders", headers)
	x.SetOutput("parsedContent", body)
	x.SetOutput("result", map[string]any{"statusCode": e.status, "headers": headers, "body": body})
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
	checkCredentials(p)
	if v, ok := p.Constant("expect"); ok {
		if _, err := expected(v); err != nil {
			p.Problem("bad-literal", p.Place("expect"), "%v", err)
		}
	}
}

// refuses gives the failure that an answer is, by expect or for the policy; nil if it is none. branch: the activity
// has a way for exactly this status.
func refuses(s *retry.State, e *exchange, branch bool, now time.Time) error {
	failure := &retry.StatusError{URL: e.url, Status: e.status, RetryAfter: e.retryAfter(now)}
	if e.unexpected && !branch {
		return failure
	}
	if s == nil {
		return nil
	}
	named := slices.ContainsFunc(s.On, func(entry string) bool {
		return retry.StatusEntry.MatchString(entry) && retry.HasStatus(entry, e.status)
	})
	if s.Excludes(failure) != "" || !named && (branch || e.expected || !slices.Contains(failed, e.status)) {
		return nil
	}
	return failure
}
