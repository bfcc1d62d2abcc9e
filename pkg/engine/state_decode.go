package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/weft-run/weft/pkg/workflow"
)

// decode reads an encoded state. Everything that it does not understand is an
// error: a state that is half understood would do harm.
func (b *Burst) decode(raw []byte) error {
	var d stateDoc
	if err := workflow.UnmarshalKnown(raw, &d); err != nil { // a field of a newer program would be lost with the next commit
		return cmp.Or(Readable(raw), fmt.Errorf("the state is not readable: %w", err))
	}
	r := &reader{b: b}
	switch d.V {
	case stateVersion:
	case wideVersion:
		if d.narrow(r); r.err != nil {
			return r.err
		}
	default:
		return newerState(d.V)
	}
	r.itself(&d)
	r.executions(d.Executions)
	r.work(d.Commands, d.Work)
	r.bookmarks(d.Bookmarks, b.header.Bookmarks)
	b.had = len(b.marks)
	b.header.Bookmarks = nil
	return r.err
}

// Readable tells whether this program knows the format of an encoded state. The
// error has the code not-runnable-here: a program of another version may.
func Readable(state []byte) error {
	var d struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(state, &d); err != nil || d.V == stateVersion || d.V == wideVersion {
		return nil //nolint:nilerr // what is no state at all, no other program can read
	}
	return newerState(d.V)
}

func newerState(v int) error {
	return &workflow.Error{Code: workflow.CodeNotRunnable, Needs: []string{abilityState(v)},
		Detail: fmt.Sprintf("the state has format %d, and the program of this node reads format %d and %d", v, stateVersion, wideVersion)}
}

// reader turns documents into live values and keeps the first error.
type reader struct {
	b    *Burst
	list []*Execution
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("the state is damaged: "+format, args...)
	}
}

// value is a value of the document, which nobody else has: mostly as it is.
func (r *reader) value(v any) any {
	if isNormal(v, 0) {
		return v
	}
	n, err := normalize(v, 0)
	if err != nil {
		r.fail("%w", err)
	}
	return n
}

func (r *reader) object(m map[string]any) map[string]any {
	if isNormal(m, 0) {
		return m
	}
	n, err := normalizeMap(m)
	if err != nil {
		r.fail("%w", err)
	}
	return n
}

// itself reads what is not of one place of the instance.
func (r *reader) itself(d *stateDoc) {
	b := r.b
	b.seq, b.started, b.halted, b.rootDone, b.ending, b.unwinding = d.Seq, d.Started, d.Halted, d.Done, d.Ending, d.Unwinding
	b.trigger, b.triggerUsed = d.Trigger, d.TriggerUsed
	b.props, b.triggerInput = r.object(d.Props), r.object(d.TriggerInput)
	b.callers.Read(b.props)
	b.cancelling, b.clock = d.Cancel, d.Clock
	for _, l := range d.Late {
		l.Input = r.object(l.Input)
		b.late = append(b.late, l)
	}
}

func (r *reader) node(id string) *Node {
	n := r.b.prog.nodes[id]
	if n == nil || n.impl == nil {
		if r.err == nil {
			r.err = fmt.Errorf("the state stands at activity %q, which this version of the definition does not have; was a definition that it uses as an activity changed?", id)
		}
		return nil
	}
	return n
}

func (r *reader) at(i int) *Execution {
	if i < 0 || i >= len(r.list) {
		r.fail("there is no execution %d", i)
		return nil
	}
	return r.list[i]
}

func (r *reader) executions(docs []executionDoc) {
	for i, d := range docs {
		n := r.node(d.Node)
		if n == nil {
			return
		}
		x := &Execution{b: r.b, id: d.ID, number: d.Number, node: n, tag: d.Tag, born: d.Born, raw: d.Scratch, outcomes: d.Outcomes, results: r.object(d.Results), key: d.Key, keyed: d.Keyed, inner: d.Inner, led: d.Led, times: d.Times, drawn: d.Drawn, first: d.Told}
		if d.Seen != nil {
			x.seen = *d.Seen
		}
		if d.Faulted {
			x.status = faulted
		}
		if !r.place(x, i, d.Parent) {
			return
		}
		x.hidden = d.Hidden
		r.b.open(x, nil)
		if vars := r.object(d.Vars); x.vars == nil {
			x.vars = vars
		} else {
			maps.Copy(x.vars, vars)
		}
		r.scope(x, d.Scope)
		if d.Broken != nil {
			x.broken = &brokenCall{Kind: d.Broken.Kind, Resume: r.resume(d.Broken.Resume), Done: r.completed(d.Broken.Done), As: d.Broken.As, At: d.Broken.At, Final: d.Broken.Final, Raised: d.Broken.Raised}
			if x.broken.Kind == workResume && x.broken.Resume == nil || x.broken.Kind == workChild && x.broken.Done == nil {
				r.fail("execution %d does not say what failed", i)
			}
		}
		for _, c := range d.Deferred {
			if done := r.completed(&c); done != nil {
				x.deferred = append(x.deferred, completion{to: x, done: *done})
			}
		}
		r.list = append(r.list, x)
	}
	if r.b.root != nil && r.b.rootDone {
		r.b.root.status = completed
	}
	r.b.variables.committed(r.b.root)
}

// place puts the execution i into the tree, below one that was read before.
func (r *reader) place(x *Execution, i, parent int) bool {
	switch {
	case parent < 0 && i == 0 && x.node.parent == nil:
		r.b.root = x
	case parent >= 0 && parent < i && x.node.runsIn(r.list[parent].node):
		x.parent = r.list[parent]
		x.parent.kids = append(x.parent.kids, x)
	default:
		r.fail("execution %d has no place in the tree", i)
		return false
	}
	return true
}

func (r *reader) scope(x *Execution, d *scopeDoc) {
	if x.scope == nil {
		return
	}
	if d != nil {
		x.scope.inputs, x.scope.outputs, x.scope.last = r.object(d.Inputs), r.object(d.Outputs), r.value(d.Last)
		for k, m := range d.Results {
			if x.scope.results == nil {
				x.scope.results = map[string]map[string]any{}
			}
			x.scope.results[k] = r.object(m)
		}
	}
	if x.parent == nil {
		x.scope.outputs = r.b.header.Output
	}
}

func (r *reader) resume(d *resumeDoc) *Resume {
	if d == nil {
		return nil
	}
	out := &Resume{Callback: d.Callback, Input: r.object(d.Input)}
	if d.Bookmark != nil {
		out.Bookmark = *d.Bookmark
		out.Bookmark.Payload, out.Bookmark.Metadata = r.value(d.Bookmark.Payload), r.value(d.Bookmark.Metadata)
	}
	return out
}

func (r *reader) completed(d *completedDoc) *Completed {
	if d == nil {
		return nil
	}
	n := r.node(d.Node)
	if n == nil {
		return nil
	}
	return &Completed{Node: n, ID: d.ID, Tag: d.Tag, Outcomes: d.Outcomes, key: cmp.Or(d.Key, d.ID), told: d.Told, led: d.Led}
}

func (r *reader) work(cmds []commandDoc, docs []workDoc) {
	commands := make([]*command, len(cmds))
	for i, c := range cmds {
		cmd := command(c)
		commands[i] = &cmd
		r.b.doing.ran.Store(max(r.b.doing.ran.Load(), c.Before))
	}
	for i, d := range docs {
		if r.err != nil {
			return
		}
		if d.Cmd < 0 || d.Cmd >= len(commands) {
			r.fail("work %d belongs to no command", i)
			return
		}
		w := work{kind: d.Kind, tag: d.Tag, vars: r.object(d.Vars), hidden: d.Hidden, resume: r.resume(d.Resume), done: r.completed(d.Done), key: d.Key, inner: d.Inner, led: d.Led, as: d.As, told: d.Told, times: d.Times, cmd: commands[d.Cmd], commit: d.Commit, rest: d.Rest}
		switch d.Kind {
		case workExecute:
			if w.node = r.node(d.Node); w.node == nil {
				return
			}
			if d.On < 0 && w.node.parent == nil {
				break
			}
			if w.owner = r.at(d.On); w.owner == nil {
				return
			}
			if !w.node.runsIn(w.owner.node) {
				r.fail("work %d runs an activity of another parent", i)
				return
			}
			w.owner.pending++
		case workResume, workChild:
			if d.Kind == workResume && w.resume == nil || d.Kind == workChild && w.done == nil {
				r.fail("work %d says not what to do", i)
				return
			}
			if w.x = r.at(d.On); w.x != nil {
				w.x.pending++
			}
		default:
			r.fail("work %d is of the unknown kind %q", i, d.Kind)
		}
		if r.err == nil {
			r.b.schedule.push(w)
		}
	}
}

// bookmarks reads docs, in the order in which the header lists them.
func (r *reader) bookmarks(docs []bookmarkDoc, listed []workflow.Bookmark) {
	for i, d := range docs {
		x := r.at(d.On)
		if x == nil {
			return
		}
		switch {
		case d.Bookmark != nil:
		case i < len(listed):
			d.Bookmark = &listed[i]
		default:
			r.fail("bookmark %d is not in the instance's header", i)
			return
		}
		m := &mark{Bookmark: *d.Bookmark, x: x, child: d.Child, durable: !r.b.halted}
		m.Payload, m.Metadata = r.value(d.Payload), r.value(d.Metadata)
		x.waits++
		r.b.marks = append(r.b.marks, m)
	}
}
