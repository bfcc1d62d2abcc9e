// Package people gives user tasks to people, and takes what they decide and do with them.
//
// Guaranteed: a task is there only for who may complete it; what does not fit is refused before anything changes; of two
// decisions one counts, by the claim that its commit compares. Not guaranteed: that a caller is who it says, which the routes see to.
package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// UserTasks gives tasks to people, and takes what they decide.
type UserTasks struct{ Config }

// Config is what it needs of the runtime.
type Config struct {
	Front     *front.Config
	Intake    *intake.Intake
	Inspector *inspect.Inspector
	Answers   *answers.Waiter
	Mailer    *front.Mailer
	Bookmarks Bookmarks
}

// Bookmarks is what the runtime does with the bookmarks of all tasks; an interface as those know of user tasks.
type Bookmarks interface {
	// Report completes the task of a claim, and says who was faster if it cannot.
	Report(ctx context.Context, bookmarkID string, claim *workflow.TaskClaim, input map[string]any, key *front.Key) (front.SendResult, error)
	// Answered says who completed a task, or what else ended it; "": the journal does not tell.
	Answered(ctx context.Context, taskID string) string
	// ClaimStands is the error of who has a claim that has ended.
	ClaimStands(ctx context.Context, bookmarkID string, claim *workflow.TaskClaim) error
}

// New makes it.
func New(cfg Config) *UserTasks { return &UserTasks{cfg} }

// UserTask is a task that waits for a person.
type UserTask = inspect.UserTask

// Person is who asks.
type Person = usertask.Person

// PersonLease is how long a person's claim lasts; claiming again begins it again.
const PersonLease = 7 * 24 * time.Hour

// Decision is how a person completes a task.
type Decision struct {
	Revision int64 // of the task as it was shown, claimed or free; 0: any
	Outcome  string
	Data     map[string]any // of the form
}

// Waiting lists what waits for a person: tasks of which that one is a candidate, and that nobody else has. Of an operator
// those too that have no candidate, and with others every one that may be seen.
func (u *UserTasks) Waiting(ctx context.Context, who *Person, others bool, cursor string, limit int) (inspect.Page[UserTask], error) {
	return u.Inspector.UserTasks(ctx, listsOf(who, others), func(t *UserTask) bool {
		switch {
		case !t.May(who):
			return false
		case others:
			return true
		case t.Claim != nil:
			return t.Claim.Worker == who.Claims()
		}
		return t.For(who) || who.Operator && t.Nobodys() || who.Name == ""
	}, cursor, limit)
}

// listsOf are the lists in which a person's tasks are.
func listsOf(who *Person, others bool) *lists.Whose {
	if who.Operator && (others || who.Name == "") {
		return &lists.Whose{All: true}
	}
	return &lists.Whose{Nobodys: who.Operator, Users: who.Names(), Groups: who.Groups}
}

// One is a task that a person may see. To all others it is not there.
func (u *UserTasks) One(ctx context.Context, who *Person, id string) (*UserTask, error) {
	t, _, _, err := u.find(ctx, who, id)
	return t, err
}

// mostFinds is how often a task is looked for that may have moved to another bookmark between two reads.
const mostFinds = 3

// find reads a task that a person may complete, with its bookmark and its entry among the free ones, nil if somebody has it.
func (u *UserTasks) find(ctx context.Context, who *Person, id string) (t *UserTask, b *workflow.Bookmark, free *claims.Free, err error) {
	for range mostFinds {
		if t, b, free, err = u.look(ctx, who, id); !errors.Is(err, errNeither) {
			return t, b, free, err
		}
	}
	return nil, nil, nil, notThere(id) // time ended it, and its instance is about to be told
}

// errNeither says that a task is neither free nor taken.
var errNeither = errors.New("neither free nor taken")

func notThere(id string) error {
	return workflow.Fail(workflow.CodeTaskNotFound, fmt.Sprintf("there is no user task %q for you (any more)", id))
}

func (u *UserTasks) look(ctx context.Context, who *Person, id string) (*UserTask, *workflow.Bookmark, *claims.Free, error) {
	none := notThere(id)
	instance, ok := workflow.BookmarkInstance(id)
	if !ok {
		return nil, nil, nil, none
	}
	rec, err := inspect.Header(ctx, u.Front.Reader, instance)
	if err != nil {
		if workflow.CodeOf(err) == workflow.CodeInstanceNotFound {
			err = none
		}
		return nil, nil, nil, err
	}
	var b *workflow.Bookmark
	for i := range rec.Header.Bookmarks {
		if is := &rec.Header.Bookmarks[i]; usertask.Is(is) {
			if t, err := usertask.Of(is); err == nil && t.ID(is.ID) == id {
				b = is
			}
		}
	}
	if b == nil {
		if by := u.Bookmarks.Answered(ctx, id); by != "" {
			none = workflow.Fail(workflow.CodeTaskNotFound, by)
		}
		return nil, nil, nil, none
	}
	free, claim, err := u.Front.Claims.State(ctx, b)
	if err != nil {
		return nil, nil, nil, etcdstore.ReadFailed("claim", err)
	}
	if free == nil && claim == nil {
		return nil, nil, nil, errNeither
	}
	t := inspect.ShowUserTask(&etcdstore.Task{InstanceID: instance, Bookmark: *b, Claim: claim, Beside: rec.Header.Bookmarks})
	if t == nil || !t.May(who) {
		return nil, nil, nil, none
	}
	t.DefinitionID = rec.Header.DefinitionID
	if free != nil {
		t.Revision = free.Created
	}
	return t, b, free, nil
}

// Claim gives a task to a person, or lets the claim that the person has begin again.
func (u *UserTasks) Claim(ctx context.Context, who *Person, id string) (*UserTask, error) {
	if err := u.Intake.Accepts(intake.GoesOn); err != nil {
		return nil, err
	}
	t, b, free, err := u.find(ctx, who, id)
	if err != nil {
		return nil, err
	}
	if free == nil {
		if err := u.mine(t, who, 0); err != nil {
			return nil, err
		}
		err := front.RetryUnknown(ctx, func() (err error) {
			t.Claim, err = u.Front.Claims.Heartbeat(ctx, b.ID, claimOf(t, b), claims.Beat{}, u.Front.Now().UTC())
			return err
		})
		if errors.Is(err, claims.ErrLost) {
			return nil, taken(id, t.Claim)
		}
		return t, err
	}
	if who.Operator && who.Name != "" && !t.For(who) { // so that it is in the list of who has it
		if _, err := u.Change(ctx, who, id, Change{Op: usertask.Assign, To: who.Name, Revision: t.Revision}, nil); err != nil {
			return nil, err
		}
		if t, b, free, err = u.find(ctx, who, id); err != nil || free == nil {
			return t, err
		}
	}
	return t, u.take(ctx, who, t, b, free)
}

// take claims a free task; an error says who was faster.
func (u *UserTasks) take(ctx context.Context, who *Person, t *UserTask, b *workflow.Bookmark, free *claims.Free) error {
	now := u.Front.Now().UTC()
	by := store.TaskClaim{ID: workflow.NewID(), Worker: who.Claims(), Node: u.Front.Session.NodeID(), Since: now, Until: now.Add(PersonLease), Lease: PersonLease}
	var got []claims.Got
	err := front.RetryUnknown(ctx, func() (err error) {
		got, err = u.Front.Claims.Claim(ctx, []claims.Free{*free}, by)
		return err
	})
	if err != nil {
		return etcdstore.ReadFailed("free task", err)
	}
	if len(got) == 1 {
		t.Claim, t.Revision = &got[0].Claim, got[0].Claim.Revision
		return nil
	}
	_, claim, err := u.Front.Claims.State(ctx, b)
	if err != nil {
		return etcdstore.ReadFailed("claim", err)
	}
	return taken(t.ID, claim)
}

// taken is the error of a person who is not the one that has a task; claim is nil if nobody has it any more.
func taken(id string, claim *store.TaskClaim) error {
	if claim == nil {
		return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("user task %s was given back or completed in this moment: look again", id))
	}
	return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("%s has user task %s since %s: nothing was done", claim.Worker, id, claim.Since.UTC().Format(time.RFC3339)))
}

// mine is the error of a person whose task it is not, or that is not as it was shown with that revision; 0: any.
func (u *UserTasks) mine(t *UserTask, who *Person, revision int64) error {
	switch {
	case t.Claim == nil && revision != 0 && revision != t.Revision:
		return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("you do not have user task %s any more: claim it again", t.ID))
	case t.Claim != nil && (t.Claim.Worker != who.Claims() || revision != 0 && revision != t.Claim.Revision):
		return taken(t.ID, t.Claim)
	}
	return nil
}

func claimOf(t *UserTask, b *workflow.Bookmark) *workflow.TaskClaim {
	g := claims.Got{Task: *b, Claim: *t.Claim}
	return g.Named()
}

// Release gives a task back. Operators may take it from another person.
func (u *UserTasks) Release(ctx context.Context, who *Person, id string, revision int64) error {
	t, b, _, err := u.find(ctx, who, id)
	if err != nil {
		return err
	}
	if t.Assignee != "" {
		_, err := u.Change(ctx, who, id, Change{Op: usertask.Return, Revision: revision}, nil)
		return err
	}
	if t.Claim == nil {
		return nil
	}
	if err := u.mine(t, who, revision); err != nil && (!who.Operator || revision != 0 && revision != t.Claim.Revision) {
		return err
	}
	err = front.RetryUnknown(ctx, func() error {
		_, err := u.Front.Claims.Release(ctx, b.ID, claimOf(t, b), false, who.Claims()+" gave it back", u.Front.Now().UTC())
		return err
	})
	if errors.Is(err, claims.ErrLost) {
		return taken(id, nil)
	}
	return err
}

// begins is asked before anything is done: whether this node takes it up, and whether it was done with this key, which gives its answer.
func (u *UserTasks) begins(ctx context.Context, key *front.Key) (res front.SendResult, done bool, err error) {
	if err := u.Intake.Accepts(intake.GoesOn); err != nil {
		return res, false, err
	}
	k := key.Command()
	if k == nil {
		return res, false, nil
	}
	a, err := u.Answers.Used(ctx, k)
	if err != nil || a == nil {
		return res, false, err
	}
	res, err = front.Answered(ctx, a, k, u.Answers.Effects)
	return res, true, err
}

// Complete takes what a person decided. What does not fit the form is told, and changes nothing; a task that nobody has is
// the person's from then on. The commit that takes it compares the claim, so of two people one is told that it is over.
func (u *UserTasks) Complete(ctx context.Context, who *Person, id string, d Decision, key *front.Key) (front.SendResult, error) {
	none := front.SendResult{}
	if res, done, err := u.begins(ctx, key); err != nil || done {
		return res, err
	}
	t, b, free, err := u.find(ctx, who, id)
	if err != nil {
		return none, err
	}
	if err := u.mine(t, who, d.Revision); err != nil {
		return none, err
	}
	problems, err := t.Fits(d.Outcome, d.Data)
	if err != nil {
		return none, err
	}
	if problems != nil {
		return none, &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
	}
	if free != nil {
		if err := u.take(ctx, who, t, b, free); err != nil {
			return none, err
		}
	}
	return u.Bookmarks.Report(ctx, b.ID, claimOf(t, b), map[string]any{"result": map[string]any{"outcome": d.Outcome, "data": d.Data}}, key)
}
