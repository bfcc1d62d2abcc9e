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
	resume *Resume
	done   *Completed
	cmd    *command
	commit bool // a commit has to come first
}

func (b *Burst) push(w work) { b.queue = append(b.queue, w) }

// schedule is the work that is left, what became pointless included.
func (b *Burst) schedule() []work { return b.queue[b.head:] }

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
func (b *Burst) peek() *work {
	for b.head < len(b.queue) {
		w := &b.queue[b.head]
		if w.alive() {
			return w
		}
		b.pop()
	}
	return nil
}

func (b *Burst) pop() work {
	w := b.queue[b.head]
	b.queue[b.head] = work{}
	b.head++
	if b.head == len(b.queue) {
		b.queue, b.head = b.queue[:0], 0
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

// withdraw removes the scheduled work that drop chooses.
func (b *Burst) withdraw(drop func(w *work) bool) {
	b.queue = append(b.queue[:b.head], slices.DeleteFunc(b.queue[b.head:], func(w work) bool {
		if !drop(&w) {
			return false
		}
		w.release()
		return true
	})...)
}
