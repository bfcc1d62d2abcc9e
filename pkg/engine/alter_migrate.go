package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// migration moves a burst to another version of its definition.
type migration struct {
	a     *altering
	alt   *workflow.Alteration
	to    *Program
	nodes map[*Node]*Node // of the activities that run
}

// migrate lets the instance go on with another version. All that runs or waits must be
// there: each misfit is a problem.
func (a *altering) migrate(alt *workflow.Alteration) error {
	b := a.b
	from := b.header.Version
	if alt.Version == from {
		a.problem("same-version", "version", "the instance is of version %d already", from)
		return nil
	}
	if b.env.Version == nil {
		a.problem("unknown-version", "version", "versions of definitions are not known here")
		return nil
	}
	to, err := b.env.Version(alt.Version)
	switch workflow.CodeOf(err) {
	case "":
		if err != nil {
			return err
		}
	case workflow.CodeDefinitionNotFound:
		a.problem("unknown-version", "version", "definition %s has no version %d", b.header.DefinitionID, alt.Version)
		return nil
	default:
		return err
	}
	m := &migration{a: a, alt: alt, to: to, nodes: map[*Node]*Node{}}
	before := len(a.problems)
	m.checkNames()
	for x := range tree(b.root) {
		m.place(x)
	}
	m.checkWork()
	m.checkScopes()
	if len(a.problems) > before {
		return nil
	}
	m.move()
	if a.fatal != nil || len(a.problems) > before {
		return a.fatal
	}
	a.done(nil, "goes on with version %d, and not with version %d%s", alt.Version, from, m.where())
	return nil
}

func (m *migration) problem(code, format string, args ...any) {
	m.a.problem(code, "activities", format, args...)
}

// checkNames holds that what is renamed was there, and that its new name is.
func (m *migration) checkNames() {
	for _, old := range slices.Sorted(maps.Keys(m.alt.Activities)) {
		now := m.alt.Activities[old]
		if m.a.b.prog.nodes[old] == nil {
			m.a.unknownActivity("activities", old)
		}
		if m.to.nodes[now] == nil {
			m.problem("unknown-activity", "version %d has no activity %q, which %s is to be", m.alt.Version, workflow.CutBytes(now, 256), workflow.CutBytes(old, 256))
		}
	}
}

// renamed is the id that an activity has in the new version: what is inside of a
// definition that is used as one goes with it.
func (m *migration) renamed(id string) string {
	for end := len(id); end > 0; end = strings.LastIndexByte(id[:end], '/') {
		if now, ok := m.alt.Activities[id[:end]]; ok {
			return now + id[end:]
		}
	}
	return id
}

// at is the node of the new version in the place of one of the old; nil: it has none.
func (m *migration) at(old *Node) *Node {
	if old.parent == nil {
		return m.to.root
	}
	n := m.to.nodes[m.renamed(old.id)]
	if n == nil || n.impl == nil {
		return nil
	}
	return n
}

// place looks for the place of a live execution; parents come first.
func (m *migration) place(x *Execution) {
	old := x.node
	now := m.at(old)
	stands := m.stands(x)
	switch {
	case now == nil:
		m.problem("missing-activity", "%s (%s) %s, and version %d has no activity %q: say in activities which one it is there", x.shown(), old.desc.Type, stands, m.alt.Version, m.renamed(old.id))
	case now.desc.Type != old.desc.Type:
		m.problem("other-type", "%s %s, and is %s; in version %d %s is %s", x.shown(), stands, old.desc.Type, m.alt.Version, now.id, now.desc.Type)
	case x.parent != nil && m.nodes[x.parent.node] != nil && !now.runsIn(m.nodes[x.parent.node]):
		m.problem("other-place", "%s %s, inside of %s; in version %d %s is inside of %s", x.shown(), stands, x.parent.node.shownID(), m.alt.Version, now.id, now.parent.shownID())
	default:
		for other, taken := range m.nodes {
			if taken == now && other != old {
				m.problem("ambiguous-activity", "%s and %s would both be %s in version %d", other.id, old.id, now.id, m.alt.Version)
				return
			}
		}
		m.nodes[old] = now
	}
}

// stands says why an execution needs its place.
func (m *migration) stands(x *Execution) string {
	switch {
	case x.status == faulted:
		return "is faulted"
	case x.waits > 0 && x.node.Type() == workflow.RetryType:
		return "waits for its next attempt, with the attempts and pauses that it began with"
	case x.waits > 0:
		return "waits"
	case len(x.kids) > 0:
		return "is around what runs"
	}
	return "runs"
}

// checkWork holds that what is scheduled has its place, and what ended and is still to
// be told.
func (m *migration) checkWork() {
	ended := func(done *Completed) {
		if done != nil && m.at(done.Node) == nil {
			m.problem("missing-activity", "%s has ended and what is around it is still to be told, and version %d has no activity %q", done.Node.shownID(), m.alt.Version, m.renamed(done.Node.id))
		}
	}
	b := m.a.b
	for i := range b.schedule.left() {
		w := &b.schedule.left()[i]
		if !w.alive() {
			continue
		}
		ended(w.done)
		if w.kind != workExecute || w.owner == nil {
			continue
		}
		switch now := m.at(w.node); {
		case now == nil:
			m.problem("missing-activity", "%s (%s) is to run next, and version %d has no activity %q: say in activities which one it is there", w.node.shownID(), w.node.desc.Type, m.alt.Version, m.renamed(w.node.id))
		case m.nodes[w.owner.node] != nil && !now.runsIn(m.nodes[w.owner.node]):
			m.problem("other-place", "%s is to run next, inside of %s; in version %d %s is inside of %s", w.node.shownID(), w.owner.node.shownID(), m.alt.Version, now.id, now.parent.shownID())
		}
	}
	for x := range tree(b.root) {
		if x.broken != nil {
			ended(x.broken.Done)
		}
		for i := range x.deferred {
			ended(&x.deferred[i].done)
		}
	}
	if id := b.trigger; id != "" && !b.triggerUsed && m.to.nodes[m.renamed(id)] == nil {
		m.problem("missing-activity", "the instance was started at %s, which is still to run, and version %d has no activity %q", id, m.alt.Version, m.renamed(id))
	}
}

// checkScopes holds that variables and inputs have values that the new version takes.
func (m *migration) checkScopes() {
	for x := range tree(m.a.b.root) {
		now := m.nodes[x.node]
		if now == nil {
			continue
		}
		for i := range now.vars {
			v := &now.vars[i]
			held, ok := x.vars[v.name]
			if !ok {
				continue
			}
			if _, err := convertStored(held, v.alias); err != nil {
				m.problem("bad-value", "what the variable %s of %s holds is no %s, as version %d wants it", v.name, x.shown(), v.alias, m.alt.Version) // the value may be hidden
			}
		}
	}
	input := m.a.b.header.Input
	for _, in := range m.to.root.inner.inputs {
		v, ok := input[in.Name]
		switch {
		case !ok && in.memory: // it was, or would have been, lost at the end of a burst
		case !ok && in.value == nil && in.Required:
			m.problem("missing-input", "version %d requires the input %s, which the instance has not", m.alt.Version, in.Name)
		case ok:
			if _, err := convertStored(v, in.alias); err != nil {
				m.problem("bad-value", "the input %s is no %s, as version %d wants it", in.Name, in.alias, m.alt.Version)
			}
		}
	}
}

// move changes the burst; all was checked.
func (m *migration) move() {
	b := m.a.b
	old := make(map[*Execution]*Node)
	results := map[*Execution]map[string]map[string]any{}
	for x := range tree(b.root) {
		old[x] = x.node
		if x.scope != nil {
			results[x] = m.results(x)
		}
	}
	for x := range tree(b.root) {
		x.node = m.nodes[x.node]
		x.values, x.evaluated, x.masked = nil, nil, nil
		m.variables(x)
		if x.scope != nil {
			x.scope.results = results[x]
		}
		if x.broken != nil {
			m.told(x.broken.Done)
		}
		for i := range x.deferred {
			m.told(&x.deferred[i].done)
		}
		if x.led != nil {
			x.led = &led{m.renamed(x.led.Node), x.led.Key, x.led.Told}
		}
	}
	for i := range b.schedule.left() {
		w := &b.schedule.left()[i]
		if !w.alive() {
			continue
		}
		m.told(w.done)
		if w.kind == workExecute {
			w.node = m.at(w.node)
		}
	}
	for _, mk := range b.marks {
		mk.ActivityID = mk.x.node.id
	}
	b.trigger = m.renamed(b.trigger)
	from := b.prog
	b.prog, b.header.Version = m.to, m.alt.Version
	for _, in := range m.to.root.inner.inputs {
		if _, ok := b.header.Input[in.Name]; !ok && in.value != nil {
			b.header.Input = maps.Clone(b.header.Input)
			if b.header.Input == nil {
				b.header.Input = map[string]any{}
			}
			b.header.Input[in.Name] = in.value
		}
	}
	b.inputs = m.to.withDeclared(b.header.Input)
	for x := range tree(b.root) {
		g, ok := x.node.impl.(Migrator)
		if !ok {
			continue
		}
		if err := m.a.called(x, func() error { return g.Migrate(x, Migration{Old: old[x], To: m.at, Named: from.Node}) }); err != nil {
			if m.a.fatal = misfit(err); m.a.fatal == nil {
				m.problem("misfit", "%s does not fit version %d: %v", x.shown(), m.alt.Version, err)
			}
		}
	}
}

// told lets what ended be known by its place in the new version.
func (m *migration) told(done *Completed) {
	if done != nil {
		done.Node = m.at(done.Node)
	}
}

// variables gives the scope of x what the new version declares.
func (m *migration) variables(x *Execution) {
	for i := range x.node.vars {
		v := &x.node.vars[i]
		held, ok := x.vars[v.name]
		if x.vars == nil {
			x.vars = make(map[string]any, len(x.node.vars))
		}
		if !ok {
			x.vars[v.name] = v.value
			continue
		}
		if _, text := held.(string); text || v.alias != "String" || x.node.activity.Place.Pointer == "" { // Elsa keeps what an output gives
			x.vars[v.name], _ = convertStored(held, v.alias) // checked
		}
	}
}

// results are the outputs that expressions may ask for, by the ids of the new version.
func (m *migration) results(x *Execution) map[string]map[string]any {
	if x.scope.results == nil {
		return nil
	}
	out := make(map[string]map[string]any, len(x.scope.results))
	for local, values := range x.scope.results {
		n := x.node.inner.byID[local]
		if n == nil {
			continue
		}
		if now := m.at(n); now != nil && now.unit == m.nodes[x.node].inner {
			out[now.local] = values
		}
	}
	return out
}

// where says where the instance stands in the new version, and what is otherwise there.
func (m *migration) where() string {
	var places []string
	for x := range tree(m.a.b.root) {
		if x.parent == nil || len(x.kids) > 0 || len(places) > maxNamed {
			continue
		}
		places = append(places, fmt.Sprintf("%s %s", x.shown(), m.stands(x)))
	}
	if len(places) == 0 {
		return ""
	}
	return ": " + listed(places)
}
