package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// Bookmarks resumes instances at bookmarks that the caller names, as those of tasks and
// of resume links.
type Bookmarks struct {
	cfg     *front.Config
	intake  *intake.Intake
	answers *answers.Waiter
	mailer  *front.Mailer
}

// ResumeBookmark resumes an instance at one bookmark. An input of a name that its
// activity does not know is refused, and the instance waits on.
func (b *Bookmarks) ResumeBookmark(ctx context.Context, bookmarkID string, input map[string]any, key *front.Key) (front.SendResult, error) {
	return b.resumeBookmark(ctx, bookmarkID, key, nil, func(activityType string) (map[string]any, error) {
		if err := front.NotByHand(activityType); err != nil {
			return nil, err
		}
		return input, front.Takes(b.cfg.Catalog, activityType, input)
	})
}

// AnswerBookmark resumes an instance at one bookmark with an answer for what
// waits there: of the names of all, with those that its activity knows.
func (b *Bookmarks) AnswerBookmark(ctx context.Context, bookmarkID string, all map[string]any) (front.SendResult, error) {
	return b.resumeBookmark(ctx, bookmarkID, nil, nil, func(activityType string) (map[string]any, error) {
		input := map[string]any{}
		for name, v := range all {
			if one := map[string]any{name: v}; front.Takes(b.cfg.Catalog, activityType, one) == nil {
				input[name] = v
			}
		}
		return input, nil
	})
}

func (b *Bookmarks) resumeBookmark(ctx context.Context, bookmarkID string, key *front.Key, claim *workflow.TaskClaim, inputFor func(activityType string) (map[string]any, error)) (front.SendResult, error) {
	if err := b.intake.Accepts(intake.GoesOn); err != nil {
		return front.SendResult{}, err
	}
	id, ok := workflow.BookmarkInstance(bookmarkID)
	if !ok {
		return front.SendResult{}, front.NoBookmark(bookmarkID)
	}
	k := key.Command()
	cmd := workflow.Command{ID: front.CommandID(k), Kind: workflow.CommandResume, Bookmark: bookmarkID, Key: k, Claim: claim}
	for look := range front.MaxLooks {
		cmd.CreatedAt = b.cfg.Now().UTC() // each look is an attempt of its own, as what was refused stays so
		if k != nil {
			if a, err := b.answers.Used(ctx, k); err != nil || a != nil {
				if err != nil {
					return front.SendResult{}, err
				}
				return front.Answered(ctx, a, k, b.answers.Effects)
			}
		}
		if claim != nil && look == 0 { // who has a claim knows that it waits, and what
			cmd.Input, _ = inputFor(workflow.TaskType)
			if err := b.fits(ctx, claim.Form, id, nil, cmd.Input); err != nil {
				return front.SendResult{}, err
			}
			if res, done, err := b.mailer.InHand(ctx, id, b.cfg.Node.Found(id, bookmarkID), cmd); err != nil || done {
				return res, err
			}
			continue
		}
		rec, err := inspect.Header(ctx, b.cfg.Reader, id)
		if err != nil {
			return front.SendResult{}, err
		}
		h := &rec.Header
		if h.Status == workflow.StatusFinished {
			return front.SendResult{}, workflow.Fail(workflow.CodeInstanceFinished, fmt.Sprintf("instance %q is finished (%s)", id, h.SubStatus))
		}
		ref := front.FindBookmark(rec, bookmarkID)
		if ref == nil {
			return front.SendResult{}, front.NoBookmark(bookmarkID)
		}
		if cmd.Input, err = b.inputOf(ctx, h, bookmarkID, claim, inputFor); err != nil {
			return front.SendResult{}, err
		}
		res, done, err := b.mailer.Resume(ctx, ref, cmd)
		if err != nil || done {
			return res, err
		}
	}
	return front.SendResult{}, front.Busy(id)
}

// inputOf is what resumes a bookmark that is there, unless it is not the caller's to resume.
func (b *Bookmarks) inputOf(ctx context.Context, h *workflow.Instance, bookmarkID string, claim *workflow.TaskClaim, inputFor func(activityType string) (map[string]any, error)) (map[string]any, error) {
	if err := b.ClaimStands(ctx, bookmarkID, claim); err != nil {
		return nil, err
	}
	for i := range h.Bookmarks {
		if is := &h.Bookmarks[i]; is.ID == bookmarkID && usertask.Is(is) && claim == nil {
			return nil, notByWorkers(bookmarkID, is.Name)
		}
	}
	if waitsForChild(h, bookmarkID) {
		return nil, workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("bookmark %q waits for the end of a child instance; that end resumes it, and nothing else", bookmarkID))
	}
	if typeOf(h, bookmarkID) == workflow.LimitType {
		return nil, workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("bookmark %q waits for a place of a limit, or has it; the limit gives it one, and nothing else does: see weft limits", bookmarkID))
	}
	input, err := inputFor(typeOf(h, bookmarkID))
	if err != nil {
		return nil, err
	}
	return input, b.fits(ctx, formOf(h, bookmarkID), h.ID, h, input)
}

// fits refuses a result that is not as the activity type of its task is declared: who reports it is told, and the task stays. The
// instance is read if h is nil and the declaration is not known here.
func (b *Bookmarks) fits(ctx context.Context, form, instance string, h *workflow.Instance, input map[string]any) error {
	if form == "" || input["error"] != nil {
		return nil
	}
	d, err := b.cfg.Catalog.Declared(ctx, form, func() (string, int, error) {
		if h == nil {
			rec, err := inspect.Header(ctx, b.cfg.Reader, instance)
			if err != nil {
				return "", 0, err
			}
			h = &rec.Header
		}
		return h.DefinitionID, h.Version, nil
	})
	if err != nil || d == nil {
		return err // with none of this digest the activity itself looks
	}
	var no *declared.MisfitError
	if !errors.As(d.Fits(input["result"]), &no) {
		return nil
	}
	at := "/result"
	if no.Field != "" {
		at += "/" + workflow.PointerToken(workflow.Shorten(no.Field))
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: no.Why, Problems: workflow.Problems{{Code: "bad-result", Place: workflow.Place{Pointer: at}, Detail: no.Why}}}
}

// formOf is the digest of the declaration that the result of a task has to fit; "": of none.
func formOf(h *workflow.Instance, bookmarkID string) string {
	for i := range h.Bookmarks {
		if h.Bookmarks[i].ID == bookmarkID {
			return declared.Form(&h.Bookmarks[i])
		}
	}
	return ""
}

// ClaimStands is the error of who has a claim of a task that has ended.
func (b *Bookmarks) ClaimStands(ctx context.Context, task string, claim *workflow.TaskClaim) error {
	if claim == nil {
		return nil
	}
	is, err := b.cfg.Claims.Of(ctx, task, claim)
	switch {
	case err != nil:
		return etcdstore.Unavailable("the claim of the task could not be read", err)
	case is == nil || is.Revision != claim.Revision:
		return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("the claim of task %s has ended", task))
	}
	return nil
}

// typeOf is the activity type of a bookmark; "" if the instance has none of the id.
func typeOf(h *workflow.Instance, bookmarkID string) string {
	for _, m := range h.Bookmarks {
		if m.ID == bookmarkID {
			return m.ActivityType
		}
	}
	return ""
}

// waitsForChild reports whether a bookmark is resumed by a child's end only, so
// that the parent is resumed once per child, and after it ended.
func waitsForChild(h *workflow.Instance, bookmarkID string) bool {
	return front.StartsChildren(typeOf(h, bookmarkID))
}

// CompleteTask hands the result of a task, or its error, to the instance that
// waits for it.
func (b *Bookmarks) CompleteTask(ctx context.Context, taskID string, result any, taskErr string, key *front.Key) (front.SendResult, error) {
	return b.complete(ctx, taskID, nil, taskInput(result, taskErr), key)
}

// taskInput is what a task is resumed with.
func taskInput(result any, taskErr string) map[string]any {
	if taskErr != "" {
		return map[string]any{"error": taskErr}
	}
	return map[string]any{"result": result}
}

func (b *Bookmarks) complete(ctx context.Context, taskID string, claim *workflow.TaskClaim, input map[string]any, key *front.Key) (front.SendResult, error) {
	given := maps.Clone(input)
	delete(given, task.Final) // which the fail of a worker says, and no caller
	res, err := b.resumeBookmark(ctx, taskID, key, claim, func(activityType string) (map[string]any, error) {
		if err := front.NotByHand(activityType); err != nil {
			return nil, err
		}
		if err := front.Takes(b.cfg.Catalog, activityType, given); err != nil || claim == nil {
			return given, err
		}
		withWorker := maps.Clone(input)
		withWorker[task.Worker] = claim.Worker
		if claim.Attempt > 0 {
			withWorker[task.Attempt], withWorker[task.Since] = int64(claim.Attempt), claim.Since.UTC().Format(time.RFC3339)
		}
		return withWorker, nil
	})
	if c := workflow.CodeOf(err); c == workflow.CodeBookmarkNotFound || c == workflow.CodeInstanceNotFound {
		return res, workflow.Fail(workflow.CodeTaskNotFound, fmt.Sprintf("there is no task %q (any more)", taskID))
	}
	return res, err
}

// notByWorkers refuses what workers and links would do with a user task.
func notByWorkers(bookmarkID, name string) error {
	if name != task.UserName {
		return nil
	}
	return workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("what waits at %s is a task for people: its candidates complete it, by POST /user-tasks/{id}/complete", bookmarkID))
}
