package flight

import (
	"context"
	"slices"
	"sync"
)

// Calls are those of one burst. The zero value is ready; it must not be copied once it is used.
type Calls struct {
	mu     sync.Mutex
	calls  []*Call // guarded by mu: those whose code runs or is away, oldest first
	raced  bool    // guarded by mu
	ending bool    // guarded by mu: they were stopped since Began

	relay
}

// Call is one call of the code of an activity that may have an effect outside.
type Call struct {
	Of      any                     // whose it is
	Since   int64                   // when it began, in nanoseconds since 1970
	End     context.CancelCauseFunc // ends its context
	Again   bool                    // a hint ended it before
	Unwinds bool                    // it undoes what was done, as its instance is to be cancelled

	step *step // that it is a part of; nil: it is made in turn
}

// Began forgets that calls were stopped, and with saved what came before the last save.
func (s *Calls) Began(saved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = false
	s.raced = s.raced && !saved
}

// Enter notes a call whose code is about to run. One that is about to begin as it should end is ended with cause at
// once: alone if hinted says that there was a hint.
func (s *Calls) Enter(c *Call, hinted bool, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.step = s.now
	s.calls = append(s.calls, c)
	if !c.Unwinds && (s.ending || hinted && s.hintEnds(c)) {
		c.End(cause)
	}
}

// Leave says that the code of a call is over.
func (s *Calls) Leave(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.calls, c); i >= 0 {
		s.calls = slices.Delete(s.calls, i, i+1)
	}
}

// hintEnds tells whether a hint ends a call. It is made again then, with its key; beside others, whose ends may count
// by then, it could say something else.
func (s *Calls) hintEnds(c *Call) bool {
	return !c.Again && !c.Unwinds && len(s.calls) == 1 && !s.raced
}

// Hint ends the call with cause if it is the only one and was not ended so before. spared: there is one that goes on.
func (s *Calls) Hint(cause error) (spared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if s.hintEnds(c) {
			c.End(cause)
		} else {
			spared = true
		}
	}
	return spared
}

// Stop ends all calls with cause; those that undo go on unless all is true.
func (s *Calls) Stop(all bool, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	for _, c := range s.calls {
		if all || !c.Unwinds {
			c.End(cause)
		}
	}
}

// Cut ends the calls of one with cause, and reports whether there are any.
func (s *Calls) Cut(of any, cause error) (cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Of == of {
			c.End(cause)
			cut = true
		}
	}
	return cut
}

// List are the calls whose code runs or is away, oldest first.
func (s *Calls) List() []*Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Raced tells whether a step was over before others that were away with it, in the order in which they came back, since
// the last save: a repeat may have another order.
func (s *Calls) Raced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raced
}

// Places are for the calls that may be in flight at once, of all bursts together; nil: any number.
type Places chan struct{}

// Within calls do when there is a place, unless ctx ends before.
func (p Places) Within(ctx context.Context, do func(context.Context) error) error {
	if p != nil {
		select {
		case p <- struct{}{}:
			defer func() { <-p }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return do(ctx)
}
