package peers

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
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What only one node knows is asked of that node, by any other, with the caller's own
// credentials: it is the caller who asks, and may no more there than here.

// Routes tell what a node has in its memory. They take no place among the requests
// in flight: a node that drains or is full still says what it is at.
func Routes() []serve.Route {
	problems := []workflow.Code{workflow.CodeNodeNotFound, workflow.CodeInvalid, workflow.CodeBusy}
	instance := []serve.Param{{Name: "instanceId", Type: "string", Doc: "Only of this instance."}}
	return []serve.Route{
		{Method: "GET", Path: "/nodes/{id}/bursts", Name: "listBursts", Role: auth.Viewer, Tag: "cluster", Kind: serve.Open, Query: instance,
			Summary: "What a node runs at the moment: instances, their activities, since when; any node asks it",
			Answers: map[int]any{200: burstsView{}}, Problems: problems, Serve: bursts},
		{Method: "GET", Path: "/nodes/{id}/refusals", Name: "listRefusals", Role: auth.Viewer, Tag: "cluster", Kind: serve.Open, Query: instance,
			Summary: "Commits of a node that a fence refused, as another node had the instance by then; any node asks it",
			Answers: map[int]any{200: refusalsView{}}, Problems: problems, Serve: refusals},
		{Method: "GET", Path: "/nodes/{id}/events", Name: "listRecentEvents", Role: auth.Viewer, Tag: "cluster", Kind: serve.Open,
			Query:   []serve.Param{{Name: "name", Type: "string", Several: true, Doc: "Required: with this name, or nearly so; up to 5 may be given."}},
			Summary: "Events that a node sent lately, of its last 10,000, half of them of those that met nobody, and where they went; any node asks it",
			Answers: map[int]any{200: recentEventsView{}}, Problems: problems, Serve: recentEvents},
		{Method: "GET", Path: "/nodes/{id}/memory", Name: "getMemory", Role: auth.Viewer, Tag: "cluster", Kind: serve.Open,
			Query: []serve.Param{{Name: "instanceId", Type: "string", Doc: "Of this instance: its burst, and refusals."},
				{Name: "name", Type: "string", Several: true, Doc: "Events with this name, or nearly so; up to 5 may be given."}},
			Summary: "What only a node knows of an instance, and of events, in one answer; explanations ask for it, and any node does",
			Answers: map[int]any{200: memoryView{}}, Problems: problems, Serve: memory},
	}
}

type burstsView struct {
	NodeID string      `json:"nodeId"`
	Items  []burstView `json:"items" doc:"Those first whose activity has run for the longest; 500 at most."`
	More   int         `json:"more" doc:"How many more there are."`
}

type memoryView struct {
	NodeID   string            `json:"nodeId"`
	Burst    *burstView        `json:"burst" doc:"What it runs of the instance; null: nothing."`
	Refusals []Refusal         `json:"refusals" doc:"Commits of the instance that a fence refused: the newest first, of the last 1,000 since the node's start."`
	Events   []shape.SentEvent `json:"events" doc:"The newest first, one of each name, correlation and address; 50 at most."`
}

type burstView struct {
	InstanceID string `json:"instanceId"`
	Doing      *Doing `json:"doing" doc:"The activity that it is in; null: it is loaded or committed, or came to none yet."`
}

// Doing is the activity that a burst is in.
type Doing struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Since        time.Time `json:"since" doc:"By the clock of its node."`
	Attempt      *int      `json:"attempt" doc:"Which attempt of its work the activity makes, from 1; null: it does not tell."`
	Outside      bool      `json:"outside" doc:"It may wait for the outside, and a cancel interrupts it; otherwise a cancel waits for its end."`
	Beside       []string  `json:"beside" doc:"The ids of the activities whose calls are in flight beside it, the oldest first; it is the oldest of all."`
}

type refusalsView struct {
	NodeID string    `json:"nodeId"`
	Items  []Refusal `json:"items" doc:"The newest first, of the last 1,000 since the node's start."`
}

// Refusal is a commit that a fence refused.
type Refusal struct {
	InstanceID string     `json:"instanceId"`
	Sequence   int64      `json:"sequence" doc:"That the commit would have had. The journal has the one of another node."`
	Fence      int64      `json:"fence" doc:"Of the lock that the node had had."`
	Commands   []string   `json:"commands" doc:"What it would have consumed."`
	Began      *time.Time `json:"began" doc:"When the burst began."`
	At         time.Time  `json:"at" doc:"When it was refused, by the clock of the node."`
}

// ViewDoing shows an activity that runs; nil: none does.
func ViewDoing(d *engine.Doing) *Doing {
	if d == nil {
		return nil
	}
	v := Doing{ActivityID: d.ActivityID, ActivityType: d.ActivityType, Since: d.Since.UTC(), Outside: d.Outside, Beside: append([]string{}, d.Beside...)}
	if d.Attempt > 0 {
		v.Attempt = &d.Attempt
	}
	return &v
}

func (v *Doing) doing() *engine.Doing {
	if v == nil {
		return nil
	}
	d := engine.Doing{ActivityID: v.ActivityID, ActivityType: v.ActivityType, Since: v.Since, Outside: v.Outside, Beside: v.Beside}
	if v.Attempt != nil {
		d.Attempt = *v.Attempt
	}
	return &d
}

func bursts(c *serve.Call) (serve.Reply, error) {
	return askedOf(c, func(instance string) burstsView {
		const most = 500
		all := c.API.Config.Explainer.Bursts(instance)
		shown := all[:min(len(all), most)]
		return burstsView{c.API.Config.NodeID, shape.Each(shown, func(r client.Running) burstView { return burstView{r.InstanceID, ViewDoing(r.Doing)} }), len(all) - len(shown)}
	})
}

func refusals(c *serve.Call) (serve.Reply, error) {
	return askedOf(c, func(instance string) refusalsView {
		return refusalsView{c.API.Config.NodeID, shape.Each(c.API.Config.Explainer.Refusals(instance), ViewRefusal)}
	})
}

// ViewRefusal shows a commit that a fence refused.
func ViewRefusal(r client.Refusal) Refusal {
	return Refusal{r.InstanceID, r.Sequence, r.Fence, append([]string{}, r.Commands...), shape.KnownTime(r.Began), r.At.UTC()}
}

type recentEventsView struct {
	NodeID string            `json:"nodeId"`
	Items  []shape.SentEvent `json:"items" doc:"The newest first, one of each name, correlation and address; 50 at most."`
}

// mostRecentNames is how many names an instance is asked for, too.
const mostRecentNames = 5

func recentEvents(c *serve.Call) (serve.Reply, error) {
	names := c.Query["name"]
	if err := checkRecentNames(names); err != nil {
		return serve.Reply{}, err
	}
	return Asked(c, func() recentEventsView {
		return recentEventsView{c.API.Config.NodeID, shape.Each(c.API.Config.Explainer.Recent(names), func(e recent.Event) shape.SentEvent {
			return shape.ViewSentEvent(explain.Sent{Node: c.API.Config.NodeID, Event: e})
		})}
	})
}

func checkRecentNames(names []string) error {
	if len(names) == 0 || len(names) > mostRecentNames || slices.Contains(names, "") {
		return serve.Invalid("bad-parameter", "/name", fmt.Sprintf("give 1 to %d names of events", mostRecentNames))
	}
	for _, name := range names {
		if err := serve.CheckEventName(name); err != nil {
			return err
		}
	}
	return nil
}

// askedOf is asked, about one instance or all ("").
func askedOf[V any](c *serve.Call, own func(instance string) V) (serve.Reply, error) {
	instance := c.Query.Get("instanceId")
	if instance != "" {
		if err := workflow.CheckID("instanceId", instance); err != nil {
			return serve.Reply{}, serve.Invalid("bad-id", "", err.Error())
		}
	}
	return Asked(c, func() V { return own(instance) })
}

// Asked answers for this node, or with what the node answers that is asked for.
func Asked[V any](c *serve.Call, own func() V) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	if id == c.API.Config.NodeID {
		return serve.Reply{Body: own()}, nil
	}
	for _, n := range c.API.Config.Session.Members() {
		if n.ID == id {
			var theirs V
			err := Look(c, n, c.Request.URL.RequestURI(), &theirs)
			return serve.Reply{Body: theirs}, err
		}
	}
	return serve.Reply{}, workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("there is no live node %q", id))
}

// memory is what explanations ask other nodes for, in one request.
func memory(c *serve.Call) (serve.Reply, error) {
	instance, names := c.Query.Get("instanceId"), c.Query["name"]
	if instance == "" && len(names) == 0 {
		return serve.Reply{}, serve.Invalid("bad-parameter", "/instanceId", "give instanceId, or name, or both")
	}
	if len(names) > 0 {
		if err := checkRecentNames(names); err != nil {
			return serve.Reply{}, err
		}
	}
	return askedOf(c, func(instance string) memoryView {
		node := c.API.Config.NodeID
		k := c.API.Config.Explainer.Known(explain.Question{Instance: instance, Names: names})
		v := memoryView{NodeID: node, Refusals: shape.Each(k.Refusals, ViewRefusal), Events: shape.Each(k.Events, func(e recent.Event) shape.SentEvent { return shape.ViewSentEvent(explain.Sent{Node: node, Event: e}) })}
		if k.Running != nil {
			v.Burst = &burstView{k.Running.InstanceID, ViewDoing(k.Running.Doing)}
		}
		return v
	})
}

// Of asks in the name of a caller.
func Of(c *serve.Call) explain.Peers {
	return func(_ context.Context, n cluster.Node, q explain.Question) (explain.Known, error) {
		query := url.Values{}
		if q.Instance != "" {
			query.Set("instanceId", q.Instance)
		}
		if len(q.Names) > 0 {
			query["name"] = q.Names
		}
		var theirs memoryView
		err := Look(c, n, serve.Prefix+"/nodes/"+url.PathEscape(n.ID)+"/memory?"+query.Encode(), &theirs)
		k := explain.Known{Refusals: shape.Each(theirs.Refusals, Refusal.refusal), Events: shape.Each(theirs.Events, shape.SentEvent.Event)}
		if b := theirs.Burst; b != nil {
			k.Running = &client.Running{InstanceID: b.InstanceID, Doing: b.Doing.doing()}
		}
		return k, err
	}
}

func (v Refusal) refusal() client.Refusal {
	r := client.Refusal{InstanceID: v.InstanceID, Sequence: v.Sequence, Fence: v.Fence, Commands: v.Commands, At: v.At}
	if v.Began != nil {
		r.Began = *v.Began
	}
	return r
}

// mostAsked bounds what a node takes for the answer of another; lookTime and drainTime
// how long it waits for one.
const (
	mostAsked = 4 << 20
	lookTime  = 2 * time.Second
	DrainTime = 5 * time.Second
)

// Look asks a node what it has in its memory.
func Look(c *serve.Call, n cluster.Node, target string, into any) error {
	return Ask(c, n, http.MethodGet, target, lookTime, into)
}

// Ask sends a request about a node to that node, and reads its answer into a view; nil:
// it is not wanted.
func Ask(c *serve.Call, n cluster.Node, method, target string, within time.Duration, into any) error {
	if c.Request.Header.Get(serve.RelayedBy) != "" {
		return workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("node %q was looked for here, and this is another one", n.ID))
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), within)
	defer cancel()
	base := n.Address
	if !strings.Contains(base, "://") {
		base = c.API.Config.Scheme + "://" + base
	}
	unreachable := func(err error) error {
		return &workflow.Error{Code: workflow.CodeUnavailable, Err: err, RetryAfter: time.Second,
			Detail: fmt.Sprintf("node %s at %s could not be asked; ask it directly", n.ID, n.Address)}
	}
	req, err := http.NewRequestWithContext(ctx, method, base+target, nil)
	if err != nil {
		return unreachable(err)
	}
	req.Header.Set(serve.RelayedBy, c.API.Config.NodeID)
	req.Header.Set("Authorization", c.Request.Header.Get("Authorization"))
	resp, err := c.API.Config.Peers.Do(req)
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
