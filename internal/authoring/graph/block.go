package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// The names of ports that have a meaning here.
const (
	thenPort  = "then"
	elsePort  = "else"
	bodyPort  = "body"
	donePort  = "Done"
	clockPort = "timeout"

	giveUpPort = "onGiveUp"
)

// form is how a block is laid out.
type form int

const (
	single form = iota // one box, or a box with lanes below it
	list               // one below the other
	loop               // a box, its body and the way back
	frame              // around what it holds
	layers             // a flowchart or a state machine
)

// block is a part of the picture: one way in at its top, at most one way out at
// its bottom, both at its axis.
type block struct {
	form  form
	node  Node // what is drawn for the block itself, but of a list
	lanes []lane
	inner []*block // of a list, of a frame (one), of layers
	ways  []way    // of layers
	first int      // of layers: where it begins
	joins string   // what is written beside the join of the lanes; ""
	ends  bool     // no way leads out of it
	count int      // activities in it
	boxes int      // boxes in it
	open  bool     // holds an activity that is to be drawn

	plan   *plan   // of layers, once measured
	placed []Point // of layers: the left upper corners that a designer gave
	middle float64 // of layers: where their middle is, by their own measure

	left, right, height float64 // its extent from its axis and its top
}

// lane is a branch below a box. Without a block it leads straight to the join.
type lane struct {
	port, label string
	block       *block
}

// way is a connection inside of layers, by positions of the blocks.
type way struct {
	from, to    int
	port, label string
}

// builder turns activities into blocks.
type builder struct {
	types workflow.Types
	open  func(id string) bool
}

// maxDepth bounds the recursion: readers refuse definitions with more than
// [workflow.MaxNesting] levels, but not everybody has a reader.
const maxDepth = 2 * workflow.MaxNesting

// build makes the block of an activity. composite tells that a Complete ends the
// composite around it, and not the workflow.
func (b *builder) build(a *workflow.Activity, depth int) *block {
	if a == nil {
		return nil
	}
	if depth > maxDepth {
		return b.folded(a.ID, countActivities(a), b.isOpen(a.ID))
	}
	out := b.undoable(a, b.shape(a, depth), depth)
	out.count++
	out.open = out.open || b.isOpen(a.ID)
	return out
}

func (b *builder) isOpen(id string) bool { return b.open != nil && b.open(id) }

// shape gives an activity the form of its type.
func (b *builder) shape(a *workflow.Activity, depth int) *block {
	if t, ok := timed(a); ok {
		return b.timed(t, depth)
	}
	if a.Type == workflow.RetryType {
		if out := b.repeated(a, depth); out != nil {
			return out
		}
	}
	switch strings.TrimPrefix(a.Type, "Elsa.") {
	case "Sequence", "Container":
		return b.list(a.Activities, depth)
	case "If":
		return b.lanes(b.node(a, Choice), depth, []part{{thenPort, thenPort, a.Ports[thenPort]}, {elsePort, elsePort, a.Ports[elsePort]}})
	case "Switch":
		return b.lanes(b.node(a, Choice), depth, append(cases(a), part{"default", "default", a.Ports["default"]}))
	case "Parallel", "Fork":
		return b.branches(a, depth)
	case "ParallelForEach":
		return b.lanes(b.node(a, Choice), depth, []part{{bodyPort, "each", a.Ports[bodyPort]}})
	case "For", "ForEach", "While":
		return b.loop(a, depth)
	case "Flowchart":
		return b.flowchart(a, depth)
	case "StateMachine":
		return b.machine(a, depth)
	case "Scope":
		return b.scope(a, depth)
	case "Composite":
		return b.frame(b.node(a, Frame), b.build(a.Ports["root"], depth+1), true)
	case "FlowNode":
		if body := b.build(a.Ports[bodyPort], depth+1); body != nil {
			return b.frame(b.node(a, Frame), body, false)
		}
	}
	return b.plain(a, depth)
}

// branches gives each branch of a parallel or a fork a lane.
func (b *builder) branches(a *workflow.Activity, depth int) *block {
	var parts []part
	for _, c := range a.Activities {
		parts = append(parts, part{activity: c})
	}
	out := b.lanes(b.node(a, Choice), depth, parts)
	if mode := a.Inputs["joinMode"]; a.Type == "Elsa.Fork" && mode.Kind == workflow.Literal && (mode.Value == "WaitAny" || mode.Value == "FirstSuccess") {
		out.joins = "the first"
	}
	return out
}

// scope gives what a scope holds a frame, or a lane beside that of what comes behind its undoing.
func (b *builder) scope(a *workflow.Activity, depth int) *block {
	if a.Ports["onUndone"] == nil {
		return b.frame(b.node(a, Frame), b.build(a.Ports[bodyPort], depth+1), false)
	}
	return b.lanes(b.node(a, Choice), depth, []part{{bodyPort, "", a.Ports[bodyPort]}, {"onUndone", "when undone", a.Ports["onUndone"]}})
}

// undoable gives the block of an activity a lane for what undoes it, which leads nowhere.
func (b *builder) undoable(a *workflow.Activity, out *block, depth int) *block {
	undo := b.build(a.Ports[workflow.UndoPort], depth+1)
	if undo == nil || undo.empty() {
		return out
	}
	if out.form != single || out.node.Kind == Folded {
		around := &block{node: b.node(a, Choice), boxes: 1, lanes: []lane{{bodyPort, "", out}}, ends: out.ends}
		around.add(out)
		out = around
	} else if len(out.lanes) == 0 && !out.ends {
		out.lanes = []lane{{port: donePort}}
	}
	for last := undo; ; last = last.inner[len(last.inner)-1] {
		if last.ends = true; last.form != list {
			break
		}
	}
	out.lanes = append(out.lanes, lane{workflow.UndoPort, "undo", undo})
	out.add(undo)
	return out
}

// plain is a box, with a lane for each branch that the activity has.
func (b *builder) plain(a *workflow.Activity, depth int) *block {
	var parts []part
	if len(a.Cases) > 0 && slices.ContainsFunc(a.Cases, func(c workflow.Case) bool { return c.Activity != nil }) {
		parts = cases(a)
	}
	for _, name := range b.ports(a) {
		if a.Ports[name] != nil && name != workflow.UndoPort {
			parts = append(parts, part{name, spaced(name), a.Ports[name]})
		}
	}
	for _, c := range a.Activities {
		parts = append(parts, part{activity: c})
	}
	if len(parts) == 0 {
		out := &block{node: b.node(a, Box), boxes: 1}
		out.ends = ends(a.Type)
		return out
	}
	if a.Ports["unmatchedStatusCode"] == nil {
		parts = append(parts, part{port: donePort, label: "else"})
	}
	return b.lanes(b.node(a, Choice), depth, parts)
}

// ends tells the types behind which nothing goes on.
func ends(typ string) bool {
	switch typ {
	case "Elsa.Finish", "Elsa.Fault", "Elsa.Fail", "Elsa.Complete", "Elsa.Break":
		return true
	}
	return false
}

// ports are the names of an activity's branches, in the order of its type, and
// then others by name.
func (b *builder) ports(a *workflow.Activity) []string {
	var names []string
	if b.types != nil {
		if d := b.types.ByType(a.Type); d != nil {
			names = slices.Clone(d.Ports)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Ports)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// part is a branch before it is a lane.
type part struct {
	port, label string
	activity    *workflow.Activity
}

func cases(a *workflow.Activity) []part {
	var parts []part
	for _, c := range a.Cases {
		parts = append(parts, part{c.Label, cmp.Or(c.Label, expressionText(c.Condition)), c.Activity})
	}
	return parts
}

// lanes is a box with branches side by side, which come together again.
func (b *builder) lanes(n Node, depth int, parts []part) *block {
	out := &block{node: n, boxes: 1, ends: len(parts) > 0}
	for _, p := range parts {
		inside := b.build(p.activity, depth+1)
		if inside != nil && inside.empty() {
			out.count += inside.count
			inside = nil
		}
		out.lanes = append(out.lanes, lane{p.port, plain(p.label), inside})
		out.ends = out.ends && inside != nil && inside.ends
		out.add(inside)
	}
	return out
}

// empty is a list of nothing: it has no place in the picture.
func (k *block) empty() bool { return k.form == list && len(k.inner) == 0 }

// add counts what a block holds.
func (k *block) add(inside *block) {
	if inside == nil {
		return
	}
	k.count += inside.count
	k.boxes += inside.boxes
	k.open = k.open || inside.open
}

func (b *builder) list(activities []*workflow.Activity, depth int) *block {
	out := &block{form: list}
	for _, a := range activities {
		inside := b.build(a, depth+1)
		if inside == nil {
			continue
		}
		if !inside.empty() {
			out.inner = append(out.inner, inside)
		}
		out.add(inside)
	}
	if n := len(out.inner); n > 0 {
		out.ends = out.inner[n-1].ends
	}
	return out
}

func (b *builder) loop(a *workflow.Activity, depth int) *block {
	label := map[string]string{"Elsa.While": "while"}[a.Type]
	body := b.build(a.Ports[bodyPort], depth+1)
	if body == nil || body.empty() {
		out := &block{node: b.node(a, Box), boxes: 1}
		out.add(body)
		return out
	}
	out := &block{form: loop, node: b.node(a, Loop), boxes: 1, lanes: []lane{{bodyPort, cmp.Or(label, "each"), body}}}
	out.add(body)
	return out
}

// frame is drawn around a block. exits tells that an end inside ends the frame only.
func (b *builder) frame(n Node, inside *block, exits bool) *block {
	if inside == nil || inside.empty() {
		n.Kind = Box
		out := &block{node: n, boxes: 1}
		out.add(inside)
		return out
	}
	out := &block{form: frame, node: n, boxes: 1, inner: []*block{inside}, ends: inside.ends && !exits}
	out.add(inside)
	return out
}

// countActivities counts an activity and all below it.
func countActivities(a *workflow.Activity) int {
	n := 0
	workflow.Walk(a, func(*workflow.Activity, *workflow.Activity, int) bool { n++; return true })
	return n
}

func (b *builder) folded(id string, n int, open bool) *block {
	return &block{node: Node{Kind: Folded, ID: id, Hidden: n}, count: n, boxes: 1, open: open}
}

// timeout is an activity with the time that it may take.
type timeout struct {
	activity, delay *workflow.Activity
	late            []*workflow.Activity
}

// timed recognises what the notation writes for timeout and onTimeout: a Fork of
// which the first branch to end wins.
func timed(fork *workflow.Activity) (timeout, bool) {
	if fork.Type != "Elsa.Fork" || len(fork.Activities) != 2 {
		return timeout{}, false
	}
	inner, late := fork.Activities[0], fork.Activities[1]
	if inner == nil || late == nil || inner.ID == "" || fork.ID != inner.ID+workflow.TimeoutSuffix || late.Type != "Elsa.Sequence" || len(late.Activities) == 0 {
		return timeout{}, false
	}
	delay := late.Activities[0]
	if delay == nil || delay.Type != "Elsa.Delay" {
		return timeout{}, false
	}
	return timeout{inner, delay, late.Activities[1:]}, true
}

// timed is a box with a clock. Of an activity that holds others, the clock has a
// box of its own above it.
func (b *builder) timed(t timeout, depth int) *block {
	inner, late := b.build(t.activity, depth+1), b.list(t.late, depth+1)
	clock := expressionText(t.delay.Inputs["timeSpan"])
	if late.empty() {
		late = nil
	}
	after := lane{clockPort, plain("after " + clock), late}
	if inner.form == single && len(inner.lanes) == 0 && inner.node.Clock == "" {
		inner.node.Clock, inner.node.ClockID = plain(clock), t.delay.ID
		inner.open = inner.open || b.isOpen(t.delay.ID)
		inner.count += 3
		if late == nil {
			return inner
		}
		inner.lanes = []lane{{port: donePort, block: nil}, after}
		inner.ends = false
		inner.add(late)
		return inner
	}
	n := Node{Kind: Choice, ID: t.delay.ID, Type: "timeout", Detail: cut(plain(clock)), Place: t.delay.Place}
	out := &block{node: n, boxes: 1, count: 3, joins: "the first", lanes: []lane{{bodyPort, "", inner}, after}}
	out.ends = inner.ends && late != nil && late.ends
	out.open = b.isOpen(t.delay.ID)
	out.add(inner)
	out.add(late)
	return out
}

// repeated is the box of an activity that is tried again, with a lane for what
// happens when it gives up; nil if what is repeated is not one box.
func (b *builder) repeated(policy *workflow.Activity, depth int) *block {
	out := b.build(policy.Ports[bodyPort], depth+1)
	if out == nil || out.form != single || out.node.Kind == Folded || out.node.Retry != "" {
		return nil
	}
	out.node.Retry = cut(plain(expressionText(policy.Inputs["attempts"])))
	out.count++
	giveUp := b.build(policy.Ports[giveUpPort], depth+1)
	if giveUp == nil || giveUp.empty() {
		return out
	}
	if len(out.lanes) == 0 && !out.ends {
		out.lanes = []lane{{port: donePort}}
	}
	out.lanes = append(out.lanes, lane{giveUpPort, "gives up", giveUp})
	out.ends = out.ends && giveUp.ends
	out.add(giveUp)
	return out
}

// flowchart lays its activities out in layers.
func (b *builder) flowchart(a *workflow.Activity, depth int) *block {
	out := &block{form: layers, node: b.node(a, Frame), boxes: 1}
	at := map[string]int{}
	for _, c := range a.Activities {
		inside := b.build(c, depth+1)
		if inside == nil {
			continue
		}
		if inside.empty() {
			inside.form, inside.node, inside.boxes = single, b.node(c, Box), 1
		}
		for _, id := range wrapped(c) {
			at[id] = len(out.inner)
		}
		out.inner = append(out.inner, inside)
		out.add(inside)
	}
	if len(out.inner) == 0 {
		out.form, out.node.Kind = single, Box
		return out
	}
	for _, c := range a.Connections {
		from, ok := at[c.Source]
		to, known := at[c.Target]
		if !ok || !known {
			continue // the compiler says so
		}
		label := plain(c.SourcePort)
		if label == donePort {
			label = ""
		}
		out.ways = append(out.ways, way{from, to, cmp.Or(c.SourcePort, donePort), label})
	}
	out.first = beginning(a, at, out)
	b.position(a, out)
	return out
}

// wrapped gives the ids by which connections may call an activity: its own, and those
// of what the notation put around it.
func wrapped(a *workflow.Activity) []string {
	ids := []string{a.ID}
	if body := a.Ports[bodyPort]; a.Type == workflow.RetryType && body != nil {
		ids, a = append(ids, body.ID), body
	}
	if t, ok := timed(a); ok {
		ids = append(ids, t.activity.ID)
	}
	return ids
}

// beginning is where a flowchart starts: what it says, else the first to which
// nothing leads, else the first.
func beginning(a *workflow.Activity, at map[string]int, chart *block) int {
	if i, ok := at[a.Start]; ok {
		return i
	}
	reached := make([]bool, len(chart.inner))
	for _, w := range chart.ways {
		reached[w.to] = true
	}
	return max(slices.Index(reached, false), 0)
}

// machine draws states as boxes, and each transition as its trigger and its action
// on the way between two of them.
func (b *builder) machine(a *workflow.Activity, depth int) *block {
	out := &block{form: layers, node: b.node(a, Frame), boxes: 1}
	at := map[string]int{}
	for _, s := range a.States {
		if _, twice := at[s.Name]; !twice {
			at[s.Name] = len(out.inner)
		}
		inside := b.state(&s, depth)
		out.inner = append(out.inner, inside)
		out.add(inside)
	}
	if len(out.inner) == 0 {
		out.form, out.node.Kind = single, Box
		return out
	}
	out.first = at[a.Initial]
	for i, s := range a.States {
		for _, t := range s.Transitions {
			b.transition(out, i, at, &t, depth)
		}
	}
	return out
}

func (b *builder) state(s *workflow.State, depth int) *block {
	n := Node{Kind: State, Type: plain(s.Name)}
	if s.Final {
		n.Detail = "final"
	}
	head := &block{node: n, boxes: 1}
	out := &block{form: list, inner: []*block{head}, boxes: 1}
	for _, p := range []struct {
		label    string
		activity *workflow.Activity
	}{{"entry", s.Entry}, {"exit", s.Exit}} {
		if inside := b.build(p.activity, depth+1); inside != nil && !inside.empty() {
			f := b.frame(Node{Kind: Frame, Type: p.label}, inside, true)
			out.inner = append(out.inner, f)
			out.add(f)
		}
	}
	if len(out.inner) == 1 {
		return head
	}
	return out
}

func (b *builder) transition(machine *block, from int, at map[string]int, t *workflow.Transition, depth int) {
	to, known := at[t.To]
	label := expressionText(t.Condition)
	steps := b.list([]*workflow.Activity{t.Trigger, t.Action}, depth+1)
	if steps.empty() {
		if known {
			machine.ways = append(machine.ways, way{from, to, t.Name, plain(cmp.Or(label, t.Name))})
		}
		return
	}
	i := len(machine.inner)
	machine.inner = append(machine.inner, steps)
	machine.add(steps)
	machine.ways = append(machine.ways, way{from: from, to: i})
	if known {
		machine.ways = append(machine.ways, way{i, to, "", plain(label)})
	}
}
