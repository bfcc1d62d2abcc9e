package httpapi

import (
	"context"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
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

type taskBody struct {
	Result any    `json:"result"`
	Error  string `json:"error" doc:"Why the task failed; then the activity faults."`
}

func (a *API) stimulusRoutes() []route {
	sent := map[int]any{200: sentView{}, 202: oneOf{sentView{}, queuedView{}}}
	problems := []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeBookmarkReserved, workflow.CodeKeyReused, workflow.CodePaused}
	return []route{
		{method: "POST", path: "/events/{name}", name: "sendEvent", role: auth.Operator, tag: "stimuli", kind: changes, idempotent: true,
			summary: "Send an event to the instances and definitions that wait for it",
			query:   []param{{name: "dryRun", typ: "boolean", doc: "Tell what it would do, and send nothing."}},
			body:    eventBody{}, answers: map[int]any{200: oneOf{sentView{}, effectView{}}, 202: sent[202]}, problems: problems, serve: (*call).event},
		{method: "POST", path: "/stimuli", name: "sendStimulus", role: auth.Operator, tag: "stimuli", kind: changes, idempotent: true, target: "a stimulus",
			summary: "Send any stimulus", body: stimulusBody{}, answers: sent, problems: problems, serve: (*call).stimulus},
		{method: "POST", path: "/bookmarks/{id}/resume", name: "resumeBookmark", role: auth.Operator, tag: "stimuli", kind: changes, idempotent: true,
			summary: "Resume an instance at one place where it waits", body: resumeBody{}, answers: sent,
			problems: append([]workflow.Code{workflow.CodeBookmarkNotFound}, problems...), serve: (*call).resume},
		{method: "GET", path: "/tasks", name: "listTasks", role: auth.Viewer, tag: "tasks", kind: reads, summary: "Tasks that wait for a worker outside",
			query:   append([]param{{name: "name", typ: "string", doc: "Only tasks of this name."}}, pageParams...),
			answers: map[int]any{200: listView[taskView]{}}, serve: (*call).tasks},
		{method: "POST", path: "/tasks/{id}/complete", name: "completeTask", role: auth.Operator, tag: "tasks", kind: changes, idempotent: true,
			summary: "Report the result of a task, or its error", body: taskBody{}, answers: sent,
			problems: append([]workflow.Code{workflow.CodeTaskNotFound}, problems...), serve: (*call).completeTask},
	}
}

func (c *call) event() (reply, error) {
	dryRun, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	name := c.r.PathValue("name")
	if err := checkEventName(name); err != nil {
		return reply{}, err
	}
	var b eventBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	s := b.stimulus(name)
	c.about("", name, "instance", b.InstanceID, "correlation", b.CorrelationID)
	if dryRun {
		return c.effectOf(s)
	}
	return c.send(s)
}

func checkEventName(name string) error {
	if err := workflow.CheckName("the event's name", name); err != nil {
		return invalid("bad-name", "", err.Error())
	}
	return nil
}

func (b *eventBody) stimulus(name string) workflow.Stimulus {
	s := workflow.EventStimulus(name, b.Payload)
	s.CorrelationID, s.InstanceID = b.CorrelationID, b.InstanceID
	return s
}

func (c *call) stimulus() (reply, error) {
	var b stimulusBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	c.about("", b.ActivityType, "hash", hashOf(b), "bookmark", b.BookmarkID, "instance", b.InstanceID, "correlation", b.CorrelationID)
	if b.BookmarkID == "" && b.ActivityType == "" {
		return reply{}, invalid("missing-field", "/activityType", "activityType is required, unless bookmarkId is given")
	}
	if err := checkNames([2]string{"activityType", b.ActivityType}); err != nil {
		return reply{}, err
	}
	if b.BookmarkID != "" && b.ActivityType == "" {
		key, err := c.key()
		if err != nil {
			return reply{}, err
		}
		return c.sent(c.api.cfg.Runtime.ResumeBookmark(c.r.Context(), b.BookmarkID, b.Input, key))
	}
	return c.send(workflow.Stimulus{
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
func (c *call) send(s workflow.Stimulus) (reply, error) {
	if err := checkAddress(s); err != nil {
		return reply{}, err
	}
	key, err := c.key()
	if err != nil {
		return reply{}, err
	}
	return c.sent(c.api.cfg.Runtime.Send(c.r.Context(), s, key))
}

func checkAddress(s workflow.Stimulus) error {
	if err := checkIDs([2]string{"instanceId", s.InstanceID}); err != nil {
		return err
	}
	return checkNames([2]string{"correlationId", s.CorrelationID})
}

func (c *call) sent(res runtime.SendResult, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return c.viewSent(res), nil
}

func (c *call) resume() (reply, error) {
	id, err := c.madeID(workflow.CodeBookmarkNotFound)
	if err != nil {
		return reply{}, err
	}
	var b resumeBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	key, err := c.key()
	if err != nil {
		return reply{}, err
	}
	return c.sent(c.api.cfg.Runtime.ResumeBookmark(c.r.Context(), id, b.Input, key))
}

func (c *call) tasks() (reply, error) {
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	page, err := c.api.cfg.Runtime.Tasks(c.r.Context(), c.query.Get("name"), cursor, limit)
	return reply{body: list(page, viewTask)}, err
}

func (c *call) completeTask() (reply, error) {
	id, err := c.madeID(workflow.CodeTaskNotFound)
	if err != nil {
		return reply{}, err
	}
	var b taskBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	if b.Result != nil && b.Error != "" {
		return reply{}, invalid("bad-task", "", "a task has a result or an error, not both")
	}
	key, err := c.key()
	if err != nil {
		return reply{}, err
	}
	return c.sent(c.api.cfg.Runtime.CompleteTask(c.r.Context(), id, b.Result, b.Error, key))
}

// command runs one of the commands to an instance that answer with its state.
func (c *call) command(do func(ctx context.Context, id string) (accepted bool, err error)) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	accepted, err := do(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return commanded(c, id, accepted)
}

// commanded shows the instance after a command to it.
func commanded(c *call, id string, accepted bool) (reply, error) {
	in, err := c.api.cfg.Runtime.Instance(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	answer := reply{body: viewInstance(in)}
	if accepted {
		answer.status, answer.location = 202, instancePath(id)
	}
	return answer, nil
}
