package asking

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// clocksApart is how much earlier than it is due here the timer of a task may come, by the clock of the node that fired it.
const clocksApart = 5 * time.Second

// besideCallback is that of the bookmark beside a task.
const besideCallback = "beside"

// Execute waits for a person. What the task says lies in the metadata of its bookmark.
func (userTaskActivity) Execute(_ context.Context, x *engine.Execution) error {
	t, err := userTaskOf(x)
	if err != nil {
		return err
	}
	b, err := waitForPerson(x, t)
	if err != nil {
		return err
	}
	x.SetOutput("taskId", b.ID)
	return waitBeside(x, t, &usertask.Beside{Task: b.ID, Made: x.Clock().UTC()})
}

// waitForPerson waits at a bookmark that stays when it is resumed.
func waitForPerson(x *engine.Execution, t *usertask.Task) (workflow.Bookmark, error) {
	about, err := t.Kept()
	if err != nil {
		return workflow.Bookmark{}, err
	}
	terms := task.Terms{Above: t.Above()}
	w := engine.Wait{Type: workflow.TaskType, Name: task.UserName, Payload: terms.Into(map[string]any{"taskId": x.NewID()}), Metadata: about, Keep: true}
	if t.Ends {
		w.DueAt = t.DueAt
	}
	return x.Wait(w)
}

// waitBeside waits beside a task, if there is anything to remember or to come.
func waitBeside(x *engine.Execution, t *usertask.Task, is *usertask.Beside) error {
	x.Unwait(func(b workflow.Bookmark) bool { return b.Callback == besideCallback })
	due := t.Next(is)
	if due == nil && len(is.Comments) == 0 {
		return nil
	}
	about, err := is.Kept()
	if err != nil {
		return err
	}
	_, err = x.Wait(engine.Wait{Name: usertask.BesideName, Local: true, Callback: besideCallback, DueAt: due, Metadata: about})
	return err
}

// asked is a task as it waits, and what is beside it.
type asked struct {
	x      *engine.Execution
	at     *workflow.Bookmark // of the task
	task   *usertask.Task
	beside *usertask.Beside
}

// askedAt finds what waits where a resume came.
func askedAt(x *engine.Execution, r *engine.Resume) (*asked, error) {
	a := &asked{x: x, at: &r.Bookmark}
	all := append(x.Waiting(), r.Bookmark) // one that was resumed is not among those that wait, unless it stays
	for i := range all {
		if b := &all[i]; usertask.Is(b) {
			a.at = b
		}
	}
	var err error
	if a.task, err = usertask.Of(a.at); err != nil {
		return nil, err
	}
	if a.beside = usertask.BesideOf(a.id(), all); a.beside == nil {
		a.beside = &usertask.Beside{Task: a.id(), Made: a.at.CreatedAt}
	}
	return a, nil
}

func (a *asked) id() string { return a.task.ID(a.at.ID) }

// said is what a line of the journal has of the task.
func (a *asked) said(more map[string]any) map[string]any {
	all := map[string]any{"taskId": a.id()}
	if a.at.ID != a.id() {
		all["bookmarkId"] = a.at.ID
	}
	for name, v := range more {
		if v != "" {
			all[name] = v
		}
	}
	return all
}

// again waits at another bookmark, as the task says something else than it did. Nobody has it then.
func (a *asked) again() error {
	a.task.First, a.task.Made = a.id(), &a.beside.Made
	a.x.Unwait(func(b workflow.Bookmark) bool { return usertask.Is(&b) })
	_, err := waitForPerson(a.x, a.task)
	return err
}

// Resume takes what a person chose or changed, or what is due. Anything else that met the bookmark has no name of who it is
// by: then the task waits on.
func (userTaskActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	a, err := askedAt(x, &r)
	if err != nil {
		return err
	}
	if r.Callback == besideCallback {
		return a.passes()
	}
	who, _ := r.Input[task.Worker].(string)
	change, changes := usertask.ChangeOf(r.Input)
	switch {
	case changes:
		return a.change(&change)
	case who != "":
		return a.complete(&r, who)
	case a.task.Ends && !x.Clock().Add(clocksApart).Before(*a.task.DueAt):
		x.Journal(workflow.TaskTimedOut, "it was due", a.said(nil))
		return a.end(usertask.TimedOut, nil, nil, nil)
	case r.Bookmark.KeepOnResume && !a.task.Ends:
		return nil
	}
	return a.again() // with a timer, as the one that it had may have come too early
}

// change does what somebody did with the task. One that does not fit any more, as another came before it, is left out.
func (a *asked) change(c *usertask.Change) error {
	for _, text := range []*string{&c.By, &c.To, &c.Text} {
		*text = a.x.Redact(*text)
	}
	if a.task.Refused(c) != nil {
		return a.stay()
	}
	said := a.said(map[string]any{"by": c.By, "to": c.To, "why": c.Text})
	switch c.Op {
	case usertask.Assign, usertask.Delegate:
		a.x.Journal(usertask.EventAssigned, fmt.Sprintf("%s gave it to %s", c.By, c.To), said)
		a.task.Assignee = c.To
		return a.again()
	case usertask.Return:
		a.x.Journal(usertask.EventReturned, c.By+" gave it back", said)
		a.task.Assignee = ""
		return a.again()
	case usertask.Cancel:
		a.x.Journal(usertask.EventCancelled, fmt.Sprintf("%s ended it: %s", c.By, c.Text), said)
		return a.end(usertask.Cancelled, nil, nil, nil)
	case usertask.Comment:
		if len(a.beside.Comments) < usertask.MostComments {
			a.x.Journal(usertask.EventCommented, fmt.Sprintf("%s: %s", c.By, c.Text), said)
			a.beside.Comments = append(a.beside.Comments, usertask.Remark{By: c.By, At: a.x.Now().UTC(), Text: c.Text})
			if err := waitBeside(a.x, a.task, a.beside); err != nil {
				return err
			}
		}
	}
	return a.stay()
}

// stay waits on where the task is, also where a program of before made it, whose bookmarks a resume burns.
func (a *asked) stay() error {
	for _, b := range a.x.Waiting() {
		if usertask.Is(&b) {
			return nil
		}
	}
	return a.again()
}

// passes does what time brings: the task is overdue, somebody is reminded, others are asked too.
func (a *asked) passes() error {
	now, reminds := a.x.Clock().Add(clocksApart), false
	for due := a.task.Next(a.beside); due != nil && !due.After(now); due = a.task.Next(a.beside) {
		switch a.task.Passes(a.beside) {
		case usertask.BecomesOverdue:
			a.beside.Overdue = true
			a.x.Journal(usertask.EventOverdue, "it was to be done by now", a.said(map[string]any{"title": a.task.Title}))
		case usertask.Reminds:
			a.beside.Reminded++
			reminds = true // once, also where several were to come by now
		case usertask.Escalates:
			a.beside.Escalated = true
			a.task.Escalated()
			a.x.Journal(usertask.EventEscalated, "others are asked too", a.said(map[string]any{"title": a.task.Title}))
			if err := a.again(); err != nil {
				return err
			}
		}
	}
	if reminds {
		a.x.Journal(usertask.EventReminded, fmt.Sprintf("reminder %d of %d", a.beside.Reminded, a.task.Remind.Times), a.said(map[string]any{"title": a.task.Title}))
	}
	return waitBeside(a.x, a.task, a.beside)
}

func (a *asked) complete(r *engine.Resume, who string) error {
	result, _ := r.Input["result"].(map[string]any)
	outcome, _ := result["outcome"].(string)
	data, _ := result["data"].(map[string]any)
	problems, err := a.task.Fits(outcome, data)
	if err == nil && problems != nil { // it was looked at where it came in
		err = engine.BeginAgain(fmt.Errorf("user task %s: %w", a.id(), problems))
	}
	if err != nil {
		return err
	}
	said := a.said(map[string]any{"outcome": outcome, task.Worker: who})
	if since, ok := r.Input[task.Since]; ok {
		said[task.Since] = since
	}
	a.x.Journal(workflow.TaskAnswered, who+": "+outcome, said)
	shown, masked, err := a.task.Split(data)
	if err != nil {
		return err
	}
	return a.end(outcome, shown, masked, who)
}

// end gives what came of a task; who is nil if nobody completed it.
func (a *asked) end(outcome string, shown, masked map[string]any, who any) error {
	x := a.x
	x.Unwait(func(workflow.Bookmark) bool { return true })
	var data any
	if shown != nil {
		data = shown
	}
	if err := x.TakeOutput("result", map[string]any{"outcome": outcome, "actionKey": outcome, "data": data, "completedBy": who, "completedAt": x.Now().UTC().Format(time.RFC3339Nano)}); err != nil {
		return err
	}
	x.SetOutput("outcome", outcome)
	if len(masked) > 0 {
		if err := x.TakeOutput("masked", masked); err != nil {
			return err
		}
	}
	if outcome == engine.DoneOutcome {
		return nil
	}
	x.SetOutcomes(engine.DoneOutcome, outcome)
	return nil
}
