package engine

import (
	"context"
	"errors"
	"slices"
	"time"
)

// How calls are in flight beside each other is in docs/protocol.md, calls side by side.

// errCut is why a call ended whose result does not count any more.
var errCut = errors.New("what it is for was cancelled")

// Outside calls do, which waits for the outside and touches nothing of x, and gives its error. Meantime other activities of the
// instance may run, if the descriptor of x says that it calls ([workflow.Descriptor].Asks). If x was cancelled by then, Outside
// does not return: deferred functions run, and the result counts for nothing. What has scheduled or sent something before, or
// waits, does it in turn.
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
	p, s := n.parent, c.prog.strategy
	n.stirs = p != nil && (p.stirs || !p.desc.NoEffect && p.desc.Asks == "")
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

// launch is apart: the closure moves its work to the heap.
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
	if x.node.desc.NoEffect || !a.b.calls.Cut(x, errCut) {
		return ""
	}
	return "its call was cut"
}
