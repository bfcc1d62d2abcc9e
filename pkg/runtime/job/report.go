package job

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	jobSettles = 5 * time.Second // for what is still at work when the last page is done
	jobLooks   = 200 * time.Millisecond
	jobMoving  = 100 // instances that are looked at again with a later page
)

// took tells whether an instance took the command of a job.
func took(e store.Effect) bool {
	switch e.Outcome {
	case workflow.OutcomeRefused, workflow.OutcomeAccepted, workflow.OutcomeDropped, "":
		return false
	}
	return true
}

// atWork tells whether more is to come of an instance without anything from outside.
func atWork(status string) bool {
	return status == string(workflow.Executing) || status == string(workflow.Pending)
}

// look reads what became of the instances of a page that took the command, and of those of earlier pages that
// were at work: their sub-status by id. Behind the last page it waits for a moment until none is at work.
func (j *Jobs) look(ctx context.Context, job *Job, effects []store.Effect) (map[string]string, error) {
	ids := slices.Clone(job.Moving)
	for _, e := range effects {
		if took(e) {
			ids = append(ids, e.InstanceID)
		}
	}
	last := job.Next == "" || job.State != store.JobRunning
	seen := map[string]string{}
	for until := j.cfg.Now().Add(jobSettles); ; {
		if err := j.statuses(ctx, ids, seen); err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return !atWork(seen[id]) })
		if len(ids) == 0 || !last || j.cfg.Now().After(until) {
			return seen, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(jobLooks):
		}
	}
}

// statuses reads sub-statuses of instances; those that are not there any more are [store.JobGone].
func (j *Jobs) statuses(ctx context.Context, ids []string, into map[string]string) error {
	for some := range slices.Chunk(ids, find.MaxIDs) {
		for _, id := range some {
			into[id] = store.JobGone
		}
		sorted := slices.Clone(some)
		slices.Sort(sorted)
		for part := (front.Paging{Limit: find.MaxIDs, Show: j.cfg.Show}); ; {
			page, err := j.inspector.Instances(ctx, find.Filter{IDs: slices.Compact(sorted)}, part)
			if err != nil {
				return err
			}
			for i := range page.Items {
				into[page.Items[i].ID] = string(page.Items[i].SubStatus)
			}
			if part.Cursor = page.Next; part.Cursor == "" {
				break
			}
		}
	}
	return nil
}

// tally counts what became of instances; those that are at work are counted with a later page, or at the end.
func tally(job *Job, effects []store.Effect, seen map[string]string) {
	moving := slices.Clone(job.Moving)
	for _, e := range effects {
		if took(e) {
			moving = append(moving, e.InstanceID)
		}
	}
	job.Moving = nil
	for i, id := range moving {
		if atWork(seen[id]) && job.State == store.JobRunning && len(moving)-i <= jobMoving {
			job.Moving = append(job.Moving, id)
			continue
		}
		if job.Became == nil {
			job.Became = map[string]int64{}
		}
		job.Became[seen[id]]++
	}
}

// retries tells whether all that a job does is to try again.
func retries(j *Job) bool {
	return j.Alter != nil && len(j.Alter.Alterations) > 0 &&
		!slices.ContainsFunc(j.Alter.Alterations, func(a workflow.Alteration) bool { return a.Type != workflow.AlterRetry })
}

// Report says in words what came of a job so far: how many instances took its command and what they are
// since, how many refused it and why, and of how many nothing is known.
func Report(j *Job) string {
	faulted := "faulted"
	if retries(j) {
		faulted = "faulted again"
	}
	var became []string
	left := j.Done
	for _, w := range []struct{ status, says string }{
		{string(workflow.Finished), "finished"}, {string(workflow.Faulted), faulted}, {string(workflow.Cancelled), "cancelled"}, {string(workflow.Suspended), "waiting"}, {store.JobGone, "deleted"},
	} {
		if n := j.Became[w.status]; n > 0 {
			became, left = append(became, fmt.Sprintf("%s %d", w.says, n)), left-n
		}
	}
	// The others are at work, or nobody looked: a node of an older version worked the page.
	atWork := left
	if !j.Open() {
		atWork = j.Became[string(workflow.Executing)] + j.Became[string(workflow.Pending)]
	}
	if atWork > 0 {
		became = append(became, fmt.Sprintf("at work %d", atWork))
	}
	if left -= atWork; left > 0 {
		became = append(became, fmt.Sprintf("not looked at %d", left))
	}
	out := []string{fmt.Sprintf("%d took it", j.Done)}
	if len(became) > 0 {
		out[0] += " (" + strings.Join(became, ", ") + ")"
	}
	if j.Refused > 0 {
		by := make([]string, 0, len(j.RefusedBy))
		for _, code := range slices.Sorted(maps.Keys(j.RefusedBy)) {
			by = append(by, fmt.Sprintf("%s %d", code, j.RefusedBy[code]))
		}
		text := fmt.Sprintf("%d refused it", j.Refused)
		if len(by) > 0 {
			text += " (" + strings.Join(by, ", ") + ")"
		}
		out = append(out, text)
	}
	if j.Accepted > 0 {
		out = append(out, fmt.Sprintf("%d have it in their mailbox still", j.Accepted))
	}
	if j.Unknown > 0 {
		out = append(out, fmt.Sprintf("of %d it is not known", j.Unknown))
	}
	return strings.Join(out, ", ")
}
