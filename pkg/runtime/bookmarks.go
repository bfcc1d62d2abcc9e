package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// bookmarks resumes instances at bookmarks that the caller names, as those of tasks and
// of resume links.
type bookmarks struct {
	cfg     *Config
	intake  *intake.Intake
	answers *answers.Waiter
	mailer  *mailer
}

// ResumeBookmark resumes an instance at one bookmark. An input of a name that its
// activity does not know is refused, and the instance waits on.
func (b *bookmarks) ResumeBookmark(ctx context.Context, bookmarkID string, input map[string]any, key *Key) (SendResult, error) {
	return b.resumeBookmark(ctx, bookmarkID, key, func(activityType string) (map[string]any, error) {
		if err := notByHand(activityType); err != nil {
			return nil, err
		}
		return input, takes(b.cfg.Catalog, activityType, input)
	})
}

// AnswerBookmark resumes an instance at one bookmark with an answer for what
// waits there: of the names of all, with those that its activity knows.
func (b *bookmarks) AnswerBookmark(ctx context.Context, bookmarkID string, all map[string]any) (SendResult, error) {
	return b.resumeBookmark(ctx, bookmarkID, nil, func(activityType string) (map[string]any, error) {
		input := map[string]any{}
		for name, v := range all {
			if one := map[string]any{name: v}; takes(b.cfg.Catalog, activityType, one) == nil {
				input[name] = v
			}
		}
		return input, nil
	})
}

func (b *bookmarks) resumeBookmark(ctx context.Context, bookmarkID string, key *Key, inputFor func(activityType string) (map[string]any, error)) (SendResult, error) {
	if err := b.intake.Accepts(intake.GoesOn); err != nil {
		return SendResult{}, err
	}
	id, ok := workflow.BookmarkInstance(bookmarkID)
	if !ok {
		return SendResult{}, noBookmark(bookmarkID)
	}
	k := key.Command()
	cmd := workflow.Command{ID: commandID(k), Kind: workflow.CommandResume, Bookmark: bookmarkID, Key: k}
	for range maxLooks {
		cmd.CreatedAt = b.cfg.Now().UTC() // each look is an attempt of its own, as what was refused stays so
		if k != nil {
			if a, err := b.answers.Used(ctx, k); err != nil || a != nil {
				if err != nil {
					return SendResult{}, err
				}
				return answered(ctx, a, k, b.answers.Effects)
			}
		}
		rec, err := inspect.Record(ctx, b.cfg.Reader, id)
		if err != nil {
			return SendResult{}, err
		}
		h := &rec.Header
		if h.Status == workflow.StatusFinished {
			return SendResult{}, workflow.Fail(workflow.CodeInstanceFinished, fmt.Sprintf("instance %q is finished (%s)", id, h.SubStatus))
		}
		ref := findBookmark(rec, bookmarkID)
		if ref == nil {
			return SendResult{}, noBookmark(bookmarkID)
		}
		if waitsForChild(h, bookmarkID) {
			return SendResult{}, workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("bookmark %q waits for the end of a child instance; that end resumes it, and nothing else", bookmarkID))
		}
		if cmd.Input, err = inputFor(typeOf(h, bookmarkID)); err != nil {
			return SendResult{}, err
		}
		res, done, err := b.mailer.resume(ctx, ref, cmd)
		if err != nil || done {
			return res, err
		}
	}
	return SendResult{}, busy(id)
}

// takes refuses an input with names that the activities of a type do not know: they
// would go on with nothing, and the bookmark would be gone. A type that this node's
// program does not have, or that does not say, takes anything.
func takes(c *catalog.Catalog, activityType string, input map[string]any) error {
	d := c.Types().ByType(activityType)
	if d == nil || d.Type != activityType || d.Resume == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		switch {
		case slices.Contains(d.Resume, name), name == workflow.DepthProperty: // of an event that an instance published
		case len(d.Resume) == 0:
			return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("input %q: %s takes no input", name, activityType))
		default:
			return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("input %q is not one that %s knows%s; it takes %s", name, activityType,
				workflow.DidYouMean(name, d.Resume), strings.Join(d.Resume, ", ")))
		}
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
	return startsChildren(typeOf(h, bookmarkID))
}

// startsChildren reports whether bookmarks of an activity type wait for
// children.
func startsChildren(activityType string) bool {
	switch activityType {
	case "Elsa.ExecuteWorkflow", "Elsa.DispatchWorkflow", "Elsa.BulkDispatchWorkflows":
		return true
	}
	return false
}

func findBookmark(rec *store.Record, id string) *store.BookmarkRef {
	h := &rec.Header
	for _, m := range h.Bookmarks {
		if m.ID == id {
			return &store.BookmarkRef{ID: id, InstanceID: h.ID, Hash: m.Hash, CorrelationID: h.CorrelationID, Moved: rec.Modified, Unindexed: rec.Unwritten != nil}
		}
	}
	return nil
}

// CompleteTask hands the result of a task, or its error, to the instance that
// waits for it.
func (b *bookmarks) CompleteTask(ctx context.Context, taskID string, result any, taskErr string, key *Key) (SendResult, error) {
	input := map[string]any{"result": result}
	if taskErr != "" {
		input = map[string]any{"error": taskErr}
	}
	res, err := b.ResumeBookmark(ctx, taskID, input, key)
	if c := workflow.CodeOf(err); c == workflow.CodeBookmarkNotFound || c == workflow.CodeInstanceNotFound {
		return res, workflow.Fail(workflow.CodeTaskNotFound, fmt.Sprintf("there is no task %q (any more)", taskID))
	}
	return res, err
}
