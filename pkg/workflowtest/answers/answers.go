package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Answers plays the other side of outgoing HTTP requests, as [Config].HTTP: the
// first that fits a request answers it. One that none fits does not connect.
// The pauses between retries of a request take no time.
type Answers []Answer

var _ http.RoundTripper = Answers(nil)

// Answer is one answer. Zero fields of the request fit every one.
type Answer struct {
	Method string
	URL    string // with a * at its end: every URL that begins like this

	Status  int // 0: 200
	Headers map[string]string
	Body    any // a text is sent as it is, anything else as JSON
}

func (a *Answer) fits(req *http.Request) bool {
	url := req.URL.String()
	begin, open := strings.CutSuffix(a.URL, "*")
	return (a.Method == "" || strings.EqualFold(a.Method, req.Method)) &&
		(a.URL == "" || a.URL == url || open && strings.HasPrefix(url, begin))
}

// RoundTrip answers a request.
func (as Answers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_ = req.Body.Close()
	}
	for i := range as {
		if as[i].fits(req) {
			return as[i].response(req)
		}
	}
	return nil, fmt.Errorf("the test has no answer for %s %s", req.Method, req.URL)
}

func (a *Answer) response(req *http.Request) (*http.Response, error) {
	header, body := http.Header{}, []byte(nil)
	switch v := a.Body.(type) {
	case nil:
	case string:
		body = []byte(v)
		header.Set("Content-Type", "text/plain; charset=utf-8")
	default:
		var err error
		if body, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("the answer for %s has no JSON form: %w", req.URL, err)
		}
		header.Set("Content-Type", "application/json")
	}
	for name, value := range a.Headers {
		header.Set(name, value)
	}
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
