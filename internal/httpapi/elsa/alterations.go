package elsa

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/workflow"
)

// atOnce is how many instances of a request are altered at the same time: one that is busy keeps its place for a second.
const atOnce = 8

// Routes are those of Elsa's module of alterations.
func Routes() []serve.Route {
	return []serve.Route{
		{Method: "POST", Path: "/alterations/run", Name: "runAlterations", Role: auth.Operator, Tag: "alterations", Kind: serve.Changes, Target: "alterations",
			Summary: "As in Elsa: alter instances, and answer what came of each", Body: runAlterationsBody{}, Answers: map[int]any{200: alterationResultsView{}},
			Problems: []workflow.Code{workflow.CodeKeyReused}, Serve: run},
		{Method: "POST", Path: "/alterations/workflows/retry", Name: "retryWorkflows", Role: auth.Operator, Tag: "alterations", Kind: serve.Changes, Target: "alterations",
			Summary: "As in Elsa: run what faulted in instances, or activities of them, again", Body: retryWorkflowsBody{}, Answers: map[int]any{200: alterationResultsView{}},
			Problems: []workflow.Code{workflow.CodeKeyReused}, Serve: retry},
		{Method: "POST", Path: "/alterations/dispatch", Name: "dispatchAlterations", Role: auth.Operator, Tag: "alterations", Kind: serve.Changes, Idempotent: true, Target: "alterations",
			Summary: "Alter instances by a job", Body: runAlterationsBody{}, Answers: map[int]any{202: alterationPlanView{}}, Problems: []workflow.Code{workflow.CodeKeyReused}, Serve: dispatch},
		{Method: "POST", Path: "/alterations/submit", Name: "submitAlterations", Role: auth.Operator, Tag: "alterations", Kind: serve.Changes, Idempotent: true, Target: "alterations",
			Summary: "As in Elsa: alter all instances of a filter, by a job", Body: submitAlterationsBody{}, Answers: map[int]any{202: alterationPlanView{}}, Problems: []workflow.Code{workflow.CodeKeyReused}, Serve: submit},
	}
}

type runAlterationsBody struct {
	Alterations         []elsaAlteration `json:"alterations" doc:"Made to each instance in this order and in one commit, all or none; up to 100."`
	WorkflowInstanceIDs []string         `json:"workflowInstanceIds" doc:"Up to 100."`
}

type retryWorkflowsBody struct {
	WorkflowInstanceIDs []string `json:"workflowInstanceIds" doc:"Up to 100."`
	ActivityIDs         []string `json:"activityIds" doc:"Which activities run again; absent: what faulted."`
}

type submitAlterationsBody struct {
	Alterations []elsaAlteration `json:"alterations" doc:"Made to each instance in this order and in one commit, all or none; up to 100."`
	Filter      elsaFilterBody   `json:"filter" doc:"Which instances; all its fields have to fit."`
}

// elsaFilterBody is Elsa's filter as far as lists of instances are found by it here.
type elsaFilterBody struct {
	EmptyFilterSelectsAll bool     `json:"emptyFilterSelectsAll" doc:"Needed where nothing else is given."`
	WorkflowInstanceIDs   []string `json:"workflowInstanceIds" doc:"Up to 100."`
	DefinitionIDs         []string `json:"definitionIds" doc:"One."`
	CorrelationIDs        []string `json:"correlationIds" doc:"One."`
	Names                 []string `json:"names" doc:"One."`
	Statuses              []string `json:"statuses" doc:"One: Running or Finished."`
	SubStatuses           []string `json:"subStatuses" doc:"One, such as Faulted."`
	HasIncidents          bool     `json:"hasIncidents" doc:"Only those that have some."`
}

// elsaAlteration is one in Elsa's names.
type elsaAlteration struct {
	Type               string `json:"type" enum:"Cancel,CancelActivity,Migrate,ModifyVariable,ScheduleActivity"`
	ActivityID         string `json:"activityId" doc:"CancelActivity, ScheduleActivity: id of the activity."`
	ActivityInstanceID string `json:"activityInstanceId" doc:"CancelActivity, ScheduleActivity: the number of its execution in the journal, as text; needed if several run."`
	TargetVersion      int    `json:"targetVersion" doc:"Migrate: the version of the definition to go on with."`
	VariableID         string `json:"variableId" doc:"ModifyVariable: id or name."`
	Value              any    `json:"value" doc:"ModifyVariable: any value; null clears it."`
}

type alterationResultsView struct {
	Results []alterationResultView `json:"results"`
}

// alterationResultView is what came of one instance.
type alterationResultView struct {
	WorkflowInstanceID       string            `json:"workflowInstanceId"`
	Log                      alterationLogView `json:"log"`
	WorkflowHasScheduledWork bool              `json:"workflowHasScheduledWork" doc:"It goes on by itself."`
	IsSuccessful             bool              `json:"isSuccessful"`
}

type alterationLogView struct {
	LogEntries []alterationEntryView `json:"logEntries"`
}

type alterationEntryView struct {
	Message   string    `json:"message"`
	LogLevel  string    `json:"logLevel" enum:"Information,Warning,Error"`
	Timestamp time.Time `json:"timestamp"`
	EventName *string   `json:"eventName" doc:"The code of what is wrong."`
}

type alterationPlanView struct {
	PlanID string `json:"planId" doc:"The id of the job: GET /jobs/{id} tells how far it is."`
}

// fields are Elsa's names of what alterations of ours have.
var fields = map[string]string{"activity": "activityId", "execution": "activityInstanceId", "version": "targetVersion", "variable": "variableId"}

// alter reads alterations in Elsa's names. All that no instance takes is refused here.
func alter(c *serve.Call, in []elsaAlteration) (*workflow.Alter, error) {
	out := &workflow.Alter{By: c.By()}
	var problems workflow.Problems
	for i, one := range in {
		alt, wrong := one.read()
		for _, p := range wrong {
			p.Place.Pointer = fmt.Sprintf("/alterations/%d/%s", i, p.Place.Pointer)
			problems = append(problems, p)
		}
		out.Alterations = append(out.Alterations, alt)
	}
	if problems == nil {
		problems = named(out.Check())
	}
	if problems != nil {
		return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: "the alterations are not valid", Problems: problems}
	}
	return out, nil
}

// types are Elsa's alterations: which one of ours each is, and the fields that it has.
var types = map[string]struct {
	is     workflow.AlterationType
	fields []string
}{
	"Cancel":           {workflow.AlterCancel, nil},
	"CancelActivity":   {workflow.AlterCancel, []string{"activityId", "activityInstanceId"}},
	"Migrate":          {workflow.AlterMigrate, []string{"targetVersion"}},
	"ModifyVariable":   {workflow.AlterSetVariable, []string{"variableId", "value"}},
	"ScheduleActivity": {workflow.AlterRetry, []string{"activityId", "activityInstanceId"}},
}

// read gives the alteration of ours, or what is wrong, each with its field.
func (a *elsaAlteration) read() (out workflow.Alteration, wrong workflow.Problems) {
	problem := func(code, field, format string, args ...any) {
		wrong = append(wrong, workflow.Problem{Code: code, Detail: fmt.Sprintf(format, args...), Place: workflow.Place{Pointer: field}})
	}
	t, ok := types[a.Type]
	if !ok {
		known := slices.Sorted(maps.Keys(types))
		problem("unknown-alteration", "type", "there is no alteration %q%s; those that there are: %s", serve.Shorten(a.Type), workflow.DidYouMean(a.Type, known), strings.Join(known, ", "))
		return out, wrong
	}
	given := map[string]bool{"activityId": a.ActivityID != "", "activityInstanceId": a.ActivityInstanceID != "", "targetVersion": a.TargetVersion != 0, "variableId": a.VariableID != "", "value": a.Value != nil}
	for _, field := range []string{"activityId", "activityInstanceId", "targetVersion", "variableId", "value"} {
		if given[field] && !slices.Contains(t.fields, field) {
			problem("unknown-field", field, "%s is no field of %s", field, a.Type)
		}
	}
	if slices.Contains(t.fields, "activityId") && !given["activityId"] && !given["activityInstanceId"] {
		problem("missing-field", "activityId", "%s needs activityId or activityInstanceId", a.Type)
	}
	out = workflow.Alteration{Type: t.is, Activity: a.ActivityID, Variable: a.VariableID, Value: a.Value, Version: a.TargetVersion}
	if given["activityInstanceId"] {
		n, err := strconv.ParseInt(a.ActivityInstanceID, 10, 64)
		if err != nil || n < 1 {
			problem("bad-execution", "activityInstanceId", "an execution has a number here, from 1 on, as the journal shows it, and not %q", serve.Shorten(a.ActivityInstanceID))
		}
		out.Execution = n
	}
	return out, wrong
}

// named gives problems of ours their places in Elsa's names.
func named(problems workflow.Problems) workflow.Problems {
	out := slices.Clone(problems)
	for i := range out {
		at := &out[i].Place.Pointer
		if parts := strings.Split(*at, "/"); len(parts) == 4 && fields[parts[3]] != "" {
			parts[3] = fields[parts[3]]
			*at = strings.Join(parts, "/")
		}
	}
	return out
}

// ofInstances reads the body of a request that names its instances.
func ofInstances(c *serve.Call) (b runAlterationsBody, err error) {
	if err := c.Decode(&b); err != nil {
		return b, err
	}
	return b, instances(b.WorkflowInstanceIDs, "/workflowInstanceIds")
}

func run(c *serve.Call) (serve.Reply, error) {
	b, err := ofInstances(c)
	if err != nil {
		return serve.Reply{}, err
	}
	change, err := alter(c, b.Alterations)
	if err != nil {
		return serve.Reply{}, err
	}
	return each(c, b.WorkflowInstanceIDs, change, shape.Each(b.Alterations, func(a elsaAlteration) string { return a.Type }))
}

func retry(c *serve.Call) (serve.Reply, error) {
	var b retryWorkflowsBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	if err := instances(b.WorkflowInstanceIDs, "/workflowInstanceIds"); err != nil {
		return serve.Reply{}, err
	}
	change := &workflow.Alter{By: c.By()}
	for i, id := range b.ActivityIDs {
		if id == "" {
			return serve.Reply{}, serve.Invalid("missing-field", fmt.Sprintf("/activityIds/%d", i), "the id of an activity is empty")
		}
		change.Alterations = append(change.Alterations, workflow.Alteration{Type: workflow.AlterRetry, Activity: id})
	}
	if len(b.ActivityIDs) == 0 {
		change.Alterations = []workflow.Alteration{{Type: workflow.AlterRetry}}
	}
	if problems := change.Check(); problems != nil {
		return serve.Reply{}, serve.Invalid(problems[0].Code, "/activityIds", problems[0].Detail)
	}
	return each(c, b.WorkflowInstanceIDs, change, slices.Repeat([]string{"ScheduleActivity"}, len(change.Alterations)))
}

// instances refuses a list of instances that is none.
func instances(ids []string, at string) error {
	switch {
	case len(ids) == 0:
		return serve.Invalid("missing-field", at, "say which instances: their ids, up to "+strconv.Itoa(find.MaxIDs))
	case len(ids) > find.MaxIDs:
		return serve.Invalid("too-many", at, fmt.Sprintf("there are %d instances; a request takes up to %d", len(ids), find.MaxIDs))
	}
	for i, id := range ids {
		if err := workflow.CheckID("the id of an instance", id); err != nil {
			return serve.Invalid("bad-id", fmt.Sprintf("%s/%d", at, i), err.Error())
		}
		if slices.Contains(ids[:i], id) {
			return serve.Invalid("twice", fmt.Sprintf("%s/%d", at, i), "instance "+id+" is named twice")
		}
	}
	return nil
}

// each makes the same alterations, of these names of Elsa's, to instances. What one of them does not take is in its result, and in nobody's way.
func each(c *serve.Call, ids []string, change *workflow.Alter, names []string) (serve.Reply, error) {
	c.About("", "instances", "", serve.Shorten(strings.Join(ids, " ")))
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	results := make([]alterationResultView, len(ids))
	all, ctx := errgroup.WithContext(c.Request.Context())
	all.SetLimit(atOnce)
	for i, id := range ids {
		all.Go(func() error {
			own := key
			if key != nil { // each instance remembers it by itself: the answer to the whole is kept when all have been asked
				of := *key
				of.Value = workflow.DeriveID(key.Value, id)
				own = &of
			}
			accepted, err := c.API.Config.Runtime.Commands.Alter(ctx, id, change, own)
			var refused *workflow.Error
			if err != nil && (!errors.As(err, &refused) || refused.Code == workflow.CodeKeyReused || serve.AsksToRepeat(refused.Code)) {
				return err // the whole request is to be repeated: it is the same for who was altered already
			}
			results[i] = result(id, names, accepted, refused, c.API.Config.Now())
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: alterationResultsView{results}}, nil
}

func result(id string, names []string, accepted bool, refused *workflow.Error, now time.Time) alterationResultView {
	out := alterationResultView{WorkflowInstanceID: id, IsSuccessful: refused == nil, WorkflowHasScheduledWork: refused == nil}
	entry := func(level, message, code string) {
		out.Log.LogEntries = append(out.Log.LogEntries, alterationEntryView{Message: message, LogLevel: level, Timestamp: now.UTC(), EventName: shape.Some(code)})
	}
	switch {
	case refused != nil && len(refused.Problems) > 0:
		for _, p := range named(refused.Problems) {
			entry("Error", strings.TrimPrefix(p.Place.Pointer+": ", ": ")+p.Detail, p.Code)
		}
	case refused != nil:
		entry("Error", refused.Detail, string(refused.Code))
	case accepted:
		entry("Warning", "the instance is in a call: the alterations wait in its mailbox, and are made after it", "")
	default:
		for _, name := range names {
			entry("Information", name+" is made", "")
		}
	}
	return out
}

func dispatch(c *serve.Call) (serve.Reply, error) {
	b, err := ofInstances(c)
	if err != nil {
		return serve.Reply{}, err
	}
	return plan(c, b.Alterations, find.Filter{IDs: b.WorkflowInstanceIDs})
}

func submit(c *serve.Call) (serve.Reply, error) {
	var b submitAlterationsBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	f, err := b.Filter.read()
	if err != nil {
		return serve.Reply{}, err
	}
	return plan(c, b.Alterations, f)
}

// plan makes a job.
func plan(c *serve.Call, in []elsaAlteration, f find.Filter) (serve.Reply, error) {
	change, err := alter(c, in)
	if err != nil {
		return serve.Reply{}, err
	}
	slices.Sort(f.IDs)
	if i := slices.IndexFunc(change.Alterations, func(a workflow.Alteration) bool { return a.Execution != 0 }); i >= 0 {
		return serve.Reply{}, serve.Invalid("unknown-field", fmt.Sprintf("/alterations/%d/activityInstanceId", i), "an execution is of one instance only: POST /alterations/run")
	}
	if err := ofOne(c, change, &f); err != nil {
		return serve.Reply{}, err
	}
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	c.About("", "filter", "", serve.Shorten(f.String()))
	made, err := c.API.Config.Runtime.Jobs.CreateJob(c.Request.Context(), job.Request{Kind: workflow.CommandAlter, Alter: change, Filter: f, By: c.By(), Key: key})
	var refused *workflow.Error
	if errors.As(err, &refused) && len(refused.Problems) > 0 {
		of := *refused
		of.Problems = named(refused.Problems)
		err = &of
	}
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 202, Body: alterationPlanView{made.ID}, Location: serve.Prefix + "/jobs/" + made.ID}, nil
}

// ofOne names the definition of instances that are to migrate: a version is of one.
func ofOne(c *serve.Call, change *workflow.Alter, f *find.Filter) error {
	if f.DefinitionID != "" || len(f.IDs) == 0 || !slices.ContainsFunc(change.Alterations, func(a workflow.Alteration) bool { return a.Type == workflow.AlterMigrate }) {
		return nil
	}
	in, err := c.API.Config.Runtime.Inspector.Brief(c.Request.Context(), f.IDs[0])
	if err != nil {
		return err
	}
	f.DefinitionID = in.DefinitionID
	return nil
}

var subStatuses = []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended, workflow.Finished, workflow.Cancelled, workflow.Faulted}

// read gives the filter of ours.
func (b *elsaFilterBody) read() (f find.Filter, err error) {
	one := func(field string, values []string, into *string) {
		switch {
		case err != nil || len(values) == 0:
		case len(values) > 1:
			err = serve.Invalid("too-many", "/filter/"+field, fmt.Sprintf("there are %d; a job is of one: send a request for each", len(values)))
		case values[0] == "":
			err = serve.Invalid("empty-filter", "/filter/"+field+"/0", "it is empty: leave "+field+" out to mean any")
		default:
			*into = values[0]
		}
	}
	var status, sub string
	one("definitionIds", b.DefinitionIDs, &f.DefinitionID)
	one("correlationIds", b.CorrelationIDs, &f.CorrelationID)
	one("names", b.Names, &f.Name)
	one("statuses", b.Statuses, &status)
	one("subStatuses", b.SubStatuses, &sub)
	if err == nil && len(b.WorkflowInstanceIDs) > 0 {
		err = instances(b.WorkflowInstanceIDs, "/filter/workflowInstanceIds")
	}
	if err != nil {
		return f, err
	}
	f.IDs, f.HasIncidents, f.Status, f.SubStatus = b.WorkflowInstanceIDs, b.HasIncidents, workflow.Status(status), workflow.SubStatus(sub)
	switch {
	case status != "" && f.Status != workflow.StatusRunning && f.Status != workflow.StatusFinished:
		return f, serve.Invalid("bad-value", "/filter/statuses/0", fmt.Sprintf("%q is no status: Running or Finished", serve.Shorten(status)))
	case sub != "" && !slices.Contains(subStatuses, f.SubStatus):
		return f, serve.Invalid("bad-value", "/filter/subStatuses/0", fmt.Sprintf("%q is no sub-status: one of %s", serve.Shorten(sub), fmt.Sprint(subStatuses)))
	case !f.Restricts() && !b.EmptyFilterSelectsAll:
		return f, serve.Invalid("missing-filter", "/filter", `say which instances, such as "filter": {"definitionIds": ["order"]}; or "emptyFilterSelectsAll": true`)
	case f.Restricts() && b.EmptyFilterSelectsAll:
		return f, serve.Invalid("two-filters", "/filter/emptyFilterSelectsAll", "the filter restricts, and this says that nothing does")
	}
	return f, nil
}
