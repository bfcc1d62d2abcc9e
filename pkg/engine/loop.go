package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/weft-run/weft/internal/callers"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// Run takes one command and works until the schedule is empty, a commit is due,
// or the burst is interrupted. It may be called several times, one after the
// other; [Burst.Result] then covers all of them. It returns an error only when
// ctx ended or the state is unusable: the burst must then be dropped.
func (b *Burst) Run(ctx context.Context, cmd workflow.Command) (Outcome, error) {
	if b.fatal != nil {
		return "", b.fatal
	}
	if b.growth.tooMuch() {
		return Applied, nil
	}
	b.ctx, b.givesWay = ctx, false
	defer func() { b.ctx = nil }()
	out, err := b.accept(cmd)
	if err != nil || out != "" {
		return out, err
	}
	if b.header.SubStatus.Status() == workflow.StatusRunning {
		b.header.SubStatus = workflow.Executing
	}
	out, err = b.loop()
	if err != nil {
		b.fatal = err
		return "", err
	}
	b.callers.Settle(func(c *callers.Caller) bool {
		runs := !b.halted && b.header.SubStatus.Status() == workflow.StatusRunning
		return runs && (len(b.schedule.left()) > 0 || slices.ContainsFunc(b.marks, func(m *mark) bool {
			return m.mayAnswer(c.By, b.prog.responds, b.env.Answers)
		}))
	})
	b.header.UpdatedAt = b.env.Now()
	return out, nil
}

// accept applies a command to the schedule; an outcome means there is nothing to
// run.
func (b *Burst) accept(cmd workflow.Command) (Outcome, error) {
	finished := b.header.SubStatus.Status() == workflow.StatusFinished
	b.cmd = newCommand(b, &cmd)
	b.callers.Now = nil
	b.calls.Began(cmd.Kind == workflow.CommandContinue)
	if cmd.Kind == workflow.CommandContinue {
		b.dirty = false
		if finished && len(b.cancelling) == 0 {
			return NotRunning, nil
		}
		return "", nil
	}
	if len(b.schedule.left()) == 0 {
		b.doing.ran.Store(0)
	}
	switch cmd.Kind {
	case workflow.CommandStart:
		if finished {
			return NotRunning, nil
		}
		if !b.started {
			b.started = true
			b.callers.Came(cmd.Key, cmp.Or(b.trigger, workflowType))
			b.schedule.push(work{kind: workExecute, node: b.prog.root, cmd: b.cmd})
		}
	case workflow.CommandResume, workflow.CommandChildEnd:
		at := workflowType
		if m := findMark(b.marks, cmd.Bookmark); m != nil {
			at = m.x.node.id
		}
		if out := b.takeResume(cmd, finished); out != "" {
			return out, nil
		}
		b.callers.Came(cmd.Key, at)
	case workflow.CommandCancel, workflow.CommandDelete:
		b.interrupted.Store(false)
		// A faulted instance has ended, and may be retried: a cancel would take that
		// away. Children of it may still run, and end with it when it is deleted.
		if finished && (b.header.SubStatus != workflow.Faulted || cmd.Kind == workflow.CommandCancel) {
			return NotRunning, nil
		}
		b.end(cmd.Kind)
	case workflow.CommandRetry, workflow.CommandAlter:
		if out, err := takeRepair(b, &cmd); out != "" || err != nil {
			return out, err
		}
		b.backCommit = b.env.SaveBack
	case workflow.CommandImport, workflow.CommandContinue:
		fallthrough
	default:
		return "", fmt.Errorf("run instance %s: the engine does not know the command %q", b.header.ID, cmd.Kind)
	}
	b.dirty, b.fresh = true, true
	return "", nil
}

func (b *Burst) loop() (Outcome, error) {
	fly := aside{b}
	defer fly.recall()
	for {
		if b.ctx.Err() != nil || b.fatal != nil {
			return "", cmp.Or(context.Cause(b.ctx), b.fatal)
		}
		if len(b.cancelling) > 0 {
			if fly.land(); b.sliceCancel() {
				return CommitFirst, nil
			}
		}
		if b.halted {
			fly.land() // what came back counts
		}
		w := b.schedule.peek()
		if b.halted || b.rootDone || b.growth.tooMuch() || w == nil && b.calls.Out() == 0 {
			b.setStatus()
			return Applied, b.fatal
		}
		away := w != nil && fly.goesAside(w)
		if w == nil || away && b.calls.Out() >= cmp.Or(b.prog.strategy.calls, b.limits.Calls) {
			fly.takeBack(away)
			continue
		}
		if out := fly.before(w); out != "" {
			return out, b.fatal
		}
		fly.runs(b.schedule.pop(), away)
	}
}

// before gives what Run returns as something has to come before w, with all calls back by then; "": nothing has.
func (a aside) before(w *work) Outcome {
	b, cmd := a.b, w.cmd
	// A bookmark that was just met is resumed before an interrupt counts: this burst
	// has burned it, and a cancel that comes next would leave no trace of that.
	if met := b.fresh && w.kind == workResume; !met && b.interrupted.Swap(false) {
		a.land()
		return Interrupted
	}
	save, moves := b.wantsCommit(w)
	counts := w.kind != workExecute || w.node.parent != nil
	way := !save && counts && cmd.Count >= b.limits.Activities
	if save || way {
		if a.land(); way {
			giveWay(b, cmd)
		}
		if moves || way {
			moveOn(b)
		}
		return CommitFirst
	}
	if counts {
		cmd.Count++
	}
	return ""
}

// wantsCommit tells whether a commit strategy asks for a commit before w, and whether what comes behind that is told
// another time.
func (b *Burst) wantsCommit(w *work) (save, moves bool) {
	s, fresh := b.prog.strategy, b.fresh
	isActivity := w.node != nil && w.node.parent != nil
	if isActivity {
		b.fresh = false
	}
	after := b.askCommit
	b.askCommit = false
	back := b.backCommit
	b.backCommit = false
	if !b.dirty {
		return false, false
	}
	if b.Heavy() || len(b.children) >= childSlice || len(b.cancels) >= childSlice || len(b.events) >= childSlice {
		return true, false // as much as one commit should carry
	}
	switch {
	case w.commit, after, b.owed.saves > 0 && !b.owed.mayWait(w.at(), b.env.Now()):
		return true, true
	case back, aside{b}.decided(w.at()):
		return true, false
	case !isActivity:
		return false, false
	case w.node.commit.before && w.node.commit.joins && b.owed.mayWait(w.node, b.env.Now()):
		b.owed.add(b.env.Now())
		return false, false
	case s.first && fresh, w.node.commit.before:
		return true, true
	case s.every > 0:
		return b.env.Now().Sub(b.lastCommit) >= s.every, false
	}
	return false, false
}

// step runs one piece of work, and tells parents about children that completed.
func (b *Burst) step(w work) {
	b.dirty = true
	b.owed.loud = b.owed.loud || !w.at().quiet
	b.cmd = w.cmd
	var x *Execution
	switch w.kind {
	case workExecute:
		x = execute(b, &w)
	case workResume:
		x = w.x
		if w.resume.Bookmark.ID != "" {
			b.journal(x, EventResumed, w.resume.Bookmark.Name, nil)
		}
		b.as, b.asAt = w.as, w.told
		b.invoke(x, brokenCall{Kind: workResume, Resume: w.resume})
		b.as, b.asAt = "", 0
	case workChild:
		x = w.x
		b.as, b.asAt = w.as, w.told
		b.invoke(x, brokenCall{Kind: workChild, Done: w.done})
		b.as, b.asAt = "", 0
	}
	for len(b.completions) > 0 && b.fatal == nil && !b.halted && !b.finishing {
		c := b.completions[0]
		b.completions = b.completions[1:]
		switch c.to.status {
		case faulted:
			c.to.deferred = append(c.to.deferred, c)
		case running:
			b.cmd = c.cmd
			b.invoke(c.to, brokenCall{Kind: workChild, Done: &c.done})
		case completed, canceled: // no one is left to be told
		}
	}
	if b.halted { // completions that were not delivered wait for a retry
		for _, c := range b.completions {
			c.to.deferred = append(c.to.deferred, c)
		}
	}
	b.completions = b.completions[:0]
	if b.finishing && b.fatal == nil {
		b.finishAll()
	}
	if x != nil {
		b.askCommit = b.owed.after(x.node.commit, b.env.Now()) || b.askCommit
	}
}

// execute begins the child of w, or tells the activity around it that it may not begin, and gives whose turn it
// was; nil: nobody's.
func execute(b *Burst, w *work) *Execution {
	if callback := refuses(w); callback != "" {
		b.invoke(w.owner, brokenCall{Kind: workResume, Resume: &Resume{Callback: callback}})
		return w.owner
	}
	x := b.begin(w)
	if x != nil {
		b.invoke(x, brokenCall{Kind: workExecute})
	}
	return x
}

// refuses asks the activity around w whether it may begin; "": it may. A memory that cannot be read is found
// out by the call that follows.
func refuses(w *work) (callback string) {
	if w.owner == nil || w.owner.node.admitter == nil || w.owner.status != running {
		return ""
	}
	defer func() {
		if r := recover(); r != nil {
			_ = w.owner.b.recovered(w.owner, r)
		}
	}()
	return w.owner.node.admitter.Admits(w.owner, w.node)
}

// invoke calls into an activity and deals with what it left.
func (b *Burst) invoke(x *Execution, c brokenCall) {
	b.call++
	b.calling, b.secretsBefore, b.told = x, b.secrets, c.Done
	x.told = 0
	drawn, ord := x.drawn, b.cmd.Ords[x.node.id]
	b.doing.begin(x)
	b.left = b.effects()
	ctx, span := b.trace(x, c)
	err := b.protected(ctx, x, c)
	stopped, cut := errors.Is(err, errInterrupted), errors.Is(err, errCut)
	switch {
	case cut:
		span.Fail("cut")
	case stopped:
		span.Fail("interrupted")
	case err != nil:
		span.Fail("fault")
	}
	span.End()
	b.measureGrown()
	if b.fatal == nil && b.ctx.Err() != nil {
		b.fatal = context.Cause(b.ctx)
	}
	if b.fatal != nil || cut {
		return
	}
	var misfit *misfitError
	if errors.As(err, &misfit) {
		b.fatal = misfit.Unwrap()
		return
	}
	if err != nil {
		b.finishing, b.unwound = false, false
		x.drawn = drawn // who makes the call again draws the same
		b.undo(x, b.left)
	}
	switch {
	case stopped:
		setBack(x, c, ord)
		return
	case err != nil:
		b.fault(x, err, c)
		return
	}
	if x.status != running {
		return
	}
	if x.Idle() {
		b.complete(x, x.outcomes)
		return
	}
	for i := len(b.marks) - 1; i >= 0 && b.marks[i].call == b.call; i-- {
		if m := b.marks[i]; m.x == x {
			b.journal(x, EventSuspended, m.Name, nil)
			break
		}
	}
}

// trace begins the span of an activity that is executed or resumed; that a child
// completed is not worth one.
func (b *Burst) trace(x *Execution, c brokenCall) (context.Context, tracing.Span) {
	if c.Kind == workChild || x.node.parent == nil || b.traced >= tracing.MaxActivities || !tracing.Recorded(b.ctx) {
		return b.ctx, tracing.Span{}
	}
	b.traced++
	return tracing.Activity(b.ctx, x.node.id, x.node.countedType())
}

// misfitError says that this node's code of an activity cannot read what the code
// of another version saved. The burst is dropped, and left to a node that can.
type misfitError struct{ err error }

func (e *misfitError) Error() string { return e.err.Error() }
func (e *misfitError) Unwrap() error { return e.err }

// panicError is a panic of an activity or an expression.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// protected calls the activity's code and turns a panic into an error.
func (b *Burst) protected(ctx context.Context, x *Execution, c brokenCall) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = b.recovered(x, r)
		}
	}()
	switch c.Kind {
	case workExecute:
		if err := x.evaluateAll(); err != nil {
			return err
		}
		b.journalStarted(x)
		if err := barrier(ctx, x); err != nil {
			return err
		}
		return outside(ctx, x, c)
	case workResume:
		if x.node.resumer == nil {
			return nil
		}
		if err := barrier(ctx, x); err != nil {
			return err
		}
		return outside(ctx, x, c)
	case workChild:
		if x.node.parenter == nil {
			return nil
		}
		if err := barrier(ctx, x); err != nil {
			return err
		}
		return x.node.parenter.ChildCompleted(ctx, x, *c.Done)
	}
	return nil
}

// barrier is what the code of x waits for if it may have an effect outside. Without it the
// burst is to be dropped.
func barrier(ctx context.Context, x *Execution) error {
	b := x.b
	if x.node.desc.NoEffect {
		return nil
	}
	if b.env.Barrier != nil {
		if err := b.env.Barrier(ctx); err != nil {
			b.fatal = err
			return err
		}
	}
	return secure(ctx, b)
}

// recovered turns a panic into an error. An input that cannot be evaluated panics on its way
// through the activity's code, and is an error like any other.
func (b *Burst) recovered(x *Execution, r any) error {
	var in *inputError
	var secret *secretError
	var misfit *misfitError
	if e, ok := r.(error); ok {
		switch {
		case errors.As(e, &misfit):
			return misfit
		case errors.As(e, &in):
			return in
		case errors.As(e, &secret), errors.Is(e, errCut):
			return e
		}
	}
	stack := debug.Stack()
	b.log.Error("activity panicked", "instance", b.header.ID, "activity", x.node.id, "panic", fmt.Sprint(r), "stack", string(stack))
	return &panicError{r, stack}
}
