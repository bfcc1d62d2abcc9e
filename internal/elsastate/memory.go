package elsastate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/activities/flowchart"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// forgetful are activities that remember nothing but what runs in them.
var forgetful = []string{"Elsa.Parallel", "Elsa.If", "Elsa.Switch", "Elsa.While", "Elsa.ParallelForEach", "Elsa.Composite"}

// remember gives an execution what its activity remembers.
func (m *mover) remember(p *place) {
	x := &m.out.Executions[p.index]
	switch {
	case p.faulted && len(p.kids) > 0:
		m.refuse("bad-state", p.at+"/status", "%s has faulted while activities in it run: a retry would begin it again beside them", p.node.LocalID())
		return
	case p.faulted || len(p.marks) > 0 || bounds(p.node):
		return
	case len(p.kids) == 0:
		m.refuse("nothing-waits", p.at, "%s (%s) waits for nothing, and nothing runs in it, so that it would never go on, in Elsa neither", p.node.LocalID(), p.node.Type())
		return
	}
	var err error
	properties := object(p.raw, "properties")
	breaks := flag(properties, "IsBreaking")
	if breaks && p.node.Type() != "Elsa.Sequence" {
		m.refuse("unknown-memory", p.at+"/properties/IsBreaking", "a Break ends %s as soon as what runs in it has ended, and here at once: let Elsa run it to the next place where it waits", p.node.LocalID())
		return
	}
	switch kind := p.node.Type(); kind {
	case "Elsa.Sequence":
		x.Scratch, err = following(p, breaks)
	case "Elsa.For":
		x.Scratch, err = m.counted(p)
	case "Elsa.ForEach":
		x.Scratch, err = m.items(p)
	case "Elsa.Fork":
		mode, _ := p.node.Activity().Inputs["joinMode"].Value.(string)
		x.Scratch = map[string]any{"any": mode != "" && !strings.EqualFold(mode, "WaitAll")}
	case "Elsa.Flowchart":
		x.Scratch, err = m.charted(p)
	case "Elsa.StateMachine":
		x.Scratch, err = m.inState(p)
	default:
		if !slices.Contains(forgetful, kind) {
			err = fmt.Errorf("what %s remembers while activities in it run is not known", kind)
		}
	}
	if err != nil {
		m.refuse("unknown-memory", p.at+"/properties", "%s: %v", p.node.LocalID(), err)
	}
}

// following is the memory of a sequence: how many of its activities have begun.
func following(p *place, breaks bool) (any, error) {
	next, _ := number(get(p.raw, "properties"), "CurrentIndex")
	if at := slices.IndexFunc(p.node.List(), func(n *engine.Node) bool { return n == p.kids[0].node }); int(next) != at+1 {
		return nil, fmt.Errorf("it says that %d activities have begun, and the one that runs, %s, is number %d: was the sequence changed?", next, p.kids[0].node.LocalID(), at+1)
	}
	return map[string]any{"next": next, "break": breaks}, nil
}

// items is the memory of a ForEach: its items, and which comes next.
func (m *mover) items(p *place) (any, error) {
	items, known := m.input(p, "items")
	next, _ := number(get(p.raw, "properties"), "CurrentIndex")
	if l, ok := items.([]any); ok && known {
		return map[string]any{"items": l, "next": next}, nil
	}
	return nil, errNotKept("Items")
}

func errNotKept(input string) error {
	return fmt.Errorf("its %s was not kept by Elsa (log persistence leaves inputs out), and it is an expression, which may have another value now", input)
}

// input is the value that an input had: as Elsa kept it, or as the definition has it if it is no expression.
func (m *mover) input(p *place, name string) (any, bool) {
	if v := get(get(p.raw, "activityState"), name); v != nil {
		n, err := engine.Normalize(v)
		return n, err == nil
	}
	e, given := p.node.Activity().Inputs[name]
	if !given {
		d := slices.IndexFunc(p.node.Descriptor().Inputs, func(d workflow.InputDescriptor) bool { return d.Name == name })
		if d < 0 {
			return nil, false
		}
		return p.node.Descriptor().Inputs[d].Default, true
	}
	v := e.Value
	if written, ok := v.(string); ok && e.Kind == workflow.Object {
		v = json.RawMessage(written)
	} else if e.Kind != workflow.Literal && e.Kind != workflow.Object {
		return nil, false
	}
	n, err := engine.Normalize(v)
	return n, err == nil
}

func (m *mover) whole(p *place, name string) (int64, error) {
	v, ok := m.input(p, name)
	if !ok {
		return 0, errNotKept(workflow.UpperFirst(name))
	}
	n, err := engine.Convert(v, "Int64")
	i, ok := n.(int64)
	if err != nil || !ok {
		return 0, fmt.Errorf("its %s is no whole number", workflow.UpperFirst(name))
	}
	return i, nil
}

// counted is the memory of a For: the number that comes next.
func (m *mover) counted(p *place) (any, error) {
	now, ok := number(get(p.raw, "properties"), "CurrentStep")
	end, err := m.whole(p, "end")
	step, err2 := m.whole(p, "step")
	inclusive, known := m.input(p, "outerBoundInclusive")
	is, err3 := engine.Convert(inclusive, "Boolean")
	switch err := cmp.Or(err, err2, err3); {
	case err != nil:
		return nil, err
	case !known:
		return nil, errNotKept("OuterBoundInclusive")
	case !ok:
		return nil, fmt.Errorf("it does not say at which number it is (CurrentStep)")
	}
	next := now + step
	return map[string]any{"next": next, "end": end, "step": step, "inclusive": is, "over": step > 0 && next < now || step < 0 && next > now}, nil
}

// charted is the memory of a flowchart, by either of Elsa's two ways of running one.
func (m *mover) charted(p *place) (any, error) {
	properties := object(p.raw, "properties")
	var live []string
	for _, kid := range p.kids {
		live = append(live, kid.node.LocalID())
	}
	if tokens, ok := properties["Flowchart.Tokens"].([]any); ok {
		var marks []flowchart.Mark
		for _, t := range tokens {
			if !flag(t, "consumed") && !flag(t, "blocked") {
				marks = append(marks, flowchart.Mark{From: text(t, "fromActivityId"), Port: text(t, "outcome"), To: text(t, "toActivityId")})
			}
		}
		return flowchart.Marked(p.node, marks, live)
	}
	of := get(properties, "FlowScope")
	v := flowchart.Visits{Activities: map[string]int{}, Connections: map[string]int{}, Followed: map[string]bool{}}
	for name, into := range map[string]map[string]int{"activitiesVisitCount": v.Activities, "connectionVisitCount": v.Connections} {
		counts := object(of, name)
		for id := range counts {
			n, ok := number(counts, id)
			if !ok || n < 0 || n > 1<<30 {
				return nil, fmt.Errorf("%s of %q is no count", name, workflow.Shorten(id))
			}
			into[id] = int(n)
		}
	}
	followed := object(of, "connectionLastVisitFollowed")
	for id := range followed {
		v.Followed[id] = flag(followed, id)
	}
	return flowchart.Counted(p.node, v, live)
}

// inState is the memory of a state machine: its state, and the transition that is being made. What runs in it is tagged
// with its part.
func (m *mover) inState(p *place) (any, error) {
	states := p.node.States()
	name := text(get(p.raw, "properties"), "CurrentState")
	at := slices.IndexFunc(states, func(s engine.NodeState) bool { return s.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("it is in the state %q, which is not there", workflow.Shorten(name))
	}
	taken := -1
	for _, kid := range p.kids {
		tag := ""
		for i, t := range states[at].Transitions {
			switch kid.node {
			case t.Trigger:
				tag = fmt.Sprint("trigger ", i)
			case t.Action:
				tag, taken = "action", i
			}
		}
		switch kid.node {
		case states[at].Entry:
			tag = "entry"
		case states[at].Exit:
			tag = "exit"
			_, key, _ := strings.Cut(text(kid.raw, "tag"), ":")
			taken = slices.IndexFunc(states[at].Transitions, func(t engine.NodeTransition) bool { return key == t.Name || key == name+"->"+t.To })
			if taken < 0 {
				return nil, fmt.Errorf("it leaves the state %s, and by which transition, %q, is not known", name, workflow.Shorten(key))
			}
		}
		if tag == "" {
			return nil, fmt.Errorf("%s runs in it, which is no part of the state %s", kid.node.LocalID(), name)
		}
		m.out.Executions[kid.index].Tag = tag
	}
	return map[string]any{"state": at, "taken": taken}, nil
}
