package httpapi

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// jobRoutes give a command to all instances of a filter.
func (a *API) jobRoutes() []route {
	missing := []workflow.Code{workflow.CodeJobNotFound}
	return []route{
		{method: "POST", path: "/jobs", name: "createJob", role: auth.Operator, tag: "jobs", kind: changes, idempotent: true, target: "jobs",
			summary: "Alter, retry, cancel or delete all instances of a filter",
			query: []param{
				{name: "dryRun", typ: "boolean", doc: "Tell what it would do, and do nothing: count the instances, and try the command for the newest of them."},
				{name: "limit", typ: "integer", doc: "Of a dry run: for how many it is tried, 1 to 500, 50 if absent."},
			},
			body: jobBody{}, answers: map[int]any{200: jobPreviewView{}, 202: jobView{}}, problems: []workflow.Code{workflow.CodeKeyReused}, serve: createJob},
		{method: "GET", path: "/jobs", name: "listJobs", role: auth.Viewer, tag: "jobs", kind: reads, summary: "Jobs that run or have ended",
			query: pageParams, answers: map[int]any{200: listView[jobView]{}},
			serve: func(c *call) (reply, error) { return paged(c, c.api.cfg.Runtime.Jobs, viewJob) }},
		{method: "GET", path: "/jobs/{id}", name: "getJob", role: auth.Viewer, tag: "jobs", kind: reads, summary: "How far a job is, and who refused",
			answers: map[int]any{200: jobView{}}, problems: missing, serve: getJob},
		{method: "POST", path: "/jobs/{id}/cancel", name: "cancelJob", role: auth.Operator, tag: "jobs", kind: changes, reserved: true,
			summary: "Cancel a job: it goes no further; one that has ended stays as it is",
			answers: map[int]any{200: jobView{}}, problems: missing, serve: cancelJob},
		{method: "DELETE", path: "/jobs/{id}", name: "deleteJob", role: auth.Operator, tag: "jobs", kind: changes, reserved: true,
			summary: "Forget a job that has ended",
			answers: map[int]any{204: nil}, problems: append(missing, workflow.CodeJobRunning), serve: deleteJob},
	}
}

type jobBody struct {
	Kind        string           `json:"kind" enum:"alter,retry,cancel,delete"`
	Q           string           `json:"q" doc:"Which instances: the line that q of GET /instances takes, such as status:faulted def:order. Durations count from now."`
	All         bool             `json:"all" doc:"Needed where q restricts nothing."`
	Alterations []alterationBody `json:"alterations" doc:"Of kind alter: made to each instance as by POST /instances/{id}/alterations."`
	Reason      string           `json:"reason" doc:"Of alter and retry: why, for the journal."`
}

type jobView struct {
	ID        string           `json:"id"`
	Kind      string           `json:"kind"`
	State     string           `json:"state" enum:"running,done,cancelled,"`
	Query     string           `json:"query" doc:"Which instances; empty: all."`
	By        *string          `json:"by" doc:"Who asked for it."`
	Reason    *string          `json:"reason"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdatedAt time.Time        `json:"updatedAt"`
	EndedAt   *time.Time       `json:"endedAt"`
	Node      *string          `json:"node" doc:"That wrote its record last."`
	Done      int64            `json:"done" doc:"Instances that took the command."`
	Accepted  int64            `json:"accepted" doc:"In whose mailboxes it was left, as they were busy for long."`
	Refused   int64            `json:"refused"`
	Unknown   int64            `json:"unknown" doc:"That may have been given the command by a node that died, or before a long pause, of which nothing tells any more: it is not given again."`
	Refusals  []jobRefusalView `json:"refusals" doc:"The first 100."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

type jobRefusalView struct {
	InstanceID string `json:"instanceId"`
	Code       string `json:"code"`
	Detail     string `json:"detail"`
}

type jobPreviewView struct {
	Matching int              `json:"matching" doc:"Instances of the filter, counted up to 10,000."`
	More     bool             `json:"more" doc:"There are more than matching says, or may be: so many were looked at that the count was ended."`
	Tried    int              `json:"tried" doc:"For how many it was tried, the newest."`
	Fits     int              `json:"fits" doc:"How many of them would take the command."`
	Refusals []jobRefusalView `json:"refusals" doc:"Why others would not; the first 100."`
	Query    string           `json:"query" doc:"The filter as it was understood."`
}

// filter reads which instances a job is for. What kind it is says which, where the line does not.
func (b *jobBody) filter() (find.Filter, error) {
	f, err := find.Parse(b.Q, "/q")
	switch {
	case err != nil:
		return f, err
	case !f.Restricts() && !b.All:
		return f, invalid("missing-filter", "/q", `say which instances, such as "q": "def:order status:faulted"; or "all": true`)
	case f.Restricts() && b.All:
		return f, invalid("two-filters", "/all", "q restricts, and all says that nothing does")
	case f.Status != "" || f.SubStatus != "" || len(f.IDs) > 0: // what is named is given the command, and refuses it itself
	case b.Kind == "retry":
		f.SubStatus = workflow.Faulted
	case b.Kind == "cancel":
		f.Status = workflow.StatusRunning
	}
	return f, nil
}

// jobKinds are what a job may do.
var jobKinds = []string{"alter", "retry", "cancel", "delete"}

// request reads what a job is to do.
func (b *jobBody) request(by string) (runtime.JobRequest, error) {
	req := runtime.JobRequest{By: by}
	var problems workflow.Problems
	bad := func(code, pointer, detail string) {
		problems = append(problems, workflow.Problem{Code: code, Detail: detail, Place: workflow.Place{Pointer: pointer}})
	}
	alter := &workflow.Alter{By: by, Reason: b.Reason, Alterations: each(b.Alterations, func(one alterationBody) workflow.Alteration { return one.alteration() })}
	switch b.Kind {
	case "alter":
		req.Kind, req.Alter = workflow.CommandAlter, alter
	case "retry":
		req.Kind, req.Alter = workflow.CommandAlter, alter
		alter.Alterations = []workflow.Alteration{{Type: workflow.AlterRetry}}
	case "cancel":
		req.Kind = workflow.CommandCancel
	case "delete":
		req.Kind = workflow.CommandDelete
	default:
		bad("unknown-kind", "/kind", fmt.Sprintf("kind is one of %s, and not %q%s", strings.Join(jobKinds, ", "), shorten(b.Kind), workflow.DidYouMean(b.Kind, jobKinds)))
	}
	if b.Kind != "alter" && len(b.Alterations) > 0 {
		bad("unknown-field", "/alterations", "alterations go with the kind alter")
	}
	if req.Alter == nil && b.Reason != "" && b.Kind != "" {
		bad("unknown-field", "/reason", "a reason goes into the journal with what is altered: kinds alter and retry have one")
	}
	f, err := b.filter()
	var e *workflow.Error
	if errors.As(err, &e) {
		problems = append(problems, e.Problems...)
	}
	if req.Filter = f; problems != nil {
		return req, &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
	}
	return req, err
}

func createJob(c *call) (reply, error) {
	dryRun, err := c.flag("dryRun", false)
	if err != nil {
		return reply{}, err
	}
	exchangeOf(c.r).dryRun = dryRun
	_, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	if c.query.Has("limit") && !dryRun {
		return reply{}, invalid("bad-parameter", "/limit", "limit goes with dryRun: a job is for all instances of its filter")
	}
	var b jobBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	c.about("", shorten(b.Kind), "filter", shorten(b.Q))
	req, err := b.request(c.by())
	if err != nil {
		return reply{}, err
	}
	if dryRun {
		p, err := c.api.cfg.Runtime.PreviewJob(c.r.Context(), req, limit)
		return reply{body: jobPreviewView{p.Matching, p.More, p.Tried, p.Fits, viewRefusals(p.Refusals), req.Filter.String()}}, err
	}
	if req.Key, err = c.key(); err != nil {
		return reply{}, err
	}
	job, err := c.api.cfg.Runtime.CreateJob(c.r.Context(), req)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 202, body: viewJob(job), location: prefix + "/jobs/" + job.ID}, nil
}

func getJob(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeJobNotFound)
	if err != nil {
		return reply{}, err
	}
	job, err := c.api.cfg.Runtime.ReadJob(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return reply{body: viewJob(job)}, nil
}

func deleteJob(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeJobNotFound)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 204}, c.api.cfg.Runtime.ForgetJob(c.r.Context(), id)
}

func cancelJob(c *call) (reply, error) {
	id, err := c.madeID(workflow.CodeJobNotFound)
	if err != nil {
		return reply{}, err
	}
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	job, err := c.api.cfg.Runtime.CancelJob(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return reply{body: viewJob(job)}, nil
}

func viewJob(j runtime.Job) jobView {
	v := jobView{
		ID: j.ID, Kind: string(j.Kind), State: string(j.State), Query: j.Filter, By: some(j.By), CreatedAt: j.CreatedAt.UTC(), UpdatedAt: j.UpdatedAt.UTC(), EndedAt: someTime(j.EndedAt), Node: some(j.Node),
		Done: j.Done, Accepted: j.Accepted, Refused: j.Refused, Unknown: j.Unknown, Refusals: viewRefusals(j.Refusals), Damaged: j.Damaged != "", Damage: j.Damaged,
	}
	if j.Alter != nil {
		v.Reason = some(j.Alter.Reason)
	}
	return v
}

func viewRefusals(rs []runtime.JobRefusal) []jobRefusalView {
	return each(rs, func(r runtime.JobRefusal) jobRefusalView { return jobRefusalView{r.InstanceID, r.Code, r.Detail} })
}
