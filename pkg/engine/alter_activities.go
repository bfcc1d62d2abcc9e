package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

func (a *altering) retry(alt *workflow.Alteration) {
	if alt.Activity == "" && alt.Execution == 0 {
		if !a.b.halted && len(broken(a.b.root)) == 0 {
			a.nothing = true
			a.problem("not-faulted", "activity", "nothing in the instance is faulted; say which activity to run again")
			return
		}
		if before := len(a.problems); !alt.Again {
			if a.undone(a.b.root, false); len(a.problems) > before {
				return
			}
		}
		a.retryBroken(alt.NewKey)
		return
	}
	before := len(a.problems)
	x := a.find(alt, true)
	switch {
	case len(a.problems) > before:
	case x != nil && !alt.Again && a.undone(x, true):
	case x != nil:
		a.done(x, "runs %s again from its beginning, %s", x.shown(), whichKey(alt.NewKey))
		a.again(x, alt.NewKey)
		a.goesOn = true
	case alt.Again || !a.forGood():
		a.rewindTo(alt)
	}
}

func whichKey(newKey bool) string {
	if newKey {
		return "with a new idempotency key"
	}
	return "with the same idempotency key"
}

// retryBroken makes the calls again that failed. Where a Fault activity only told of a
// failure, that is the call of the activity whose failure led there.
func (a *altering) retryBroken(newKey bool) {
	b := a.b
	a.goesOn = true
	if !b.started {
		b.started = true
		a.note(nil, "starts the instance again")
		b.schedule.push(work{kind: workExecute, node: b.prog.root, cmd: b.cmd})
		return
	}
	if b.root == nil {
		return
	}
	for _, x := range broken(b.root) {
		if x.status != faulted {
			continue // gone with another one
		}
		from, by := origin(x)
		switch {
		case from == x && by == nil:
			a.note(x, "runs %s again where it failed, %s", x.shown(), whichKey(newKey))
			a.repeat(x, newKey)
		case by == nil:
			a.note(from, "runs %s again, whose failure led to %s, %s", from.shown(), x.shown(), whichKey(newKey))
			a.again(from, newKey)
		default:
			node, key, told := b.prog.nodes[by.Node], by.Key, by.Told
			if newKey {
				key = ""
			}
			if node == nil || a.rewind(from.parent, node, key, told) != nil {
				a.note(x, "runs %s again where it failed, %s", x.shown(), whichKey(newKey))
				a.repeat(x, newKey)
				break
			}
			a.note(nil, "runs %s again, whose outcome led to %s, %s", node.shownID(), x.shown(), whichKey(newKey))
		}
	}
}

// note is done, but for a plain retry.
func (a *altering) note(x *Execution, format string, args ...any) {
	if a.alter != nil {
		a.done(x, format, args...)
	}
}

// rewindTo runs an activity that does not run now, in its parent, which does.
func (a *altering) rewindTo(alt *workflow.Alteration) {
	node := a.b.prog.nodes[alt.Activity]
	if node.parent == nil {
		a.problem("not-running", "activity", "%s is the workflow itself: name an activity in it", alt.Activity)
		return
	}
	var parents []*Execution
	for x := range tree(a.b.root) {
		if x.node == node.parent {
			parents = append(parents, x)
		}
	}
	switch len(parents) {
	case 0:
		a.problem("not-running", "activity", "%s does not run now, and neither does %s around it: run that again%s", alt.Activity, node.parent.shownID(), a.running())
		return
	case 1:
	default:
		a.problem("several-executions", "activity", "%s could run again in several executions of %s: %s; run one of these again", alt.Activity, node.parent.shownID(), numbers(parents))
		return
	}
	parent := parents[0]
	if slices.Contains(parent.Scheduled(), node) {
		a.problem("about-to-run", "activity", "%s has not begun yet in %s: it runs when that goes on, and would run twice", alt.Activity, parent.shown())
		return
	}
	if err := a.rewind(parent, node, "", 0); err != nil {
		a.problem("cannot-rewind", "activity", "%s cannot run again in %s: %v", alt.Activity, parent.shown(), err)
		return
	}
	a.goesOn = true
	a.done(parent, "runs %s again in %s, with a new idempotency key, since its execution has ended", alt.Activity, parent.shown())
}

// rewind lets a parent run one of its children again, with the key and the time that its call had; "": with another.
func (a *altering) rewind(parent *Execution, node *Node, key string, told int64) error {
	r, ok := parent.node.impl.(Rewinder)
	if !ok {
		return fmt.Errorf("%s cannot go back to one of its activities; run %s again", parent.node.desc.ShortName(), parent.node.shownID())
	}
	was, failed := parent.status, parent.broken
	parent.status, parent.broken = running, nil
	if failed != nil && failed.Kind == workChild { // it may be one beside those that run again
		parent.pending++
		a.b.schedule.push(work{kind: workChild, x: parent, done: failed.Done, as: failed.As, told: failed.At, cmd: a.b.cmd})
	}
	if err := a.called(parent, func() error { return r.Rewind(a.b.ctx, parent, node) }); err != nil {
		parent.status, parent.broken = was, failed
		a.fatal = misfit(err)
		return err
	}
	left := a.b.schedule.left()
	for i := len(left) - 1; i >= 0; i-- {
		if w := &left[i]; w.kind == workExecute && w.node == node && w.owner == parent {
			if w.key = key; key != "" {
				w.inner = workflow.DeriveID(key, a.b.cmd.ID)
				if told != 0 {
					w.times = map[string][]int64{key: {told}}
				}
			}
			break
		}
	}
	return nil
}

func (a *altering) skip(alt *workflow.Alteration) {
	x := a.find(alt, false)
	if x == nil {
		return
	}
	outcomes := alt.Outcomes
	d := x.node.desc
	if len(outcomes) == 0 {
		outcomes = doneOutcomes
	}
	if may := d.Outcomes; !d.AnyOutcome {
		if len(may) == 0 {
			may = doneOutcomes
		}
		for _, o := range outcomes {
			if !slices.Contains(may, o) {
				a.problem("unknown-outcome", "outcomes", "%s has no outcome %q%s; choose of %s", x.node.shownID(), workflow.CutBytes(o, 256), workflow.DidYouMean(o, may), strings.Join(may, ", "))
				return
			}
		}
	}
	b := a.b
	a.done(x, "skips %s, with the outcome %s", x.shown(), strings.Join(outcomes, ", "))
	done := x.completed(slices.Clone(outcomes))
	b.clear(x)
	x.status, x.broken = completed, nil
	x.parent.drop(x)
	a.tell(x.parent, done)
	a.goesOn = true
}

// cancel ends an activity without what comes after it, or the instance.
func (a *altering) cancel(alt *workflow.Alteration) {
	b := a.b
	if alt.Activity == "" && alt.Execution == 0 {
		if b.halted {
			a.problem("faulted", "type", "the instance is Faulted: it has ended, and a cancel would take away its retry; delete it, or cancel what faulted in it")
			return
		}
		a.done(nil, "cancels the instance")
		b.end(workflow.CommandCancel)
		a.ended = true
		return
	}
	x := a.find(alt, false)
	if x == nil {
		return
	}
	whole := x.whole()
	if whole.node.isUndo() {
		a.problem("is-undo", "activity", "%s undoes %s: skip it, if that is undone", x.node.shownID(), whole.node.parent.shownID())
		return
	}
	if whole.parent.parent == nil {
		a.problem("is-all", "activity", "%s is all of the workflow: cancel the instance", x.node.shownID())
		return
	}
	a.done(x, "cancels %s, and what would have come after it in %s", x.shown(), whole.parent.shown())
	b.cancelTree(whole)
	a.goesOn = true
	for p := whole.parent; p.parent != nil && p.status == running && p.Idle() && len(p.deferred) == 0; p = p.parent {
		b.complete(p, p.outcomes)
		for _, c := range b.completions {
			a.tell(c.to, c.done)
		}
		b.completions = b.completions[:0]
	}
}

// setVariable sets a variable that some scope has.
func (a *altering) setVariable(alt *workflow.Alteration) {
	type place struct {
		x    *Execution
		name string
	}
	var found []place
	var names []string
	for x := range tree(a.b.root) {
		if alt.Activity != "" && x.node.id != alt.Activity || alt.Execution != 0 && x.number != alt.Execution {
			continue
		}
		for _, name := range sortedKeys(x.vars) {
			names = append(names, name)
			if d := x.node.variable(name); name == alt.Variable || d != nil && d.id == alt.Variable {
				found = append(found, place{x, name})
			}
		}
	}
	switch {
	case alt.Activity != "" && a.b.prog.nodes[alt.Activity] == nil:
		a.unknownActivity("activity", alt.Activity)
		return
	case len(found) == 0:
		slices.Sort(names)
		names = slices.Compact(names)
		what := "no scope that is open has a variable"
		if len(names) > 0 {
			what += " of this name; those that there are: " + listed(names)
		}
		a.problem("unknown-variable", "variable", "%s%s: %s", workflow.CutBytes(alt.Variable, 256), workflow.DidYouMean(alt.Variable, names[:min(len(names), 200)]), what)
		return
	case len(found) > 1:
		var where []string
		for _, p := range found {
			where = append(where, p.x.shown())
		}
		a.problem("several-variables", "variable", "several scopes have a variable %s: choose one by activity or execution: %s", alt.Variable, listed(where))
		return
	}
	p := found[0]
	if d := p.x.node.variable(p.name); d != nil && d.memory {
		a.problem("not-kept", "variable", "%s is not kept with the instance, so it has no value between bursts", p.name)
		return
	}
	if err := p.x.setVariable(p.name, alt.Value, nil, p.x.hidden[p.name], false); err != nil {
		a.problem("bad-value", "value", "%v", err)
		return
	}
	a.done(nil, "sets the variable %s of %s", p.name, p.x.shown())
}

// reschedule lets a timer be due at another time. Its bookmark is another one then: what
// the old one has sent already finds it no more.
func (a *altering) reschedule(alt *workflow.Alteration) {
	var found []*mark
	var all []string
	for _, m := range a.b.marks {
		if m.DueAt == nil {
			continue
		}
		all = append(all, fmt.Sprintf("%s at %s", m.x.shown(), m.DueAt.Format(time.RFC3339)))
		if (alt.Bookmark == "" || m.ID == alt.Bookmark) && (alt.Activity == "" || m.x.node.id == alt.Activity) && (alt.Execution == 0 || m.x.number == alt.Execution) {
			found = append(found, m)
		}
	}
	switch {
	case alt.Activity != "" && a.b.prog.nodes[alt.Activity] == nil:
		a.unknownActivity("activity", alt.Activity)
		return
	case len(all) == 0:
		a.problem("no-timer", "activity", "no timer runs in the instance")
		return
	case len(found) != 1:
		a.problem("which-timer", "activity", "%d timers fit; say which one by activity, execution or bookmark: %s", len(found), listed(all))
		return
	}
	m := found[0]
	was := *m.DueAt
	if err := a.moveTimer(m, alt.DueAt.UTC()); err != nil {
		a.problem("bad-time", "dueAt", "%v", err)
		return
	}
	a.done(m.x, "lets %s be due at %s, and not at %s", m.x.shown(), m.DueAt.Format(time.RFC3339), was.Format(time.RFC3339))
}

func (a *altering) moveTimer(m *mark, due time.Time) error {
	b := a.b
	id := workflow.BookmarkID(b.header.ID, b.deriveID(m.x.node, "bookmark"))
	payload := m.Payload
	local, err := workflow.Hash(m.ActivityType, workflow.LocalPayload(m.ID, payload))
	if err != nil {
		return err
	}
	isLocal := local == m.Hash
	if told, ok := payload.(map[string]any); ok && told["dueAt"] != nil {
		if payload, err = normalize(map[string]any{"dueAt": due}, 0); err != nil {
			return err
		}
		now := payload.(map[string]any)
		for k, v := range told {
			if k != "dueAt" {
				now[k] = v
			}
		}
	}
	hash := m.Hash
	if isLocal {
		if hash, err = workflow.Hash(m.ActivityType, workflow.LocalPayload(id, payload)); err != nil {
			return err
		}
	} else {
		payload = m.Payload // who sends it knows what it was
	}
	b.burn(m)
	m.ID, m.Hash, m.Payload, m.DueAt, m.durable = id, hash, payload, &due, false
	return nil
}
