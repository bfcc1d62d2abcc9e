package inspect

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// UserTask is a task that waits for a person.
type UserTask struct {
	*usertask.Task
	ID           string
	InstanceID   string
	DefinitionID string
	CreatedAt    time.Time
	Claim        *store.TaskClaim // of the person who has it; nil: nobody has
	Revision     int64            // of the claim, or of its being free
	Beside       *usertask.Beside // what was written and told; nil: nothing
}

// mostLooked is at how many user tasks a page looks, and leastAsked as how many one look counts at least: a limit of 1 would
// be a thousand reads.
const mostLooked, leastAsked = 1000, 50

// UserTasks lists those user tasks of some lists that fit: the most urgent, then the first due, then the oldest first. A page
// may be shorter than its limit, and have a next one: somebody else may have what was looked at, up to a thousand. One that
// cannot be read is left out.
func (i *Inspector) UserTasks(ctx context.Context, of *lists.Whose, fits func(*UserTask) bool, cursor string, limit int) (Page[UserTask], error) {
	limit = limitOf(limit)
	found := Page[UserTask]{Items: []UserTask{}, Next: cursor}
	for looked := 0; looked < mostLooked && len(found.Items) < limit; {
		ask := limit - len(found.Items)
		page, err := list(ctx, "user tasks", found.Next, ask, func(ctx context.Context, cursor string, limit int64) ([]etcdstore.Task, etcdstore.PageEnd, error) {
			return i.cfg.Reader.ForPeople(ctx, of, cursor, limit)
		}, func(t etcdstore.Task) *UserTask { return ShowUserTask(&t) })
		if err != nil {
			return found, err
		}
		for _, t := range page.Items {
			if t != nil && fits(t) {
				found.Items = append(found.Items, *t)
			}
		}
		looked += max(ask, leastAsked)
		if found.Next, found.Revision = page.Next, page.Revision; page.Next == "" {
			break
		}
	}
	return found, nil
}

// ShowUserTask is a user task as people see it; nil: it cannot be read, or is none.
func ShowUserTask(t *etcdstore.Task) *UserTask {
	if t.Damaged != "" || !usertask.Is(&t.Bookmark) {
		return nil
	}
	is, err := usertask.Of(&t.Bookmark)
	if err != nil {
		return nil
	}
	instance, _ := workflow.SplitBookmarkID(t.Bookmark.ID)
	u := &UserTask{Task: is, ID: is.ID(t.Bookmark.ID), InstanceID: instance, DefinitionID: t.Past.Definition, CreatedAt: t.Bookmark.CreatedAt, Claim: t.Claim, Revision: t.Revision}
	if is.Made != nil {
		u.CreatedAt = *is.Made
	}
	u.Beside = usertask.BesideOf(u.ID, t.Beside)
	if t.Claim != nil {
		u.DefinitionID, u.Revision = t.Claim.Definition, t.Claim.Revision
	}
	return u
}
