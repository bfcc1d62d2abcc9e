package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/tasks"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// Tasks gives tasks to workers outside, and takes what they report.
type Tasks struct {
	cfg       *front.Config
	intake    *intake.Intake
	inspector *inspect.Inspector
	bookmarks *Bookmarks
	desk      *tasks.Desk
}

// TaskAsk is what a worker asks for.
type TaskAsk = tasks.Ask

// ClaimedTask is a task that a worker has.
type ClaimedTask struct {
	Task
	DefinitionID string
	Claim        string // names the claim
	Attempt      int    // from 1
	Retried      bool   // the task's activity has a retry, which decides what follows a failure
	LeaseUntil   time.Time
}

// TaskBeat is what a worker says of a task that it has.
type TaskBeat = claims.Beat

// TaskHeard is the answer to it.
type TaskHeard struct {
	Stop       string    // why the worker is to stop, as nobody waits for the task; "": it goes on
	LeaseUntil time.Time // of a worker that goes on
}

func newTasks(cfg *front.Config, in *intake.Intake, inspector *inspect.Inspector, b *Bookmarks) *Tasks {
	return &Tasks{cfg, in, inspector, b, tasks.New(tasks.Config{
		Claims: cfg.Claims, Node: cfg.Session.NodeID(), Log: cfg.Log, Now: cfg.Now,
		Mine:    func(task string) bool { return cfg.Session.PreferredNode("task/"+task) == cfg.Session.NodeID() },
		Accepts: func() error { return in.Accepts(intake.GoesOn) },
	})}
}

// Watch follows which tasks are free while workers ask for some, for the node's upkeep.
func (t *Tasks) Watch(ctx context.Context) error { return t.desk.Run(ctx) }

// Claim gives a worker tasks: as many as there are at once, as soon as there is one, or none when it has waited for so
// long as it asks for.
func (t *Tasks) Claim(ctx context.Context, ask TaskAsk) ([]ClaimedTask, error) {
	if slices.Contains(ask.Names, task.UserName) {
		return nil, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("tasks of the name %s are for people: no worker claims them", task.UserName))
	}
	got, err := t.desk.Claim(ctx, ask)
	if err != nil {
		return nil, etcdstore.ReadFailed("free tasks", err)
	}
	out := make([]ClaimedTask, len(got))
	for i := range got {
		g := &got[i]
		named := g.Named()
		named.Form = declared.Form(&g.Task)
		out[i] = ClaimedTask{Task: Task{TaskID: g.Task.ID, Name: g.Task.Name, InstanceID: g.Instance, Payload: g.Task.Metadata, CreatedAt: g.Task.CreatedAt},
			DefinitionID: g.Definition, Claim: tasks.ClaimText(g.Task.ID, named), Attempt: g.Attempt(), Retried: g.Retried(), LeaseUntil: g.Claim.Until}
	}
	return out, nil
}

// shown is what a worker said as people may see it: without the values of secrets that this node knows.
func (t *Tasks) shown(text string) string {
	if t.cfg.Show == nil {
		return text
	}
	return t.cfg.Show(text)
}

// Heartbeat extends a claim, and tells the worker whether anybody waits for the task still.
func (t *Tasks) Heartbeat(ctx context.Context, taskID string, claim *workflow.TaskClaim, beat TaskBeat) (TaskHeard, error) {
	if err := notByWorkers(taskID, claim.Name); err != nil {
		return TaskHeard{}, err
	}
	var is *store.TaskClaim
	beat.Text = t.shown(beat.Text)
	err := front.RetryUnknown(ctx, func() (err error) {
		is, err = t.cfg.Claims.Heartbeat(ctx, taskID, claim, beat, t.cfg.Now().UTC())
		return err
	})
	if err == nil {
		return TaskHeard{LeaseUntil: is.Until}, nil
	}
	why, lost := t.lost(ctx, taskID, claim, is, err)
	return TaskHeard{Stop: why}, lost
}

// Release frees a task with which its worker does not go on. failed: the attempt counts.
func (t *Tasks) Release(ctx context.Context, taskID string, claim *workflow.TaskClaim, failed bool, why string) error {
	if err := notByWorkers(taskID, claim.Name); err != nil {
		return err
	}
	var is *store.TaskClaim
	err := front.RetryUnknown(ctx, func() (err error) {
		is, err = t.cfg.Claims.Release(ctx, taskID, claim, failed, why, t.cfg.Now().UTC())
		return err
	})
	if err == nil {
		return nil
	}
	gone, lost := t.lost(ctx, taskID, claim, is, err)
	if lost == nil {
		lost = workflow.Fail(workflow.CodeTaskNotFound, gone)
	}
	return lost
}

// TaskFailure is why an attempt at a task failed.
type TaskFailure struct {
	Kind    string // of failure, for people and a retry's on and notOn; may be ""
	Message string
	Again   bool // another attempt may do better
}

// Text is the failure as people and the activity see it.
func (f *TaskFailure) Text() string {
	if f.Kind == "" {
		return f.Message
	}
	return f.Kind + ": " + f.Message
}

// mostWhy is how many bytes a free task says of why its last attempt failed.
const mostWhy = 1024

// Fail ends a claim as an attempt that failed. Where the task's activity has a retry, that decides what follows; else the
// task is free again if another attempt may do better, which it tells, and its activity faults if not.
func (t *Tasks) Fail(ctx context.Context, taskID string, claim *workflow.TaskClaim, f TaskFailure) (free bool, err error) {
	if err := notByWorkers(taskID, claim.Name); err != nil {
		return false, err
	}
	if f.Again && !claim.Retried {
		return true, t.Release(ctx, taskID, claim, true, workflow.CutBytes(t.shown(f.Text()), mostWhy))
	}
	input := taskInput(nil, f.Text())
	if !f.Again {
		input[task.Final] = true
	}
	_, err = t.Report(ctx, taskID, claim, input, nil)
	return false, err
}

// Complete hands the result of a task, or its error, to the instance that waits for it. Without a claim it is taken from
// anybody; with one only while that stands.
func (t *Tasks) Complete(ctx context.Context, taskID string, claim *workflow.TaskClaim, result any, taskErr string, key *front.Key) (front.SendResult, error) {
	if claim != nil {
		if err := notByWorkers(taskID, claim.Name); err != nil {
			return front.SendResult{}, err
		}
	}
	return t.Report(ctx, taskID, claim, taskInput(result, taskErr), key)
}

// Report resumes a task, and says who else did if it cannot.
func (t *Tasks) Report(ctx context.Context, taskID string, claim *workflow.TaskClaim, input map[string]any, key *front.Key) (front.SendResult, error) {
	res, err := t.bookmarks.complete(ctx, taskID, claim, input, key)
	switch workflow.CodeOf(err) {
	case workflow.CodeTaskNotFound:
		return res, workflow.Fail(workflow.CodeTaskNotFound, t.gone(ctx, taskID))
	case workflow.CodeInstanceFinished:
		if claim != nil {
			return res, workflow.Fail(workflow.CodeTaskNotFound, t.gone(ctx, taskID))
		}
		if by := t.Answered(ctx, taskID); by != "" {
			return res, workflow.Fail(workflow.CodeInstanceFinished, by)
		}
	case workflow.CodeTaskClaimLost:
		is, rerr := t.cfg.Claims.Of(ctx, taskID, claim)
		if rerr != nil {
			return res, err
		}
		gone, lost := t.lost(ctx, taskID, claim, is, claims.ErrLost)
		if lost == nil {
			lost = workflow.Fail(workflow.CodeTaskNotFound, gone)
		}
		return res, lost
	}
	return res, err
}

// lost is the error of a worker whose claim has ended; or gone is why nobody waits for the task.
func (t *Tasks) lost(ctx context.Context, taskID string, claim *workflow.TaskClaim, is *store.TaskClaim, err error) (gone string, lost error) {
	if !errors.Is(err, claims.ErrLost) {
		return "", etcdstore.ReadFailed("claim", err)
	}
	if is != nil {
		return "", workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("this claim of task %s has ended; worker %s has it since %s, until %s: stop, what you report is not taken",
			taskID, is.Worker, timeText(is.Since), timeText(is.Until)))
	}
	switch waits := t.waits(ctx, taskID); {
	case waits && (claim.Retried || !claim.DoneBy.IsZero()):
		return "", workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("this claim of task %s has ended, by its release, the end of its lease or that of the time for the task: stop, what you report is not taken", taskID))
	case waits:
		return "", workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("this claim of task %s has ended, by its release or the end of its lease, and the task is free: claim it again, or complete it without a claim", taskID))
	}
	return t.gone(ctx, taskID), nil
}

func timeText(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// waits tells whether an instance waits for a task; an error counts as a yes.
func (t *Tasks) waits(ctx context.Context, taskID string) bool {
	id, ok := workflow.BookmarkInstance(taskID)
	if !ok {
		return false
	}
	rec, err := inspect.Header(ctx, t.cfg.Reader, id)
	if err != nil {
		return workflow.CodeOf(err) != workflow.CodeInstanceNotFound
	}
	return front.FindBookmark(rec, taskID) != nil
}

const (
	answersLooked = 200 // commits in which it is looked for who answered a task
	answersPage   = 50
)

// Answered says which worker completed a task and when, or what else ended it, as far as the journal tells; "": it does not.
func (t *Tasks) Answered(ctx context.Context, taskID string) string {
	id, ok := workflow.BookmarkInstance(taskID)
	if !ok {
		return ""
	}
	before := int64(0)
	for range answersLooked / answersPage {
		page, err := t.inspector.JournalPart(ctx, id, inspect.JournalQuery{Back: true, Before: before, Limit: answersPage})
		if err != nil || len(page.Entries) == 0 {
			break
		}
		for i := range page.Entries {
			for j := range page.Entries[i].Items {
				if by := answeredBy(&page.Entries[i].Items[j], taskID); by != "" {
					return by
				}
			}
		}
		before = page.Entries[0].Sequence
	}
	return ""
}

// gone says why nobody waits for a task.
func (t *Tasks) gone(ctx context.Context, taskID string) string {
	none := fmt.Sprintf("there is no task %q (any more)", taskID)
	id, ok := workflow.BookmarkInstance(taskID)
	if !ok {
		return none
	}
	if by := t.Answered(ctx, taskID); by != "" {
		return by
	}
	rec, err := inspect.Brief(ctx, t.cfg.Reader, id)
	switch {
	case workflow.CodeOf(err) == workflow.CodeInstanceNotFound:
		return none + ": its instance is gone"
	case err == nil && rec.Header.Status == workflow.StatusFinished:
		return fmt.Sprintf("%s: its instance is %s", none, strings.ToLower(string(rec.Header.SubStatus)))
	}
	return none
}

// answeredBy says what an item of the journal tells of the end of a task; "": nothing.
func answeredBy(item *workflow.JournalItem, taskID string) string {
	data, _ := item.Data.(map[string]any)
	if data["taskId"] != taskID && data["bookmarkId"] != taskID {
		return ""
	}
	worker, _ := data["worker"].(string)
	failed, _ := data["failed"].(bool)
	outcome, _ := data["outcome"].(string)
	at := timeText(item.Time)
	switch {
	case item.Event == usertask.EventCancelled:
		return fmt.Sprintf("user task %s is over: %s, at %s", taskID, item.Text, at)
	case item.Event == workflow.TaskTimedOut:
		return fmt.Sprintf("task %s is over: %s, at %s", taskID, item.Text, at)
	case item.Event != workflow.TaskAnswered || worker == "":
		return ""
	case outcome != "":
		return fmt.Sprintf("user task %s is done: %s completed it at %s, with %s", taskID, worker, at, workflow.Shorten(outcome))
	case failed:
		return fmt.Sprintf("task %s is over: worker %s reported at %s that it failed", taskID, worker, at)
	}
	return fmt.Sprintf("task %s is done: worker %s completed it at %s", taskID, worker, at)
}
