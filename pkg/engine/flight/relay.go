package flight

import (
	"slices"
	"time"
)

// relay hands the baton on. Its fields are those of who has it, but for what is guarded by [Calls].mu.
type relay struct {
	steps []*step // launched and not over, oldest first
	now   *step   // that has the baton; nil: the owner has it
	gave  chan given
	back  []*step // guarded by mu: those that want the baton, in their order
	came  chan struct{}
}

// step is a piece of work on a goroutine of its own.
type step struct {
	turn chan struct{} // the owner gives it the baton
	at   time.Time     // when it came back, by the clock of a test
}

// given is what the owner gets with the baton.
type given struct {
	over     bool
	panicked any
}

// Launch has do run on a goroutine of its own until it is over or away, and reports whether it is away.
func (s *Calls) Launch(do func()) (away bool) {
	if s.gave == nil {
		s.gave, s.came = make(chan given), make(chan struct{}, 1)
	}
	st := &step{turn: make(chan struct{})}
	s.steps = append(s.steps, st)
	s.now = st
	go func() {
		defer func() { s.gave <- given{true, recover()} }()
		do()
	}()
	return s.await(st)
}

// await waits for the baton, which st has.
func (s *Calls) await(st *step) (away bool) {
	g := <-s.gave
	s.now = nil
	if g.over {
		s.steps = slices.DeleteFunc(s.steps, func(o *step) bool { return o == st })
	}
	if g.panicked != nil {
		panic(g.panicked)
	}
	return !g.over
}

// Launched tells whether c is part of a step that was launched, and so may be away.
func (c *Call) Launched() bool { return c.step != nil }

// Out is how many steps are away or back.
func (s *Calls) Out() int { return len(s.steps) }

// Away gives the baton up, calls do, and waits until the owner gives the baton back. c was launched.
func (s *Calls) Away(c *Call, do func()) {
	defer func() { <-c.step.turn }()
	defer s.comeBack(c.step, time.Time{})
	s.gave <- given{}
	do()
}

// AwayUntil is Away in a test whose clock is its own: do is called at once, with the baton, and the step comes back
// at a time, which others may have before and after it.
func (s *Calls) AwayUntil(c *Call, do func(), at func() time.Time) {
	defer func() {
		s.comeBack(c.step, at())
		s.gave <- given{}
		<-c.step.turn
	}()
	do()
}

func (s *Calls) comeBack(st *step, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.at = at
	i := slices.IndexFunc(s.back, func(o *step) bool { return o.at.After(at) })
	if i < 0 {
		i = len(s.back)
	}
	s.back = slices.Insert(s.back, i, st)
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// Next gives the baton to the step that came back first, or with oldest to the one that was launched first, when that
// is back, and has it again when that step is away or over, which it reports. There is one that was launched.
func (s *Calls) Next(oldest bool) (over bool) {
	st := s.landed(oldest)
	s.now = st
	st.turn <- struct{}{}
	over = !s.await(st)
	if over && !oldest && len(s.steps) > 0 {
		s.mu.Lock()
		s.raced = true
		s.mu.Unlock()
	}
	return over
}

// landed waits for a step that is back, and takes it from the list.
func (s *Calls) landed(oldest bool) *step {
	for {
		s.mu.Lock()
		i := 0
		if oldest {
			i = slices.Index(s.back, s.steps[0])
		}
		if i >= 0 && i < len(s.back) {
			st := s.back[i]
			s.back = slices.Delete(s.back, i, i+1)
			s.mu.Unlock()
			return st
		}
		s.mu.Unlock()
		<-s.came
	}
}
