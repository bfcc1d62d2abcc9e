package apiclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is what went wrong in a sentence: the detail, and the code.
func (p *ProblemError) Error() string {
	text := cmp.Or(p.Detail, p.Title)
	if p.Code != "" {
		text += " (" + p.Code + ")"
	}
	return text
}

// Temporary tells that the same request may be answered otherwise in a moment.
func (p *ProblemError) Temporary() bool {
	switch p.Status {
	case http.StatusServiceUnavailable:
		return p.Code != "paused" && p.Code != "store-nearly-full" && p.Code != "not-runnable-here"
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return true
	}
	return false
}

// Unknown tells that what was asked for may have been done all the same.
func (p *ProblemError) Unknown() bool {
	return p.Code == "outcome-unknown" || p.Code == "" && (p.Status == http.StatusBadGateway || p.Status == http.StatusGatewayTimeout)
}

// readProblem makes the error of an answer that is no success. What stands between may
// answer with something else than a problem.
func readProblem(resp *http.Response, raw []byte) *ProblemError {
	p := &ProblemError{}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") && json.Unmarshal(raw, &p.Problem) == nil && p.Code != "" {
		p.RetryAfter = retryAfter(resp)
		return p
	}
	p = &ProblemError{RetryAfter: retryAfter(resp)}
	p.Status, p.Title, p.RequestID = int64(resp.StatusCode), http.StatusText(resp.StatusCode), resp.Header.Get("X-Request-Id")
	p.Detail = fmt.Sprintf("the answer is %s, and no node of Weft says so", resp.Status)
	if resp.StatusCode == http.StatusBadRequest && resp.Request.URL.Scheme == "http" && bytes.Contains(raw, []byte("HTTPS")) {
		p.Detail = "what listens there takes https:// only"
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		p.Detail = fmt.Sprintf("the server sends on to %s; give that address", resp.Header.Get("Location"))
	}
	return p
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// ProblemError is a refusal by a node (RFC 9457), or by what stands before it: then it has no Code.
type ProblemError struct {
	Problem

	RetryAfter time.Duration // how long the node asks to wait; 0: it does not say
	Key        string        // the Idempotency-Key to repeat with, of a POST that was given up
}

// NoAnswerError says that nobody answered, or with what is no answer of this API. A change may have been made or not,
// unless it says that nothing was sent.
type NoAnswerError struct {
	Method, URL string
	Key         string // to repeat it with; "" of what is no POST
	NotSent     bool   // no attempt had a connection: nothing can have been done
	Err         error  // of the last attempt
}

func (e *NoAnswerError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.URL, e.Err)
}

// Unwrap gives the error of the last attempt.
func (e *NoAnswerError) Unwrap() error { return e.Err }
