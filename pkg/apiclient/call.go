package apiclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Answer is a success.
type Answer[T any] struct {
	Body     T
	Status   int    // 200, 201, 202 or 204
	Accepted bool   // 202: durable, and not applied yet
	Location string // where to look at what was made, a path
	ETag     string
	Type     string // media type
	Key      string // the Idempotency-Key that it was asked with; "" of what is no POST
	Bytes    []byte // as they came
}

// Raw is an answer that is not JSON, or has no shape of its own: [Answer] has its bytes.
type Raw struct{}

// None is the answer without a body.
type None struct{}

// request is one call before its options.
type request struct {
	method, path string // the path is escaped
	query        url.Values
	body         any // nil: none; bytes as they are
}

// maxAnswer bounds what is read of an answer. Pages end at about 8 MiB of what is stored.
const maxAnswer = 256 << 20

// call sends a request until it has an answer, and reads it.
func call[T any](ctx context.Context, c *Client, r request, opts []Option) (*Answer[T], error) {
	o := options{headers: http.Header{}}
	for _, opt := range opts {
		opt(&o)
	}
	var body []byte
	switch b := r.body.(type) {
	case nil:
	case []byte:
		body = b
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		o.headers.Set("Content-Type", "application/json")
	}
	if r.method == http.MethodPost && o.key == "" {
		o.key = NewKey()
	}
	status, header, raw, err := c.send(ctx, r, &o, body)
	if err != nil {
		return nil, err
	}
	a := &Answer[T]{
		Status: status, Accepted: status == http.StatusAccepted, Location: header.Get("Location"),
		ETag: header.Get("ETag"), Type: header.Get("Content-Type"), Key: o.key, Bytes: raw,
	}
	switch any(a.Body).(type) {
	case Raw, None:
		return a, nil
	}
	if len(raw) == 0 {
		return a, nil // 204 of an operation that may also answer with something
	}
	if err := decode(raw, &a.Body); err != nil {
		return nil, &NoAnswerError{Method: r.method, URL: c.base.String() + r.path, Key: o.key, Err: fmt.Errorf("what came is no answer of this API; is it a node of Weft, and of this version? %w", err)}
	}
	return a, nil
}

// decode reads JSON and keeps the digits of numbers.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// NewKey makes an Idempotency-Key that nobody guesses.
func NewKey() string { return rand.Text() }

// send sends a request again until it has an answer that is one.
func (c *Client) send(ctx context.Context, r request, o *options, body []byte) (status int, header http.Header, raw []byte, err error) {
	pause := 200 * time.Millisecond
	lost := false    // an attempt got no answer: it may have been done
	reached := false // an attempt may have come to somebody
	for attempt := 1; ; attempt++ {
		status, header, raw, err := c.attempt(ctx, r, o, body)
		var problem *ProblemError
		reached = reached || !neverSent(err)
		switch {
		case err == nil:
			return status, header, raw, nil
		case errors.As(err, &problem) && !problem.Temporary():
			if r.method == http.MethodDelete && lost && problem.Status == http.StatusNotFound {
				return http.StatusNoContent, nil, nil, nil // an attempt before has removed it
			}
			return 0, nil, nil, err
		case ctx.Err() != nil || attempt >= c.cfg.Attempts || problem == nil && r.method == http.MethodPut:
			return 0, nil, nil, c.unanswered(r, o, reached, err)
		}
		wait := pause
		lost = lost || problem == nil || problem.Unknown()
		if problem != nil {
			wait = min(max(wait, problem.RetryAfter), 5*time.Second)
		}
		if c.cfg.OnRepeat != nil {
			c.cfg.OnRepeat(err, wait)
		}
		if sleep(ctx, wait) != nil {
			return 0, nil, nil, c.unanswered(r, o, reached, err)
		}
		pause *= 3
	}
}

// sleep waits, or gives the reason why the context has ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unanswered is the error of a request that is not sent again.
func (c *Client) unanswered(r request, o *options, reached bool, err error) error {
	var problem *ProblemError
	if errors.As(err, &problem) {
		problem.Key = o.key
		return problem
	}
	return &NoAnswerError{Method: r.method, URL: c.base.String() + r.path, Key: o.key, NotSent: !reached, Err: err}
}

// neverSent reports whether there was no connection on which the request could have been sent.
func neverSent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

// attempt sends a request once.
func (c *Client) attempt(ctx context.Context, r request, o *options, body []byte) (status int, header http.Header, raw []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout+o.wait, fmt.Errorf("no answer within %v", c.cfg.Timeout+o.wait))
	defer cancel()
	req, err := c.newRequest(ctx, r, o, body)
	if err != nil {
		return 0, nil, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return 0, nil, nil, plainError(err)
	}
	defer resp.Body.Close()
	if raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return 0, nil, nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if len(raw) > maxAnswer {
		return 0, nil, nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return 0, nil, nil, readProblem(resp, raw)
	}
	return resp.StatusCode, resp.Header, raw, nil
}

func (c *Client) newRequest(ctx context.Context, r request, o *options, body []byte) (*http.Request, error) {
	address := c.base.String() + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range o.headers {
		req.Header[name] = values
	}
	if c.cfg.UserAgent != "" {
		req.Header.Set("User-Agent", c.cfg.UserAgent)
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	if o.key != "" {
		req.Header.Set("Idempotency-Key", o.key)
	}
	if seconds := int(o.wait / time.Second); seconds > 0 {
		req.Header.Set("Prefer", "wait="+strconv.Itoa(seconds))
	}
	return req, nil
}

// plainError takes the method and the address away, which [NoAnswerError] has.
func plainError(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// set puts a value that is not empty into a query.
func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// alternative is one of the shapes that an answer may have.
type alternative struct {
	required []string
	make     func() any
}

// choose decodes the shape of which the most fields are there, of several that of which the fewest are missing: a node of an
// older version does not know all of them, and half of them or fewer are those of something else.
func choose(raw []byte, among ...alternative) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	best, most := -1, 0
	for i, a := range among {
		there := 0
		for _, name := range a.required {
			if _, has := fields[name]; has {
				there++
			}
		}
		if 2*there > len(a.required) && (there > most || there == most && len(a.required) < len(among[best].required)) {
			best, most = i, there
		}
	}
	if best < 0 {
		return errors.New("it has none of the shapes that were expected")
	}
	return decode(raw, among[best].make())
}
