package work

import (
	"encoding/json"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime/people"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// userTaskView is a user task as those see it who may complete it.
type userTaskView struct {
	TaskID       string            `json:"taskId"`
	Title        string            `json:"title"`
	Summary      string            `json:"summary,omitempty"`
	Reference    string            `json:"reference,omitempty"`
	Instructions string            `json:"instructions,omitempty" doc:"Text, of which clients may show Markdown; no HTML."`
	TaskData     json.RawMessage   `json:"taskData,omitempty" doc:"What it is about."`
	Priority     int64             `json:"priority" doc:"0 to 100, the most urgent."`
	CreatedAt    time.Time         `json:"createdAt"`
	DueAt        *time.Time        `json:"dueAt,omitempty"`
	Overdue      bool              `json:"overdue,omitempty"`
	EndsWhenDue  bool              `json:"endsWhenDue,omitempty" doc:"With the outcome Timeout."`
	Form         json.RawMessage   `json:"form,omitempty" doc:"A JSON Schema of the data that completing it takes; none: it takes no data."`
	Outcomes     []userOutcomeView `json:"outcomes"`
	ClaimedBy    string            `json:"claimedBy,omitempty" doc:"Who has it: key: or oidc: and a name."`
	ClaimedAt    *time.Time        `json:"claimedAt,omitempty"`
	ClaimedUntil *time.Time        `json:"claimedUntil,omitempty" doc:"Then it is free again, unless it is claimed again before."`
	AssignedTo   string            `json:"assignedTo,omitempty" doc:"Who is to do it, alone: as an operator, or who had it, named that one."`
	Revision     int64             `json:"revision,omitempty" doc:"Of the task: another one when it is claimed, given back or given to somebody."`
	Cancellable  bool              `json:"cancellable,omitempty" doc:"Operators may cancel it by itself."`
	Comments     []remarkView      `json:"comments,omitempty" doc:"What people wrote, the oldest first."`
	InstanceID   string            `json:"instanceId"`
	DefinitionID string            `json:"definitionId,omitempty"`
}

type userOutcomeView struct {
	Key   string `json:"key"`
	Label string `json:"label"`
}

type remarkView struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

type releaseUserBody struct {
	Revision int64 `json:"revision" doc:"Of the task that is given back; any, if it is absent."`
}

type assignUserBody struct {
	To       string `json:"to" doc:"A person, as candidateUsers name one: anna, key:anna or oidc:anna."`
	Reason   string `json:"reason" doc:"Why, for the journal: up to 2 KiB."`
	Revision int64  `json:"revision" doc:"Of the task; any, if it is absent."`
}

type commentUserBody struct {
	Text string `json:"text" doc:"Up to 2 KiB; a task has up to 50 comments."`
}

type cancelUserBody struct {
	Reason   string `json:"reason" doc:"Why: up to 2 KiB."`
	Revision int64  `json:"revision" doc:"Of the task; any, if it is absent."`
}

type completeUserBody struct {
	Outcome  string         `json:"outcome" doc:"The key of one of the task's outcomes."`
	Data     map[string]any `json:"data" doc:"The fields of the task's form, if it has one."`
	Revision int64          `json:"revision" doc:"Of the task as it was shown, claimed or free: it counts only while that is so. Any, if it is absent."`
}

// releasedView is a user task that was given back.
type releasedView struct {
	TaskID string `json:"taskId"`
}

func userTaskRoutes() []serve.Route {
	lost := []workflow.Code{workflow.CodeTaskNotFound, workflow.CodeTaskClaimLost}
	one := map[int]any{200: userTaskView{}}
	return []serve.Route{
		{Method: "GET", Path: "/user-tasks", Name: "listUserTasks", Role: auth.Business, Tag: "user tasks", Kind: serve.Reads, Summary: "User tasks that wait for the caller",
			Query:   append([]serve.Param{{Name: "others", Type: "boolean", Doc: "Also those that somebody else has; of an operator every one that the caller may complete."}}, serve.PageParams...),
			Answers: map[int]any{200: shape.List[userTaskView]{}}, Serve: listUserTasks},
		{Method: "GET", Path: "/user-tasks/{id}", Name: "getUserTask", Role: auth.Business, Tag: "user tasks", Kind: serve.Reads, Summary: "One user task that the caller may complete",
			Answers: one, Problems: lost[:1], Serve: getUserTask},
		{Method: "POST", Path: "/user-tasks/{id}/claim", Name: "claimUserTask", Role: auth.Business, Tag: "user tasks", Kind: serve.Changes, Summary: "Take a user task, so that nobody else does it",
			Answers: one, Problems: append(lost[:2:2], workflow.CodePaused), Serve: claimUserTask},
		{Method: "POST", Path: "/user-tasks/{id}/release", Name: "releaseUserTask", Role: auth.Business, Tag: "user tasks", Kind: serve.Changes, Summary: "Give a user task back, undone",
			Body: releaseUserBody{}, Answers: map[int]any{200: releasedView{}}, Problems: lost, Serve: releaseUserTask},
		{Method: "POST", Path: "/user-tasks/{id}/complete", Name: "completeUserTask", Role: auth.Business, Tag: "user tasks", Kind: serve.Changes, Idempotent: true,
			Summary: "Complete a user task with an outcome and the data of its form", Body: completeUserBody{}, Answers: sentAnswers(),
			Problems: append(lost[:2:2], workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeBookmarkReserved, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused), Serve: completeUserTask},
		changes("assign", auth.Operator, "Give a user task to a person, who is to do it alone", assignUserBody{}, changeBy(usertask.Assign, func(b *assignUserBody) (string, string, int64) { return b.To, b.Reason, b.Revision })),
		changes("delegate", auth.Business, "Give a user task that the caller has to another person", assignUserBody{}, changeBy(usertask.Delegate, func(b *assignUserBody) (string, string, int64) { return b.To, b.Reason, b.Revision })),
		changes("comment", auth.Business, "Write something to a user task", commentUserBody{}, changeBy(usertask.Comment, func(b *commentUserBody) (string, string, int64) { return "", b.Text, 0 })),
		changes("cancel", auth.Operator, "End a user task with the outcome Cancelled, if its activity allows that", cancelUserBody{}, changeBy(usertask.Cancel, func(b *cancelUserBody) (string, string, int64) { return "", b.Reason, b.Revision })),
	}
}

// changes is a route that changes a user task in one commit of its instance.
func changes(what string, role auth.Role, summary string, body any, serves func(*serve.Call) (serve.Reply, error)) serve.Route {
	return serve.Route{Method: "POST", Path: "/user-tasks/{id}/" + what, Name: what + "UserTask", Role: role, Tag: "user tasks", Kind: serve.Changes, Idempotent: true,
		Summary: summary, Body: body, Answers: sentAnswers(),
		Problems: []workflow.Code{workflow.CodeTaskNotFound, workflow.CodeTaskClaimLost, workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeKeyReused, workflow.CodePaused}, Serve: serves}
}

// changeBy serves a change whose body says to whom, what text, and of which revision.
func changeBy[B any](op string, of func(*B) (to, text string, revision int64)) func(*serve.Call) (serve.Reply, error) {
	return func(c *serve.Call) (serve.Reply, error) {
		id, err := c.MadeID(workflow.CodeTaskNotFound)
		if err != nil {
			return serve.Reply{}, err
		}
		var b B
		if err := c.Decode(&b); err != nil {
			return serve.Reply{}, err
		}
		key, err := c.Key()
		if err != nil {
			return serve.Reply{}, err
		}
		ask := people.Change{Op: op}
		ask.To, ask.Text, ask.Revision = of(&b)
		return shape.AnswerSent(c.API.Config.Runtime.UserTasks.Change(c.Request.Context(), person(c), id, ask, key))
	}
}

// person is who asks, as the rights of user tasks see it.
func person(c *serve.Call) *people.Person {
	p := serve.ExchangeOf(c.Request).Caller
	if p == nil { // this node asks for no credentials
		return &people.Person{Operator: true}
	}
	return &people.Person{Name: p.Name, Groups: p.Groups, Operator: p.Role >= auth.Operator}
}

func viewUserTask(c *serve.Call, t *people.UserTask) userTaskView {
	v := userTaskView{
		TaskID: t.ID, Title: t.Title, Summary: t.Summary, Reference: t.Reference, Instructions: t.Instructions, TaskData: t.Data, Priority: t.Priority, CreatedAt: t.CreatedAt.UTC(),
		DueAt: t.DueAt, EndsWhenDue: t.Ends, Form: t.Form, InstanceID: t.InstanceID, DefinitionID: t.DefinitionID, Overdue: t.DueAt != nil && c.API.Config.Now().After(*t.DueAt),
	}
	v.AssignedTo, v.Revision, v.Cancellable = t.Assignee, t.Revision, t.Cancels
	if t.Beside != nil {
		for _, r := range t.Beside.Comments {
			v.Comments = append(v.Comments, remarkView(r))
		}
	}
	for _, o := range t.Outcomes {
		v.Outcomes = append(v.Outcomes, userOutcomeView(o))
	}
	if t.Claim != nil {
		since, until := t.Claim.Since.UTC(), t.Claim.Until.UTC()
		v.ClaimedBy, v.ClaimedAt, v.ClaimedUntil, v.Revision = t.Claim.Worker, &since, &until, t.Claim.Revision
	}
	return v
}

func listUserTasks(c *serve.Call) (serve.Reply, error) {
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	others, err := c.Flag("others", false)
	if err != nil {
		return serve.Reply{}, err
	}
	page, err := c.API.Config.Runtime.UserTasks.Waiting(c.Request.Context(), person(c), others, cursor, limit)
	return serve.Reply{Body: shape.ListOf(page, func(t people.UserTask) userTaskView { return viewUserTask(c, &t) })}, err
}

// userTask gives the task that a call about one answers with.
func userTask(c *serve.Call, of func(who *people.Person, id string) (*people.UserTask, error)) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeTaskNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	t, err := of(person(c), id)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewUserTask(c, t)}, nil
}

func getUserTask(c *serve.Call) (serve.Reply, error) {
	return userTask(c, func(who *people.Person, id string) (*people.UserTask, error) {
		return c.API.Config.Runtime.UserTasks.One(c.Request.Context(), who, id)
	})
}

func claimUserTask(c *serve.Call) (serve.Reply, error) {
	return userTask(c, func(who *people.Person, id string) (*people.UserTask, error) {
		return c.API.Config.Runtime.UserTasks.Claim(c.Request.Context(), who, id)
	})
}

func releaseUserTask(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeTaskNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	var b releaseUserBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: releasedView{id}}, c.API.Config.Runtime.UserTasks.Release(c.Request.Context(), person(c), id, b.Revision)
}

func completeUserTask(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeTaskNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	var b completeUserBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	return shape.AnswerSent(c.API.Config.Runtime.UserTasks.Complete(c.Request.Context(), person(c), id, people.Decision{Revision: b.Revision, Outcome: b.Outcome, Data: b.Data}, key))
}
