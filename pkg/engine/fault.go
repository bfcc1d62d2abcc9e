package engine

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// maxIncidents bounds what an instance remembers of its faults; of more, the
// oldest are forgotten.
const maxIncidents = 50

// brokenCall is a call into an activity; kept with a faulted execution it says
// what a retry has to repeat.
type brokenCall struct {
	Kind   workKind
	Resume *Resume
	Done   *Completed
	As     string // the id of the command under whose key it was made
	At     int64  // the time that it was told; 0: none
	Final  bool   // it said that the instance has failed for good
	Raised bool   // it failed since it was to: it is told by others, and did not try anything
}

// FaultError is what the Fault activity raises; its fields reach the incident.
type FaultError struct {
	Code, Category, Type, Message string

	Final bool // the instance has failed for good: nothing tries again by itself, and a retry asks first
}

func (e *FaultError) Error() string {
	switch {
	case e.Message != "" && e.Code != "":
		return e.Code + ": " + e.Message
	case e.Message != "":
		return e.Message
	}
	return cmp.Or(e.Code, e.Type, e.Category, "fault")
}

// GaveUpError is what a handler of [SignalFault] returns that did what it could and does
// not claim the fault: the incident says its note behind the error.
type GaveUpError struct {
	Err  error // that of the signal
	Note string
}

func (e *GaveUpError) Error() string { return fmt.Sprintf("%v (%s)", e.Err, e.Note) }

// Unwrap gives the error of the signal.
func (e *GaveUpError) Unwrap() error { return e.Err }

// BeginAgain marks an error of a resume that was caused by the input of the resume, or one that comes of
// the end of a child: repeating it would fail again, so a retry executes the activity from its beginning.
func BeginAgain(err error) error { return &againError{err} }

type againError struct{ error }

func (e *againError) Unwrap() error { return e.error }

func errDepth(limit int) error {
	return fmt.Errorf("activities run more than %d levels deep; the limit guards against recursion without end", limit)
}

// fault turns an error of x into an incident. An ancestor may claim it;
// otherwise the definition's incident strategy decides.
func (b *Burst) fault(x *Execution, err error, c brokenCall) {
	wasRunning := x.status == running
	if wasRunning {
		x.status = faulted
		var again *againError
		if c.Kind != workExecute && errors.As(err, &again) {
			c = brokenCall{Kind: workExecute}
		}
		var raised *FaultError
		c.Raised = x.node.desc.NoEffect && errors.As(err, &raised)
		c.Final = c.Raised && raised.Final
		c.Raised = c.Raised && x.node.undoer == nil // which is run again itself
		c.As, c.At = cmp.Or(b.as, b.cmd.ID), x.told
		x.broken = &c
	}
	b.journalFaulted(x, err)
	b.count(x, "faulted")
	final := x.broken != nil && x.broken.Final
	if wasRunning {
		name := SignalFault
		if final {
			name = SignalFinal
		}
		claimed, told := b.offerFault(x, name, err)
		if claimed {
			return
		}
		err = told
	}
	b.incident(x, err)
	if final || !b.prog.strategy.continueOnIncident {
		b.halt()
	}
}

// offerFault lets the ancestors claim a fault, and gives it with what those say of it that
// gave up. A handler that fails or panics has not claimed it.
func (b *Burst) offerFault(x *Execution, name string, err error) (claimed bool, told error) {
	defer func() {
		if recover() != nil {
			claimed, told = false, err
		}
	}()
	handled, herr := x.Send(b.ctx, Signal{Name: name, Err: err})
	var gaveUp *GaveUpError
	if errors.As(herr, &gaveUp) {
		return false, gaveUp
	}
	return handled && herr == nil, err
}

func (b *Burst) incident(x *Execution, err error) {
	inc := workflow.Incident{Message: err.Error(), Time: b.env.Now()}
	if x != nil {
		inc.ActivityID, inc.ActivityType, inc.ContextID = x.node.id, x.node.desc.Type, x.id
		inc.Final = x.broken != nil && x.broken.Final
	}
	var in *inputError
	var pe *panicError
	switch {
	case errors.As(err, &in):
		inc.Expression = in.label
		inc.Cause = in.err.Error()
	case errors.As(err, &pe):
		inc.Cause = string(pe.stack)
	default:
		var gaveUp *GaveUpError
		for errors.As(err, &gaveUp) {
			err = gaveUp.Err
		}
		if cause := errors.Unwrap(err); cause != nil && cause.Error() != err.Error() {
			inc.Cause = cause.Error()
		}
	}
	inc.Message = workflow.ValidText(workflow.CutBytes(b.env.hideText(inc.Message), 1024))
	inc.Cause = workflow.ValidText(workflow.CutBytes(b.env.hideText(inc.Cause), 2048))
	b.header.Incidents = append(b.header.Incidents, inc)
	if n := len(b.header.Incidents); n > maxIncidents {
		b.header.Incidents = slices.Delete(b.header.Incidents, 0, n-maxIncidents)
	}
}

// halt stops the schedule. Bookmarks leave the index, so that no stimulus meets
// a faulted instance; they stay in the state for a retry.
func (b *Burst) halt() {
	b.halted = true
	for _, m := range b.marks {
		if m.durable {
			b.burned = append(b.burned, m.Bookmark)
			m.durable = false
		}
	}
}

// Hold faults the instance instead of running a command that is not to be run again
// unasked; why is the reason. A retry runs the command. Hold is for commands without
// which the instance cannot go on: its start, a due timer, a child's end, the rest of
// a burst.
func (b *Burst) Hold(cmd workflow.Command, why string) Outcome {
	b.cmd = newCommand(b, &cmd)
	if b.header.SubStatus.Status() == workflow.StatusFinished && !b.halted {
		return NotRunning
	}
	var at *Execution
	if cmd.Kind == workflow.CommandResume || cmd.Kind == workflow.CommandChildEnd {
		m := findMark(b.marks, cmd.Bookmark)
		if m == nil {
			return NoBookmark
		}
		at = m.x
		input, err := normalizeMap(cmd.Input)
		if err != nil {
			input = map[string]any{}
		}
		b.late = append(b.late, lateEnd{cmd.Bookmark, input})
	}
	b.incident(at, errors.New(why))
	b.halt()
	b.setStatus()
	b.header.UpdatedAt = b.env.Now()
	return Applied
}

// effects counts what a call may leave behind, to take it back if it fails.
type effects struct{ work, marks, children, cancels, events int }

func (b *Burst) effects() effects {
	return effects{len(b.schedule.items), len(b.marks), len(b.children), len(b.cancels), len(b.events)}
}

// undo takes back what a failed call scheduled, waited for and sent.
func (b *Burst) undo(x *Execution, e effects) {
	if len(b.schedule.items) > e.work {
		b.schedule.withdraw(func(w *work) bool { return w.owner == x || w.x == x })
	}
	b.unmark(func(m *mark) bool { return m.x == x && m.call == b.call })
	b.children = b.children[:min(e.children, len(b.children))]
	b.cancels = b.cancels[:min(e.cancels, len(b.cancels))]
	b.events = b.events[:min(e.events, len(b.events))]
}

// goOn lets a faulted instance run again.
func (a *altering) goOn() {
	b := a.b
	b.halted, b.ending = false, ""
	// The instance runs again before a commit on the way is made: a finished one has no
	// burst that goes on.
	b.header.Status, b.header.SubStatus, b.header.FinishedAt = workflow.StatusRunning, workflow.Executing, nil
	for i := range b.schedule.left() {
		c := b.schedule.left()[i].cmd
		c.Count, c.Before, c.At = 0, 0, max(c.At, b.cmd.At)
	}
	for _, m := range slices.Clone(b.marks) {
		if limit.PlaceOf(&m.Bookmark) != "" && m.x.status == running {
			a.again(m.x, false) // its place went with the end: the body that had it begins again with another
		}
	}
	for _, e := range deferredOwners(b.root) {
		b.redeliver(e)
	}
	late := b.late
	b.late = nil
	for _, l := range late {
		b.resumeMark(l.Bookmark, l.Input)
	}
}

// tree gives the executions of an instance that go on, parents first; root may be nil.
func tree(root *Execution) iter.Seq[*Execution] {
	return func(yield func(*Execution) bool) {
		if root == nil { // it did not begin, or is about to be run from its beginning
			return
		}
		for stack := []*Execution{root}; len(stack) > 0; {
			e := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(e) {
				return
			}
			for _, k := range slices.Backward(e.kids) {
				stack = append(stack, k)
			}
		}
	}
}

// broken are the executions that have faulted.
func broken(root *Execution) (broken []*Execution) {
	for e := range tree(root) {
		if e.status == faulted {
			broken = append(broken, e)
		}
	}
	return broken
}

// deferredOwners are the running executions that have not been told about
// children which completed as the instance faulted.
func deferredOwners(root *Execution) (owners []*Execution) {
	for e := range tree(root) {
		if e.status == running && len(e.deferred) > 0 {
			owners = append(owners, e)
		}
	}
	return owners
}

func (b *Burst) redeliver(x *Execution) {
	for _, c := range x.deferred {
		x.pending++
		b.schedule.push(work{kind: workChild, x: x, done: &c.done, cmd: b.cmd})
	}
	x.deferred = nil
}

// repeat makes the call again that failed: on a fresh execution if it was the first one
// or an error says [BeginAgain].
func (a *altering) repeat(x *Execution, newKey bool) {
	b := a.b
	call := brokenCall{Kind: workExecute}
	if x.broken != nil {
		call = *x.broken
	}
	as, at := call.As, call.At
	if newKey {
		as, at = "", 0
	}
	switch call.Kind {
	case workResume:
		x.status, x.broken = running, nil
		x.pending++
		b.schedule.push(work{kind: workResume, x: x, resume: call.Resume, as: as, told: at, cmd: b.cmd})
	case workChild:
		x.status, x.broken = running, nil
		x.pending++
		b.schedule.push(work{kind: workChild, x: x, done: call.Done, as: as, told: at, cmd: b.cmd})
	default:
		a.again(x, newKey)
	}
}

// again executes the activity of x from its beginning.
func (a *altering) again(x *Execution, newKey bool) {
	b := a.b
	w := x.begunAgain()
	if !newKey {
		w.key, w.inner = x.CallKeys()
		w.times = keptTimes(x)
		if !x.node.wraps() {
			w.inner = workflow.DeriveID(w.key, b.cmd.ID)
		}
	}
	if x.parent == nil {
		b.root = nil
		b.schedule.push(work{kind: workExecute, node: x.node, cmd: b.cmd})
		return
	}
	b.cancelTree(x) // with what it still waits for, if it was resumed
	w.owner.pending++
	b.schedule.push(w)
}

// begunAgain is work that executes the activity of x from its beginning, with a new key.
func (x *Execution) begunAgain() work {
	given := map[string]any{}
	for k, v := range x.vars {
		if !slices.ContainsFunc(x.node.vars, func(d variable) bool { return d.name == k }) {
			given[k] = v
		}
	}
	if len(given) == 0 {
		given = nil
	}
	return work{kind: workExecute, node: x.node, owner: x.parent, tag: x.tag, vars: given, hidden: x.hidden, led: x.led, cmd: x.b.cmd}
}
