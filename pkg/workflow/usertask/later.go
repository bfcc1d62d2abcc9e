package usertask

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Remind says when those who may complete a task are reminded.
type Remind struct {
	Before time.Duration `json:"before,omitempty"` // how long before it is due the first time comes; 0: Every after it was made
	Every  time.Duration `json:"every,omitempty"`  // between two; 0: there is one
	Times  int           `json:"times"`
}

// Escalate says when others are asked too, and how urgent the task is then.
type Escalate struct {
	Before   time.Duration `json:"before,omitempty"` // before it is due
	After    time.Duration `json:"after,omitempty"`  // after it is due, or was made if it is never due
	Users    []string      `json:"users,omitempty"`
	Groups   []string      `json:"groups,omitempty"`
	Priority *int64        `json:"priority,omitempty"` // nil: as it was
}

// MostReminders is how often a task reminds at most.
const MostReminders = 20

// leastEvery is how long between two reminders at least: each is a commit, and an event.
const leastEvery = time.Minute

// Check tells what is wrong with it by itself.
func (r *Remind) Check() error {
	switch {
	case r.Times < 1 || r.Times > MostReminders:
		return fmt.Errorf("remind.times is from 1 to %d", MostReminders)
	case r.Before == 0 && r.Every == 0:
		return errors.New("remind has neither before nor every: say when")
	case r.Times > 1 && r.Every == 0:
		return errors.New("remind.times is more than 1, and there is no every: say how long between two")
	case r.Every > 0 && r.Every < leastEvery:
		return fmt.Errorf("remind.every is less than %s", leastEvery)
	}
	return nil
}

// Check tells what is wrong with it by itself.
func (e *Escalate) Check() error {
	switch {
	case (e.Before == 0) == (e.After == 0):
		return errors.New("escalate has to have either before or after: how long before or after it is due")
	case len(e.Users)+len(e.Groups) == 0 && e.Priority == nil:
		return errors.New("escalate changes nothing: give users, groups or a priority")
	case len(e.Users) > mostPeople || len(e.Groups) > mostPeople:
		return fmt.Errorf("escalate has %d users and %d groups: it may have up to %d of each", len(e.Users), len(e.Groups), mostPeople)
	}
	return nil
}

// checkLater tells what is wrong with what is to come, beside the rest of the task.
func (t *Task) checkLater() error {
	if t.Remind != nil && t.Remind.Before > 0 && t.DueAt == nil {
		return errors.New("remind.before is given, and no dueAt or dueIn: say when it is due")
	}
	if t.Escalate == nil {
		return nil
	}
	if t.Escalate.Before > 0 && t.DueAt == nil {
		return errors.New("escalate.before is given, and no dueAt or dueIn: say when it is due")
	}
	after := *t
	after.Remind, after.Escalate = nil, nil
	after.escalate(t.Escalate)
	if err := after.Check(); err != nil {
		return fmt.Errorf("escalate: %w", err)
	}
	return nil
}

func (t *Task) escalate(e *Escalate) {
	t.Assignee = ""
	for _, add := range []struct {
		to   *[]string
		more []string
	}{{&t.Users, e.Users}, {&t.Groups, e.Groups}} {
		for _, name := range add.more {
			if !slices.Contains(*add.to, name) {
				*add.to = append(slices.Clip(*add.to), name)
			}
		}
	}
	if e.Priority != nil {
		t.Priority = *e.Priority
	}
}

// Escalated makes the task what it is from its escalation on: for others too, and nobody's again.
func (t *Task) Escalated() {
	if t.Escalate != nil {
		t.escalate(t.Escalate)
	}
}

// Passing is what time does with a task.
type Passing int

// What it does.
const (
	Nothing Passing = iota
	BecomesOverdue
	Reminds
	Escalates
)

// Next is when time does something next; nil: never.
func (t *Task) Next(b *Beside) *time.Time {
	at, _ := t.next(b)
	return at
}

// Passes is what it does then.
func (t *Task) Passes(b *Beside) Passing {
	_, what := t.next(b)
	return what
}

func (t *Task) next(b *Beside) (first *time.Time, what Passing) {
	comes := func(at time.Time, is Passing) {
		if first == nil || at.Before(*first) {
			first, what = &at, is
		}
	}
	if t.DueAt != nil && !t.Ends && !b.Overdue {
		comes(*t.DueAt, BecomesOverdue)
	}
	if r := t.Remind; r != nil && b.Reminded < r.Times {
		at := b.Made.Add(r.Every)
		if r.Before > 0 && t.DueAt != nil {
			at = t.DueAt.Add(-r.Before)
		}
		comes(at.Add(time.Duration(b.Reminded)*r.Every), Reminds)
	}
	if e := t.Escalate; e != nil && !b.Escalated {
		at := b.Made.Add(e.After)
		if t.DueAt != nil {
			at = t.DueAt.Add(e.After - e.Before)
		}
		comes(at, Escalates)
	}
	return first, what
}
