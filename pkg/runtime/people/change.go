package people

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// Change is what a person does with a task beside claiming and completing it.
type Change struct {
	Op       string // such as [usertask.Assign]
	To, Text string
	Revision int64 // of the task; 0: any
}

// Change does what a person asks for in one commit of the instance, with a line in its journal. Operators assign and cancel,
// who has a task delegates it, and who may see it comments.
func (u *UserTasks) Change(ctx context.Context, who *Person, id string, ask Change, key *front.Key) (front.SendResult, error) {
	if res, done, err := u.begins(ctx, key); err != nil || done {
		return res, err
	}
	for look := 1; ; look++ {
		res, err := u.change(ctx, who, id, &ask, key)
		if look < front.MaxLooks && ask.Op == usertask.Comment && workflow.CodeOf(err) == workflow.CodeTaskClaimLost {
			continue // somebody gave the task on between: what was written is of it all the same
		}
		return res, err
	}
}

func (u *UserTasks) change(ctx context.Context, who *Person, id string, ask *Change, key *front.Key) (front.SendResult, error) {
	none := front.SendResult{}
	t, b, _, err := u.find(ctx, who, id)
	if err != nil {
		return none, err
	}
	if err := u.mayChange(t, who, ask); err != nil {
		return none, err
	}
	c := usertask.Change{Op: ask.Op, By: who.Claims(), To: ask.To, Text: ask.Text}
	problems := t.Refused(&c)
	if ask.Op == usertask.Comment && t.Beside != nil && len(t.Beside.Comments) >= usertask.MostComments {
		problems = append(problems, workflow.Problem{Code: "too-many", Place: workflow.Place{Pointer: "/text"}, Detail: fmt.Sprintf("the task has %d comments, and may have no more", usertask.MostComments)})
	}
	if problems != nil {
		return none, &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
	}
	var claim *workflow.TaskClaim
	if t.Claim != nil && ask.Op != usertask.Comment { // which ends no claim
		claim = claimOf(t, b)
	}
	return u.resume(ctx, t, b.ID, claim, c.Input(), key)
}

// mayChange is the error of a person who may see a task, and not do this with it.
func (u *UserTasks) mayChange(t *UserTask, who *Person, ask *Change) error {
	if ask.Revision != 0 && ask.Revision != t.Revision {
		return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("user task %s was changed since revision %d, it is at %d: look again", t.ID, ask.Revision, t.Revision))
	}
	switch ask.Op {
	case usertask.Comment:
		return nil
	case usertask.Assign, usertask.Cancel:
		if !who.Operator {
			return workflow.Fail(workflow.CodeTaskNotFound, fmt.Sprintf("there is no user task %q for you to %s: operators do that", t.ID, ask.Op)) // the route says so before
		}
		return nil
	}
	switch {
	case t.Claim != nil && t.Claim.Worker == who.Claims(), t.Assignee != "" && who.Is(t.Assignee) && t.Claim == nil, ask.Op == usertask.Return && who.Operator:
		return nil
	case t.Claim != nil:
		return taken(t.ID, t.Claim)
	}
	return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("you do not have user task %s: claim it first", t.ID))
}

// resume sends a change to the bookmark of a task. It is refused where the task waits at another one by now, or the claim
// has ended.
func (u *UserTasks) resume(ctx context.Context, t *UserTask, bookmarkID string, claim *workflow.TaskClaim, input map[string]any, key *front.Key) (front.SendResult, error) {
	k := key.Command()
	cmd := workflow.Command{ID: front.CommandID(k), Kind: workflow.CommandResume, Bookmark: bookmarkID, Key: k, Claim: claim, Input: input}
	for range front.MaxLooks {
		cmd.CreatedAt = u.Front.Now().UTC() // each look is an attempt of its own, as what was refused stays so
		if k != nil {
			if a, err := u.Answers.Used(ctx, k); err != nil || a != nil {
				if err != nil {
					return front.SendResult{}, err
				}
				return front.Answered(ctx, a, k, u.Answers.Effects)
			}
		}
		rec, err := inspect.Header(ctx, u.Front.Reader, t.InstanceID)
		if err != nil {
			return front.SendResult{}, err
		}
		ref := front.FindBookmark(rec, bookmarkID)
		if ref == nil {
			return front.SendResult{}, taken(t.ID, nil)
		}
		if err := u.Bookmarks.ClaimStands(ctx, bookmarkID, claim); err != nil {
			return front.SendResult{}, err
		}
		res, done, err := u.Mailer.Resume(ctx, ref, cmd)
		if err != nil {
			return res, err
		}
		if done {
			if slices.ContainsFunc(res.Outcomes, func(o front.TargetOutcome) bool {
				return o.Outcome == workflow.OutcomeGone || o.Outcome == workflow.OutcomeRefused
			}) {
				return front.SendResult{}, taken(t.ID, nil)
			}
			return res, nil
		}
	}
	return front.SendResult{}, front.Busy(t.InstanceID)
}
