package apiclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Event is one of [Client.Stream].
type Event struct {
	ID   string // hand the last one to another Stream to go on behind it
	Name string // instance, cluster, definitions, reset or bye
	Data json.RawMessage
}

// Decode reads the data, numbers as [json.Number].
func (e Event) Decode(into any) error { return decode(e.Data, into) }

// quiet is how long a stream may be silent: a node sends a comment every 15 s.
const quiet = 45 * time.Second

// Stream tells what changes, such as instance:o-1, instances:status:faulted, cluster or definitions, until ctx ends or
// the caller stops. It comes back by itself, to any node, with the id of the last event, so
// that nothing is missed; after is such an id, "" from now on. It ends with an error when the
// server refuses, or when [Config].Attempts connections in a row brought nothing, not even one
// of the comments by which a node shows that a quiet stream lives.
func (c *Client) Stream(ctx context.Context, topics []string, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		failed := 0
		for pause := 500 * time.Millisecond; ; {
			stopped := false
			heard, err := c.listen(ctx, topics, after, func(e Event) bool {
				if e.ID != "" {
					after = e.ID
				}
				stopped = !yield(e, nil)
				return !stopped
			})
			var problem *ProblemError
			switch {
			case stopped:
				return
			case ctx.Err() != nil:
				yield(Event{}, context.Cause(ctx))
				return
			case errors.As(err, &problem) && !problem.Temporary():
				yield(Event{}, err)
				return
			}
			if failed++; heard {
				failed, pause = 0, 500*time.Millisecond
			}
			if failed >= c.cfg.Attempts {
				yield(Event{}, &NoAnswerError{Method: http.MethodGet, URL: c.base.String() + streamPath, Err: err})
				return
			}
			if c.cfg.OnRepeat != nil && err != nil {
				c.cfg.OnRepeat(err, pause)
			}
			if sleep(ctx, pause) != nil {
				yield(Event{}, context.Cause(ctx))
				return
			}
			pause = min(2*pause, 5*time.Second)
		}
	}
}

const streamPath = "/api/v1/stream"

var errSilent = errors.New("the stream went silent")

// listen reads one connection until it ends or tell says no. heard: a stream came, with an event or a comment.
func (c *Client) listen(ctx context.Context, topics []string, after string, tell func(Event) bool) (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(quiet, func() { cancel(errSilent) })
	defer watchdog.Stop()
	query := url.Values{"topics": topics} // one each: the line of a list may have commas in it
	if after != "" {
		query.Set("after", after)
	}
	req, err := c.newRequest(ctx, request{method: http.MethodGet, path: streamPath, query: query}, &options{headers: http.Header{"Accept": {"text/event-stream"}}}, nil)
	if err != nil {
		return false, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false, plainError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return false, readProblem(resp, raw)
	}
	lines := bufio.NewReader(resp.Body)
	var e Event
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return heard, err
		}
		watchdog.Reset(quiet)
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if e.Name != "" {
				if heard = true; !tell(e) {
					return true, nil
				}
			}
			e = Event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		heard = heard || len(field) == 0 // a comment
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			e.ID = string(value)
		case "event":
			e.Name = string(value)
		case "data":
			e.Data = append(e.Data, value...)
		}
	}
}

// Endpoint sends a request to an HTTP endpoint that a definition declares, /workflows/ and
// path, and gives the answer with any status. The caller closes its body. It is sent once.
func (c *Client) Endpoint(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	o := options{headers: http.Header{}}
	for name, values := range header {
		o.headers[http.CanonicalHeaderKey(name)] = values
	}
	req, err := c.newRequest(ctx, request{method: method, path: "/workflows/" + strings.TrimPrefix(path, "/")}, &o, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &NoAnswerError{Method: method, URL: req.URL.Redacted(), Err: plainError(err)}
	}
	return resp, nil
}
