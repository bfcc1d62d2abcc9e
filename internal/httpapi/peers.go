package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What only one node knows is asked of that node, by any other, with the caller's own
// credentials: it is the caller who asks, and may no more there than here.

// peerRoutes tell what a node has in its memory. They take no place among the requests
// in flight: a node that drains or is full still says what it is at.
func (a *API) peerRoutes() []route {
	problems := []workflow.Code{workflow.CodeNodeNotFound, workflow.CodeInvalid, workflow.CodeBusy}
	instance := []param{{name: "instanceId", typ: "string", doc: "Only of this instance."}}
	return append([]route{
		{method: "GET", path: "/nodes/{id}/bursts", name: "listBursts", role: auth.Viewer, tag: "cluster", kind: open, query: instance,
			summary: "What a node runs at the moment: instances, their activities, since when; any node asks it",
			answers: map[int]any{200: burstsView{}}, problems: problems, serve: bursts},
		{method: "GET", path: "/nodes/{id}/refusals", name: "listRefusals", role: auth.Viewer, tag: "cluster", kind: open, query: instance,
			summary: "Commits of a node that a fence refused, as another node had the instance by then; any node asks it",
			answers: map[int]any{200: refusalsView{}}, problems: problems, serve: refusals},
		{method: "GET", path: "/nodes/{id}/events", name: "listRecentEvents", role: auth.Viewer, tag: "cluster", kind: open,
			query:   []param{{name: "name", typ: "string", doc: "Required: with this name, or nearly so; up to 5 may be given."}},
			summary: "Events that a node sent lately, of its last 10,000, half of them of those that met nobody, and where they went; any node asks it",
			answers: map[int]any{200: recentEventsView{}}, problems: problems, serve: recentEvents},
		{method: "GET", path: "/nodes/{id}/memory", name: "getMemory", role: auth.Viewer, tag: "cluster", kind: open,
			query: []param{{name: "instanceId", typ: "string", doc: "Of this instance: its burst, and refusals."},
				{name: "name", typ: "string", doc: "Events with this name, or nearly so; up to 5 may be given."}},
			summary: "What only a node knows of an instance, and of events, in one answer; explanations ask for it, and any node does",
			answers: map[int]any{200: memoryView{}}, problems: problems, serve: memory},
	}, meterRoutes()...)
}

type burstsView struct {
	NodeID string      `json:"nodeId"`
	Items  []burstView `json:"items" doc:"Those first whose activity has run for the longest; 500 at most."`
	More   int         `json:"more" doc:"How many more there are."`
}

type memoryView struct {
	NodeID   string          `json:"nodeId"`
	Burst    *burstView      `json:"burst" doc:"What it runs of the instance; null: nothing."`
	Refusals []refusalView   `json:"refusals" doc:"Commits of the instance that a fence refused: the newest first, of the last 1,000 since the node's start."`
	Events   []sentEventView `json:"events" doc:"The newest first, one of each name, correlation and address; 50 at most."`
}

type burstView struct {
	InstanceID string     `json:"instanceId"`
	Doing      *doingView `json:"doing" doc:"The activity that it is in; null: it is loaded or committed, or came to none yet."`
}

type doingView struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Since        time.Time `json:"since" doc:"By the clock of its node."`
	Attempt      *int      `json:"attempt" doc:"Which attempt of its work the activity makes, from 1; null: it does not tell."`
	Outside      bool      `json:"outside" doc:"It may wait for the outside, and a cancel interrupts it; otherwise a cancel waits for its end."`
}

type refusalsView struct {
	NodeID string        `json:"nodeId"`
	Items  []refusalView `json:"items" doc:"The newest first, of the last 1,000 since the node's start."`
}

type refusalView struct {
	InstanceID string     `json:"instanceId"`
	Sequence   int64      `json:"sequence" doc:"That the commit would have had. The journal has the one of another node."`
	Fence      int64      `json:"fence" doc:"Of the lock that the node had had."`
	Commands   []string   `json:"commands" doc:"What it would have consumed."`
	Began      *time.Time `json:"began" doc:"When the burst began."`
	At         time.Time  `json:"at" doc:"When it was refused, by the clock of the node."`
}

func viewDoing(d *engine.Doing) *doingView {
	if d == nil {
		return nil
	}
	v := doingView{ActivityID: d.ActivityID, ActivityType: d.ActivityType, Since: d.Since.UTC(), Outside: d.Outside}
	if d.Attempt > 0 {
		v.Attempt = &d.Attempt
	}
	return &v
}

func (v *doingView) doing() *engine.Doing {
	if v == nil {
		return nil
	}
	d := engine.Doing{ActivityID: v.ActivityID, ActivityType: v.ActivityType, Since: v.Since, Outside: v.Outside}
	if v.Attempt != nil {
		d.Attempt = *v.Attempt
	}
	return &d
}

func bursts(c *call) (reply, error) {
	return askedOf(c, func(instance string) burstsView {
		const most = 500
		all := c.api.cfg.Explainer.Bursts(instance)
		shown := all[:min(len(all), most)]
		return burstsView{c.api.cfg.NodeID, each(shown, func(r client.Running) burstView { return burstView{r.InstanceID, viewDoing(r.Doing)} }), len(all) - len(shown)}
	})
}

func refusals(c *call) (reply, error) {
	return askedOf(c, func(instance string) refusalsView {
		return refusalsView{c.api.cfg.NodeID, each(c.api.cfg.Explainer.Refusals(instance), viewRefusal)}
	})
}

func viewRefusal(r client.Refusal) refusalView {
	return refusalView{r.InstanceID, r.Sequence, r.Fence, append([]string{}, r.Commands...), knownTime(r.Began), r.At.UTC()}
}

type recentEventsView struct {
	NodeID string          `json:"nodeId"`
	Items  []sentEventView `json:"items" doc:"The newest first, one of each name, correlation and address; 50 at most."`
}

// mostRecentNames is how many names an instance is asked for, too.
const mostRecentNames = 5

func recentEvents(c *call) (reply, error) {
	names := c.query["name"]
	if err := checkRecentNames(names); err != nil {
		return reply{}, err
	}
	return asked(c, func() recentEventsView {
		return recentEventsView{c.api.cfg.NodeID, each(c.api.cfg.Explainer.Recent(names), func(e recent.Event) sentEventView { return viewSent(explain.Sent{Node: c.api.cfg.NodeID, Event: e}) })}
	})
}

func checkRecentNames(names []string) error {
	if len(names) == 0 || len(names) > mostRecentNames || slices.Contains(names, "") {
		return invalid("bad-parameter", "/name", fmt.Sprintf("give 1 to %d names of events", mostRecentNames))
	}
	for _, name := range names {
		if err := checkEventName(name); err != nil {
			return err
		}
	}
	return nil
}

func (v sentEventView) event() recent.Event {
	return recent.Event{ID: v.ID, Name: v.Name, CorrelationID: orEmpty(v.CorrelationID), InstanceID: orEmpty(v.InstanceID), At: v.At, Met: v.Met, First: orEmpty(v.First)}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// askedOf is asked, about one instance or all ("").
func askedOf[V any](c *call, own func(instance string) V) (reply, error) {
	instance := c.query.Get("instanceId")
	if instance != "" {
		if err := workflow.CheckID("instanceId", instance); err != nil {
			return reply{}, invalid("bad-id", "", err.Error())
		}
	}
	return asked(c, func() V { return own(instance) })
}

// asked answers for this node, or with what the node answers that is asked for.
func asked[V any](c *call, own func() V) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	if id == c.api.cfg.NodeID {
		return reply{body: own()}, nil
	}
	for _, n := range c.api.cfg.Session.Members() {
		if n.ID == id {
			var theirs V
			err := look(c, n, c.r.URL.RequestURI(), &theirs)
			return reply{body: theirs}, err
		}
	}
	return reply{}, workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("there is no live node %q", id))
}

// memory is what explanations ask other nodes for, in one request.
func memory(c *call) (reply, error) {
	instance, names := c.query.Get("instanceId"), c.query["name"]
	if instance == "" && len(names) == 0 {
		return reply{}, invalid("bad-parameter", "/instanceId", "give instanceId, or name, or both")
	}
	if len(names) > 0 {
		if err := checkRecentNames(names); err != nil {
			return reply{}, err
		}
	}
	return askedOf(c, func(instance string) memoryView {
		node := c.api.cfg.NodeID
		k := c.api.cfg.Explainer.Known(explain.Question{Instance: instance, Names: names})
		v := memoryView{NodeID: node, Refusals: each(k.Refusals, viewRefusal), Events: each(k.Events, func(e recent.Event) sentEventView { return viewSent(explain.Sent{Node: node, Event: e}) })}
		if k.Running != nil {
			v.Burst = &burstView{k.Running.InstanceID, viewDoing(k.Running.Doing)}
		}
		return v
	})
}

// peersOf asks in the name of a caller.
func peersOf(c *call) explain.Peers {
	return func(_ context.Context, n cluster.Node, q explain.Question) (explain.Known, error) {
		query := url.Values{}
		if q.Instance != "" {
			query.Set("instanceId", q.Instance)
		}
		if len(q.Names) > 0 {
			query["name"] = q.Names
		}
		var theirs memoryView
		err := look(c, n, prefix+"/nodes/"+url.PathEscape(n.ID)+"/memory?"+query.Encode(), &theirs)
		k := explain.Known{Refusals: each(theirs.Refusals, refusalView.refusal), Events: each(theirs.Events, sentEventView.event)}
		if b := theirs.Burst; b != nil {
			k.Running = &client.Running{InstanceID: b.InstanceID, Doing: b.Doing.doing()}
		}
		return k, err
	}
}

func (v refusalView) refusal() client.Refusal {
	r := client.Refusal{InstanceID: v.InstanceID, Sequence: v.Sequence, Fence: v.Fence, Commands: v.Commands, At: v.At}
	if v.Began != nil {
		r.Began = *v.Began
	}
	return r
}

// relayedBy marks a request that one node sends to another, which then must not
// send it on again.
const relayedBy = "X-Weft-Relayed-By"

// mostAsked bounds what a node takes for the answer of another; lookTime and drainTime
// how long it waits for one.
const (
	mostAsked = 4 << 20
	lookTime  = 2 * time.Second
	drainTime = 5 * time.Second
)

// look asks a node what it has in its memory.
func look(c *call, n cluster.Node, target string, into any) error {
	return ask(c, n, http.MethodGet, target, lookTime, into)
}

// ask sends a request about a node to that node, and reads its answer into a view; nil:
// it is not wanted.
func ask(c *call, n cluster.Node, method, target string, within time.Duration, into any) error {
	if c.r.Header.Get(relayedBy) != "" {
		return workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("node %q was looked for here, and this is another one", n.ID))
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), within)
	defer cancel()
	base := n.Address
	if !strings.Contains(base, "://") {
		base = c.api.cfg.Scheme + "://" + base
	}
	unreachable := func(err error) error {
		return &workflow.Error{Code: workflow.CodeUnavailable, Err: err, RetryAfter: time.Second,
			Detail: fmt.Sprintf("node %s at %s could not be asked; ask it directly", n.ID, n.Address)}
	}
	req, err := http.NewRequestWithContext(ctx, method, base+target, nil)
	if err != nil {
		return unreachable(err)
	}
	req.Header.Set(relayedBy, c.api.cfg.NodeID)
	req.Header.Set("Authorization", c.r.Header.Get("Authorization"))
	resp, err := c.api.cfg.Peers.Do(req)
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusAccepted:
		return unreachable(fmt.Errorf("it answered %s", resp.Status))
	case into == nil:
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostAsked+1))
	if err == nil && len(raw) > mostAsked {
		err = errors.New("it answered more than is taken")
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return unreachable(err)
	}
	return nil
}
