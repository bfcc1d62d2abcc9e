// Package task has what a task says beside its name and payload: how it is to be done, and what its worker reports.
//
// The terms lie in the payload of the task's bookmark, so that they are kept with it, and that a program which knows
// nothing of them leaves them alone. Guaranteed: what is not there, or is of another kind, reads as if it were not said.
package task

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Terms is what the activity of a task says of how it is to be done.
type Terms struct {
	Attempt int64  // by the retry of the activity, from 1; 0: it has none, and a failed attempt frees the task
	Failed  string // why the attempt before failed, for people

	ClaimWithin time.Duration // from when it was made until a worker claims it first; 0: no limit
	DoneWithin  time.Duration // from that claim until it is done; 0: no limit

	Above  int64  // its priority, from the usual one on: -5 to 4
	FairBy string // tasks of its definition take turns by it
}

// The priorities of tasks, from 0 on, and what one step counts as: so long a wait.
const (
	MostPriority  = 9
	UsualPriority = 5 // of a task that says none
	PriorityStep  = time.Hour
)

// UserName is the name of tasks that people do: no worker claims one, and no runTask has it.
const UserName = "Elsa.UserTask"

// Rank is when a task has its turn among others of its name: when it was made, and sooner or later by its priority.
func Rank(b *workflow.Bookmark) time.Time {
	terms := Of(b)
	return b.CreatedAt.Add(-time.Duration(terms.Above) * PriorityStep)
}

// kept is where the payload has the terms.
const kept = "terms"

// Retried tells whether the activity of a task has a retry, which decides what follows a failed attempt.
func (t *Terms) Retried() bool { return t.Attempt > 0 }

// Into adds the terms to the payload of a task's bookmark, if there are any.
func (t *Terms) Into(payload map[string]any) map[string]any {
	terms := map[string]any{}
	if t.Attempt > 0 {
		terms["attempt"] = t.Attempt
	}
	if t.Failed != "" {
		terms["failed"] = t.Failed
	}
	if t.FairBy != "" {
		terms["fairBy"] = t.FairBy
	}
	if t.Above != 0 {
		terms["above"] = t.Above
	}
	for name, d := range map[string]time.Duration{"claimWithin": t.ClaimWithin, "doneWithin": t.DoneWithin} {
		if d > 0 {
			terms[name] = d.String()
		}
	}
	if len(terms) > 0 {
		payload[kept] = terms
	}
	return payload
}

// Of are the terms of a task; of another bookmark, and of one that a program of before made, none.
func Of(b *workflow.Bookmark) (t Terms) {
	if b.ActivityType != workflow.TaskType {
		return t
	}
	payload, _ := b.Payload.(map[string]any)
	terms, _ := payload[kept].(map[string]any)
	t.Attempt = whole(terms["attempt"])
	t.Failed, _ = terms["failed"].(string)
	t.FairBy, _ = terms["fairBy"].(string)
	t.Above = min(max(whole(terms["above"]), -UsualPriority), MostPriority-UsualPriority)
	t.ClaimWithin, t.DoneWithin = span(terms["claimWithin"]), span(terms["doneWithin"])
	return t
}

// InKeys is a payload with the terms that the keys of a task need; nil: they need none.
func InKeys(b *workflow.Bookmark) any {
	if terms := Of(b); terms.ClaimWithin > 0 || terms.Above != 0 {
		return (&Terms{ClaimWithin: terms.ClaimWithin, Above: terms.Above}).Into(map[string]any{})
	}
	return nil
}

// ClaimBy is until when a worker is to claim a task first; zero: there is no limit.
func ClaimBy(b *workflow.Bookmark) time.Time {
	terms := Of(b)
	if terms.ClaimWithin == 0 {
		return time.Time{}
	}
	return b.CreatedAt.Add(terms.ClaimWithin).Truncate(time.Millisecond) // as its key has it
}

// Unclaimed is what resumes a task that nobody claimed in time.
func Unclaimed(b *workflow.Bookmark) map[string]any {
	terms := Of(b)
	return LateClaim(terms.ClaimWithin)
}

// LateClaim is [Unclaimed] of a task that was to be claimed within a time.
func LateClaim(within time.Duration) map[string]any {
	return map[string]any{Timeout: "no worker claimed it in time", Error: fmt.Sprintf("unclaimed: no worker claimed it within %v", within)}
}

// span is a duration as terms keep it; of all else 0.
func span(v any) time.Duration {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return max(d, 0)
}

// whole is a whole number as a record or the engine keeps it; of all else 0.
func whole(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// What resumes a task, beside its result: the runtime and the store say so, and no caller but for the error.
const (
	Error   = "error"   // why it failed
	Worker  = "worker"  // who had claimed it
	Since   = "since"   // since when, in RFC 3339
	Attempt = "attempt" // which attempt that was, from 1
	Final   = "final"   // true: the worker says that no attempt will do better
	Timeout = "timeout" // what time ended: no worker reported it
)
