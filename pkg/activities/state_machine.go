package activities

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func stateMachine() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     "Elsa.StateMachine",
		NoEffect: true,
		Description: "Is in one of its states at a time. Entering a state runs its entry and then waits for the triggers of its transitions; " +
			"the first whose condition holds runs its own action, then the state's exit, and enters the next state. A final state completes it.",
		Outputs: []workflow.OutputDescriptor{{Name: "currentState", Type: "String", Description: "The name of the current state."}},
	}, stateMachineActivity{}
}

type stateMachineActivity struct{}

// machineState is where the machine stands.
type machineState struct {
	State int `json:"state"`
	Taken int `json:"taken"` // the transition being made; -1: none
}

// machinePlan resolves names to positions.
type machinePlan struct {
	initial int
	to      [][]int
}

func (stateMachineActivity) Prepare(p *engine.Preparation) {
	plan, index := &machinePlan{}, map[string]int{}
	states := p.Node.States()
	src := p.Node.Activity()
	var names []string
	for i, s := range states {
		if _, twice := index[s.Name]; twice || s.Name == "" {
			p.Problem("bad-state", src.States[i].Place, "state %q of %s has no name, or a name that is used twice", s.Name, p.Node.LocalID())
		}
		index[s.Name] = i
		names = append(names, s.Name)
	}
	if len(states) == 0 {
		p.Problem("bad-state", src.Place, "state machine %s has no states", p.Node.LocalID())
	}
	find := func(name, what string, place workflow.Place) int {
		i, ok := index[name]
		if !ok {
			p.Problem("unknown-state", place, "%s %q is no state of %s%s", what, name, p.Node.LocalID(), workflow.DidYouMean(name, names[:min(len(names), 200)]))
		}
		return i
	}
	if src.Initial != "" {
		plan.initial = find(src.Initial, "the initial state", src.Place)
	}
	for i, s := range states {
		plan.to = append(plan.to, nil)
		for j, t := range s.Transitions {
			plan.to[i] = append(plan.to[i], find(t.To, "the target of a transition,", src.States[i].Transitions[j].Place))
		}
	}
	p.SetData(plan)
}

func (m stateMachineActivity) Execute(_ context.Context, x *engine.Execution) error {
	s := engine.Scratch[machineState](x)
	s.State = x.Node().Data().(*machinePlan).initial
	return m.enter(x, s)
}

func (m stateMachineActivity) enter(x *engine.Execution, s *machineState) error {
	st := x.Node().States()[s.State]
	s.Taken = -1
	x.SetOutput("currentState", st.Name)
	x.Journal("Entered", st.Name, nil)
	if st.Entry != nil {
		x.Schedule(st.Entry, engine.Child{Tag: "entry"})
		return nil
	}
	return m.entered(x, s)
}

// entered looks at transitions without triggers first; if none is open, it waits
// for the triggers.
func (m stateMachineActivity) entered(x *engine.Execution, s *machineState) error {
	st := x.Node().States()[s.State]
	if st.Final {
		x.Complete()
		return nil
	}
	for i := range st.Transitions {
		t := &st.Transitions[i]
		if t.Trigger != nil {
			continue
		}
		open, err := x.Guard(t)
		if err != nil {
			return err
		}
		if open {
			return m.leave(x, s, i)
		}
	}
	for i, t := range st.Transitions {
		x.Schedule(t.Trigger, engine.Child{Tag: "trigger " + strconv.Itoa(i)})
	}
	return nil
}

// leave runs the transition's action, then the exit of the state, as Elsa does.
func (m stateMachineActivity) leave(x *engine.Execution, s *machineState, transition int) error {
	s.Taken = transition
	x.Retract(branch.EveryNode)
	if action := x.Node().States()[s.State].Transitions[s.Taken].Action; action != nil {
		x.Schedule(action, engine.Child{Tag: "action"})
		return nil
	}
	return m.exit(x, s)
}

func (m stateMachineActivity) exit(x *engine.Execution, s *machineState) error {
	if exit := x.Node().States()[s.State].Exit; exit != nil {
		x.Schedule(exit, engine.Child{Tag: "exit"})
		return nil
	}
	return m.arrive(x, s)
}

// arrive enters the next state, in a turn of its own: states that follow each
// other without any activity run into the burst's limit, not into the stack's.
func (m stateMachineActivity) arrive(x *engine.Execution, s *machineState) error {
	s.State = x.Node().Data().(*machinePlan).to[s.State][s.Taken]
	x.Yield("enter", false)
	return nil
}

func (m stateMachineActivity) Resume(_ context.Context, x *engine.Execution, _ engine.Resume) error {
	return m.enter(x, engine.Scratch[machineState](x))
}

func (m stateMachineActivity) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	s := engine.Scratch[machineState](x)
	switch done.Tag {
	case "entry":
		return m.entered(x, s)
	case "action":
		return m.exit(x, s)
	case "exit":
		return m.arrive(x, s)
	}
	number, _ := strings.CutPrefix(done.Tag, "trigger ")
	i, err := strconv.Atoi(number)
	st := x.Node().States()[s.State]
	if err != nil || i < 0 || i >= len(st.Transitions) {
		return fmt.Errorf("state %s knows nothing of %q", st.Name, done.Tag)
	}
	open, err := x.Guard(&st.Transitions[i])
	if err != nil {
		return err
	}
	if open {
		return m.leave(x, s, i)
	}
	x.Schedule(st.Transitions[i].Trigger, engine.Child{Tag: done.Tag}) // wait for it again
	return nil
}
