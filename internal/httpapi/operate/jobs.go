package operate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/workflow"
)

// jobRoutes give a command to all instances of a filter.
func jobRoutes() []serve.Route {
	missing := []workflow.Code{workflow.CodeJobNotFound}
	return []serve.Route{
		{Method: "POST", Path: "/jobs", Name: "createJob", Role: auth.Operator, Tag: "jobs", Kind: serve.Changes, Idempotent: true, Target: "jobs",
			Summary: "Alter, retry, cancel or delete all instances of a filter",
			Query: []serve.Param{
				{Name: "dryRun", Type: "boolean", Doc: "Tell what it would do, and do nothing: count the instances, and try the command for the newest of them."},
				{Name: "limit", Type: "integer", Doc: "Of a dry run: for how many it is tried, 1 to 500, 50 if absent."},
			},
			Body: jobBody{}, Answers: map[int]any{200: jobPreviewView{}, 202: jobView{}}, Problems: []workflow.Code{workflow.CodeKeyReused}, Serve: createJob},
		{Method: "GET", Path: "/jobs", Name: "listJobs", Role: auth.Viewer, Tag: "jobs", Kind: serve.Reads, Summary: "Jobs that run or have ended",
			Query: serve.PageParams, Answers: map[int]any{200: shape.List[jobView]{}},
			Serve: func(c *serve.Call) (serve.Reply, error) {
				return paged(c, c.API.Config.Runtime.Jobs.Jobs, func(j job.Job) jobView { return viewJob(c, j) })
			}},
		{Method: "GET", Path: "/jobs/{id}", Name: "getJob", Role: auth.Viewer, Tag: "jobs", Kind: serve.Reads, Summary: "How far a job is, and who refused",
			Answers: map[int]any{200: jobView{}}, Problems: missing, Serve: getJob},
		{Method: "POST", Path: "/jobs/{id}/cancel", Name: "cancelJob", Role: auth.Operator, Tag: "jobs", Kind: serve.Changes, Reserved: true,
			Summary: "Cancel a job: it goes no further; one that has ended stays as it is",
			Answers: map[int]any{200: jobView{}}, Problems: missing, Serve: cancelJob},
		{Method: "DELETE", Path: "/jobs/{id}", Name: "deleteJob", Role: auth.Operator, Tag: "jobs", Kind: serve.Changes, Reserved: true,
			Summary: "Forget a job that has ended",
			Answers: map[int]any{204: nil}, Problems: append(missing, workflow.CodeJobRunning), Serve: deleteJob},
	}
}

type jobBody struct {
	Kind        string             `json:"kind" enum:"alter,retry,cancel,delete"`
	Q           string             `json:"q" doc:"Which instances: the line that q of GET /instances takes, such as status:faulted def:order. Durations count from now."`
	All         bool               `json:"all" doc:"Needed where q restricts nothing."`
	Alterations []shape.Alteration `json:"alterations" doc:"Of kind alter: made to each instance as by POST /instances/{id}/alterations."`
	Reason      string             `json:"reason" doc:"Of alter and retry: why, for the journal."`
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
	Rests     string           `json:"rests" doc:"Why it rests at the moment, as the node that answers sees it: the cluster is paused, or etcd or its disk fills up. Empty: it does not."`
	Done      int64            `json:"done" doc:"Instances that took the command."`
	Accepted  int64            `json:"accepted" doc:"In whose mailboxes it was left, as they were busy for long."`
	Refused   int64            `json:"refused"`
	Unknown   int64            `json:"unknown" doc:"That may have been given the command by a node that died, or before a long pause, of which nothing tells any more: it is not given again."`
	Refusals  []jobRefusalView `json:"refusals" doc:"The first 100."`
	RefusedBy map[string]int64 `json:"refusedBy" doc:"How many refused, by code."`
	Became    map[string]int64 `json:"became" doc:"Those that took the command, by what came of it: their sub-status when they were looked at, some seconds after it at most, or Gone. Fewer than done while the job runs, and where a node of an older version worked it."`
	Report    string           `json:"report" doc:"The same in words."`

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
		return f, serve.Invalid("missing-filter", "/q", `say which instances, such as "q": "def:order status:faulted"; or "all": true`)
	case f.Restricts() && b.All:
		return f, serve.Invalid("two-filters", "/all", "q restricts, and all says that nothing does")
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
func (b *jobBody) request(by string) (job.Request, error) {
	req := job.Request{By: by}
	var problems workflow.Problems
	bad := func(code, pointer, detail string) {
		problems = append(problems, workflow.Problem{Code: code, Detail: detail, Place: workflow.Place{Pointer: pointer}})
	}
	alter := &workflow.Alter{By: by, Reason: b.Reason, Alterations: shape.Each(b.Alterations, func(one shape.Alteration) workflow.Alteration { return one.Alteration() })}
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
		bad("unknown-kind", "/kind", fmt.Sprintf("kind is one of %s, and not %q%s", strings.Join(jobKinds, ", "), serve.Shorten(b.Kind), workflow.DidYouMean(b.Kind, jobKinds)))
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

func createJob(c *serve.Call) (serve.Reply, error) {
	dryRun, err := c.Flag("dryRun", false)
	if err != nil {
		return serve.Reply{}, err
	}
	serve.ExchangeOf(c.Request).DryRun = dryRun
	_, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	if c.Query.Has("limit") && !dryRun {
		return serve.Reply{}, serve.Invalid("bad-parameter", "/limit", "limit goes with dryRun: a job is for all instances of its filter")
	}
	var b jobBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	c.About("", serve.Shorten(b.Kind), "filter", serve.Shorten(b.Q))
	req, err := b.request(c.By())
	if err != nil {
		return serve.Reply{}, err
	}
	if dryRun {
		p, err := c.API.Config.Runtime.Jobs.PreviewJob(c.Request.Context(), req, limit)
		return serve.Reply{Body: jobPreviewView{p.Matching, p.More, p.Tried, p.Fits, viewRefusals(p.Refusals), req.Filter.String()}}, err
	}
	if req.Key, err = c.Key(); err != nil {
		return serve.Reply{}, err
	}
	job, err := c.API.Config.Runtime.Jobs.CreateJob(c.Request.Context(), req)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 202, Body: viewJob(c, job), Location: serve.Prefix + "/jobs/" + job.ID}, nil
}

func getJob(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeJobNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	job, err := c.API.Config.Runtime.Jobs.ReadJob(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewJob(c, job)}, nil
}

func deleteJob(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeJobNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 204}, c.API.Config.Runtime.Jobs.ForgetJob(c.Request.Context(), id)
}

func cancelJob(c *serve.Call) (serve.Reply, error) {
	id, err := c.MadeID(workflow.CodeJobNotFound)
	if err != nil {
		return serve.Reply{}, err
	}
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	job, err := c.API.Config.Runtime.Jobs.CancelJob(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewJob(c, job)}, nil
}

func viewJob(c *serve.Call, j job.Job) jobView {
	v := jobView{
		ID: j.ID, Kind: string(j.Kind), State: string(j.State), Query: j.Filter, By: shape.Some(j.By), CreatedAt: j.CreatedAt.UTC(), UpdatedAt: j.UpdatedAt.UTC(), EndedAt: shape.SomeTime(j.EndedAt), Node: shape.Some(j.Node),
		Done: j.Done, Accepted: j.Accepted, Refused: j.Refused, Unknown: j.Unknown, Refusals: viewRefusals(j.Refusals), RefusedBy: counts(j.RefusedBy), Became: counts(j.Became), Report: job.Report(&j), Damaged: j.Damaged != "", Damage: j.Damaged,
	}
	if j.Alter != nil {
		v.Reason = shape.Some(j.Alter.Reason)
	}
	v.Rests = c.API.Config.Runtime.Jobs.JobRests(&j)
	return v
}

// counts are an object also where nothing was counted.
func counts(m map[string]int64) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	return m
}

func viewRefusals(rs []job.Refusal) []jobRefusalView {
	return shape.Each(rs, func(r job.Refusal) jobRefusalView { return jobRefusalView{r.InstanceID, r.Code, r.Detail} })
}
