package trial

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
)

// Moment is when a node fails, beside what it does.
type Moment string

// The moments at which a node may fail.
const (
	BeforeCall   Moment = "before the call"
	DuringCall   Moment = "after the call was made, before its answer was read"
	AfterCall    Moment = "after the answer was read, before anything was saved"
	BeforeCommit Moment = "before what was done was saved"
)

// Kind is how a node fails.
type Kind string

// The kinds of failures.
const (
	Crash      Kind = "crash"       // the node dies, and another one begins again from what is saved
	Pause      Kind = "pause"       // it stands still past its lease, another one does its work, then it goes on
	LostAnswer Kind = "lost answer" // the other side did what it was asked for, and nobody learns that
)

// Point is a place in a run at which the node may fail.
type Point struct {
	At       Moment
	Instance string
	Activity string // that makes the call; of BeforeCommit, the last one that ran: "" if there is none
}

// Kinds are the failures that a point may have.
func (p Point) Kinds() []Kind {
	if p.At == DuringCall {
		return []Kind{Crash, Pause, LostAnswer}
	}
	return []Kind{Crash, Pause}
}

// Failure is one failure of one run.
type Failure struct {
	Point int // the number of the point at which it happens, from 0, in the order of the run
	Kind  Kind
}

// Effect is a call to the outside that was made, whether what made it was saved or not.
type Effect struct {
	Activity, Type string
	Sends          bool // its activity sends requests, each with the Idempotency-Key in a header
	Instance       string
	Key            string            // its Idempotency-Key; "": a request has none
	Reads          bool              // it is a GET, HEAD or OPTIONS, which changes nothing on the other side
	Said           map[string]string // what it said, each part as JSON: the inputs of an activity; of a request its method, url and body
}

// Failing gives cfg for a run whose calls and points are noted ([Noted]), and in which a node fails once; nil: none does.
// The answers of mocks that are lists go on where they were when the burst began that is repeated: the other side
// answers a call that is made again as it did the first time.
func Failing(cfg Config, f *Failure) Config {
	cfg.noted, cfg.failure = true, f
	return cfg
}

// Noted are the points that a run of [Failing] came to, and the calls that it made, in their order.
func Noted(r *Run) ([]Point, []Effect) { return r.nodes.points, r.nodes.effects }

var (
	errGone = errors.New("the test has the node fail here")
	errLost = errors.New("the answer was lost (the test has it so)")
)

// nodes are those on which a run goes on, one after the other: a burst runs on one of them. Nil: none fails.
type nodes struct {
	run     *Run
	failure *Failure // that is still to come; nil: none is
	now     *node    // whose burst runs; nil: none does

	mu      sync.Mutex // of what follows, and of what requests change in a node: an activity may make several at once
	points  []Point
	effects []Effect
}

// node runs one burst.
type node struct {
	in      *instance
	cmd     workflow.Command
	again   bool // it repeats what another one began
	last    string
	gone    Kind  // why nothing of it is saved; "": it is not gone
	call    *Call // that goes on; nil: none does
	waited  []string
	lost    bool // an answer was
	lines   int
	calls   int
	answers map[string]int

	// Of the node that took over from one that stood still:
	out engine.Outcome
	err error
}

// begin is a node that takes up an instance.
func (ns *nodes) begin(in *instance, cmd workflow.Command, again bool) *node {
	if ns == nil {
		return nil
	}
	s := ns.run.stage
	n := &node{in: in, cmd: cmd, again: again, lines: len(ns.run.lines), calls: len(s.calls), answers: maps.Clone(s.answers)}
	for i := range in.header.Bookmarks {
		n.waited = append(n.waited, in.header.Bookmarks[i].ID)
	}
	ns.now = n
	return n
}

// end reports whether the node is gone, so that nothing of what it did may be saved.
func (ns *nodes) end(n *node) bool {
	if ns == nil {
		return false
	}
	if n.gone == "" {
		_ = ns.reach(n, BeforeCommit, n.last)
	}
	ns.now = nil
	return n.gone != ""
}

// silent reports that the node is gone, and nothing of it is kept.
func (ns *nodes) silent() bool { return ns != nil && ns.now != nil && ns.now.gone != "" }

// named tells which definition an activity of a child is of.
func (n *node) named(activity string) string {
	if n.in.header.Parent == nil || activity == "" {
		return activity
	}
	return activity + " of " + n.in.header.DefinitionID
}

// reach is where n may fail. With an error the call goes no further.
func (ns *nodes) reach(n *node, at Moment, activity string) error {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	switch n.gone {
	case Crash:
		return errGone
	case Pause:
		return nil // it does not know, and ends its call
	}
	n.last = activity
	ns.points = append(ns.points, Point{at, n.in.id, n.named(activity)})
	f := ns.failure
	if f == nil || f.Point != len(ns.points)-1 {
		return nil
	}
	ns.failure = nil
	if f.Kind == LostAnswer {
		n.lost = true
		return errLost
	}
	n.gone = f.Kind
	r := ns.run
	r.lines, r.stage.calls, r.stage.answers = r.lines[:n.lines], r.stage.calls[:n.calls], n.answers
	if f.Kind == Crash {
		return errGone
	}
	func() {
		ns.mu.Unlock()
		defer ns.mu.Lock()
		n.out, n.err = r.obey(n.in, n.cmd, true)
	}()
	ns.now = n
	return nil
}

// world adds to env what a burst of the node that runs has of a cluster.
func (ns *nodes) world(env *engine.Env) {
	if ns == nil {
		return
	}
	n := ns.now
	env.HTTP = &http.Client{Transport: noting{ns, n}}
	if n == nil {
		return
	}
	env.Takeover = n.again
	env.Barrier = func(context.Context) error {
		if n.gone != "" {
			return errGone // a node that was away begins no further call
		}
		return nil
	}
}

// retries are the pauses of retry policies that began as an answer was lost: the test, which does not know of
// it, does not wait for them.
func (n *node) retries() (ids []string) {
	if n == nil || !n.lost {
		return nil
	}
	for _, b := range n.in.header.Bookmarks {
		if b.ActivityType == workflow.RetryType && b.DueAt != nil && !slices.Contains(n.waited, b.ID) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// note keeps a call that n makes, if it did not die.
func (ns *nodes) note(n *node, e Effect) error {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if n.gone == Crash {
		return errGone
	}
	e.Instance, e.Activity = n.in.id, n.named(e.Activity)
	if d := ns.run.cfg.Registry.ByType(e.Type); d != nil {
		e.Sends = d.Asks == workflow.AsksHTTP
	}
	for name, said := range e.Said {
		e.Said[name] = ns.run.secrets.Redact(said)
	}
	ns.effects = append(ns.effects, e)
	return nil
}

// reads reports whether a request with that method changes nothing.
func reads(method string) bool {
	return slices.Contains([]string{"", http.MethodGet, http.MethodHead, http.MethodOptions}, strings.ToUpper(method))
}

// noteCall is note for the activity of x.
func (ns *nodes) noteCall(n *node, x *engine.Execution, c *Call) {
	said := map[string]string{}
	for name, v := range c.Inputs {
		said[name] = compare.Show(v)
	}
	e := Effect{Activity: c.ActivityID, Type: c.Type, Key: x.IdempotencyKey(), Said: said}
	if x.Node().Descriptor().Asks == workflow.AsksHTTP {
		e.Reads = reads(engine.Text(c.Inputs["method"]))
	}
	_ = ns.note(n, e)
}

// noting is the way to the other side of requests of a node.
type noting struct {
	ns *nodes
	n  *node // nil: its instance begins, and calls nothing
}

// RoundTrip notes the request, and lets it through.
func (t noting) RoundTrip(req *http.Request) (*http.Response, error) {
	ns, n := t.ns, t.n
	if n == nil {
		return nil, errGone
	}
	c, ok := req.Context().Value(callKey{}).(*Call)
	if !ok {
		c = cmp.Or(n.call, &Call{}) // a goroutine of an activity outlives it
	}
	switch {
	case c.losing: // the mock has no way to it
		return nil, errLost
	case ns.run.cfg.HTTP == nil:
		return nil, errors.New("this node makes no outgoing HTTP calls")
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err := ns.note(n, Effect{Activity: c.ActivityID, Type: c.Type, Key: req.Header.Get("Idempotency-Key"), Reads: reads(req.Method), Said: map[string]string{
		"method": req.Method, "url": req.URL.String(), "body": string(body), "contentType": req.Header.Get("Content-Type"),
	}}); err != nil {
		return nil, err
	}
	c.asked = true
	resp, err := ns.run.cfg.HTTP.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := ns.reach(n, DuringCall, c.ActivityID); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}
