package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// Execution is one execution of an activity: what its code sees of the
// instance. It is valid during the call that it was passed to.
type Execution struct {
	b         *Burst
	id        string
	ord       int                // of its id, among those that its command made for its node
	key       string             // by which the outside knows it, if not by its id
	inner     string             // what the keys of its children follow from, if not its key
	keyed     map[string]int     // how many children of each node got a key from it
	times     map[string][]int64 // what those in it were told, by their keys, if nothing around it has a key
	seen      seen               // of the times of its command, if it has a key
	told      int64              // the time, in the call that goes on; 0: none
	first     int64              // the time that its call with its own key was told; 0: none
	drawn     int                // ids
	number    int64              // of its first item in the journal; 0: it has none yet
	node      *Node
	parent    *Execution
	kids      []*Execution
	pending   int // pieces of scheduled work that it owns
	waits     int // bookmarks it has
	status    status
	attempt   int32 // of its work, as it or what is around it told; 0: nothing did
	flew      bool  // it was beside others, in [Outside]
	tag       string
	born      string                // the id of the command that created it
	vars      map[string]any        // the values of the scope it opens
	fresh     bool                  // no commit has that scope
	set       map[string]*Execution // by whom, since the last commit
	hidden    map[string]bool       // variables whose values the journal does not tell
	scope     *scopeState           // of boundaries
	scratch   any                   // a pointer made by Scratch
	raw       json.RawMessage
	led       *led        // what its parent scheduled it after; nil: nothing that could have failed
	broken    *brokenCall // what to repeat when a fault is retried
	deferred  []completion
	outcomes  []string
	values    []any // evaluated inputs, by index
	evaluated []bool
	masked    []bool // evaluated from a secret
	results   map[string]any
}

type status uint8

const (
	running status = iota
	completed
	canceled
	faulted
)

// Child is how a child is scheduled.
type Child struct {
	Tag       string         // handed back in [Completed]
	Variables map[string]any // the child's own variables, such as CurrentValue
	// Key is the child's [Execution.IdempotencyKey], in place of its id: another execution
	// with the same key is the same call to the outside. Children of the child have keys
	// that follow from it, from their place and from their variables. "" is the default.
	Key string
	// Inner is what those of its children follow from, if not from Key.
	Inner string
}

// ID is the execution's id: stable when a burst is repeated, and different for
// every execution.
func (x *Execution) ID() string { return x.id }

// IdempotencyKey is what the outside may use to recognise a repeated call: the
// execution's id or its key (see [Child]), and after a resume a value that also depends on the command
// that resumed it. A retry that keeps the key makes the call with that of the call
// before.
func (x *Execution) IdempotencyKey() string {
	key, cmd := cmp.Or(x.key, x.id), cmp.Or(x.b.as, x.b.cmd.ID)
	if cmd != x.born {
		return workflow.DeriveID(key, cmd)
	}
	return key
}

// CallKeys are the keys with which the execution began, for another one that makes the
// same calls; see [Child].
func (x *Execution) CallKeys() (own, inner string) { return cmp.Or(x.key, x.id), x.inner }

// childKey is the key of a child that was given none: one that is the same in another
// execution of x with the same keys, if the child stands there at the same place.
func (x *Execution) childKey(n *Node, vars map[string]any) string {
	if x == nil || x.key == "" {
		return ""
	}
	if x.keyed == nil {
		x.keyed = map[string]int{}
	}
	count := x.keyed[n.id]
	x.keyed[n.id]++
	of, _ := workflow.Hash(n.id, vars) // what was normalized has one
	return workflow.DeriveID(cmp.Or(x.inner, x.key), of, strconv.Itoa(count))
}

// Node is the compiled activity.
func (x *Execution) Node() *Node { return x.node }

// Parent is the execution that scheduled this one; nil for the workflow.
func (x *Execution) Parent() *Execution { return x.parent }

// Tag is what the parent gave when it scheduled this execution.
func (x *Execution) Tag() string { return x.tag }

// Schedule puts the node at the end of the schedule, as a child of x. nil nodes
// are ignored.
func (x *Execution) Schedule(n *Node, c Child) {
	if n == nil {
		return
	}
	if n.parent != x.node {
		panic(fmt.Errorf("activity %s schedules %s, which is none of its children", x.node.id, n.id))
	}
	var vars map[string]any
	var hidden map[string]bool
	if c.Variables != nil {
		vars = mustNormalizeMap(c.Variables)
		if err := x.b.env.refuseSecret("variable of "+n.id, vars); err != nil {
			panic(err)
		}
		x.b.growth.add(vars)
		if x.keepsInputs() {
			hidden = make(map[string]bool, len(vars))
			for name := range vars {
				hidden[name] = true
			}
		}
	}
	x.pending++
	x.b.growth.added += workBytes
	tag, key, inner := workflow.ValidText(c.Tag), workflow.ValidText(c.Key), workflow.ValidText(c.Inner)
	x.b.schedule.push(work{kind: workExecute, node: n, owner: x, tag: tag, vars: vars, hidden: hidden, key: key, inner: inner, led: x.leads(), cmd: x.b.cmd})
}

// Children are the live child executions, faulted ones included, oldest first.
func (x *Execution) Children() []*Execution { return slices.Clone(x.kids) }

// Scheduled are the nodes that wait in the schedule as children of x.
func (x *Execution) Scheduled() []*Node {
	var out []*Node
	for _, w := range x.b.schedule.left() {
		if w.owner == x && w.kind == workExecute {
			out = append(out, w.node)
		}
	}
	return out
}

// Idle reports whether nothing is left that could go on: no children, no
// scheduled work, no bookmarks.
func (x *Execution) Idle() bool { return len(x.kids) == 0 && x.pending == 0 && x.waits == 0 }

// Faulted reports whether the execution faulted.
func (x *Execution) Faulted() bool { return x.status == faulted }

// Withdraw takes scheduled children of x back; drop chooses.
func (x *Execution) Withdraw(drop func(n *Node) bool) {
	x.b.schedule.withdraw(func(w *work) bool { return w.owner == x && w.kind == workExecute && drop(w.node) })
}

// Retract takes the children back that drop chooses, for what runs again in their place: those that
// are scheduled and those that run, with everything below them, and what x has not been told yet
// of those that ended.
func (x *Execution) Retract(drop func(child *Node) bool) {
	x.Withdraw(drop)
	x.CancelChildren(func(k *Execution) bool { return drop(k.node) })
	x.b.schedule.withdraw(func(w *work) bool { return w.x == x && w.kind == workChild && drop(w.done.Node) })
	x.deferred = slices.DeleteFunc(x.deferred, func(c completion) bool { return drop(c.done.Node) })
}

// Untold are the children that ended and of which x is told next.
func (x *Execution) Untold() []*Node {
	var out []*Node
	for _, w := range x.b.schedule.left() {
		if w.x == x && w.kind == workChild {
			out = append(out, w.done.Node)
		}
	}
	for i := range x.deferred {
		out = append(out, x.deferred[i].done.Node)
	}
	return out
}

// Retag gives the children of x, and those that are scheduled, other tags.
func (x *Execution) Retag(tag func(child *Node, tag string) string) {
	for _, k := range x.kids {
		k.tag = tag(k.node, k.tag)
	}
	for i := range x.b.schedule.left() {
		switch w := &x.b.schedule.left()[i]; {
		case w.kind == workExecute && w.owner == x:
			w.tag = tag(w.node, w.tag)
		case w.kind == workChild && w.x == x && w.done.Node != nil:
			w.done.Tag = tag(w.done.Node, w.done.Tag)
		}
	}
	for i := range x.deferred {
		x.deferred[i].done.Tag = tag(x.deferred[i].done.Node, x.deferred[i].done.Tag)
	}
}

// CancelChildren cancels the live children that drop chooses, and everything
// below them.
func (x *Execution) CancelChildren(drop func(child *Execution) bool) {
	for _, k := range slices.Clone(x.kids) {
		if drop(k) {
			x.b.cancelTree(k)
		}
	}
}

// SetOutcomes sets what the execution completes with; none means Done.
func (x *Execution) SetOutcomes(outcomes ...string) { x.outcomes = x.b.env.redactTexts(outcomes) }

// Complete completes the execution now, also if it waits: its descendants
// are cancelled, its bookmarks removed. No outcomes means Done.
func (x *Execution) Complete(outcomes ...string) {
	if x.status == running {
		x.b.complete(x, outcomes)
	}
}

// Send lets a signal travel through the ancestors of x and reports whether one
// of them handled it.
func (x *Execution) Send(ctx context.Context, s Signal) (bool, error) {
	s.Sender = x
	child := x
	var told error
	for p := x.parent; p != nil; p = p.parent {
		if h, ok := p.node.impl.(SignalHandler); ok && (p.status == running) {
			if err := barrier(ctx, p); err != nil {
				return false, err
			}
			s.Child = child
			handled, err := h.Signal(ctx, p, s)
			var gaveUp *GaveUpError
			switch {
			case !handled && errors.As(err, &gaveUp):
				s.Err, told = gaveUp, gaveUp // others above may still do something
			case handled || err != nil:
				return handled, err
			}
		}
		child = p
	}
	return false, told
}

// FinishInstance ends the whole instance at once: schedule, bookmarks and other
// executions are dropped.
func (x *Execution) FinishInstance() { x.b.finishing = true }

// Redact gives a text as it may be kept and shown: without the values of secrets, and
// without the links that resume a wait.
func (x *Execution) Redact(text string) string {
	return x.b.env.hideText(text)
}

// Journal adds a line of the activity's own to the journal. Data without a JSON form end
// the call as an incident.
func (x *Execution) Journal(event, text string, data any) {
	n, err := Normalize(data)
	if err != nil {
		panic(fmt.Errorf("journal %s: %w", event, err))
	}
	x.b.journal(x, event, text, n)
}

// WriteLine writes text to where the node sends lines, and journals it.
func (x *Execution) WriteLine(text string) {
	if x.b.env.Lines != nil {
		x.b.env.Lines(x.Redact(text))
	}
	if x.secretUsed() || x.hides("text") {
		text = hiddenText
	}
	if x.b.env.LogLines {
		x.Log().Info("writeLine", "definition", x.b.header.DefinitionID, "version", x.b.header.Version, "text", value.CutLine(x.Redact(text)))
	}
	x.b.journal(x, EventWriteLine, text, nil)
}

// HTTP is the client for outgoing calls. It returns an error if the node has
// none, or if the activity's descriptor says NoEffect.
func (x *Execution) HTTP() (*http.Client, error) {
	if x.node.desc.NoEffect {
		return nil, fmt.Errorf("the descriptor of %s says that it has no effect outside, so it makes no HTTP calls", x.node.desc.Type)
	}
	if x.b.env.HTTP == nil {
		return nil, fmt.Errorf("this node makes no outgoing HTTP calls")
	}
	return x.b.env.HTTP, nil
}

// Files are those beside the instance.
func (x *Execution) Files() files.Beside {
	return files.Beside{Of: x.b.env.Files, Instance: x.b.header.ID, Redact: x.b.env.Secrets.Redact, Kept: &x.b.contents}
}

// Log is the node's log, with the instance and the activity.
func (x *Execution) Log() *slog.Logger {
	return x.b.log.With("instance", x.b.header.ID, "activity", x.node.id)
}

// InstanceID is the id of the running instance.
func (x *Execution) InstanceID() string { return x.b.header.ID }

// CorrelationID is the instance's correlation id; "" if it has none.
func (x *Execution) CorrelationID() string { return x.b.header.CorrelationID }

// Property gives a value passed when the instance was started, such as
// Flowchart:ExecutionMode.
func (x *Execution) Property(name string) (any, bool) {
	v, ok := x.b.props[name]
	return v, ok
}

// Scratch is the execution's own durable memory: a *T that is kept with the
// instance as JSON for as long as the execution lives. An execution has one.
//
// While nodes of two versions run, each may meet what the other saved: add fields
// to T, and remove none that a saved one may have. A node leaves a saved T with
// fields that it does not know to the other nodes.
func Scratch[T any](x *Execution) *T {
	if p, ok := x.scratch.(*T); ok {
		return p
	}
	p := new(T)
	if len(x.raw) > 0 {
		if err := workflow.UnmarshalKnown(x.raw, p); err != nil {
			panic(&misfitError{&workflow.Error{Code: workflow.CodeNotRunnable, Err: err,
				Detail: fmt.Sprintf("what activity %s (%s) has saved does not fit the code that this node has for it", x.node.id, x.node.desc.Type)}})
		}
		x.raw = nil
	}
	x.scratch = p
	return p
}
