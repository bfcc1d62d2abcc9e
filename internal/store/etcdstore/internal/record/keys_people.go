package record

import (
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// PeopleKeys are the lists of user tasks by who may complete them: each has the most urgent, the first due and the oldest first.
// Who has one does not count there, so a claim moves nothing.
type PeopleKeys struct{ root string }

// Lists is what all of them begin with.
func (k PeopleKeys) Lists() string { return k.root + "user-task/" }

// All is the list of every user task.
func (k PeopleKeys) All() string { return k.Lists() + "all/" }

// Nobodys is the list of those without candidates.
func (k PeopleKeys) Nobodys() string { return k.Lists() + "nobody/" }

// User is the list of those that a person may complete, by a name as the task has it.
func (k PeopleKeys) User(name string) string { return k.Lists() + "user/" + Encode(name) + "/" }

// Group is the list of those that a group may complete.
func (k PeopleKeys) Group(name string) string { return k.Lists() + "group/" + Encode(name) + "/" }

// Entries are those of a user task, in each list once; none: the bookmark is none.
func (k PeopleKeys) Entries(b *workflow.Bookmark) []string {
	p, ok := task.ForPeople(b)
	if !ok {
		return nil
	}
	all, place := []string{k.All()}, placeForPeople(b, &p)
	for _, name := range p.Users {
		all = append(all, k.User(name))
	}
	for _, name := range p.Groups {
		all = append(all, k.Group(name))
	}
	if len(all) == 1 {
		all = append(all, k.Nobodys())
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range all {
		all[i] += place
	}
	return all
}

// placeForPeople is where a user task stands in each of its lists.
func placeForPeople(b *workflow.Bookmark, p *task.People) string {
	due := "~" // behind all times
	if !p.DueAt.IsZero() {
		due = Millis(p.DueAt)
	}
	id, local := workflow.SplitBookmarkID(b.ID)
	return fmt.Sprintf("%03d/%s/%s/%s/%s", 100-p.Priority, due, Millis(p.Made), id, Encode(local))
}
