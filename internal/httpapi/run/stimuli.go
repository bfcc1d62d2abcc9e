package run

import (
	"cmp"
	"context"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

type eventBody struct {
	Payload       any    `json:"payload" doc:"Becomes the result of the Event activity."`
	CorrelationID string `json:"correlationId"`
	InstanceID    string `json:"instanceId" doc:"Only this instance."`
}

type stimulusBody struct {
	ActivityType  string         `json:"activityType"`
	Stimulus      any            `json:"stimulus" doc:"The hashed part, such as {\"eventName\": \"approved\"}."`
	CorrelationID string         `json:"correlationId"`
	InstanceID    string         `json:"instanceId"`
	BookmarkID    string         `json:"bookmarkId"`
	Input         map[string]any `json:"input"`
}

type resumeBody struct {
	Input map[string]any `json:"input"`
}

func stimulusRoutes() []serve.Route {
	sent := map[int]any{200: shape.Sent{}, 202: schema.OneOf{shape.Sent{}, shape.Queued{}}}
	problems := []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeBookmarkReserved, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused}
	return []serve.Route{
		{Method: "POST", Path: "/events/{name}", Name: "sendEvent", Role: auth.Operator, Tag: "stimuli", Kind: serve.Changes, Idempotent: true,
			Summary: "Send an event to the instances and definitions that wait for it",
			Query:   []serve.Param{{Name: "dryRun", Type: "boolean", Doc: "Tell what it would do, and send nothing."}},
			Body:    eventBody{}, Answers: map[int]any{200: schema.OneOf{shape.Sent{}, shape.Effect{}}, 202: sent[202]}, Problems: problems, Serve: sendEvent},
		{Method: "GET", Path: "/events/{name}", Name: "explainEvent", Costly: true, Role: auth.Viewer, Tag: "stimuli", Kind: serve.Reads,
			Summary: "Who waits for an event: what it would do if it were sent now",
			Query: []serve.Param{{Name: "correlationId", Type: "string"}, {Name: "instanceId", Type: "string"},
				{Name: "dryRun", Type: "boolean", Doc: "It is one in any case; false is refused."}},
			Answers: map[int]any{200: shape.Effect{}}, Serve: explainEvent},
		{Method: "POST", Path: "/stimuli", Name: "sendStimulus", Role: auth.Operator, Tag: "stimuli", Kind: serve.Changes, Idempotent: true, Target: "a stimulus",
			Summary: "Send any stimulus", Body: stimulusBody{}, Answers: sent, Problems: problems, Serve: sendStimulus},
		{Method: "POST", Path: "/bookmarks/{id}/resume", Name: "resumeBookmark", Role: auth.Operator, Tag: "stimuli", Kind: serve.Changes, Idempotent: true,
			Summary: "Resume an instance at one place where it waits", Body: resumeBody{}, Answers: sent,
			Problems: append([]workflow.Code{workflow.CodeBookmarkNotFound}, problems...), Serve: resumeBookmark},
	}
}

func sendEvent(c *serve.Call) (serve.Reply, error) {
	dryRun, err := c.DryRun()
	if err != nil {
		return serve.Reply{}, err
	}
	name := c.Request.PathValue("name")
	if err := serve.CheckEventName(name); err != nil {
		return serve.Reply{}, err
	}
	var b eventBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	s := b.stimulus(name)
	if err := forEverybody(c, b.CorrelationID); err != nil {
		return serve.Reply{}, err
	}
	c.About("", name, "instance", b.InstanceID, "correlation", b.CorrelationID)
	if dryRun {
		return effectOf(c, s)
	}
	return send(c, s)
}

// forEverybody refuses a correlation id that is given and empty: it would mean the instances of every correlation, and
// who wrote it meant one, of which the variable was empty.
func forEverybody(c *serve.Call, correlation string) error {
	if len(c.GivenEmpty("correlationId")) > 0 {
		return everyCorrelation()
	}
	return inTheHead(c, correlation)
}

// inTheHead refuses the header by which endpoints take a correlation id, where it would be left out.
func inTheHead(c *serve.Call, correlation string) error {
	if correlation == "" && c.Request.Header["X-Correlation-Id"] != nil {
		return serve.Invalid("bad-header", "/correlationId", "X-Correlation-Id is a header of endpoints: here the body says correlationId. Have a proxy that adds the header to each request leave it out")
	}
	return nil
}

func everyCorrelation() error {
	return serve.Invalid("bad-name", "/correlationId", "correlationId is empty: leave it out to mean the instances of every correlation")
}

func (b *eventBody) stimulus(name string) workflow.Stimulus {
	s := workflow.EventStimulus(name, b.Payload)
	s.CorrelationID, s.InstanceID = b.CorrelationID, b.InstanceID
	return s
}

func sendStimulus(c *serve.Call) (serve.Reply, error) {
	var b stimulusBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	if err := forEverybody(c, b.CorrelationID); err != nil {
		return serve.Reply{}, err
	}
	c.About("", b.ActivityType, "hash", hashOf(b), "bookmark", b.BookmarkID, "instance", b.InstanceID, "correlation", b.CorrelationID)
	if b.BookmarkID == "" && b.ActivityType == "" {
		return serve.Reply{}, serve.Invalid("missing-field", "/activityType", "activityType is required, unless bookmarkId is given")
	}
	if err := serve.CheckNames([2]string{"activityType", b.ActivityType}); err != nil {
		return serve.Reply{}, err
	}
	if b.BookmarkID != "" && b.ActivityType == "" {
		key, err := c.Key()
		if err != nil {
			return serve.Reply{}, err
		}
		return shape.AnswerSent(c.API.Config.Runtime.Bookmarks.ResumeBookmark(c.Request.Context(), b.BookmarkID, b.Input, key))
	}
	return send(c, workflow.Stimulus{
		ActivityType: b.ActivityType, Payload: b.Stimulus, CorrelationID: b.CorrelationID,
		InstanceID: b.InstanceID, BookmarkID: b.BookmarkID, Input: b.Input,
	})
}

// hashOf is what bookmarks and triggers are found by that the stimulus is for.
func hashOf(b stimulusBody) string {
	if b.ActivityType == "" {
		return ""
	}
	hash, err := workflow.Hash(b.ActivityType, b.Stimulus)
	if err != nil {
		return "" // the runtime says what is wrong
	}
	return hash
}

// send checks the address of a stimulus and sends it.
func send(c *serve.Call, s workflow.Stimulus) (serve.Reply, error) {
	if err := checkAddress(s); err != nil {
		return serve.Reply{}, err
	}
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	return shape.AnswerSent(c.API.Config.Runtime.Events.Send(c.Request.Context(), s, key))
}

func checkAddress(s workflow.Stimulus) error {
	if err := serve.CheckIDs([2]string{"instanceId", s.InstanceID}); err != nil {
		return err
	}
	return serve.CheckNames([2]string{"correlationId", s.CorrelationID})
}

func resumeBookmark(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeBookmarkNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	var b resumeBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	return shape.AnswerSent(c.API.Config.Runtime.Bookmarks.ResumeBookmark(c.Request.Context(), id, b.Input, key))
}

// command runs one of the commands to an instance that answer with its state.
func command(c *serve.Call, do func(ctx context.Context, id string) (accepted bool, err error)) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	accepted, err := do(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	return commanded(c, id, accepted)
}

// commanded shows the instance after a command to it: of thousands of places where it waits the first.
func commanded(c *serve.Call, id string, accepted bool) (serve.Reply, error) {
	in, err := c.API.Config.Runtime.Inspector.Brief(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	answer := serve.Reply{Body: shape.ViewInstance(in)}
	if accepted {
		answer.Status, answer.Location = 202, shape.InstancePath(id)
	}
	return answer, nil
}

// explainEvent says what an event would do; its payload changes nothing about that.
func explainEvent(c *serve.Call) (serve.Reply, error) {
	if dryRun, err := c.Flag("dryRun", true); err != nil || !dryRun {
		return serve.Reply{}, cmp.Or[error](err, serve.Invalid("bad-parameter", "/dryRun", "GET tells what an event would do and sends none; POST does"))
	}
	name := c.Request.PathValue("name")
	if err := serve.CheckEventName(name); err != nil {
		return serve.Reply{}, err
	}
	b := eventBody{CorrelationID: c.Query.Get("correlationId"), InstanceID: c.Query.Get("instanceId")}
	return effectOf(c, b.stimulus(name))
}

// effectOf answers what a stimulus would do, in the place of sending it.
func effectOf(c *serve.Call, s workflow.Stimulus) (serve.Reply, error) {
	if err := checkAddress(s); err != nil {
		return serve.Reply{}, err
	}
	e, err := c.API.Config.Explainer.Event(c.Request.Context(), s, peers.Of(c))
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: shape.ViewEffect(e)}, nil
}
