package engine

import (
	"context"
	"errors"
	"slices"
	"time"
)

// How calls are in flight beside each other is in docs/protocol.md (calls side by side). In short: a step that calls is
// launched, and gives the burst up within [Outside]; it is taken back when nothing else is left to run, or all are as
// something is to be saved. What the order of answers decided goes outside only after a save.

// errCut is why a call ended whose result does not count any more.
var errCut = errors.New("what it is for was cancelled")

// Outside calls do, which waits for the outside and touches nothing of x. While it does, other activities of the instance
// may run, if its descriptor says that it calls ([workflow.Descriptor].Asks): x, and what the activity read of it before,
// may only be looked at again when Outside has returned. It gives the error of do. If the activity was cancelled in the
// meantime, Outside does not return: deferred functions run, and the result counts for nothing. What has scheduled, sent
// or waited for something before does that in turn.
func Outside(ctx context.Context, x *Execution, do func(context.Context) error) (err error) {
	b, c := x.b, x.b.out
	if c == nil || c.Of != x || !c.Launched() || b.finishing || b.left != b.effects() {
		return do(ctx)
	}
	was, read := b.turn, b.secrets-b.secretsBefore
	b.out, x.flew = nil, true
	defer func() {
		was.call, was.left, was.secretsBefore = b.call+1, b.effects(), b.secrets-read
		if b.turn = was; b.fatal != nil || x.status != running {
			panic(errCut)
		}
		b.doing.begin(x)
	}()
	if b.env.Until != nil {
		b.calls.AwayUntil(c, func() { err = do(ctx) }, func() time.Time { return b.env.Until(x) })
		return err
	}
	b.calls.Away(c, func() { err = b.env.Places.Within(ctx, do) })
	return err
}

// aside notes where n may be launched.
func (c *compiler) aside(n *Node) {
	if p := n.parent; p != nil {
		n.stirs = p.stirs || !p.desc.NoEffect && p.desc.Asks == ""
	}
	s := c.prog.strategy
	n.aside = n.desc.Asks != "" && !n.stirs && s.calls != 1 && (s.joins || !s.before && !s.after) && !n.activity.TakesTurns()
}

// aside is a burst with what it has in flight.
type aside struct{ b *Burst }

// goesAside tells whether w is launched: it is if there is something beside it, and not only its own timeout.
func (a aside) goesAside(w *work) bool {
	return w.kind == workExecute && w.node.aside && (a.b.calls.Out() > 0 || slices.ContainsFunc(a.b.schedule.left()[1:], func(o work) bool {
		return o.alive() && (o.owner != w.owner || !w.owner.node.wraps())
	}))
}

// decided tells whether work at n would bring outside what the order of answers decided.
func (a aside) decided(n *Node) bool { return (!n.desc.NoEffect || n.stirs) && a.b.calls.Raced() }

// runs does w, aside or in turn. What only launched calls, and beside them what only schedules others, since the last
// save needs none before the next call.
func (a aside) runs(w work, aside bool) {
	dirty, loud := a.b.dirty, a.b.owed.loud
	same := a.b.calls.Out() > 0 && w.kind == workExecute && (w.node.desc.Container || w.node.wraps()) && w.node.desc.NoEffect
	if aside {
		same = a.launch(w)
	} else {
		a.b.step(w)
	}
	if same {
		a.b.dirty, a.b.owed.loud = dirty, loud
	}
}

// launch is apart, so that work which is done in turn is not moved to the heap.
func (a aside) launch(w work) (away bool) { return a.b.calls.Launch(func() { a.b.step(w) }) }

// takeBack takes a call back, of which there is one: the first that comes, or the one that was launched first.
func (a aside) takeBack(oldest bool) {
	if a.b.calls.Next(oldest) {
		a.b.dirty, a.b.owed.loud = true, true
	}
}

// land takes all calls back.
func (a aside) land() {
	for a.b.calls.Out() > 0 && a.b.fatal == nil {
		a.takeBack(false)
	}
}

// recall ends what is still in flight as Run returns: no goroutine outlives it.
func (a aside) recall() {
	for a.b.calls.Out() > 0 {
		a.b.calls.Stop(true, errCut)
		a.takeBack(false)
	}
}

// cut ends the call of an execution that is cancelled, and gives what the journal says of that; "": it is in none.
func (a aside) cut(x *Execution) string {
	if !x.node.desc.NoEffect && a.b.calls.Cut(x, errCut) {
		return "its call was cut"
	}
	return ""
}
