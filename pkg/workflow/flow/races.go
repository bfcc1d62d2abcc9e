package flow

import (
	"fmt"
	"time"
)

// Race runs branches beside each other, and goes on with the first that ends; the others are cancelled. One that
// fails faults the workflow: [Steps.FirstSuccess] is for those that may.
func (s *Steps) Race(branches ...func(s *Steps)) { s.fork("WaitAny", branches) }

// FirstSuccess is a [Steps.Race] in which a branch that fails only loses. When all have failed, it fails with each
// reason.
func (s *Steps) FirstSuccess(branches ...func(s *Steps)) { s.fork("FirstSuccess", branches) }

func (s *Steps) fork(mode string, branches []func(s *Steps)) {
	list := []any{}
	for _, branch := range branches {
		list = append(list, s.b.steps(branch))
	}
	s.put(map[string]any{"fork": list, "joinMode": mode}, "fork")
}

// EachAtOnce runs body for each item of a list, all beside each other, and goes on when all have ended. What steps
// give in body is of that round; a [Var] is one for all of them.
func EachAtOnce[T any](s *Steps, list Value[[]T], body func(s *Steps, item Value[T])) {
	outer, name := s.b.scope, s.b.id("itemOfEach")
	round := map[string]any{}
	s.b.scope = round
	s.b.declare(name, "Object")
	steps := s.b.steps(func(s *Steps) {
		s.add("setVariable", map[string]any{"variable": name, "value": coded[T]("variables.CurrentValue").written()}) // an inner loop has one of its own
		body(s, coded[T]("variables."+name))
	})
	s.b.scope = outer
	s.put(map[string]any{"parallelForEach": map[string]any{"items": list.written()}, "body": map[string]any{"sequence": steps, "variables": round}}, "parallelForEach")
}

// ResumeURL is a link that resumes a step which waits, by its [ID], with an outcome: its result is then an object with
// that outcome. It is good for life, 7 days if that is 0, while the step waits: make it in a branch beside it.
func ResumeURL(id, outcome string, life time.Duration) Value[string] {
	if life == 0 {
		return coded[string](fmt.Sprintf("resumeUrl(%q, %q)", id, outcome))
	}
	return coded[string](fmt.Sprintf("resumeUrl(%q, %q, %q)", id, outcome, span(life)))
}

// Retries says how a step is tried again; fields that are zero have the default of the notation.
type Retries struct {
	Attempts        int           // how many there are at most, the first one included
	Delay, MaxDelay time.Duration // before the second attempt, and the longest pause
	Factor          float64       // how much longer each pause is than the one before
	Jitter          float64       // by which part of itself each pause may be shorter or longer, 0 to 1
	MaxTime         time.Duration // no attempt begins later after the first
	On, NotOn       []string      // which failures: codes of faults, 503, 5xx, parts of the error
	NewKeys         bool          // calls of each attempt have an Idempotency-Key of their own
}

// RetryBy tries a step again as r says; [GiveUp] says what follows the last attempt.
func RetryBy(r Retries) Option {
	return func(_ *builder, step map[string]any) {
		policy := map[string]any{}
		for name, d := range map[string]time.Duration{"delay": r.Delay, "maxDelay": r.MaxDelay, "maxTime": r.MaxTime} {
			if d != 0 {
				policy[name] = span(d)
			}
		}
		for name, f := range map[string]float64{"factor": r.Factor, "jitter": r.Jitter} {
			if f != 0 {
				policy[name] = f
			}
		}
		for name, list := range map[string][]string{"on": r.On, "notOn": r.NotOn} {
			if len(list) > 0 {
				policy[name] = list
			}
		}
		if r.Attempts != 0 {
			policy["attempts"] = r.Attempts
		}
		if r.NewKeys {
			policy["keys"] = "new"
		}
		step["retry"] = policy
	}
}
