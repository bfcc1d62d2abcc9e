package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	// maxTopics is for a page with a list of instances, and some more.
	maxTopics = 100
	// commentEvery keeps balancers and browsers from taking a stream for dead.
	commentEvery = 15 * time.Second
	// streamRetry is after how many milliseconds a browser comes back.
	streamRetry = 1000
)

func streamRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: serve.StreamPath, Name: "stream", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Streams: true,
			Summary: "Tell what changes, as server-sent events",
			Query: []serve.Param{
				{Name: "topics", Type: "string", Several: true, Doc: "Separated by commas, or one each: instance:ID, cluster, definitions; instances:LINE, the first page of a list, the line as q of GET /instances takes it and to its end; 100 at most."},
				{Name: "after", Type: "string", Doc: "As the header Last-Event-ID, for who cannot send it."},
			},
			Answers: map[int]any{200: serve.TextOf{"text/event-stream"}},
			Events: map[string]any{
				string(live.Instance): liveInstanceView{}, string(live.Instances): liveListView{}, string(live.Cluster): liveClusterView{}, string(live.Definitions): liveDefinitionsView{},
				"reset": liveResetView{}, "bye": liveByeView{},
			},
			Serve: stream},
	}
}

type liveInstanceView struct {
	Topic    string             `json:"topic"`
	Revision int64              `json:"revision" doc:"Of etcd: of its last write, or at which it was seen that there is none."`
	Instance *liveInstanceState `json:"instance" doc:"null: there is none."`
}

// liveInstanceState has a bounded size, however large the instance is.
type liveInstanceState struct {
	InstanceID       string             `json:"instanceId"`
	DefinitionID     string             `json:"definitionId"`
	Version          int                `json:"version"`
	Status           workflow.Status    `json:"status" enum:"Running,Finished," doc:"Empty only of a damaged instance."`
	SubStatus        workflow.SubStatus `json:"subStatus" enum:"Pending,Executing,Suspended,Finished,Cancelled,Faulted,"`
	Name             *string            `json:"name"`
	CorrelationID    *string            `json:"correlationId"`
	Labels           map[string]string  `json:"labels"`
	ParentInstanceID *string            `json:"parentInstanceId"`
	CreatedAt        time.Time          `json:"createdAt"`
	UpdatedAt        time.Time          `json:"updatedAt"`
	FinishedAt       *time.Time         `json:"finishedAt"`
	Commit           int64              `json:"commit" doc:"The last one; its journal begins there to be new."`
	Incidents        int                `json:"incidents" doc:"How many it has."`
	Incident         *string            `json:"incident" doc:"The message of the last one, 1,000 characters at most."`
	Bookmarks        []shape.Bookmark   `json:"bookmarks" doc:"The first 20."`
	BookmarksLeft    int                `json:"bookmarksLeft" doc:"How many more there are."`
	Damaged          bool               `json:"damaged,omitempty"`
}

type liveListView struct {
	Topic    string        `json:"topic"`
	Revision int64         `json:"revision" doc:"Of etcd: the list is as it was then."`
	IDs      []string      `json:"ids" doc:"Of the first 50 instances of the list, the newest first."`
	Items    []summaryView `json:"items" doc:"Those of them that came or changed since what was told before; at first all."`
	More     bool          `json:"more" doc:"Others stand behind them, or may: so many were looked at that the search was ended."`
}

type liveClusterView struct {
	Topic    string       `json:"topic"`
	Revision int64        `json:"revision"`
	Nodes    []shape.Node `json:"nodes" doc:"All of them, as GET /nodes has them; seenAt is null."`
}

type liveDefinitionsView struct {
	Topic       string                 `json:"topic"`
	Revision    int64                  `json:"revision" doc:"Every change up to here was told."`
	Definitions []liveDefinitionChange `json:"definitions" doc:"Those that changed since what was told before, as they are now; 100 at most. At first none: the list has them."`
	More        bool                   `json:"more" doc:"More changed than are told: read the list again."`
}

type liveDefinitionChange struct {
	Definition shape.Definition `json:"definition"`
	Deleted    bool             `json:"deleted"`
}

type liveResetView struct {
	Topic string `json:"topic"`
}

type liveByeView struct {
	Reason string `json:"reason" enum:"draining,unavailable,credentials"`
}

const (
	liveBookmarks   = 20
	liveDefinitions = 100
	liveMessage     = 1000
)

// stream begins to look, and hands the connection to who tells.
func stream(c *serve.Call) (serve.Reply, error) {
	topics, err := readTopics(c.Query["topics"])
	if err != nil {
		return serve.Reply{}, err
	}
	var after live.Position
	text := c.Query.Get("after")
	if header := c.Request.Header.Get("Last-Event-ID"); header != "" {
		text = header // a browser that comes back asks with the same query
	}
	if text != "" {
		if after, err = live.ParsePosition(text, len(topics)); err != nil {
			return serve.Reply{}, serve.Invalid("bad-position", "", err.Error())
		}
	}
	if c.Request.Method == http.MethodHead {
		return serve.Reply{RawType: "text/event-stream"}, nil
	}
	hub := c.API.Config.Live
	onlyLooks := c.API.OnlyLooks(c.Request)
	looks := live.Caller{Name: c.Caller(), Sight: strconv.FormatBool(onlyLooks), Show: shownTo(c.API, onlyLooks)}
	viewer, err := hub.Look(c.Request.Context(), looks, topics, after)
	if errors.Is(err, live.ErrTooMany) {
		all, each := hub.MayFollow()
		c.Linger(time.Second)
		return serve.Reply{}, c.API.Busy(metrics.ShedOther, metrics.ShedStreams,
			fmt.Sprintf("streams look at as many instances on this node as may be: %d in all, %d of one caller, and a list counts as 16; close some", all, each))
	}
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer viewer.Close()
		t := &teller{api: c.API, w: w, r: r, viewer: viewer}
		c.API.Config.Metrics.StreamOpened()
		end := metrics.StreamFailed // if it panics
		defer func() { c.API.Config.Metrics.StreamEnded(end) }()
		end = t.tell()
	})}, nil
}

// topicTexts are the topics of the parameters. A list's line may have commas in it, and goes on
// to the end of its parameter.
func topicTexts(params []string) (texts []string) {
	for _, rest := range params {
		for more := true; more; {
			text := rest
			if !strings.HasPrefix(rest, string(live.Instances)+":") {
				text, rest, more = strings.Cut(rest, ",")
			} else {
				more = false
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// readTopics reads what is looked at.
func readTopics(params []string) ([]live.Topic, error) {
	var topics []live.Topic
	for _, text := range topicTexts(params) {
		t, err := live.ParseTopic(text)
		var line *workflow.Error
		switch {
		case text == "":
			return nil, missingTopics()
		case errors.As(err, &line) && line.Problems != nil: // of a list
			return nil, line
		case err != nil:
			return nil, serve.Invalid("bad-topic", "", err.Error())
		case slices.Contains(topics, t):
			return nil, serve.Invalid("bad-topic", "", "the topic "+t.String()+" is there twice")
		case len(topics) == maxTopics:
			return nil, serve.Invalid("bad-topic", "", fmt.Sprintf("there are more than %d topics", maxTopics))
		}
		topics = append(topics, t)
	}
	if topics == nil {
		return nil, missingTopics()
	}
	return topics, nil
}

func missingTopics() error {
	return serve.Invalid("missing-parameter", "", "topics says what to look at: instance:ID, cluster, definitions, separated by commas, or instances:LINE")
}

// teller writes one stream.
type teller struct {
	api    *serve.API
	w      http.ResponseWriter
	r      *http.Request
	viewer *live.Viewer
	out    bytes.Buffer // what is written next: one event
}

// tell writes until somebody ends it, and says who.
func (t *teller) tell() metrics.StreamEnd {
	ctx, stop := t.api.UntilDrain(t.r.Context())
	defer stop()
	h := t.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	x := serve.ExchangeOf(t.r)
	x.Began = max(1, time.Since(x.Arrived))
	fmt.Fprintf(&t.out, "retry: %d\n\n", streamRetry)
	said, asked := time.Now(), time.Now()
	for {
		err := t.news(ctx)
		if err == nil && t.out.Len() == 0 && time.Since(said) >= commentEvery {
			t.out.WriteString(":\n\n")
		}
		if t.out.Len() > 0 && err == nil {
			said, err = time.Now(), t.flush()
		}
		if err != nil {
			return t.endedBy(err)
		}
		t.viewer.Wait(ctx, t.api.Config.StreamBeat)
		if ctx.Err() == nil && time.Since(asked) < t.api.Config.StreamBeat {
			continue
		}
		asked = time.Now()
		if end, reason := t.ends(ctx); end != "" {
			if t.event("bye", "", liveByeView{reason}) == nil {
				_ = t.flush() // the client may be gone
			}
			return end
		}
	}
}

// ends asks whether the stream has to end. "": it may go on.
func (t *teller) ends(ctx context.Context) (end metrics.StreamEnd, reason string) {
	switch {
	case t.r.Context().Err() != nil:
		return metrics.StreamLeft, ""
	case ctx.Err() != nil:
		return metrics.StreamDrained, "draining"
	case t.api.Serving() != nil: // what it knows may be old, and another node may know more
		return metrics.StreamFailed, "unavailable"
	case !t.mayGoOn():
		return metrics.StreamRefused, "credentials"
	}
	return "", ""
}

// mayGoOn asks again who listens: a key may have been revoked, a token has an end. Whose role
// became another one comes back, and is told what that role may see.
func (t *teller) mayGoOn() bool {
	if t.api.Config.Auth == nil {
		return true
	}
	caller, err := t.api.Config.Auth.Authenticate(t.r.Context(), t.r.Header)
	return err == nil && caller.Role == serve.ExchangeOf(t.r).Caller.Role
}

// news puts out what there is to tell, in pieces that are bounded.
func (t *teller) news(ctx context.Context) error {
	for ctx.Err() == nil {
		e, ok := t.viewer.Next()
		if !ok {
			return nil
		}
		name, data := viewEvent(t.api, e)
		id := t.viewer.Position().String()
		if e.Reset {
			id = "" // the state that follows has it
		}
		if err := t.event(name, id, data); err != nil {
			return err
		}
		if t.out.Len() > flushAt {
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

const flushAt = 64 << 10

func (t *teller) event(name, id string, data any) error {
	raw, err := t.api.Encode(t.r, data)
	if err != nil {
		return err
	}
	if id != "" {
		fmt.Fprintf(&t.out, "id: %s\n", id)
	}
	fmt.Fprintf(&t.out, "event: %s\ndata: %s\n\n", name, raw) // JSON of one line
	return nil
}

// flush sends what was put out. Who does not read it within the time of an answer is cut
// off: nothing more is kept for them than this.
func (t *teller) flush() error {
	ctl := http.NewResponseController(t.w)
	_ = ctl.SetWriteDeadline(time.Now().Add(t.api.Config.BodyTimeout)) // tests' writers have none
	_, err := io.Copy(t.w, &t.out)
	if err == nil {
		err = ctl.Flush()
	}
	_ = ctl.SetWriteDeadline(time.Time{}) // one that ends between two events would end a stream of HTTP/2
	return err
}

func (t *teller) endedBy(err error) metrics.StreamEnd {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return metrics.StreamSlow
	case t.r.Context().Err() != nil:
		return metrics.StreamLeft
	}
	return metrics.StreamFailed
}

func viewEvent(a *serve.API, e live.Event) (name string, view any) {
	topic := e.Topic.String()
	switch {
	case e.Reset:
		return "reset", liveResetView{topic}
	case e.Topic.Kind == live.Instances:
		return string(live.Instances), liveListView{topic, e.Revision, e.List.IDs, shape.Each(e.List.Rows, viewRow), e.List.More}
	case e.Topic.Kind == live.Cluster:
		return string(live.Cluster), liveClusterView{topic, e.Revision, shape.ViewNodes(a, e.Nodes)}
	case e.Topic.Kind == live.Definitions:
		told := e.Definitions[:min(len(e.Definitions), liveDefinitions)]
		return string(live.Definitions), liveDefinitionsView{topic, e.Revision, shape.Each(told, func(d catalog.Change) liveDefinitionChange {
			return liveDefinitionChange{shape.ViewDefinition(d.Summary), d.Deleted}
		}), len(told) < len(e.Definitions)}
	}
	return string(live.Instance), liveInstanceView{topic, e.Revision, viewLive(e)}
}

func viewRow(r live.Row) summaryView {
	v := viewSummary(r.Instance)
	v.Incidents, v.Waits, v.Incident = r.Incidents, r.Waits, shape.Some(r.Incident)
	return v
}

func viewLive(e live.Event) *liveInstanceState {
	in := e.Instance
	if in == nil {
		return nil
	}
	whole := *in
	whole.Bookmarks = in.Bookmarks[:min(len(in.Bookmarks), liveBookmarks)]
	whole.Input, whole.Output = nil, nil
	v := shape.ViewInstance(whole)
	out := &liveInstanceState{
		InstanceID: v.InstanceID, DefinitionID: v.DefinitionID, Version: v.Version, Status: v.Status, SubStatus: v.SubStatus,
		Name: v.Name, CorrelationID: v.CorrelationID, Labels: v.Labels, ParentInstanceID: v.ParentInstanceID,
		CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, FinishedAt: v.FinishedAt, Commit: e.Sequence,
		Incidents: len(v.Incidents), Bookmarks: v.Bookmarks, BookmarksLeft: len(in.Bookmarks) - len(whole.Bookmarks), Damaged: v.Damaged,
	}
	if n := len(v.Incidents); n > 0 {
		out.Incident = shape.Some(workflow.CutChars(v.Incidents[n-1].Message, liveMessage))
	}
	return out
}
