package work

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/tasks"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

type taskBody struct {
	Claim  string `json:"claim" doc:"As POST /tasks/claim gave it: it counts only while that claim stands. Without one it counts in any case."`
	Result any    `json:"result"`
	Error  string `json:"error" doc:"Why the task failed; then the activity faults."`
}

type claimBody struct {
	Names  []string `json:"names" doc:"Of tasks, 1 to 20."`
	Max    *int     `json:"max" doc:"How many tasks at most, 1 to 100; 1 if absent."`
	Lease  string   `json:"lease" doc:"For how long the tasks are the worker's unless it says more, 1s to 24h; 30s if absent."`
	Wait   string   `json:"wait" doc:"How long the answer may wait for the first task, up to 60s; not at all if absent."`
	Worker string   `json:"worker" doc:"Who asks, for people: up to 256 bytes."`
}

type heartbeatBody struct {
	Claim    string   `json:"claim" doc:"As POST /tasks/claim gave it."`
	Progress *float64 `json:"progress" doc:"Percent, 0 to 100; as it was if absent."`
	Text     string   `json:"text" doc:"What the worker does, for people: up to 1024 bytes; as it was if absent."`
}

type taskFailBody struct {
	Claim   string `json:"claim" doc:"As POST /tasks/claim gave it."`
	Kind    string `json:"kind" doc:"Of failure, such as timeout: up to 256 bytes."`
	Message string `json:"message" doc:"Why, for people: up to 8192 bytes."`
	Retry   bool   `json:"retry" doc:"Whether another attempt may do better: the retry of the activity decides then; without one the task is free again. If not, the activity faults."`
}

type releaseBody struct {
	Claim string `json:"claim" doc:"As POST /tasks/claim gave it."`
}

// Bounds of what workers ask for.
const (
	mostNames             = 20
	mostAsked             = 100
	leastLease, mostLease = time.Second, 24 * time.Hour
	usualLease            = 30 * time.Second
	mostWait              = time.Minute
	mostSaid, mostMessage = 1024, 8192
)

// Routes give tasks to workers and to people, and take what they report.
func Routes() []serve.Route {
	lost := []workflow.Code{workflow.CodeTaskNotFound, workflow.CodeTaskClaimLost}
	sent := sentAnswers()
	completes := append(slices.Clone(lost), workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeBookmarkReserved, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused)
	return append(userTaskRoutes(), []serve.Route{
		{Method: "GET", Path: "/tasks", Name: "listTasks", Role: auth.Viewer, Tag: "tasks", Kind: serve.Reads, Summary: "Tasks that wait for a worker outside, and who has them",
			Query:   append([]serve.Param{{Name: "name", Type: "string", Doc: "Only tasks of this name."}}, serve.PageParams...),
			Answers: map[int]any{200: shape.List[shape.Task]{}}, Serve: listTasks},
		{Method: "POST", Path: "/tasks/claim", Name: "claimTasks", Role: auth.Operator, Tag: "tasks", Kind: serve.Changes, MayWait: true, Target: "tasks",
			Summary: "Claim tasks for a worker, for the time of a lease", Body: claimBody{}, Answers: map[int]any{200: shape.Claimed{}},
			Problems: []workflow.Code{workflow.CodePaused}, Serve: claimTasks},
		{Method: "POST", Path: "/tasks/{id}/heartbeat", Name: "heartbeatTask", Role: auth.Operator, Tag: "tasks", Kind: serve.Changes,
			Summary: "Extend the lease of a claimed task, and say how far it is", Body: heartbeatBody{}, Answers: map[int]any{200: shape.Heard{}}, Problems: lost, Serve: heartbeatTask},
		{Method: "POST", Path: "/tasks/{id}/complete", Name: "completeTask", Role: auth.Operator, Tag: "tasks", Kind: serve.Changes, Idempotent: true,
			Summary: "Report the result of a task, or its error", Body: taskBody{}, Answers: sent, Problems: completes, Serve: completeTask},
		{Method: "POST", Path: "/tasks/{id}/fail", Name: "failTask", Role: auth.Operator, Tag: "tasks", Kind: serve.Changes,
			Summary: "Report that an attempt at a claimed task failed", Body: taskFailBody{}, Answers: map[int]any{200: shape.TaskFailed{}}, Problems: completes, Serve: failTask},
		{Method: "POST", Path: "/tasks/{id}/release", Name: "releaseTask", Role: auth.Operator, Tag: "tasks", Kind: serve.Changes,
			Summary: "Give a claimed task back, undone", Body: releaseBody{}, Answers: map[int]any{200: shape.TaskFailed{}}, Problems: lost, Serve: releaseTask},
	}...)
}

// sentAnswers are the answers to what resumes an instance.
func sentAnswers() map[int]any {
	return map[int]any{200: shape.Sent{}, 202: schema.OneOf{shape.Sent{}, shape.Queued{}}}
}

func listTasks(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	page, err := c.API.Config.Runtime.Inspector.Tasks(c.Request.Context(), c.Query.Get("name"), cursor, limit)
	return serve.Reply{Body: shape.ListOf(page, shape.ViewTask)}, err
}

func claimTasks(c *serve.Call) (serve.Reply, error) {
	var b claimBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	ask, err := b.ask()
	if err != nil {
		return serve.Reply{}, err
	}
	c.About("", "", "worker", ask.Worker)
	got, err := c.API.Config.Runtime.Tasks.Claim(c.Request.Context(), ask)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: shape.ViewClaimed(got)}, nil
}

// ask is what a worker asks for, within bounds.
func (b *claimBody) ask() (runtime.TaskAsk, error) {
	ask := runtime.TaskAsk{Names: b.Names, Max: 1, Lease: usualLease, Worker: b.Worker}
	if len(b.Names) < 1 || len(b.Names) > mostNames {
		return ask, serve.Invalid("bad-names", "/names", fmt.Sprintf("names has %d: name 1 to %d tasks", len(b.Names), mostNames))
	}
	for i, name := range b.Names {
		if err := workflow.CheckSendable("the name of a task", name); err != nil {
			return ask, serve.Invalid("bad-name", fmt.Sprintf("/names/%d", i), err.Error())
		}
	}
	if b.Max != nil {
		if ask.Max = *b.Max; ask.Max < 1 || ask.Max > mostAsked {
			return ask, serve.Invalid("bad-max", "/max", fmt.Sprintf("max is %d: ask for 1 to %d tasks at once", ask.Max, mostAsked))
		}
	}
	if b.Worker == "" {
		return ask, serve.Invalid("missing-field", "/worker", "worker is required: the name by which people see who has a task")
	}
	if err := serve.CheckNames([2]string{"worker", b.Worker}); err != nil {
		return ask, err
	}
	if err := within("lease", b.Lease, leastLease, mostLease, &ask.Lease); err != nil {
		return ask, err
	}
	return ask, within("wait", b.Wait, 0, mostWait, &ask.Wait)
}

// within reads a duration that has bounds; one that is not given stays as it is.
func within(name, text string, least, most time.Duration, into *time.Duration) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return serve.Invalid("bad-duration", "/"+name, fmt.Sprintf("%s is no duration: write it as 30s, 5m or 1h", name))
	}
	if d < least || d > most {
		return serve.Invalid("bad-duration", "/"+name, fmt.Sprintf("%s is %s: it may be from %s to %s", name, text, least, most))
	}
	*into = d
	return nil
}

// claimed reads the task and the claim that a request is about.
func claimed(c *serve.Call, body any, claim *string, required bool) (id string, is *workflow.TaskClaim, err error) {
	if id, err = c.MadeID(workflow.CodeTaskNotFound); err != nil {
		return "", nil, err
	}
	if err := c.Decode(body); err != nil {
		return "", nil, err
	}
	switch {
	case *claim == "" && required:
		return "", nil, serve.Invalid("missing-field", "/claim", "claim is required, as POST /tasks/claim gave it")
	case *claim == "":
		return id, nil, nil
	}
	if is, err = tasks.ParseClaim(id, *claim); err != nil {
		return "", nil, serve.Invalid("bad-claim", "/claim", err.Error())
	}
	return id, is, nil
}

// short refuses a text that is longer than may be.
func short(name, text string, most int) error {
	if len(text) > most {
		return serve.Invalid("too-long", "/"+name, fmt.Sprintf("%s has %d bytes: it may have up to %d", name, len(text), most))
	}
	return nil
}

func heartbeatTask(c *serve.Call) (serve.Reply, error) {
	var b heartbeatBody
	id, claim, err := claimed(c, &b, &b.Claim, true)
	if err != nil {
		return serve.Reply{}, err
	}
	if p := b.Progress; p != nil && (math.IsNaN(*p) || *p < 0 || *p > 100) {
		return serve.Reply{}, serve.Invalid("bad-progress", "/progress", fmt.Sprintf("progress is %v: it is percent, 0 to 100", *p))
	}
	if err := short("text", b.Text, mostSaid); err != nil {
		return serve.Reply{}, err
	}
	heard, err := c.API.Config.Runtime.Tasks.Heartbeat(c.Request.Context(), id, claim, runtime.TaskBeat{Progress: b.Progress, Text: b.Text})
	return serve.Reply{Body: shape.ViewHeard(heard)}, err
}

func completeTask(c *serve.Call) (serve.Reply, error) {
	var b taskBody
	id, claim, err := claimed(c, &b, &b.Claim, false)
	if err != nil {
		return serve.Reply{}, err
	}
	if b.Result != nil && b.Error != "" {
		return serve.Reply{}, serve.Invalid("bad-task", "", "a task has a result or an error, not both")
	}
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	return shape.AnswerSent(c.API.Config.Runtime.Tasks.Complete(c.Request.Context(), id, claim, b.Result, b.Error, key))
}

func failTask(c *serve.Call) (serve.Reply, error) {
	var b taskFailBody
	id, claim, err := claimed(c, &b, &b.Claim, true)
	if err != nil {
		return serve.Reply{}, err
	}
	if b.Message == "" {
		return serve.Reply{}, serve.Invalid("missing-field", "/message", "message is required: say why the task failed")
	}
	for name, of := range map[string]struct {
		text string
		most int
	}{"kind": {b.Kind, workflow.MaxNameLength}, "message": {b.Message, mostMessage}} {
		if err := short(name, of.text, of.most); err != nil {
			return serve.Reply{}, err
		}
	}
	free, err := c.API.Config.Runtime.Tasks.Fail(c.Request.Context(), id, claim, runtime.TaskFailure{Kind: b.Kind, Message: b.Message, Again: b.Retry})
	return serve.Reply{Body: shape.TaskFailed{TaskID: id, Free: free}}, err
}

func releaseTask(c *serve.Call) (serve.Reply, error) {
	var b releaseBody
	id, claim, err := claimed(c, &b, &b.Claim, true)
	if err != nil {
		return serve.Reply{}, err
	}
	err = c.API.Config.Runtime.Tasks.Release(c.Request.Context(), id, claim, false, "its worker gave it back")
	return serve.Reply{Body: shape.TaskFailed{TaskID: id, Free: true}}, err
}
