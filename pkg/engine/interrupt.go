package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/pkg/engine/flight"
)

// errInterrupted is why the context of a call ended.
var errInterrupted = errors.New("the instance is to be cancelled")

// outside calls the code of x. If that may wait for the outside, an interrupt ends its
// context, and its error is errInterrupted then; what it has done nonetheless counts. Code
// without an effect outside computes, and is soon over.
func outside(ctx context.Context, x *Execution, c brokenCall) (err error) {
	b := x.b
	if !x.node.desc.NoEffect {
		key, _ := x.CallKeys()
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		defer end(nil)
		call := &flight.Call{Of: x, Since: b.doing.since.Load(), End: end, Again: key == b.stopped.Key, Unwinds: b.unwinding}
		b.calls.Enter(call, b.interrupted.Load(), errInterrupted) // it may have come since the look before this call
		b.out = call
		defer func() { b.calls.Leave(call); b.out = nil }()
	}
	if c.Kind == workResume {
		err = x.node.resumer.Resume(ctx, x, *c.Resume)
	} else {
		err = x.node.impl.Execute(ctx, x)
	}
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		return fmt.Errorf("%w: %w", errInterrupted, err)
	}
	return err
}

// setBack makes an interrupted call the next of the schedule, with the idempotency key that
// it had: who interrupted it ends the instance first. If nobody does, it is made again,
// and not interrupted a second time but for an end that is there ([Burst.End]). ord is how many ids its command
// had made for its node before the call.
func setBack(x *Execution, c brokenCall, ord int) {
	b := x.b
	b.journal(x, EventInterrupted, "", nil)
	b.stopped.Key, _ = x.CallKeys()
	b.stopped.Activity = x.node.id
	b.fresh = false // the command did something
	// What comes next has the ids that it would have had, and gives way where it would have: a repeat of the
	// burst is maybe not interrupted here.
	b.cmd.Count--
	if c.Kind == workExecute {
		ord = x.ord
	}
	if !x.flew { // else others may have made ids since
		b.cmd.Ords[x.node.id] = ord
	}
	if c.Kind == workResume {
		x.pending++
		b.schedule.setBack(work{kind: workResume, x: x, resume: c.Resume, as: b.as, told: x.told, cmd: b.cmd, again: true, began: x.number})
		return
	}
	w := x.begunAgain()
	w.key, w.inner = x.CallKeys()
	w.times, w.began = keptTimes(x), x.number
	b.cancelTree(x)
	w.owner.pending++
	b.schedule.setBack(w)
}

// Stopped is a call that an interrupt ended; zero: none.
type Stopped struct {
	Activity string // its id
	Key      string // with which the execution began
}

// StoppedIn is the last call that b interrupted, for the [Env] of the burst that goes on with it.
func StoppedIn(b *Burst) Stopped { return b.stopped }
