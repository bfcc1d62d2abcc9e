package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/runtime/commands"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Jobs are commands for all instances of a filter. Their records are durable, and any
// node works them: [Jobs.WorkJob].
type Jobs struct {
	cfg       *front.Config
	intake    *intake.Intake
	inspector *inspect.Inspector
	answers   *answers.Waiter
	commander *commands.Commander
}

// New makes the part for jobs.
func New(cfg *front.Config, in *intake.Intake, inspector *inspect.Inspector, waiter *answers.Waiter, commander *commands.Commander) *Jobs {
	return &Jobs{cfg, in, inspector, waiter, commander}
}

// Request asks for a job.
type Request struct {
	Kind   workflow.CommandKind // alter, cancel or delete
	Alter  *workflow.Alter      // of alter
	Filter find.Filter
	By     string
	Key    *front.Key
}

type (
	// Job is a job as it stands.
	Job = store.Job
	// Refusal is an instance that refused the command of a job.
	Refusal = store.JobRefusal
)

// Preview is what a job would do.
type Preview struct {
	Matching int  // instances of its filter, counted up to MostPreviewed
	More     bool // there are more, or may be
	Tried    int  // the newest of them, for which it was tried
	Fits     int  // how many of those would take the command
	Refusals []Refusal
}

// MostPreviewed is how far a preview counts.
const MostPreviewed = 10_000

const (
	jobPage     = 50               // instances that are given their command together
	jobsAtOnce  = 8                // of them side by side
	jobWait     = 10 * time.Second // for what became of a page
	jobStale    = 5 * time.Minute  // so old is a page that is not sent again: records of commands live twice as long
	jobRefusals = 100              // that are kept
	jobAlter    = 512 << 10        // bytes of what is altered: each instance is given all of it
	countPage   = 500              // instances that a preview reads together
)

// wantsOf is what a job asks of the node and of etcd.
func wantsOf(kind workflow.CommandKind) intake.Kind {
	if kind == workflow.CommandCancel || kind == workflow.CommandDelete {
		return intake.Ends
	}
	return intake.GoesOn
}

// CreateJob makes a job durable. Of a key that was used it gives the job of then.
func (j *Jobs) CreateJob(ctx context.Context, req Request) (Job, error) {
	if err := j.intake.Accepts(wantsOf(req.Kind)); err != nil {
		return Job{}, err
	}
	if err := j.check(ctx, &req); err != nil {
		return Job{}, err
	}
	now := j.cfg.Now().UTC()
	filter, err := storedFilter(req.Filter, now)
	if err != nil {
		return Job{}, err
	}
	open, err := j.cfg.Jobs.Open(ctx)
	if err != nil {
		return Job{}, etcdstore.Unavailable("the jobs could not be read", err)
	}
	if len(open) >= etcdstore.MaxOpenJobs {
		return Job{}, &workflow.Error{Code: workflow.CodeBusy, Detail: fmt.Sprintf("%d jobs have not ended; wait for them, or cancel some", len(open)), RetryAfter: 5 * time.Second}
	}
	job := Job{ID: workflow.NewID(), Kind: req.Kind, Alter: req.Alter, Filter: filter, By: req.By, State: store.JobRunning, CreatedAt: now, UpdatedAt: now, Write: workflow.NewID(), Node: j.cfg.Session.NodeID()}
	if k := req.Key.Command(); k != nil {
		job.ID, job.BodyHash, job.Key = store.KeyedJob(k.Name), k.BodyHash, k
	}
	var old *Job
	err = front.RetryUnknown(ctx, func() (err error) {
		old, err = j.cfg.Jobs.Create(ctx, &job)
		return err
	})
	switch {
	case err != nil:
		return Job{}, err
	case old != nil && old.BodyHash != job.BodyHash:
		return Job{}, workflow.Fail(workflow.CodeKeyReused, "this Idempotency-Key was used with another request before; use a new key for a new request")
	case old != nil:
		return *old, nil
	}
	return job, nil
}

// storedFilter is a filter as jobs keep it: a line that any node reads as the same
// instances, now and later, and of those that come later none.
func storedFilter(f find.Filter, now time.Time) (string, error) {
	f = f.Resolve(now)
	if f.Created.Before.IsZero() || f.Created.Before.At.After(now) {
		f.Created.Before = find.Moment{At: now}
	}
	line := f.String()
	_, err := find.Parse(line, "/q") // times are longer than how long ago they are
	return line, err
}

// check refuses a job that fits no instance, and names each reason.
func (j *Jobs) check(ctx context.Context, req *Request) error {
	if req.Alter == nil {
		return nil
	}
	problems := req.Alter.Check()
	if len(req.Alter.Alterations) > workflow.MaxAlterations {
		return commands.InvalidAlter(problems)
	}
	if raw, err := json.Marshal(req.Alter); err != nil || len(raw) > jobAlter {
		return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the alterations of a job have at most %d bytes as JSON, which is fixed, and these have %d", jobAlter, len(raw)))
	}
	for i, alt := range req.Alter.Alterations {
		if alt.Execution != 0 {
			problems = append(problems, ofOne(i, "execution"))
		}
		if alt.Bookmark != "" {
			problems = append(problems, ofOne(i, "bookmark"))
		}
		if alt.Type != workflow.AlterMigrate || alt.Version < 1 {
			continue
		}
		req.Alter.Definition = req.Filter.DefinitionID
		if req.Filter.DefinitionID == "" {
			problems = append(problems, workflow.Problem{Code: "missing-filter", Detail: "versions are numbered by definition: a migration goes with def: in the filter", Place: workflow.Place{Pointer: "/q"}})
			continue
		}
		problem, err := j.commander.UnknownVersion(ctx, req.Filter.DefinitionID, alt.Version, fmt.Sprintf("/alterations/%d/version", i))
		if err != nil {
			return err
		}
		problems = append(problems, problem...)
	}
	return commands.InvalidAlter(problems)
}

func ofOne(i int, field string) workflow.Problem {
	return workflow.Problem{Code: "one-instance-only", Detail: "the same " + field + " is in no two instances: leave it out, or alter that instance alone",
		Place: workflow.Place{Pointer: fmt.Sprintf("/alterations/%d/%s", i, field)}}
}

// PreviewJob tells what a job would do, and does nothing: it counts the instances of its
// filter, and tries the command for the newest of them, up to a limit.
func (j *Jobs) PreviewJob(ctx context.Context, req Request, limit int) (Preview, error) {
	if err := j.check(ctx, &req); err != nil {
		return Preview{}, err
	}
	if _, err := storedFilter(req.Filter, j.cfg.Now().UTC()); err != nil {
		return Preview{}, err
	}
	var p Preview
	looked := 0
	for part := (front.Paging{Limit: countPage, Show: j.cfg.Show}); ; {
		page, err := j.inspector.Instances(ctx, req.Filter, part)
		if err != nil {
			return p, err
		}
		for i := range page.Items {
			if p.Tried == limit {
				break
			}
			p.try(j.preview(ctx, &req, &page.Items[i]))
			if ctx.Err() != nil {
				return p, context.Cause(ctx)
			}
		}
		p.Matching += len(page.Items)
		looked += page.Looked
		part.Cursor = page.Next
		if page.Next == "" || p.Matching >= MostPreviewed || looked >= 2*MostPreviewed {
			p.More = page.Next != "" || p.Matching > MostPreviewed
			p.Matching = min(p.Matching, MostPreviewed)
			return p, nil
		}
	}
}

func (p *Preview) try(refusal *Refusal) {
	p.Tried++
	switch {
	case refusal == nil:
		p.Fits++
	case len(p.Refusals) < jobRefusals:
		p.Refusals = append(p.Refusals, *refusal)
	}
}

// preview says why an instance would refuse; nil: it would not.
func (j *Jobs) preview(ctx context.Context, req *Request, in *workflow.Instance) *store.JobRefusal {
	refusal := func(code workflow.Code, detail string) *store.JobRefusal {
		return &store.JobRefusal{InstanceID: in.ID, Code: string(code), Detail: detail}
	}
	switch {
	case in.Damaged != "":
		return unreadable(in.ID)
	case req.Kind == workflow.CommandCancel && in.Status == workflow.StatusFinished:
		return refusal(workflow.CodeInstanceFinished, "it is "+string(in.SubStatus))
	case req.Kind != workflow.CommandAlter:
		return nil
	}
	p, err := j.commander.PreviewAlter(ctx, in.ID, req.Alter)
	switch {
	case err != nil:
		return refusal(cmp.Or(workflow.CodeOf(err), workflow.CodeInternal), "")
	case len(p.Problems) > 0:
		return refusal(p.Code, p.Problems[0].Detail)
	case p.Code != "":
		return refusal(p.Code, "")
	}
	return nil
}

// unreadable is the refusal of an instance whose record no node can read: what it is
// nobody knows, and no command takes effect.
func unreadable(id string) *store.JobRefusal {
	return &store.JobRefusal{InstanceID: id, Code: string(workflow.CodeDamaged), Detail: "its record cannot be read; it can be deleted by itself"}
}

// ReadJob reads one.
func (j *Jobs) ReadJob(ctx context.Context, id string) (Job, error) {
	job, err := j.cfg.Jobs.Job(ctx, id)
	switch {
	case errors.Is(err, etcdstore.ErrDamaged):
		return Job{}, etcdstore.Damaged(fmt.Sprintf("job %q", id), err)
	case err != nil:
		return Job{}, etcdstore.Unavailable("the job could not be read", err)
	case job == nil:
		return Job{}, workflow.Fail(workflow.CodeJobNotFound, fmt.Sprintf("there is no job %q", id))
	}
	return *job, nil
}

// Jobs lists jobs.
func (j *Jobs) Jobs(ctx context.Context, cursor string, limit int) (front.Page[Job], error) {
	return inspect.List(ctx, "jobs", cursor, limit, j.cfg.Jobs.List)
}

// CancelJob lets a job go no further: instances that were given the command have it. One
// that has ended stays as it is.
func (j *Jobs) CancelJob(ctx context.Context, id string) (Job, error) {
	for range front.MaxLooks {
		job, err := j.ReadJob(ctx, id)
		if err != nil || job.State != store.JobRunning {
			return job, err
		}
		now := j.cfg.Now().UTC()
		job.State, job.EndedAt = store.JobCancelled, &now
		if len(job.Page) > 0 {
			job.FindLate()
		}
		if done, err := j.write(ctx, &job); err != nil || done {
			return job, err
		}
	}
	return Job{}, workedJob(id)
}

// ForgetJob forgets a job that has ended, or that cannot be read.
func (j *Jobs) ForgetJob(ctx context.Context, id string) error {
	for range front.MaxLooks {
		job, err := j.cfg.Jobs.Job(ctx, id)
		switch unreadable := errors.Is(err, etcdstore.ErrDamaged); {
		case err != nil && !unreadable:
			return etcdstore.Unavailable("the job could not be read", err)
		case job == nil:
			return workflow.Fail(workflow.CodeJobNotFound, fmt.Sprintf("there is no job %q", id))
		case !unreadable && job.State == store.JobRunning:
			return workflow.Fail(workflow.CodeJobRunning, fmt.Sprintf("job %q runs; cancel it first", id))
		}
		done := false
		err = front.RetryUnknown(ctx, func() (err error) { done, err = j.cfg.Jobs.Delete(ctx, job); return err })
		if err != nil || done {
			return err
		}
	}
	return workedJob(id)
}

func workedJob(id string) error {
	return &workflow.Error{Code: workflow.CodeBusy, Detail: fmt.Sprintf("job %q is being worked; repeat the request", id), RetryAfter: time.Second}
}

func (j *Jobs) write(ctx context.Context, job *Job) (done bool, err error) {
	job.UpdatedAt, job.Write, job.Node = j.cfg.Now().UTC(), workflow.NewID(), j.cfg.Session.NodeID()
	err = front.RetryUnknown(ctx, func() (err error) {
		done, err = j.cfg.Jobs.Write(ctx, job)
		return err
	})
	if done && !job.Open() {
		j.cfg.Log.InfoContext(ctx, "job ended", "job", job.ID, "kind", string(job.Kind), "state", string(job.State), "done", job.Done, "accepted", job.Accepted, "refused", job.Refused, "unknown", job.Unknown)
	}
	return done, err
}

// WorkJob gives the next page of a job its command, and notes what became of it; more
// means that it has not ended. It is for the node's upkeep. Several nodes may do it at
// the same time: a page is written down before its instances are given the command, whose
// id is made of the job's and the instance's, so that each takes it once.
func (j *Jobs) WorkJob(ctx context.Context, id string) (more bool, err error) {
	job, err := j.cfg.Jobs.Job(ctx, id)
	switch {
	case workflow.CodeOf(err) == workflow.CodeNotRunnable:
		return false, nil // it is left to others, or to fsck
	case err != nil || job == nil || !job.Open() || j.intake.Rests(wantsOf(job.Kind)):
		return false, err
	}
	late := job.State != store.JobRunning || len(job.Page) > 0 && (!job.Late.IsZero() || j.cfg.Age().Of(job.Modified) > jobStale)
	if late {
		return j.workLate(ctx, job)
	}
	if len(job.Page) == 0 {
		if err := j.fill(ctx, job); err != nil {
			return false, err
		}
		if len(job.Page) == 0 {
			return j.turn(ctx, job)
		}
		if done, err := j.write(ctx, job); err != nil || !done {
			return err == nil, err
		}
	}
	effects := commandsOf(job)
	j.intake.Spend(int64(len(effects)) * writes(job))
	if err := j.send(ctx, job, effects); err != nil {
		return false, err
	}
	return j.noted(ctx, job, effects)
}

// writes is about how many bytes of etcd's database a job takes for an instance: the command and its record, and of an
// alteration what it sets, in the command and in the instance. Pages of large values are half empty.
func writes(job *Job) int64 {
	const little = 8 << 10
	if job.Alter == nil {
		return little
	}
	text, err := json.Marshal(job.Alter)
	if err != nil { // it was stored so
		return jobAlter
	}
	return little + 4*int64(len(text))
}

// JobRests is why a job rests, for want of space or as the cluster is paused; "": it does not.
func (j *Jobs) JobRests(job *Job) string {
	if !job.Open() {
		return ""
	}
	return j.intake.WhyRests(wantsOf(job.Kind))
}

// workLate goes on with a page whose commands may have left no trace any more, or whose job
// was cancelled: it finds out what became of them, and gives them to those to whom nobody
// did, if the job runs. That the page is late is written down first: an earlier copy of a command
// is not put behind that, and who goes on after this node looks again.
func (j *Jobs) workLate(ctx context.Context, job *Job) (more bool, err error) {
	job.FindLate()
	if job.State == store.JobRunning {
		if done, err := j.write(ctx, job); !done {
			return err == nil, err // another one is at it
		}
	}
	effects := commandsOf(job)
	fates, err := j.cfg.Reader.CommandFates(ctx, effects, job.LateAt)
	if err != nil {
		return false, err
	}
	var again []store.Effect
	for i := range fates {
		switch f := &fates[i]; {
		case f.Absent && job.State == store.JobRunning:
			again = append(again, effects[i])
			effects[i].Outcome = ""
		case f.Absent:
			effects[i].Outcome = ""
		case f.State == store.FateUnknown:
			effects[i].Outcome = workflow.OutcomeDropped
		case f.State == store.FateApplied && f.Outcome == workflow.OutcomeAccepted: // as the journal has it
			effects[i].Outcome = workflow.OutcomeApplied
		default: // an accepted one lies in the mailbox
			effects[i].Outcome, effects[i].Code, effects[i].Detail = f.Outcome, f.Code, f.Detail
		}
	}
	if len(again) > 0 {
		if err := j.send(ctx, job, again); err != nil {
			return false, err
		}
	}
	return j.noted(ctx, job, append(effects, again...))
}

// commandsOf are the commands of a job's page, as nothing is known of them.
func commandsOf(job *Job) []store.Effect {
	effects := make([]store.Effect, len(job.Page))
	for i, id := range job.Page {
		effects[i] = store.Effect{InstanceID: id, Outcome: workflow.OutcomeAccepted, Command: store.JobCommand(job.ID, id)}
	}
	return effects
}

// fill gives a job its next page.
func (j *Jobs) fill(ctx context.Context, job *Job) error {
	f, err := find.Parse(job.Filter, "/q")
	if err != nil {
		return err
	}
	page, err := j.inspector.Instances(ctx, f, front.Paging{Limit: j.intake.Affords(writes(job), jobPage), Cursor: job.Cursor, Show: j.cfg.Show})
	if err != nil {
		return err
	}
	for i := range page.Items {
		if page.Items[i].Damaged != "" {
			refuse(job, *unreadable(page.Items[i].ID))
			continue
		}
		job.Page = append(job.Page, page.Items[i].ID)
	}
	job.Next = page.Next
	return nil
}

// turn goes on to the next page, or ends the job.
func (j *Jobs) turn(ctx context.Context, job *Job) (more bool, err error) {
	seen, err := j.look(ctx, job, nil)
	if err != nil {
		return false, err
	}
	j.turned(job)
	tally(job, nil, seen)
	_, err = j.write(ctx, job)
	return err == nil && job.State == store.JobRunning, err
}

// turned puts a job behind its page.
func (j *Jobs) turned(job *Job) {
	job.Page, job.Cursor, job.Next, job.Late, job.LateAt = nil, job.Next, "", time.Time{}, 0
	if job.Cursor == "" && job.State == store.JobRunning {
		now := j.cfg.Now().UTC()
		job.State, job.EndedAt = store.JobDone, &now
	}
}

// send gives instances of the page their commands, and waits for what becomes of them, which
// it notes.
func (j *Jobs) send(ctx context.Context, job *Job, effects []store.Effect) error {
	var gives errgroup.Group
	gives.SetLimit(jobsAtOnce)
	ids := make([]string, len(effects))
	for i := range effects {
		ids[i] = effects[i].InstanceID
		gives.Go(func() error { return j.give(ctx, job, &effects[i]) })
	}
	if err := gives.Wait(); err != nil {
		return err
	}
	j.cfg.Wakeups.Hint(ids, false)
	open := func(e store.Effect) bool { return e.Outcome == workflow.OutcomeAccepted }
	for until := j.cfg.Now().Add(jobWait); slices.ContainsFunc(effects, open) && ctx.Err() == nil && !j.cfg.Now().After(until); {
		copy(effects, j.answers.Effects(ctx, effects))
	}
	return ctx.Err()
}

// give puts one command into its mailbox, and into effect why that cannot be.
func (j *Jobs) give(ctx context.Context, job *Job, effect *store.Effect) error {
	refused := func(code workflow.Code) {
		*effect = store.Effect{InstanceID: effect.InstanceID, Outcome: workflow.OutcomeRefused, Code: string(code)}
	}
	ctx, span := tracing.Send(ctx, tracing.ToMailbox, effect.InstanceID)
	defer span.End()
	cmd := workflow.Command{ID: effect.Command, Kind: job.Kind, Alter: job.Alter, CreatedAt: j.cfg.Now().UTC(), Trace: tracing.Traceparent(ctx)}
	var out etcdstore.PutOutcome
	err := front.RetryUnknown(ctx, func() (err error) {
		out, err = j.cfg.Jobs.Give(ctx, job, effect.InstanceID, cmd)
		return err
	})
	switch {
	case workflow.CodeOf(err) == workflow.CodeTooLarge:
		refused(workflow.CodeTooLarge)
		return nil
	case err == nil && out == etcdstore.PutGone:
		refused(workflow.CodeInstanceNotFound)
	case err == nil && out == etcdstore.PutMoved: // the job was cancelled, or another node is done with the page
		effect.Outcome = ""
	}
	return err
}

// noted counts what became of a page, unless another node has. A job that was cancelled
// in between stays so.
func (j *Jobs) noted(ctx context.Context, job *Job, effects []store.Effect) (more bool, err error) {
	page := job.Page
	seen, err := j.look(ctx, job, effects)
	if err != nil {
		return false, err
	}
	for range front.MaxLooks {
		count(job, effects)
		j.turned(job)
		tally(job, effects, seen)
		if done, err := j.write(ctx, job); err != nil || done {
			return err == nil && job.State == store.JobRunning, err
		}
		if job, err = j.cfg.Jobs.Job(ctx, job.ID); err != nil || job == nil || !slices.Equal(job.Page, page) {
			return err == nil && job != nil, err
		}
		if job.State == store.JobRunning {
			return false, nil // another node is at this page: it gives what this one could not, and counts
		}
	}
	return true, nil
}

func count(job *Job, effects []store.Effect) {
	for _, e := range effects {
		switch e.Outcome {
		case workflow.OutcomeRefused:
			r := store.JobRefusal{InstanceID: e.InstanceID, Code: e.Code, Detail: e.Detail}
			if len(e.Misfits) > 0 {
				r.Detail = workflow.CutBytes(e.Misfits[0].Detail, 256)
			}
			refuse(job, r)
		case workflow.OutcomeAccepted:
			job.Accepted++
		case workflow.OutcomeDropped:
			job.Unknown++
		case "": // it was not given the command
		default: // see took
			job.Done++
		}
	}
}

func refuse(job *Job, r store.JobRefusal) {
	if job.RefusedBy == nil {
		job.RefusedBy = map[string]int64{}
	}
	job.RefusedBy[r.Code]++
	if job.Refused++; len(job.Refusals) < jobRefusals {
		job.Refusals = append(job.Refusals, r)
	}
}
