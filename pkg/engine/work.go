package engine

import "slices"

type workKind string

const (
	workExecute workKind = "execute" // a new execution of node
	workResume  workKind = "resume"  // x goes on
	workChild   workKind = "child"   // x is told about a child, again after a fault
)

// work is one entry of the schedule.
type work struct {
	kind   workKind
	node   *Node
	owner  *Execution // the parent of what is executed; nil for the workflow itself
	x      *Execution // of resume and child
	tag    string
	vars   map[string]any
	hidden map[string]bool // variables whose values the journal does not tell
	resume *Resume
	done   *Completed
	key    string             // of execute: the idempotency key that it keeps
	inner  string             // of execute: see [Child]
	led    *led               // of execute
	as     string             // of resume and child: the id of the command whose call it repeats with the same key
	told   int64              // of resume and child: the time that the call was told which it repeats; 0: none
	times  map[string][]int64 // of execute: see [keptTimes]
	cmd    *command
	again  bool  // of resume: the journal has it, and its call was interrupted
	began  int64 // of what was set back: the number of its execution in the journal
	commit bool  // a commit has to come first
	rest   bool  // see [Execution.ScheduleRest]
}

// schedule is the work of a burst that is still to be done, in its order.
type schedule struct {
	items []work
	head  int // before it, work that was taken
}

// push makes w the last piece of work. A schedule that never runs empty, as of two loops beside each
// other, has no more room than what is left of it wants.
func (s *schedule) push(w work) {
	if s.head >= usualRoom && s.head >= len(s.items)/2 {
		n := copy(s.items, s.items[s.head:])
		clear(s.items[n:])
		s.items, s.head = s.items[:n], 0
	}
	s.items = append(s.items, w)
}

// setBack makes w the next piece of work, but for what was set back and had begun before it.
func (s *schedule) setBack(w work) {
	at := s.head
	for at < len(s.items) && s.items[at].began > 0 && s.items[at].began < w.began {
		at++
	}
	s.items = slices.Insert(s.items, at, w)
}

// usualRoom is how much room for work a burst keeps between its commits.
const usualRoom = 64

// rest lets go of the room for work of a burst that had much of it, and has none left.
func (s *schedule) rest() {
	if len(s.left()) == 0 && cap(s.items) > usualRoom {
		*s = schedule{}
	}
}

// left is the work that is left. It includes work that became pointless.
func (s *schedule) left() []work { return s.items[s.head:] }

// alive tells whether w still has someone to work for.
func (w *work) alive() bool {
	switch {
	case w.kind != workExecute:
		return w.x.status == running
	case w.owner != nil:
		return w.owner.status == running || w.owner.status == faulted
	}
	return true
}

// peek drops pointless work and gives the next piece; nil if nothing is left.
func (s *schedule) peek() *work {
	for s.head < len(s.items) {
		w := &s.items[s.head]
		if w.alive() {
			return w
		}
		s.pop()
	}
	return nil
}

func (s *schedule) pop() work {
	w := s.items[s.head]
	s.items[s.head] = work{}
	s.head++
	if s.head == len(s.items) {
		s.items, s.head = s.items[:0], 0
	}
	w.release()
	return w
}

func (w *work) release() {
	if w.kind == workExecute {
		if w.owner != nil {
			w.owner.pending--
		}
	} else {
		w.x.pending--
	}
}

// withdraw removes the work that drop chooses.
func (s *schedule) withdraw(drop func(w *work) bool) {
	s.items = append(s.items[:s.head], slices.DeleteFunc(s.left(), func(w work) bool {
		if !drop(&w) {
			return false
		}
		w.release()
		return true
	})...)
}
