package trial

import (
	"cmp"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// queueTime is how long a stimulus waits for someone to meet; the default of a
// node.
const queueTime = 10 * time.Minute

// queued is a stimulus that met nothing yet.
type queued struct {
	workflow.Stimulus
	expires time.Time
}

// meeting is a bookmark that a stimulus meets.
type meeting struct {
	in       *instance
	bookmark string
}

// Event sends an event to all that waits for it: the instance under test, its
// children, or, if the instance is not started, a trigger of the definition. It
// is an error if nothing waits.
func (r *Run) Event(name string, payload any) error {
	return r.Send(workflow.EventStimulus(name, payload))
}

// Send sends any stimulus; like [Run.Event], which it serves.
func (r *Run) Send(st workflow.Stimulus) error {
	done, err := r.deliver(st)
	if err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("nothing waits for %s; what waits: %s", describe(st), r.waiting())
	}
	return r.drain()
}

// SendEarly sends a stimulus that may come before anyone waits for it: then it
// waits, for ten minutes of the test's clock, as it does on a node.
func (r *Run) SendEarly(st workflow.Stimulus) error {
	if err := r.route(st); err != nil {
		return err
	}
	return r.drain()
}

func describe(st workflow.Stimulus) string {
	text := "a stimulus of " + st.ActivityType
	if p, ok := st.Payload.(map[string]any); ok && st.ActivityType == workflow.EventType {
		text = fmt.Sprintf("the event %v", p["eventName"])
	}
	if st.CorrelationID != "" {
		text += " with the correlation id " + st.CorrelationID
	}
	return text
}

// waiting tells a person what the instances wait for.
func (r *Run) waiting() string {
	if !r.started() {
		var names []string
		for _, t := range r.main.Triggers() {
			names = append(names, "the trigger "+t.Name)
		}
		return listOr(names, "nothing, the instance is not started")
	}
	var names []string
	for _, in := range r.instances {
		for _, b := range in.header.Bookmarks {
			name := fmt.Sprintf("%s (%s)", cmp.Or(b.Name, b.ActivityType), b.ActivityID)
			if in.header.CorrelationID != "" {
				name += " with the correlation id " + in.header.CorrelationID
			}
			names = append(names, name)
		}
	}
	return listOr(names, "nothing, the instance is "+string(r.instances[0].header.SubStatus))
}

// route delivers a stimulus or keeps it for later.
func (r *Run) route(st workflow.Stimulus) error {
	done, err := r.deliver(st)
	if err != nil || done {
		return err
	}
	r.queue = append(r.queue, queued{st, r.now.Add(queueTime)})
	return nil
}

// deliver resumes every bookmark that the stimulus meets; false if there is
// none.
func (r *Run) deliver(st workflow.Stimulus) (bool, error) {
	if !r.started() {
		return r.startBy(st)
	}
	met, err := r.meet(st)
	if err != nil || len(met) == 0 {
		return false, err
	}
	for _, m := range met {
		out, err := r.do(m.in, workflow.Command{Kind: workflow.CommandResume, Bookmark: m.bookmark, Input: st.Input, Stimulus: &st})
		if err != nil {
			return true, err
		}
		if out == engine.NoBookmark { // the resume before took it away
			again := st
			again.InstanceID = m.in.id
			r.queue = append(r.queue, queued{again, r.now.Add(queueTime)})
		}
	}
	return true, nil
}

func (r *Run) startBy(st workflow.Stimulus) (bool, error) {
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return false, err
	}
	for _, t := range r.main.Triggers() {
		if t.Hash == hash {
			return true, r.begin(&workflow.Start{Trigger: t.ActivityID, TriggerInput: st.Input, CorrelationID: st.CorrelationID})
		}
	}
	return false, nil
}

func (r *Run) meet(st workflow.Stimulus) ([]meeting, error) {
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return nil, err
	}
	var met []meeting
	for _, in := range r.instances {
		if st.InstanceID != "" && st.InstanceID != in.id || st.CorrelationID != "" && st.CorrelationID != in.header.CorrelationID {
			continue
		}
		for _, b := range in.header.Bookmarks {
			if b.Hash == hash && (st.BookmarkID == "" || st.BookmarkID == b.ID) {
				met = append(met, meeting{in, b.ID})
			}
		}
	}
	return met, nil
}

// claim gives the first queued stimulus that meets something now to one
// instance.
func (r *Run) claim() (bool, error) {
	kept := r.queue[:0]
	for _, q := range r.queue {
		if !q.expires.Before(r.now) {
			kept = append(kept, q)
		}
	}
	r.queue = kept
	for i, q := range r.queue {
		met, err := r.meet(q.Stimulus)
		if err != nil {
			return false, err
		}
		if len(met) == 0 {
			continue
		}
		r.queue = append(r.queue[:i:i], r.queue[i+1:]...)
		_, err = r.do(met[0].in, workflow.Command{Kind: workflow.CommandResume, Bookmark: met[0].bookmark, Input: q.Input, Stimulus: &q.Stimulus})
		return true, err
	}
	return false, nil
}

// Resume resumes a bookmark, chosen by its name, the id of its activity or its
// own id, of the instance under test first.
func (r *Run) Resume(bookmark string, input map[string]any) error {
	return r.resume(input, "bookmark "+bookmark, func(b *workflow.Bookmark) bool {
		return b.Name == bookmark || b.ActivityID == bookmark || b.ID == bookmark
	})
}

func (r *Run) resume(input map[string]any, what string, fits func(*workflow.Bookmark) bool) error {
	for _, in := range r.instances {
		for i := range in.header.Bookmarks {
			if b := &in.header.Bookmarks[i]; fits(b) {
				if _, err := r.do(in, workflow.Command{Kind: workflow.CommandResume, Bookmark: b.ID, Input: input}); err != nil {
					return err
				}
				return r.drain()
			}
		}
	}
	return fmt.Errorf("there is no %s; what waits: %s", what, r.waiting())
}

// CompleteTask completes a RunTask as an outside worker does, by the task's name
// or the activity's id.
func (r *Run) CompleteTask(name string, result any) error {
	if d, ok := result.(Decision); ok {
		return d.task(r, name)
	}
	return r.task(name, map[string]any{"result": result})
}

// Decision is the result of a user task: [Run.CompleteTask] takes it, by the id of the activity.
type Decision struct {
	By, Outcome string
	Data        map[string]any
}

// task completes the first user task of an activity. An error says what the task does not take.
func (d Decision) task(r *Run, activity string) error {
	var refused error
	err := r.resume(map[string]any{"result": map[string]any{"outcome": d.Outcome, "data": d.Data}, task.Worker: d.By}, "user task "+activity, func(b *workflow.Bookmark) bool {
		if !usertask.Is(b) || b.ActivityID != activity || refused != nil {
			return false
		}
		refused = d.fits(b)
		return refused == nil
	})
	if refused != nil {
		return fmt.Errorf("user task %s: %w", activity, refused)
	}
	return err
}

// fits tells what a task does not take of a decision, as a server does.
func (d Decision) fits(b *workflow.Bookmark) error {
	t, err := usertask.Of(b)
	if err != nil {
		return err
	}
	problems, err := t.Fits(d.Outcome, d.Data)
	switch {
	case err != nil:
		return err
	case problems != nil:
		return problems
	case t.Excludes(&usertask.Person{Name: d.By}):
		return fmt.Errorf("%s may not complete it: excludedUsers has that name", d.By)
	}
	return nil
}

// FailTask completes a RunTask with an error.
func (r *Run) FailTask(name, message string) error {
	return r.task(name, map[string]any{"error": message})
}

func (r *Run) task(name string, input map[string]any) error {
	return r.resume(input, "task "+name, func(b *workflow.Bookmark) bool {
		return b.ActivityType == "Elsa.RunTask" && !usertask.Is(b) && (b.Name == name || b.ActivityID == name)
	})
}
