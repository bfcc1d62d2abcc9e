// Code generated from openapi.json by go generate ./pkg/apiclient; DO NOT EDIT.

package apiclient

import (
	"context"
	"iter"
	"net/url"
	"strconv"
)

// AlterInstanceQuery is the query of [Client.AlterInstance]; zero fields are left out.
type AlterInstanceQuery struct {
	DryRun *bool // Tell what would happen, and change nothing.
}

func (q AlterInstanceQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// AlterInstance: Change an instance that runs or is faulted: run activities again, skip them, set variables, migrate, reschedule, cancel.
// It is POST /api/v1/instances/{id}/alterations, for the role operator; problems of its own are instance-not-found, instance-finished, instance-not-faulted, instance-refused, instance-undone.
func (c *Client) AlterInstance(ctx context.Context, id string, body AlterRequest, query AlterInstanceQuery, opts ...Option) (*Answer[InstanceOrAltered], error) {
	return call[InstanceOrAltered](ctx, c, request{method: "POST", path: "/api/v1/instances/" + url.PathEscape(id) + "/alterations", query: query.values(), body: body}, opts)
}

// AssignUserTask: Give a user task to a person, who is to do it alone.
// It is POST /api/v1/user-tasks/{id}/assign, for the role operator; problems of its own are instance-not-found, task-not-found, instance-finished, task-claim-lost.
func (c *Client) AssignUserTask(ctx context.Context, id string, body AssignUserRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/assign", query: nil, body: body}, opts)
}

// CancelInstance: End the instance, and the call that it waits for outside.
// It is POST /api/v1/instances/{id}/cancel, for the role operator; problems of its own are instance-not-found, instance-finished.
func (c *Client) CancelInstance(ctx context.Context, id string, opts ...Option) (*Answer[Instance], error) {
	return call[Instance](ctx, c, request{method: "POST", path: "/api/v1/instances/" + url.PathEscape(id) + "/cancel", query: nil, body: nil}, opts)
}

// CancelJob: Cancel a job: it goes no further; one that has ended stays as it is.
// It is POST /api/v1/jobs/{id}/cancel, for the role operator; problems of its own are job-not-found.
func (c *Client) CancelJob(ctx context.Context, id string, opts ...Option) (*Answer[Job], error) {
	return call[Job](ctx, c, request{method: "POST", path: "/api/v1/jobs/" + url.PathEscape(id) + "/cancel", query: nil, body: nil}, opts)
}

// CancelUserTask: End a user task with the outcome Cancelled, if its activity allows that.
// It is POST /api/v1/user-tasks/{id}/cancel, for the role operator; problems of its own are instance-not-found, task-not-found, instance-finished, task-claim-lost.
func (c *Client) CancelUserTask(ctx context.Context, id string, body CancelUserRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/cancel", query: nil, body: body}, opts)
}

// CheckDefinitionQuery is the query of [Client.CheckDefinition]; zero fields are left out.
type CheckDefinitionQuery struct {
	Picture *bool // With a picture of what can be read, as format=svg-part of the graph.
}

func (q CheckDefinitionQuery) values() url.Values {
	v := url.Values{}
	if q.Picture != nil {
		set(v, "picture", strconv.FormatBool(*q.Picture))
	}
	return v
}

// CheckDefinition: Find the mistakes of a definition while it is written; 200 also with mistakes, and nothing is written.
// It is POST /api/v1/definitions/check, for the role designer.
func (c *Client) CheckDefinition(ctx context.Context, body []byte, query CheckDefinitionQuery, opts ...Option) (*Answer[Checked], error) {
	return call[Checked](ctx, c, request{method: "POST", path: "/api/v1/definitions/check", query: query.values(), body: body}, opts)
}

// ClaimTasks: Claim tasks for a worker, for the time of a lease.
// It is POST /api/v1/tasks/claim, for the role operator.
func (c *Client) ClaimTasks(ctx context.Context, body ClaimRequest, opts ...Option) (*Answer[Claimed], error) {
	return call[Claimed](ctx, c, request{method: "POST", path: "/api/v1/tasks/claim", query: nil, body: body}, opts)
}

// ClaimUserTask: Take a user task, so that nobody else does it.
// It is POST /api/v1/user-tasks/{id}/claim, for the role business; problems of its own are task-not-found, task-claim-lost.
func (c *Client) ClaimUserTask(ctx context.Context, id string, opts ...Option) (*Answer[UserTask], error) {
	return call[UserTask](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/claim", query: nil, body: nil}, opts)
}

// CommentUserTask: Write something to a user task.
// It is POST /api/v1/user-tasks/{id}/comment, for the role business; problems of its own are instance-not-found, task-not-found, instance-finished, task-claim-lost.
func (c *Client) CommentUserTask(ctx context.Context, id string, body CommentUserRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/comment", query: nil, body: body}, opts)
}

// CompleteTask: Report the result of a task, or its error.
// It is POST /api/v1/tasks/{id}/complete, for the role operator; problems of its own are instance-not-found, task-not-found, bookmark-reserved, instance-finished, instance-refused, task-claim-lost.
func (c *Client) CompleteTask(ctx context.Context, id string, body TaskRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/tasks/" + url.PathEscape(id) + "/complete", query: nil, body: body}, opts)
}

// CompleteUserTask: Complete a user task with an outcome and the data of its form.
// It is POST /api/v1/user-tasks/{id}/complete, for the role business; problems of its own are instance-not-found, task-not-found, bookmark-reserved, instance-finished, instance-refused, task-claim-lost.
func (c *Client) CompleteUserTask(ctx context.Context, id string, body CompleteUserRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/complete", query: nil, body: body}, opts)
}

// CreateJobQuery is the query of [Client.CreateJob]; zero fields are left out.
type CreateJobQuery struct {
	DryRun *bool // Tell what it would do, and do nothing: count the instances, and try the command for the newest of them.
	Limit  int64 // Of a dry run: for how many it is tried, 1 to 500, 50 if absent.
}

func (q CreateJobQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	return v
}

// CreateJob: Alter, retry, cancel or delete all instances of a filter.
// It is POST /api/v1/jobs, for the role operator.
func (c *Client) CreateJob(ctx context.Context, body JobRequest, query CreateJobQuery, opts ...Option) (*Answer[JobPreviewOrJob], error) {
	return call[JobPreviewOrJob](ctx, c, request{method: "POST", path: "/api/v1/jobs", query: query.values(), body: body}, opts)
}

// DelegateUserTask: Give a user task that the caller has to another person.
// It is POST /api/v1/user-tasks/{id}/delegate, for the role business; problems of its own are instance-not-found, task-not-found, instance-finished, task-claim-lost.
func (c *Client) DelegateUserTask(ctx context.Context, id string, body AssignUserRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/delegate", query: nil, body: body}, opts)
}

// DeleteDeadLetter: Forget a dead letter.
// It is DELETE /api/v1/dead-letters/{id}, for the role operator; problems of its own are dead-letter-not-found.
func (c *Client) DeleteDeadLetter(ctx context.Context, id string, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/dead-letters/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// DeleteDeadLettersQuery is the query of [Client.DeleteDeadLetters]; zero fields are left out.
type DeleteDeadLettersQuery struct {
	DryRun *bool // Tell for which it would be done, and which would be refused, and do nothing.
}

func (q DeleteDeadLettersQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// DeleteDeadLetters: Forget the dead letters of a filter, a page at a time.
// It is POST /api/v1/dead-letters/delete, for the role operator.
func (c *Client) DeleteDeadLetters(ctx context.Context, body LettersRequest, query DeleteDeadLettersQuery, opts ...Option) (*Answer[Several], error) {
	return call[Several](ctx, c, request{method: "POST", path: "/api/v1/dead-letters/delete", query: query.values(), body: body}, opts)
}

// DeleteDefinitionQuery is the query of [Client.DeleteDefinition]; zero fields are left out.
type DeleteDefinitionQuery struct {
	Force *bool  // Also while instances run; they go on to their end.
	Set   string // Only if it is of this set: 409 definition-moved if not.
}

func (q DeleteDefinitionQuery) values() url.Values {
	v := url.Values{}
	if q.Force != nil {
		set(v, "force", strconv.FormatBool(*q.Force))
	}
	set(v, "set", q.Set)
	return v
}

// DeleteDefinition: Remove a definition.
// It is DELETE /api/v1/definitions/{id}, for the role designer; problems of its own are definition-not-found, definition-in-use, definition-moved.
func (c *Client) DeleteDefinition(ctx context.Context, id string, query DeleteDefinitionQuery, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/definitions/" + url.PathEscape(id), query: query.values(), body: nil}, opts)
}

// DeleteInstance: Cancel the instance if it runs, and remove it.
// It is DELETE /api/v1/instances/{id}, for the role operator; problems of its own are instance-not-found.
func (c *Client) DeleteInstance(ctx context.Context, id string, opts ...Option) (*Answer[Dispatched], error) {
	return call[Dispatched](ctx, c, request{method: "DELETE", path: "/api/v1/instances/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// DeleteJob: Forget a job that has ended.
// It is DELETE /api/v1/jobs/{id}, for the role operator; problems of its own are job-not-found, job-running.
func (c *Client) DeleteJob(ctx context.Context, id string, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/jobs/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// DeleteLimit: Forget a limit: who has a place keeps it, who waits goes on waiting.
// It is DELETE /api/v1/limits/{name}, for the role operator; problems of its own are limit-not-found.
func (c *Client) DeleteLimit(ctx context.Context, name string, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/limits/" + url.PathEscape(name), query: nil, body: nil}, opts)
}

// DeleteQueueItem: Forget a stimulus of the queue.
// It is DELETE /api/v1/queue/{id}, for the role operator; problems of its own are queue-item-not-found.
func (c *Client) DeleteQueueItem(ctx context.Context, id string, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/queue/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// DeleteQueueItemsQuery is the query of [Client.DeleteQueueItems]; zero fields are left out.
type DeleteQueueItemsQuery struct {
	DryRun *bool // Tell for which it would be done, and which would be refused, and do nothing.
}

func (q DeleteQueueItemsQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// DeleteQueueItems: Forget the stimuli of a filter that are in the queue, a page at a time.
// It is POST /api/v1/queue/delete, for the role operator.
func (c *Client) DeleteQueueItems(ctx context.Context, body ItemsRequest, query DeleteQueueItemsQuery, opts ...Option) (*Answer[Several], error) {
	return call[Several](ctx, c, request{method: "POST", path: "/api/v1/queue/delete", query: query.values(), body: body}, opts)
}

// DeleteVersion: Remove a version that nothing needs; its source goes an hour later.
// It is DELETE /api/v1/definitions/{id}/versions/{version}, for the role designer; problems of its own are definition-not-found, definition-in-use, definition-moved.
func (c *Client) DeleteVersion(ctx context.Context, id string, version string, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/definitions/" + url.PathEscape(id) + "/versions/" + url.PathEscape(version), query: nil, body: nil}, opts)
}

// DeleteWebhook: Forget a webhook, with all that it has not told.
// It is DELETE /api/v1/webhooks/{name}, for the role admin; problems of its own are webhook-not-found.
func (c *Client) DeleteWebhook(ctx context.Context, name string, opts ...Option) (*Answer[None], error) {
	return call[None](ctx, c, request{method: "DELETE", path: "/api/v1/webhooks/" + url.PathEscape(name), query: nil, body: nil}, opts)
}

// DispatchAlterations: Alter instances by a job.
// It is POST /api/v1/alterations/dispatch, for the role operator.
func (c *Client) DispatchAlterations(ctx context.Context, body RunAlterationsRequest, opts ...Option) (*Answer[AlterationPlan], error) {
	return call[AlterationPlan](ctx, c, request{method: "POST", path: "/api/v1/alterations/dispatch", query: nil, body: body}, opts)
}

// DispatchDefinition: Start an instance and answer once that is durable.
// It is POST /api/v1/definitions/{id}/dispatch, for the role operator; problems of its own are definition-not-found, instance-exists, instance-refused.
func (c *Client) DispatchDefinition(ctx context.Context, id string, body StartRequest, opts ...Option) (*Answer[Dispatched], error) {
	return call[Dispatched](ctx, c, request{method: "POST", path: "/api/v1/definitions/" + url.PathEscape(id) + "/dispatch", query: nil, body: body}, opts)
}

// DrainNode: Drain a node and end it, as SIGTERM does.
// It is POST /api/v1/nodes/{id}/drain, for the role admin; problems of its own are node-not-found.
func (c *Client) DrainNode(ctx context.Context, id string, opts ...Option) (*Answer[Node], error) {
	return call[Node](ctx, c, request{method: "POST", path: "/api/v1/nodes/" + url.PathEscape(id) + "/drain", query: nil, body: nil}, opts)
}

// DrawDefinitionQuery is the query of [Client.DrawDefinition]; zero fields are left out.
type DrawDefinitionQuery struct {
	Version int64  // The published one if absent.
	Against *int64 // Another version: what is not in it, or differs, is marked.
	Format  string // One of svg, svg-part, text, mermaid, dot, json. svg if absent. svg-part is without the style sheet, for a page that has one. json says what is drawn and where.
}

func (q DrawDefinitionQuery) values() url.Values {
	v := url.Values{}
	if q.Version != 0 {
		set(v, "version", strconv.FormatInt(q.Version, 10))
	}
	if q.Against != nil {
		set(v, "against", strconv.FormatInt(*q.Against, 10))
	}
	set(v, "format", q.Format)
	return v
}

// DrawDefinition: A picture of a definition: its activities, and the ways between them.
// It is GET /api/v1/definitions/{id}/graph, for the role viewer; problems of its own are definition-not-found.
func (c *Client) DrawDefinition(ctx context.Context, id string, query DrawDefinitionQuery, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/api/v1/definitions/" + url.PathEscape(id) + "/graph", query: query.values(), body: nil}, opts)
}

// DrawInstanceQuery is the query of [Client.DrawInstance]; zero fields are left out.
type DrawInstanceQuery struct {
	Format string // One of svg, svg-part, text, mermaid, dot, json. svg if absent. svg-part is without the style sheet, for a page that has one. json says what is drawn and where.
}

func (q DrawInstanceQuery) values() url.Values {
	v := url.Values{}
	set(v, "format", q.Format)
	return v
}

// DrawInstance: A picture of an instance: its definition with what ran, runs, waits and faulted, and the ways that were taken.
// It is GET /api/v1/instances/{id}/graph, for the role viewer; problems of its own are definition-not-found, instance-not-found.
func (c *Client) DrawInstance(ctx context.Context, id string, query DrawInstanceQuery, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/graph", query: query.values(), body: nil}, opts)
}

// EditDefinition: Change the text of a definition as its picture is pointed at: comments and all else stay; nothing is stored.
// It is POST /api/v1/definitions/edit, for the role designer.
func (c *Client) EditDefinition(ctx context.Context, body SourceEditRequest, opts ...Option) (*Answer[SourceEdited], error) {
	return call[SourceEdited](ctx, c, request{method: "POST", path: "/api/v1/definitions/edit", query: nil, body: body}, opts)
}

// ExecuteDefinition: Start an instance and answer after its first burst is committed, also when it faulted.
// It is POST /api/v1/definitions/{id}/execute, for the role operator; problems of its own are definition-not-found, instance-exists, instance-refused.
func (c *Client) ExecuteDefinition(ctx context.Context, id string, body StartRequest, opts ...Option) (*Answer[Instance], error) {
	return call[Instance](ctx, c, request{method: "POST", path: "/api/v1/definitions/" + url.PathEscape(id) + "/execute", query: nil, body: body}, opts)
}

// ExplainEventQuery is the query of [Client.ExplainEvent]; zero fields are left out.
type ExplainEventQuery struct {
	CorrelationID string
	InstanceID    string
	DryRun        *bool // It is one in any case; false is refused.
}

func (q ExplainEventQuery) values() url.Values {
	v := url.Values{}
	set(v, "correlationId", q.CorrelationID)
	set(v, "instanceId", q.InstanceID)
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// ExplainEvent: Who waits for an event: what it would do if it were sent now.
// It is GET /api/v1/events/{name}, for the role viewer.
func (c *Client) ExplainEvent(ctx context.Context, name string, query ExplainEventQuery, opts ...Option) (*Answer[Effect], error) {
	return call[Effect](ctx, c, request{method: "GET", path: "/api/v1/events/" + url.PathEscape(name), query: query.values(), body: nil}, opts)
}

// ExplainInstance: Why an instance is where it is: who runs it, what it waits for, what nearly met it, what to do.
// It is GET /api/v1/instances/{id}/explain, for the role viewer; problems of its own are instance-not-found.
func (c *Client) ExplainInstance(ctx context.Context, id string, opts ...Option) (*Answer[Explanation], error) {
	return call[Explanation](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/explain", query: nil, body: nil}, opts)
}

// ExportState: Export the instance with everything that it needs to go on, its files too.
// It is GET /api/v1/instances/{id}/state, for the role operator; problems of its own are instance-not-found.
func (c *Client) ExportState(ctx context.Context, id string, opts ...Option) (*Answer[State], error) {
	return call[State](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/state", query: nil, body: nil}, opts)
}

// FailTask: Report that an attempt at a claimed task failed.
// It is POST /api/v1/tasks/{id}/fail, for the role operator; problems of its own are instance-not-found, task-not-found, bookmark-reserved, instance-finished, instance-refused, task-claim-lost.
func (c *Client) FailTask(ctx context.Context, id string, body TaskFailRequest, opts ...Option) (*Answer[TaskFailed], error) {
	return call[TaskFailed](ctx, c, request{method: "POST", path: "/api/v1/tasks/" + url.PathEscape(id) + "/fail", query: nil, body: body}, opts)
}

// FireSchedule: Start what a schedule starts, now and beside its time; answered once that is durable.
// It is POST /api/v1/definitions/{id}/schedules/{activity}/fire, for the role operator; problems of its own are definition-not-found, schedule-not-found, instance-exists, instance-refused.
func (c *Client) FireSchedule(ctx context.Context, id string, activity string, opts ...Option) (*Answer[Dispatched], error) {
	return call[Dispatched](ctx, c, request{method: "POST", path: "/api/v1/definitions/" + url.PathEscape(id) + "/schedules/" + url.PathEscape(activity) + "/fire", query: nil, body: nil}, opts)
}

// FollowLink: Resume the one place that a link is for, once; 410 when it was followed before or has expired.
// It is POST /links/{token}.
func (c *Client) FollowLink(ctx context.Context, token string, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "POST", path: "/links/" + url.PathEscape(token), query: nil, body: nil}, opts)
}

// ForgetFailedEvents: Forget all that was given up.
// It is DELETE /api/v1/webhooks/{name}/failed, for the role admin; problems of its own are webhook-not-found.
func (c *Client) ForgetFailedEvents(ctx context.Context, name string, opts ...Option) (*Answer[WebhookAgain], error) {
	return call[WebhookAgain](ctx, c, request{method: "DELETE", path: "/api/v1/webhooks/" + url.PathEscape(name) + "/failed", query: nil, body: nil}, opts)
}

// GetBalance: What was accepted, and what became of it.
// It is GET /api/v1/cluster/balance, for the role viewer.
func (c *Client) GetBalance(ctx context.Context, opts ...Option) (*Answer[Balance], error) {
	return call[Balance](ctx, c, request{method: "GET", path: "/api/v1/cluster/balance", query: nil, body: nil}, opts)
}

// GetDeadLetter: A dead letter, with what it brought and what it would do now.
// It is GET /api/v1/dead-letters/{id}, for the role viewer; problems of its own are dead-letter-not-found.
func (c *Client) GetDeadLetter(ctx context.Context, id string, opts ...Option) (*Answer[Letter], error) {
	return call[Letter](ctx, c, request{method: "GET", path: "/api/v1/dead-letters/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// GetDefinitionQuery is the query of [Client.GetDefinition]; zero fields are left out.
type GetDefinitionQuery struct {
	Version int64 // The published one if absent.
}

func (q GetDefinitionQuery) values() url.Values {
	v := url.Values{}
	if q.Version != 0 {
		set(v, "version", strconv.FormatInt(q.Version, 10))
	}
	return v
}

// GetDefinition: The source of a definition: as it was written, or as Accept wants it.
// It is GET /api/v1/definitions/{id}, for the role viewer; problems of its own are definition-not-found.
func (c *Client) GetDefinition(ctx context.Context, id string, query GetDefinitionQuery, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/api/v1/definitions/" + url.PathEscape(id), query: query.values(), body: nil}, opts)
}

// GetEtcd: How etcd answers the node that is asked: a round trip, and each member with its version, leader and alarms; within 2 s, also where it does not answer.
// It is GET /api/v1/cluster/etcd, for the role viewer.
func (c *Client) GetEtcd(ctx context.Context, opts ...Option) (*Answer[Etcd], error) {
	return call[Etcd](ctx, c, request{method: "GET", path: "/api/v1/cluster/etcd", query: nil, body: nil}, opts)
}

// GetInstance: Show an instance; with Prefer: wait, at its end.
// It is GET /api/v1/instances/{id}, for the role viewer; problems of its own are instance-not-found.
func (c *Client) GetInstance(ctx context.Context, id string, opts ...Option) (*Answer[Instance], error) {
	return call[Instance](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// GetInterfaceQuery is the query of [Client.GetInterface]; zero fields are left out.
type GetInterfaceQuery struct {
	Version int64 // The published one if absent.
}

func (q GetInterfaceQuery) values() url.Values {
	v := url.Values{}
	if q.Version != 0 {
		set(v, "version", strconv.FormatInt(q.Version, 10))
	}
	return v
}

// GetInterface: What a definition takes and gives, and what starts it.
// It is GET /api/v1/definitions/{id}/interface, for the role viewer; problems of its own are definition-not-found.
func (c *Client) GetInterface(ctx context.Context, id string, query GetInterfaceQuery, opts ...Option) (*Answer[Interface], error) {
	return call[Interface](ctx, c, request{method: "GET", path: "/api/v1/definitions/" + url.PathEscape(id) + "/interface", query: query.values(), body: nil}, opts)
}

// GetJob: How far a job is, and who refused.
// It is GET /api/v1/jobs/{id}, for the role viewer; problems of its own are job-not-found.
func (c *Client) GetJob(ctx context.Context, id string, opts ...Option) (*Answer[Job], error) {
	return call[Job](ctx, c, request{method: "GET", path: "/api/v1/jobs/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// GetJournalQuery is the query of [Client.GetJournal]; zero fields are left out.
type GetJournalQuery struct {
	Tail     int64    // The last so many commits, 1 to 500.
	Before   *int64   // Only commits before this one: the nearest.
	After    *int64   // Only commits after this one: the nearest, unless tail is given.
	Activity []string // Only items of this activity; several may be given.
	Event    []string // Only these items: Started, Completed, Suspended, Resumed, Faulted, Canceled, Interrupted, WriteLine, or what an activity calls its own; several may be given.
	Items    int64    // At most so many items, 1 to 5000, counted from where the page begins: with tail, before or previousCursor from its newest. A page ends within a commit that has more, and its cursors go on there. If absent, all items of its commits.
	Text     string   // Only items whose text or data has this, in any case of letters.
	Limit    int64    // Commits of a page, 1 to 500, 50 if absent.
	Cursor   string   // nextCursor or previousCursor of another page. Give it before and after, too, if the page behind it is to end there.
}

func (q GetJournalQuery) values() url.Values {
	v := url.Values{}
	if q.Tail != 0 {
		set(v, "tail", strconv.FormatInt(q.Tail, 10))
	}
	if q.Before != nil {
		set(v, "before", strconv.FormatInt(*q.Before, 10))
	}
	if q.After != nil {
		set(v, "after", strconv.FormatInt(*q.After, 10))
	}
	v["activity"] = q.Activity
	v["event"] = q.Event
	if q.Items != 0 {
		set(v, "items", strconv.FormatInt(q.Items, 10))
	}
	set(v, "text", q.Text)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// GetJournal: What the instance did: from its beginning, from its end (tail), or around a commit.
// It is GET /api/v1/instances/{id}/journal, for the role viewer; problems of its own are instance-not-found.
func (c *Client) GetJournal(ctx context.Context, id string, query GetJournalQuery, opts ...Option) (*Answer[JournalPage], error) {
	return call[JournalPage](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/journal", query: query.values(), body: nil}, opts)
}

// AllJournal goes through all pages of [Client.GetJournal], from the cursor of query on.
func (c *Client) AllJournal(ctx context.Context, id string, query GetJournalQuery, opts ...Option) iter.Seq2[Journal, error] {
	return pages(func(cursor string) ([]Journal, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.GetJournal(ctx, id, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// GetLimit: One limit, and how it stands for each key.
// It is GET /api/v1/limits/{name}, for the role viewer; problems of its own are limit-not-found.
func (c *Client) GetLimit(ctx context.Context, name string, opts ...Option) (*Answer[Limit], error) {
	return call[Limit](ctx, c, request{method: "GET", path: "/api/v1/limits/" + url.PathEscape(name), query: nil, body: nil}, opts)
}

// GetLineageQuery is the query of [Client.GetLineage]; zero fields are left out.
type GetLineageQuery struct {
	Depth       *int64 // How far down, 1 to 10, 3 if absent.
	Descendants *int64 // How many of them, 1 to 500, 100 if absent; those nearest to it come first.
}

func (q GetLineageQuery) values() url.Values {
	v := url.Values{}
	if q.Depth != nil {
		set(v, "depth", strconv.FormatInt(*q.Depth, 10))
	}
	if q.Descendants != nil {
		set(v, "descendants", strconv.FormatInt(*q.Descendants, 10))
	}
	return v
}

// GetLineage: Who started an instance, and whom it started.
// It is GET /api/v1/instances/{id}/lineage, for the role viewer; problems of its own are instance-not-found, damaged.
func (c *Client) GetLineage(ctx context.Context, id string, query GetLineageQuery, opts ...Option) (*Answer[Lineage], error) {
	return call[Lineage](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/lineage", query: query.values(), body: nil}, opts)
}

// GetMemoryQuery is the query of [Client.GetMemory]; zero fields are left out.
type GetMemoryQuery struct {
	InstanceID string // Of this instance: its burst, and refusals.
	Name       string // Events with this name, or nearly so; up to 5 may be given.
}

func (q GetMemoryQuery) values() url.Values {
	v := url.Values{}
	set(v, "instanceId", q.InstanceID)
	set(v, "name", q.Name)
	return v
}

// GetMemory: What only a node knows of an instance, and of events, in one answer; explanations ask for it, and any node does.
// It is GET /api/v1/nodes/{id}/memory, for the role viewer; problems of its own are node-not-found.
func (c *Client) GetMemory(ctx context.Context, id string, query GetMemoryQuery, opts ...Option) (*Answer[Memory], error) {
	return call[Memory](ctx, c, request{method: "GET", path: "/api/v1/nodes/" + url.PathEscape(id) + "/memory", query: query.values(), body: nil}, opts)
}

// GetMeters: What a node does: commits by outcome, how requests to etcd are batched, what it runs and holds, how full etcd is; any node asks it.
// It is GET /api/v1/nodes/{id}/meters, for the role viewer; problems of its own are node-not-found.
func (c *Client) GetMeters(ctx context.Context, id string, opts ...Option) (*Answer[Meters], error) {
	return call[Meters](ctx, c, request{method: "GET", path: "/api/v1/nodes/" + url.PathEscape(id) + "/meters", query: nil, body: nil}, opts)
}

// GetQueueItem: A stimulus of the queue, with what it brings and what it would do.
// It is GET /api/v1/queue/{id}, for the role viewer; problems of its own are queue-item-not-found.
func (c *Client) GetQueueItem(ctx context.Context, id string, opts ...Option) (*Answer[QueuedItem], error) {
	return call[QueuedItem](ctx, c, request{method: "GET", path: "/api/v1/queue/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// GetReceipts: What became of the requests that came with an Idempotency-Key.
// It is GET /api/v1/receipts/{key}, for the role viewer; problems of its own are receipt-not-found.
func (c *Client) GetReceipts(ctx context.Context, key string, opts ...Option) (*Answer[Receipts], error) {
	return call[Receipts](ctx, c, request{method: "GET", path: "/api/v1/receipts/" + url.PathEscape(key), query: nil, body: nil}, opts)
}

// GetStatsQuery is the query of [Client.GetStats]; zero fields are left out.
type GetStatsQuery struct {
	DefinitionID string // Only of this definition, and by its versions.
	By           string // One of definition, version, total. What items are by: version counts each version of each definition, total has no items; definition if absent.
}

func (q GetStatsQuery) values() url.Values {
	v := url.Values{}
	set(v, "definitionId", q.DefinitionID)
	set(v, "by", q.By)
	return v
}

// GetStats: How many instances there are, by sub-status and by definition.
// It is GET /api/v1/stats, for the role viewer.
func (c *Client) GetStats(ctx context.Context, query GetStatsQuery, opts ...Option) (*Answer[Stats], error) {
	return call[Stats](ctx, c, request{method: "GET", path: "/api/v1/stats", query: query.values(), body: nil}, opts)
}

// GetStore: What fills etcd: by kind and definition, the largest instances, days until it is full.
// It is GET /api/v1/cluster/store, for the role viewer.
func (c *Client) GetStore(ctx context.Context, opts ...Option) (*Answer[Filling], error) {
	return call[Filling](ctx, c, request{method: "GET", path: "/api/v1/cluster/store", query: nil, body: nil}, opts)
}

// GetUserTask: One user task that the caller may complete.
// It is GET /api/v1/user-tasks/{id}, for the role business; problems of its own are task-not-found.
func (c *Client) GetUserTask(ctx context.Context, id string, opts ...Option) (*Answer[UserTask], error) {
	return call[UserTask](ctx, c, request{method: "GET", path: "/api/v1/user-tasks/" + url.PathEscape(id), query: nil, body: nil}, opts)
}

// GetVariableChangesQuery is the query of [Client.GetVariableChanges]; zero fields are left out.
type GetVariableChangesQuery struct {
	From *int64 // A commit, 0 for before the first; the one before to if absent.
	To   *int64 // A later commit; the newest if absent.
}

func (q GetVariableChangesQuery) values() url.Values {
	v := url.Values{}
	if q.From != nil {
		set(v, "from", strconv.FormatInt(*q.From, 10))
	}
	if q.To != nil {
		set(v, "to", strconv.FormatInt(*q.To, 10))
	}
	return v
}

// GetVariableChanges: How the variables of an instance differ between two of its commits.
// It is GET /api/v1/instances/{id}/variables/changes, for the role viewer; problems of its own are instance-not-found.
func (c *Client) GetVariableChanges(ctx context.Context, id string, query GetVariableChangesQuery, opts ...Option) (*Answer[VariableChanges], error) {
	return call[VariableChanges](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/variables/changes", query: query.values(), body: nil}, opts)
}

// GetVariablesQuery is the query of [Client.GetVariables]; zero fields are left out.
type GetVariablesQuery struct {
	At *int64 // The commit; the newest if absent.
}

func (q GetVariablesQuery) values() url.Values {
	v := url.Values{}
	if q.At != nil {
		set(v, "at", strconv.FormatInt(*q.At, 10))
	}
	return v
}

// GetVariables: The variables of an instance after one of its commits, and who set them.
// It is GET /api/v1/instances/{id}/variables, for the role viewer; problems of its own are instance-not-found.
func (c *Client) GetVariables(ctx context.Context, id string, query GetVariablesQuery, opts ...Option) (*Answer[Variables], error) {
	return call[Variables](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/variables", query: query.values(), body: nil}, opts)
}

// GetWebhook: One webhook, and how it is.
// It is GET /api/v1/webhooks/{name}, for the role admin; problems of its own are webhook-not-found.
func (c *Client) GetWebhook(ctx context.Context, name string, opts ...Option) (*Answer[Webhook], error) {
	return call[Webhook](ctx, c, request{method: "GET", path: "/api/v1/webhooks/" + url.PathEscape(name), query: nil, body: nil}, opts)
}

// HeartbeatTask: Extend the lease of a claimed task, and say how far it is.
// It is POST /api/v1/tasks/{id}/heartbeat, for the role operator; problems of its own are task-not-found, task-claim-lost.
func (c *Client) HeartbeatTask(ctx context.Context, id string, body HeartbeatRequest, opts ...Option) (*Answer[Heard], error) {
	return call[Heard](ctx, c, request{method: "POST", path: "/api/v1/tasks/" + url.PathEscape(id) + "/heartbeat", query: nil, body: body}, opts)
}

// ImportState: Replace the state of an instance by an exported one, or bring one that is not there.
// It is PUT /api/v1/instances/{id}/state, for the role admin; problems of its own are definition-not-found, instance-refused, instance-moved.
func (c *Client) ImportState(ctx context.Context, id string, body StateRequest, opts ...Option) (*Answer[State], error) {
	return call[State](ctx, c, request{method: "PUT", path: "/api/v1/instances/" + url.PathEscape(id) + "/state", query: nil, body: body}, opts)
}

// ListActivities: The activities that this node's program has, with what they take and give, and where they are used.
// It is GET /api/v1/activities, for the role viewer.
func (c *Client) ListActivities(ctx context.Context, opts ...Option) (*Answer[Activities], error) {
	return call[Activities](ctx, c, request{method: "GET", path: "/api/v1/activities", query: nil, body: nil}, opts)
}

// ListAuditQuery is the query of [Client.ListAudit]; zero fields are left out.
type ListAuditQuery struct {
	Who       string // Only of this caller, such as key:shop.
	Operation string // Only of this operation, such as cancelInstance.
	Target    string // Only those whose target has this in it.
	Result    string // One of done, accepted, checked, denied, failed. Only of this result.
}

func (q ListAuditQuery) values() url.Values {
	v := url.Values{}
	set(v, "who", q.Who)
	set(v, "operation", q.Operation)
	set(v, "target", q.Target)
	set(v, "result", q.Result)
	return v
}

// ListAudit: Who did what lately, on all live nodes, the newest first.
// It is GET /api/v1/audit, for the role admin.
func (c *Client) ListAudit(ctx context.Context, query ListAuditQuery, opts ...Option) (*Answer[Audit], error) {
	return call[Audit](ctx, c, request{method: "GET", path: "/api/v1/audit", query: query.values(), body: nil}, opts)
}

// ListBookmarksQuery is the query of [Client.ListBookmarks]; zero fields are left out.
type ListBookmarksQuery struct {
	Event         string // Only those that wait for this event: these alone are read.
	DefinitionID  string // Only of instances of this definition: these alone are read, the newest first.
	CorrelationID string // Only of instances with this correlation id.
	ActivityType  string // Only of this type, such as Elsa.RunTask: all that waits is looked through, or all of the definition.
	Name          string // Only with this name, of an event, a task or an endpoint: all that waits is looked through, or all of the definition.
	Limit         int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor        string // nextCursor of the page before.
}

func (q ListBookmarksQuery) values() url.Values {
	v := url.Values{}
	set(v, "event", q.Event)
	set(v, "definitionId", q.DefinitionID)
	set(v, "correlationId", q.CorrelationID)
	set(v, "activityType", q.ActivityType)
	set(v, "name", q.Name)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListBookmarks: Places where instances wait, by what they wait for.
// It is GET /api/v1/bookmarks, for the role viewer.
func (c *Client) ListBookmarks(ctx context.Context, query ListBookmarksQuery, opts ...Option) (*Answer[Bookmarks], error) {
	return call[Bookmarks](ctx, c, request{method: "GET", path: "/api/v1/bookmarks", query: query.values(), body: nil}, opts)
}

// AllBookmarks goes through all pages of [Client.ListBookmarks], from the cursor of query on.
func (c *Client) AllBookmarks(ctx context.Context, query ListBookmarksQuery, opts ...Option) iter.Seq2[Awaiting, error] {
	return pages(func(cursor string) ([]Awaiting, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListBookmarks(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListBurstsQuery is the query of [Client.ListBursts]; zero fields are left out.
type ListBurstsQuery struct {
	InstanceID string // Only of this instance.
}

func (q ListBurstsQuery) values() url.Values {
	v := url.Values{}
	set(v, "instanceId", q.InstanceID)
	return v
}

// ListBursts: What a node runs at the moment: instances, their activities, since when; any node asks it.
// It is GET /api/v1/nodes/{id}/bursts, for the role viewer; problems of its own are node-not-found.
func (c *Client) ListBursts(ctx context.Context, id string, query ListBurstsQuery, opts ...Option) (*Answer[Bursts], error) {
	return call[Bursts](ctx, c, request{method: "GET", path: "/api/v1/nodes/" + url.PathEscape(id) + "/bursts", query: query.values(), body: nil}, opts)
}

// ListDeadLettersQuery is the query of [Client.ListDeadLetters]; zero fields are left out.
type ListDeadLettersQuery struct {
	Reason        string // One of expired, gated, instance-finished, instance-not-found, poison, too-large, unrunnable, child-refused.
	Name          string // Of the event.
	ActivityType  string
	CorrelationID string
	InstanceID    string
	Before        string // Those that came to be before this time.
	Limit         int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor        string // nextCursor of the page before.
}

func (q ListDeadLettersQuery) values() url.Values {
	v := url.Values{}
	set(v, "reason", q.Reason)
	set(v, "name", q.Name)
	set(v, "activityType", q.ActivityType)
	set(v, "correlationId", q.CorrelationID)
	set(v, "instanceId", q.InstanceID)
	set(v, "before", q.Before)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListDeadLetters: Work that could not be done, with the reason.
// It is GET /api/v1/dead-letters, for the role viewer.
func (c *Client) ListDeadLetters(ctx context.Context, query ListDeadLettersQuery, opts ...Option) (*Answer[DeadLetterList], error) {
	return call[DeadLetterList](ctx, c, request{method: "GET", path: "/api/v1/dead-letters", query: query.values(), body: nil}, opts)
}

// AllDeadLetters goes through all pages of [Client.ListDeadLetters], from the cursor of query on.
func (c *Client) AllDeadLetters(ctx context.Context, query ListDeadLettersQuery, opts ...Option) iter.Seq2[DeadLetter, error] {
	return pages(func(cursor string) ([]DeadLetter, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListDeadLetters(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListDefinitionsQuery is the query of [Client.ListDefinitions]; zero fields are left out.
type ListDefinitionsQuery struct {
	Starts *bool  // Tell also what starts each of them by itself.
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListDefinitionsQuery) values() url.Values {
	v := url.Values{}
	if q.Starts != nil {
		set(v, "starts", strconv.FormatBool(*q.Starts))
	}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListDefinitions: List definitions.
// It is GET /api/v1/definitions, for the role viewer.
func (c *Client) ListDefinitions(ctx context.Context, query ListDefinitionsQuery, opts ...Option) (*Answer[DefinitionList], error) {
	return call[DefinitionList](ctx, c, request{method: "GET", path: "/api/v1/definitions", query: query.values(), body: nil}, opts)
}

// AllDefinitions goes through all pages of [Client.ListDefinitions], from the cursor of query on.
func (c *Client) AllDefinitions(ctx context.Context, query ListDefinitionsQuery, opts ...Option) iter.Seq2[Definition, error] {
	return pages(func(cursor string) ([]Definition, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListDefinitions(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListFailedEventsQuery is the query of [Client.ListFailedEvents]; zero fields are left out.
type ListFailedEventsQuery struct {
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListFailedEventsQuery) values() url.Values {
	v := url.Values{}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListFailedEvents: Events that the receiver did not take within a day.
// It is GET /api/v1/webhooks/{name}/failed, for the role admin; problems of its own are webhook-not-found.
func (c *Client) ListFailedEvents(ctx context.Context, name string, query ListFailedEventsQuery, opts ...Option) (*Answer[WebhookLetterList], error) {
	return call[WebhookLetterList](ctx, c, request{method: "GET", path: "/api/v1/webhooks/" + url.PathEscape(name) + "/failed", query: query.values(), body: nil}, opts)
}

// AllFailedEvents goes through all pages of [Client.ListFailedEvents], from the cursor of query on.
func (c *Client) AllFailedEvents(ctx context.Context, name string, query ListFailedEventsQuery, opts ...Option) iter.Seq2[WebhookLetter, error] {
	return pages(func(cursor string) ([]WebhookLetter, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListFailedEvents(ctx, name, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListInstancesQuery is the query of [Client.ListInstances]; zero fields are left out.
type ListInstancesQuery struct {
	Q              string // The filter as one line, such as status:faulted def:order created<2h; docs/api.md has the words. It goes together with other parameters.
	DefinitionID   string
	Version        int64 // Of the definition, which has to be named too.
	CorrelationID  string
	Parent         string            // Id of the instance that started them.
	Name           string            // Of the instance, all of it.
	Label          map[string]string // Those with this label; several may be given.
	Status         string            // One of Running, Finished.
	SubStatus      string            // One of Pending, Executing, Suspended, Finished, Cancelled, Faulted.
	WaitsFor       string            // A kind of wait and perhaps its name, such as event/approved, task/pack, timer, child, http or Elsa.Event.
	HasIncidents   *bool
	Incident       string // A part of the message or the cause of an incident, in letters of any case.
	View           string // One of summary, full. summary: small rows; full if absent.
	Sort           string // One of -created, created. created, the oldest first; -created, the newest first, if absent.
	CreatedAfter   string // Made later than this: RFC 3339, or how long ago, such as 2h.
	CreatedBefore  string // Made earlier than this.
	UpdatedAfter   string // Changed last later than this: RFC 3339, or how long ago, such as 2h.
	UpdatedBefore  string // Changed last earlier than this.
	FinishedAfter  string // Ended later than this: RFC 3339, or how long ago, such as 2h.
	FinishedBefore string // Ended earlier than this.
	Limit          int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor         string // nextCursor of the page before.
}

func (q ListInstancesQuery) values() url.Values {
	v := url.Values{}
	set(v, "q", q.Q)
	set(v, "definitionId", q.DefinitionID)
	if q.Version != 0 {
		set(v, "version", strconv.FormatInt(q.Version, 10))
	}
	set(v, "correlationId", q.CorrelationID)
	set(v, "parent", q.Parent)
	set(v, "name", q.Name)
	for name, value := range q.Label {
		set(v, "label."+name, value)
	}
	set(v, "status", q.Status)
	set(v, "subStatus", q.SubStatus)
	set(v, "waitsFor", q.WaitsFor)
	if q.HasIncidents != nil {
		set(v, "hasIncidents", strconv.FormatBool(*q.HasIncidents))
	}
	set(v, "incident", q.Incident)
	set(v, "view", q.View)
	set(v, "sort", q.Sort)
	set(v, "createdAfter", q.CreatedAfter)
	set(v, "createdBefore", q.CreatedBefore)
	set(v, "updatedAfter", q.UpdatedAfter)
	set(v, "updatedBefore", q.UpdatedBefore)
	set(v, "finishedAfter", q.FinishedAfter)
	set(v, "finishedBefore", q.FinishedBefore)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListJobsQuery is the query of [Client.ListJobs]; zero fields are left out.
type ListJobsQuery struct {
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListJobsQuery) values() url.Values {
	v := url.Values{}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListJobs: Jobs that run or have ended.
// It is GET /api/v1/jobs, for the role viewer.
func (c *Client) ListJobs(ctx context.Context, query ListJobsQuery, opts ...Option) (*Answer[JobList], error) {
	return call[JobList](ctx, c, request{method: "GET", path: "/api/v1/jobs", query: query.values(), body: nil}, opts)
}

// AllJobs goes through all pages of [Client.ListJobs], from the cursor of query on.
func (c *Client) AllJobs(ctx context.Context, query ListJobsQuery, opts ...Option) iter.Seq2[Job, error] {
	return pages(func(cursor string) ([]Job, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListJobs(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListLimits: All limits, and those that somebody waits for, with how they stand.
// It is GET /api/v1/limits, for the role viewer.
func (c *Client) ListLimits(ctx context.Context, opts ...Option) (*Answer[Limits], error) {
	return call[Limits](ctx, c, request{method: "GET", path: "/api/v1/limits", query: nil, body: nil}, opts)
}

// ListLocksQuery is the query of [Client.ListLocks]; zero fields are left out.
type ListLocksQuery struct {
	Scope  string // One of instance, refresh, reload, queue, timer, mailbox. Only locks of this kind.
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListLocksQuery) values() url.Values {
	v := url.Values{}
	set(v, "scope", q.Scope)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListLocks: Locks that are held, with who waits.
// It is GET /api/v1/locks, for the role viewer.
func (c *Client) ListLocks(ctx context.Context, query ListLocksQuery, opts ...Option) (*Answer[Locks], error) {
	return call[Locks](ctx, c, request{method: "GET", path: "/api/v1/locks", query: query.values(), body: nil}, opts)
}

// AllLocks goes through all pages of [Client.ListLocks], from the cursor of query on.
func (c *Client) AllLocks(ctx context.Context, query ListLocksQuery, opts ...Option) iter.Seq2[Lock, error] {
	return pages(func(cursor string) ([]Lock, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListLocks(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListMeters: The same of all live nodes, asked at the same time.
// It is GET /api/v1/cluster/meters, for the role viewer.
func (c *Client) ListMeters(ctx context.Context, opts ...Option) (*Answer[AllMeters], error) {
	return call[AllMeters](ctx, c, request{method: "GET", path: "/api/v1/cluster/meters", query: nil, body: nil}, opts)
}

// ListNodeAuditQuery is the query of [Client.ListNodeAudit]; zero fields are left out.
type ListNodeAuditQuery struct {
	Who       string // Only of this caller, such as key:shop.
	Operation string // Only of this operation, such as cancelInstance.
	Target    string // Only those whose target has this in it.
	Result    string // One of done, accepted, checked, denied, failed. Only of this result.
}

func (q ListNodeAuditQuery) values() url.Values {
	v := url.Values{}
	set(v, "who", q.Who)
	set(v, "operation", q.Operation)
	set(v, "target", q.Target)
	set(v, "result", q.Result)
	return v
}

// ListNodeAudit: Who did what lately on a node, of the last 1,000 lines of its audit log, the newest first; any node asks it.
// It is GET /api/v1/nodes/{id}/audit, for the role admin; problems of its own are node-not-found.
func (c *Client) ListNodeAudit(ctx context.Context, id string, query ListNodeAuditQuery, opts ...Option) (*Answer[NodeAudit], error) {
	return call[NodeAudit](ctx, c, request{method: "GET", path: "/api/v1/nodes/" + url.PathEscape(id) + "/audit", query: query.values(), body: nil}, opts)
}

// ListNodes: Live nodes of the cluster.
// It is GET /api/v1/nodes, for the role viewer.
func (c *Client) ListNodes(ctx context.Context, opts ...Option) (*Answer[NodeList], error) {
	return call[NodeList](ctx, c, request{method: "GET", path: "/api/v1/nodes", query: nil, body: nil}, opts)
}

// ListOwners: Which node made which commits of an instance, who took over from whom, and what a fence refused.
// It is GET /api/v1/instances/{id}/owners, for the role viewer; problems of its own are instance-not-found.
func (c *Client) ListOwners(ctx context.Context, id string, opts ...Option) (*Answer[Owners], error) {
	return call[Owners](ctx, c, request{method: "GET", path: "/api/v1/instances/" + url.PathEscape(id) + "/owners", query: nil, body: nil}, opts)
}

// ListPlacesTakenQuery is the query of [Client.ListPlacesTaken]; zero fields are left out.
type ListPlacesTakenQuery struct {
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListPlacesTakenQuery) values() url.Values {
	v := url.Values{}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListPlacesTaken: Who has places of a limit, by key.
// It is GET /api/v1/limits/{name}/taken, for the role viewer.
func (c *Client) ListPlacesTaken(ctx context.Context, name string, query ListPlacesTakenQuery, opts ...Option) (*Answer[LimitPlaces], error) {
	return call[LimitPlaces](ctx, c, request{method: "GET", path: "/api/v1/limits/" + url.PathEscape(name) + "/taken", query: query.values(), body: nil}, opts)
}

// AllPlacesTaken goes through all pages of [Client.ListPlacesTaken], from the cursor of query on.
func (c *Client) AllPlacesTaken(ctx context.Context, name string, query ListPlacesTakenQuery, opts ...Option) iter.Seq2[LimitPlace, error] {
	return pages(func(cursor string) ([]LimitPlace, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListPlacesTaken(ctx, name, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListPlacesWaitingQuery is the query of [Client.ListPlacesWaiting]; zero fields are left out.
type ListPlacesWaitingQuery struct {
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListPlacesWaitingQuery) values() url.Values {
	v := url.Values{}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListPlacesWaiting: Who waits for places of a limit: of each key in the order in which they are given one.
// It is GET /api/v1/limits/{name}/waiting, for the role viewer.
func (c *Client) ListPlacesWaiting(ctx context.Context, name string, query ListPlacesWaitingQuery, opts ...Option) (*Answer[LimitPlaces], error) {
	return call[LimitPlaces](ctx, c, request{method: "GET", path: "/api/v1/limits/" + url.PathEscape(name) + "/waiting", query: query.values(), body: nil}, opts)
}

// AllPlacesWaiting goes through all pages of [Client.ListPlacesWaiting], from the cursor of query on.
func (c *Client) AllPlacesWaiting(ctx context.Context, name string, query ListPlacesWaitingQuery, opts ...Option) iter.Seq2[LimitPlace, error] {
	return pages(func(cursor string) ([]LimitPlace, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListPlacesWaiting(ctx, name, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListQueueQuery is the query of [Client.ListQueue]; zero fields are left out.
type ListQueueQuery struct {
	Name          string // Of the event.
	ActivityType  string
	CorrelationID string
	InstanceID    string
	Before        string // Those that came into the queue before this time.
	Limit         int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor        string // nextCursor of the page before.
}

func (q ListQueueQuery) values() url.Values {
	v := url.Values{}
	set(v, "name", q.Name)
	set(v, "activityType", q.ActivityType)
	set(v, "correlationId", q.CorrelationID)
	set(v, "instanceId", q.InstanceID)
	set(v, "before", q.Before)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListQueue: Stimuli that nothing waits for yet.
// It is GET /api/v1/queue, for the role viewer.
func (c *Client) ListQueue(ctx context.Context, query ListQueueQuery, opts ...Option) (*Answer[QueueItemList], error) {
	return call[QueueItemList](ctx, c, request{method: "GET", path: "/api/v1/queue", query: query.values(), body: nil}, opts)
}

// AllQueue goes through all pages of [Client.ListQueue], from the cursor of query on.
func (c *Client) AllQueue(ctx context.Context, query ListQueueQuery, opts ...Option) iter.Seq2[QueueItem, error] {
	return pages(func(cursor string) ([]QueueItem, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListQueue(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListRecentEventsQuery is the query of [Client.ListRecentEvents]; zero fields are left out.
type ListRecentEventsQuery struct {
	Name string // Required: with this name, or nearly so; up to 5 may be given.
}

func (q ListRecentEventsQuery) values() url.Values {
	v := url.Values{}
	set(v, "name", q.Name)
	return v
}

// ListRecentEvents: Events that a node sent lately, of its last 10,000, half of them of those that met nobody, and where they went; any node asks it.
// It is GET /api/v1/nodes/{id}/events, for the role viewer; problems of its own are node-not-found.
func (c *Client) ListRecentEvents(ctx context.Context, id string, query ListRecentEventsQuery, opts ...Option) (*Answer[RecentEvents], error) {
	return call[RecentEvents](ctx, c, request{method: "GET", path: "/api/v1/nodes/" + url.PathEscape(id) + "/events", query: query.values(), body: nil}, opts)
}

// ListRefusalsQuery is the query of [Client.ListRefusals]; zero fields are left out.
type ListRefusalsQuery struct {
	InstanceID string // Only of this instance.
}

func (q ListRefusalsQuery) values() url.Values {
	v := url.Values{}
	set(v, "instanceId", q.InstanceID)
	return v
}

// ListRefusals: Commits of a node that a fence refused, as another node had the instance by then; any node asks it.
// It is GET /api/v1/nodes/{id}/refusals, for the role viewer; problems of its own are node-not-found.
func (c *Client) ListRefusals(ctx context.Context, id string, query ListRefusalsQuery, opts ...Option) (*Answer[Refusals], error) {
	return call[Refusals](ctx, c, request{method: "GET", path: "/api/v1/nodes/" + url.PathEscape(id) + "/refusals", query: query.values(), body: nil}, opts)
}

// ListTasksQuery is the query of [Client.ListTasks]; zero fields are left out.
type ListTasksQuery struct {
	Name   string // Only tasks of this name.
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListTasksQuery) values() url.Values {
	v := url.Values{}
	set(v, "name", q.Name)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListTasks: Tasks that wait for a worker outside, and who has them.
// It is GET /api/v1/tasks, for the role viewer.
func (c *Client) ListTasks(ctx context.Context, query ListTasksQuery, opts ...Option) (*Answer[TaskList], error) {
	return call[TaskList](ctx, c, request{method: "GET", path: "/api/v1/tasks", query: query.values(), body: nil}, opts)
}

// AllTasks goes through all pages of [Client.ListTasks], from the cursor of query on.
func (c *Client) AllTasks(ctx context.Context, query ListTasksQuery, opts ...Option) iter.Seq2[Task, error] {
	return pages(func(cursor string) ([]Task, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListTasks(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListTimersQuery is the query of [Client.ListTimers]; zero fields are left out.
type ListTimersQuery struct {
	Kind   string // One of timers, schedules. Only timers of instances, or only the next occurrence of each schedule.
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListTimersQuery) values() url.Values {
	v := url.Values{}
	set(v, "kind", q.Kind)
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListTimers: Timers and cron occurrences to come, the soonest first.
// It is GET /api/v1/timers, for the role viewer.
func (c *Client) ListTimers(ctx context.Context, query ListTimersQuery, opts ...Option) (*Answer[TimerItemList], error) {
	return call[TimerItemList](ctx, c, request{method: "GET", path: "/api/v1/timers", query: query.values(), body: nil}, opts)
}

// AllTimers goes through all pages of [Client.ListTimers], from the cursor of query on.
func (c *Client) AllTimers(ctx context.Context, query ListTimersQuery, opts ...Option) iter.Seq2[TimerItem, error] {
	return pages(func(cursor string) ([]TimerItem, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListTimers(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListUserTasksQuery is the query of [Client.ListUserTasks]; zero fields are left out.
type ListUserTasksQuery struct {
	Others *bool  // Also those that somebody else has; of an operator every one that the caller may complete.
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListUserTasksQuery) values() url.Values {
	v := url.Values{}
	if q.Others != nil {
		set(v, "others", strconv.FormatBool(*q.Others))
	}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListUserTasks: User tasks that wait for the caller.
// It is GET /api/v1/user-tasks, for the role business.
func (c *Client) ListUserTasks(ctx context.Context, query ListUserTasksQuery, opts ...Option) (*Answer[UserTaskList], error) {
	return call[UserTaskList](ctx, c, request{method: "GET", path: "/api/v1/user-tasks", query: query.values(), body: nil}, opts)
}

// AllUserTasks goes through all pages of [Client.ListUserTasks], from the cursor of query on.
func (c *Client) AllUserTasks(ctx context.Context, query ListUserTasksQuery, opts ...Option) iter.Seq2[UserTask, error] {
	return pages(func(cursor string) ([]UserTask, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListUserTasks(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListVersionsQuery is the query of [Client.ListVersions]; zero fields are left out.
type ListVersionsQuery struct {
	Limit  int64  // Items of a page, 1 to 500, 50 if absent.
	Cursor string // nextCursor of the page before.
}

func (q ListVersionsQuery) values() url.Values {
	v := url.Values{}
	if q.Limit != 0 {
		set(v, "limit", strconv.FormatInt(q.Limit, 10))
	}
	set(v, "cursor", q.Cursor)
	return v
}

// ListVersions: List the versions of a definition, the newest first.
// It is GET /api/v1/definitions/{id}/versions, for the role viewer; problems of its own are definition-not-found.
func (c *Client) ListVersions(ctx context.Context, id string, query ListVersionsQuery, opts ...Option) (*Answer[VersionList], error) {
	return call[VersionList](ctx, c, request{method: "GET", path: "/api/v1/definitions/" + url.PathEscape(id) + "/versions", query: query.values(), body: nil}, opts)
}

// AllVersions goes through all pages of [Client.ListVersions], from the cursor of query on.
func (c *Client) AllVersions(ctx context.Context, id string, query ListVersionsQuery, opts ...Option) iter.Seq2[Version, error] {
	return pages(func(cursor string) ([]Version, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListVersions(ctx, id, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListWebhooks: All webhooks, and how they are.
// It is GET /api/v1/webhooks, for the role admin.
func (c *Client) ListWebhooks(ctx context.Context, opts ...Option) (*Answer[Webhooks], error) {
	return call[Webhooks](ctx, c, request{method: "GET", path: "/api/v1/webhooks", query: nil, body: nil}, opts)
}

// Live: The process answers; never asks etcd.
// It is GET /livez.
func (c *Client) Live(ctx context.Context, opts ...Option) (*Answer[Health], error) {
	return call[Health](ctx, c, request{method: "GET", path: "/livez", query: nil, body: nil}, opts)
}

// Metrics: Prometheus metrics.
// It is GET /metrics.
func (c *Client) Metrics(ctx context.Context, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/metrics", query: nil, body: nil}, opts)
}

// Openapi: This document.
// It is GET /openapi.json, for the role viewer.
func (c *Client) Openapi(ctx context.Context, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/openapi.json", query: nil, body: nil}, opts)
}

// Pause: Stop new work on all nodes: starts, events, timers and the queue; work that runs goes on.
// It is POST /api/v1/pause, for the role admin.
func (c *Client) Pause(ctx context.Context, opts ...Option) (*Answer[Paused], error) {
	return call[Paused](ctx, c, request{method: "POST", path: "/api/v1/pause", query: nil, body: nil}, opts)
}

// PublishDefinitionQuery is the query of [Client.PublishDefinition]; zero fields are left out.
type PublishDefinitionQuery struct {
	Publish *bool  // false keeps it as a draft.
	DryRun  *bool  // Check everything and write nothing.
	Strict  *bool  // A warning is an error.
	Set     string // The definition is of this set from now on: a name as ids are. Absent: of the one that it is of.
	File    string // The name of the file that it is in: without its ending the id of a definition that says none.
	Beside  string // Ids of definitions that are published with this one, with commas between them: that one of them is not there yet is no mistake.
}

func (q PublishDefinitionQuery) values() url.Values {
	v := url.Values{}
	if q.Publish != nil {
		set(v, "publish", strconv.FormatBool(*q.Publish))
	}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	if q.Strict != nil {
		set(v, "strict", strconv.FormatBool(*q.Strict))
	}
	set(v, "set", q.Set)
	set(v, "file", q.File)
	set(v, "beside", q.Beside)
	return v
}

// PublishDefinition: Check a definition and publish it; content equal to the published one is no new version.
// It is POST /api/v1/definitions, for the role designer; problems of its own are definition-not-found, definition-moved, route-taken.
func (c *Client) PublishDefinition(ctx context.Context, body []byte, query PublishDefinitionQuery, opts ...Option) (*Answer[Published], error) {
	return call[Published](ctx, c, request{method: "POST", path: "/api/v1/definitions", query: query.values(), body: body}, opts)
}

// PublishVersion: Publish a stored version: a draft, or an older one again.
// It is POST /api/v1/definitions/{id}/publish, for the role designer; problems of its own are definition-not-found, definition-moved, route-taken.
func (c *Client) PublishVersion(ctx context.Context, id string, body PublishRequest, opts ...Option) (*Answer[Published], error) {
	return call[Published](ctx, c, request{method: "POST", path: "/api/v1/definitions/" + url.PathEscape(id) + "/publish", query: nil, body: body}, opts)
}

// PutLimit: Set how many may have a place of a limit at once, of each key, and how many units may be taken in a time.
// It is PUT /api/v1/limits/{name}, for the role operator.
func (c *Client) PutLimit(ctx context.Context, name string, body LimitRequest, opts ...Option) (*Answer[Limit], error) {
	return call[Limit](ctx, c, request{method: "PUT", path: "/api/v1/limits/" + url.PathEscape(name), query: nil, body: body}, opts)
}

// PutWebhook: Make or change a webhook: who is told, and of what, from now on.
// It is PUT /api/v1/webhooks/{name}, for the role admin.
func (c *Client) PutWebhook(ctx context.Context, name string, body WebhookRequest, opts ...Option) (*Answer[Webhook], error) {
	return call[Webhook](ctx, c, request{method: "PUT", path: "/api/v1/webhooks/" + url.PathEscape(name), query: nil, body: body}, opts)
}

// ReadyQuery is the query of [Client.Ready]; zero fields are left out.
type ReadyQuery struct {
	Unready string // One of 404. The status in the place of 503, for load balancers that tell by it who is not ready, and keeps what it has, from who does not answer.
}

func (q ReadyQuery) values() url.Values {
	v := url.Values{}
	set(v, "unready", q.Unready)
	return v
}

// Ready: The node takes work; else 503 says why not.
// It is GET /readyz.
func (c *Client) Ready(ctx context.Context, query ReadyQuery, opts ...Option) (*Answer[Health], error) {
	return call[Health](ctx, c, request{method: "GET", path: "/readyz", query: query.values(), body: nil}, opts)
}

// RefreshDefinitions: Index the triggers of stored definitions again; one node at a time does the same refresh.
// It is POST /api/v1/definitions/refresh, for the role designer.
func (c *Client) RefreshDefinitions(ctx context.Context, body RefreshRequest, opts ...Option) (*Answer[Result], error) {
	return call[Result](ctx, c, request{method: "POST", path: "/api/v1/definitions/refresh", query: nil, body: body}, opts)
}

// ReleaseTask: Give a claimed task back, undone.
// It is POST /api/v1/tasks/{id}/release, for the role operator; problems of its own are task-not-found, task-claim-lost.
func (c *Client) ReleaseTask(ctx context.Context, id string, body ReleaseRequest, opts ...Option) (*Answer[TaskFailed], error) {
	return call[TaskFailed](ctx, c, request{method: "POST", path: "/api/v1/tasks/" + url.PathEscape(id) + "/release", query: nil, body: body}, opts)
}

// ReleaseUserTask: Give a user task back, undone.
// It is POST /api/v1/user-tasks/{id}/release, for the role business; problems of its own are task-not-found, task-claim-lost.
func (c *Client) ReleaseUserTask(ctx context.Context, id string, body ReleaseUserRequest, opts ...Option) (*Answer[Released], error) {
	return call[Released](ctx, c, request{method: "POST", path: "/api/v1/user-tasks/" + url.PathEscape(id) + "/release", query: nil, body: body}, opts)
}

// ReloadDefinitions: Read the definitions directory of a node again; one node at a time does.
// It is POST /api/v1/definitions/reload, for the role designer.
func (c *Client) ReloadDefinitions(ctx context.Context, opts ...Option) (*Answer[Result], error) {
	return call[Result](ctx, c, request{method: "POST", path: "/api/v1/definitions/reload", query: nil, body: nil}, opts)
}

// ReplayDeadLetterQuery is the query of [Client.ReplayDeadLetter]; zero fields are left out.
type ReplayDeadLetterQuery struct {
	DryRun *bool // Tell what it would do, and send nothing.
}

func (q ReplayDeadLetterQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// ReplayDeadLetter: Send a dead letter again, as it was, edited or to an instance.
// It is POST /api/v1/dead-letters/{id}/replay, for the role operator; problems of its own are dead-letter-not-found, instance-not-found, instance-finished.
func (c *Client) ReplayDeadLetter(ctx context.Context, id string, body EditRequest, query ReplayDeadLetterQuery, opts ...Option) (*Answer[SentOrEffectOrQueued], error) {
	return call[SentOrEffectOrQueued](ctx, c, request{method: "POST", path: "/api/v1/dead-letters/" + url.PathEscape(id) + "/replay", query: query.values(), body: body}, opts)
}

// ReplayDeadLettersQuery is the query of [Client.ReplayDeadLetters]; zero fields are left out.
type ReplayDeadLettersQuery struct {
	DryRun *bool // Tell for which it would be done, and which would be refused, and do nothing.
}

func (q ReplayDeadLettersQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// ReplayDeadLetters: Send the dead letters of a filter again, as they were, edited or to an instance, a page at a time.
// It is POST /api/v1/dead-letters/replay, for the role operator.
func (c *Client) ReplayDeadLetters(ctx context.Context, body ReplayLettersRequest, query ReplayDeadLettersQuery, opts ...Option) (*Answer[Several], error) {
	return call[Several](ctx, c, request{method: "POST", path: "/api/v1/dead-letters/replay", query: query.values(), body: body}, opts)
}

// ReplayWebhook: Try all that was given up again.
// It is POST /api/v1/webhooks/{name}/replay, for the role admin; problems of its own are webhook-not-found.
func (c *Client) ReplayWebhook(ctx context.Context, name string, opts ...Option) (*Answer[WebhookAgain], error) {
	return call[WebhookAgain](ctx, c, request{method: "POST", path: "/api/v1/webhooks/" + url.PathEscape(name) + "/replay", query: nil, body: nil}, opts)
}

// ResumeBookmark: Resume an instance at one place where it waits.
// It is POST /api/v1/bookmarks/{id}/resume, for the role operator; problems of its own are bookmark-not-found, instance-not-found, bookmark-reserved, instance-finished, instance-refused.
func (c *Client) ResumeBookmark(ctx context.Context, id string, body ResumeRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/bookmarks/" + url.PathEscape(id) + "/resume", query: nil, body: body}, opts)
}

// RetractDefinition: Take the published version back: nothing starts by it any more.
// It is POST /api/v1/definitions/{id}/retract, for the role designer; problems of its own are definition-not-found.
func (c *Client) RetractDefinition(ctx context.Context, id string, opts ...Option) (*Answer[Published], error) {
	return call[Published](ctx, c, request{method: "POST", path: "/api/v1/definitions/" + url.PathEscape(id) + "/retract", query: nil, body: nil}, opts)
}

// RetryInstance: Run an instance again: what failed, or from an activity.
// It is POST /api/v1/instances/{id}/retry, for the role operator; problems of its own are instance-not-found, instance-finished, instance-not-faulted, instance-refused, instance-undone.
func (c *Client) RetryInstance(ctx context.Context, id string, body RetryOneRequest, opts ...Option) (*Answer[Instance], error) {
	return call[Instance](ctx, c, request{method: "POST", path: "/api/v1/instances/" + url.PathEscape(id) + "/retry", query: nil, body: body}, opts)
}

// RetryInstances: Run every faulted instance of a filter again from the activity that faulted, a page at a time.
// It is POST /api/v1/instances/retry, for the role operator.
func (c *Client) RetryInstances(ctx context.Context, body RetryRequest, opts ...Option) (*Answer[Retried], error) {
	return call[Retried](ctx, c, request{method: "POST", path: "/api/v1/instances/retry", query: nil, body: body}, opts)
}

// RetryWorkflows: As in Elsa: run what faulted in instances, or activities of them, again.
// It is POST /api/v1/alterations/workflows/retry, for the role operator.
func (c *Client) RetryWorkflows(ctx context.Context, body RetryWorkflowsRequest, opts ...Option) (*Answer[AlterationResults], error) {
	return call[AlterationResults](ctx, c, request{method: "POST", path: "/api/v1/alterations/workflows/retry", query: nil, body: body}, opts)
}

// RunAlterations: As in Elsa: alter instances, and answer what came of each.
// It is POST /api/v1/alterations/run, for the role operator.
func (c *Client) RunAlterations(ctx context.Context, body RunAlterationsRequest, opts ...Option) (*Answer[AlterationResults], error) {
	return call[AlterationResults](ctx, c, request{method: "POST", path: "/api/v1/alterations/run", query: nil, body: body}, opts)
}

// Schema: The JSON Schema of definitions in YAML, for editors; it knows the activities of this node.
// It is GET /schema/v1.json, for the role viewer.
func (c *Client) Schema(ctx context.Context, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/schema/v1.json", query: nil, body: nil}, opts)
}

// SchemaOfTests: The JSON Schema of test files, for editors.
// It is GET /schema/test-v1.json, for the role viewer.
func (c *Client) SchemaOfTests(ctx context.Context, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/schema/test-v1.json", query: nil, body: nil}, opts)
}

// SendEventQuery is the query of [Client.SendEvent]; zero fields are left out.
type SendEventQuery struct {
	DryRun *bool // Tell what it would do, and send nothing.
}

func (q SendEventQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// SendEvent: Send an event to the instances and definitions that wait for it.
// It is POST /api/v1/events/{name}, for the role operator; problems of its own are instance-not-found, bookmark-reserved, instance-finished, instance-refused.
func (c *Client) SendEvent(ctx context.Context, name string, body EventRequest, query SendEventQuery, opts ...Option) (*Answer[SentOrEffectOrQueued], error) {
	return call[SentOrEffectOrQueued](ctx, c, request{method: "POST", path: "/api/v1/events/" + url.PathEscape(name), query: query.values(), body: body}, opts)
}

// SendQueueItemQuery is the query of [Client.SendQueueItem]; zero fields are left out.
type SendQueueItemQuery struct {
	DryRun *bool // Tell what it would do, and send nothing.
}

func (q SendQueueItemQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// SendQueueItem: Take a stimulus out of the queue and send it again, edited or to an instance.
// It is POST /api/v1/queue/{id}/send, for the role operator; problems of its own are instance-not-found, queue-item-not-found, instance-finished.
func (c *Client) SendQueueItem(ctx context.Context, id string, body EditRequest, query SendQueueItemQuery, opts ...Option) (*Answer[SentOrEffectOrQueued], error) {
	return call[SentOrEffectOrQueued](ctx, c, request{method: "POST", path: "/api/v1/queue/" + url.PathEscape(id) + "/send", query: query.values(), body: body}, opts)
}

// SendQueueItemsQuery is the query of [Client.SendQueueItems]; zero fields are left out.
type SendQueueItemsQuery struct {
	DryRun *bool // Tell for which it would be done, and which would be refused, and do nothing.
}

func (q SendQueueItemsQuery) values() url.Values {
	v := url.Values{}
	if q.DryRun != nil {
		set(v, "dryRun", strconv.FormatBool(*q.DryRun))
	}
	return v
}

// SendQueueItems: Take the stimuli of a filter out of the queue and send them again, edited or to an instance, a page at a time.
// It is POST /api/v1/queue/send, for the role operator.
func (c *Client) SendQueueItems(ctx context.Context, body SendItemsRequest, query SendQueueItemsQuery, opts ...Option) (*Answer[Several], error) {
	return call[Several](ctx, c, request{method: "POST", path: "/api/v1/queue/send", query: query.values(), body: body}, opts)
}

// SendStimulus: Send any stimulus.
// It is POST /api/v1/stimuli, for the role operator; problems of its own are instance-not-found, bookmark-reserved, instance-finished, instance-refused.
func (c *Client) SendStimulus(ctx context.Context, body StimulusRequest, opts ...Option) (*Answer[SentOrQueued], error) {
	return call[SentOrQueued](ctx, c, request{method: "POST", path: "/api/v1/stimuli", query: nil, body: body}, opts)
}

// ShowLink: A page that asks whether to follow a resume link; it changes nothing.
// It is GET /links/{token}.
func (c *Client) ShowLink(ctx context.Context, token string, opts ...Option) (*Answer[Raw], error) {
	return call[Raw](ctx, c, request{method: "GET", path: "/links/" + url.PathEscape(token), query: nil, body: nil}, opts)
}

// SkipSchedule: Drop the occurrence of a schedule that is due at a time: nothing starts by it.
// It is POST /api/v1/definitions/{id}/schedules/{activity}/skip, for the role operator; problems of its own are definition-not-found, schedule-not-found, definition-moved.
func (c *Client) SkipSchedule(ctx context.Context, id string, activity string, body SkipRequest, opts ...Option) (*Answer[Skipped], error) {
	return call[Skipped](ctx, c, request{method: "POST", path: "/api/v1/definitions/" + url.PathEscape(id) + "/schedules/" + url.PathEscape(activity) + "/skip", query: nil, body: body}, opts)
}

// SubmitAlterations: As in Elsa: alter all instances of a filter, by a job.
// It is POST /api/v1/alterations/submit, for the role operator.
func (c *Client) SubmitAlterations(ctx context.Context, body SubmitAlterationsRequest, opts ...Option) (*Answer[AlterationPlan], error) {
	return call[AlterationPlan](ctx, c, request{method: "POST", path: "/api/v1/alterations/submit", query: nil, body: body}, opts)
}

// SuggestQuery is the query of [Client.Suggest]; zero fields are left out.
type SuggestQuery struct {
	Line   *int64 // From 1.
	Column *int64 // In characters, from 1.
}

func (q SuggestQuery) values() url.Values {
	v := url.Values{}
	if q.Line != nil {
		set(v, "line", strconv.FormatInt(*q.Line, 10))
	}
	if q.Column != nil {
		set(v, "column", strconv.FormatInt(*q.Column, 10))
	}
	return v
}

// Suggest: What may stand at a place of a definition in YAML, and what stands there.
// It is POST /api/v1/definitions/suggest, for the role designer.
func (c *Client) Suggest(ctx context.Context, body []byte, query SuggestQuery, opts ...Option) (*Answer[Suggested], error) {
	return call[Suggested](ctx, c, request{method: "POST", path: "/api/v1/definitions/suggest", query: query.values(), body: body}, opts)
}

// TryDefinition: Run the cases of a test file against a definition, with mocks and a clock of its own; nothing is stored, and nothing goes out.
// It is POST /api/v1/definitions/test, for the role designer; problems of its own are definition-not-found.
func (c *Client) TryDefinition(ctx context.Context, body TryRequest, opts ...Option) (*Answer[Tried], error) {
	return call[Tried](ctx, c, request{method: "POST", path: "/api/v1/definitions/test", query: nil, body: body}, opts)
}

// Unpause: Go on after a pause.
// It is POST /api/v1/unpause, for the role admin.
func (c *Client) Unpause(ctx context.Context, opts ...Option) (*Answer[Paused], error) {
	return call[Paused](ctx, c, request{method: "POST", path: "/api/v1/unpause", query: nil, body: nil}, opts)
}

// Whoami: Who calls: by which name, with which role, known by what, and until when.
// It is GET /api/v1/whoami, for the role business.
func (c *Client) Whoami(ctx context.Context, opts ...Option) (*Answer[Caller], error) {
	return call[Caller](ctx, c, request{method: "GET", path: "/api/v1/whoami", query: nil, body: nil}, opts)
}
