package activities

import (
	"context"
	"errors"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// The variables that loops give their bodies.
const (
	currentValue = "CurrentValue"
	currentIndex = "CurrentIndex"
)

// itemVariables are what a loop over items gives its body.
var itemVariables = []workflow.OutputDescriptor{
	{Name: currentValue, Type: "Object", Description: "The item."},
	{Name: currentIndex, Type: "Int64", Description: "Its position, from 0."},
}

// loop is what all loops share: a Break inside completes them.
type loop struct{}

func (loop) Signal(_ context.Context, x *engine.Execution, s engine.Signal) (bool, error) {
	if s.Name != engine.SignalBreak {
		return false, nil
	}
	x.Complete()
	return true, nil
}

func forActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.For",
		NoEffect:    true,
		Description: "Runs its body for each number from start to end. The body has the variable CurrentValue.",
		Inputs: []workflow.InputDescriptor{
			{Name: "start", Type: "Int64", Default: 0, Description: "The first number."},
			{Name: "end", Type: "Int64", Default: 0, Description: "The last number."},
			{Name: "step", Type: "Int64", Default: 1, Description: "What to add each time; below zero counts down."},
			{Name: "outerBoundInclusive", Type: "Boolean", Default: true, Description: "Whether end itself is run."},
		},
		Outputs:  []workflow.OutputDescriptor{{Name: "currentValue", Type: "Int64", Description: "The number of the current round."}},
		Gives:    []workflow.OutputDescriptor{{Name: currentValue, Type: "Int64", Description: "The number of the round."}},
		MainPort: "body",
		Ports:    []string{"body"},
	}, forCode{}
}

type forCode struct{ loop }

type forState struct {
	Next      int64 `json:"next"`
	End       int64 `json:"end"`
	Step      int64 `json:"step"`
	Inclusive bool  `json:"inclusive,omitempty"`
	Over      bool  `json:"over,omitempty"` // the next number does not fit an int64
}

func (f forCode) Execute(_ context.Context, x *engine.Execution) error {
	s := engine.Scratch[forState](x)
	*s = forState{Next: x.Int("start"), End: x.Int("end"), Step: x.Int("step"), Inclusive: x.Bool("outerBoundInclusive")}
	if s.Step == 0 {
		return errors.New("the step is 0, so the loop would never end")
	}
	f.next(x, s)
	return nil
}

func (f forCode) ChildCompleted(_ context.Context, x *engine.Execution, _ engine.Completed) error {
	f.next(x, engine.Scratch[forState](x))
	return nil
}

func (forCode) next(x *engine.Execution, s *forState) {
	body := x.Node().Port("body")
	in := s.Step > 0 && s.Next < s.End || s.Step < 0 && s.Next > s.End || s.Inclusive && s.Next == s.End
	if body == nil || !in || s.Over {
		return
	}
	x.SetOutput("currentValue", s.Next)
	x.Schedule(body, engine.Child{Variables: map[string]any{currentValue: s.Next}})
	next := s.Next + s.Step
	s.Over = s.Step > 0 && next < s.Next || s.Step < 0 && next > s.Next
	s.Next = next
}

func forEach() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.ForEach",
		NoEffect:    true,
		Description: "Runs its body for each item, one after the other. The body has the variables CurrentValue and CurrentIndex.",
		Main:        "items",
		Inputs:      []workflow.InputDescriptor{{Name: "items", Type: "Object[]", Required: true, Null: true, Description: "The items; null is none."}},
		Outputs: []workflow.OutputDescriptor{
			{Name: "currentValue", Type: "Object", Description: "The current item."},
			{Name: "currentIndex", Type: "Int64", Description: "Its position, from 0."},
		},
		Gives:    itemVariables,
		MainPort: "body",
		Ports:    []string{"body"},
	}, forEachCode{}
}

type forEachCode struct{ loop }

type forEachState struct {
	Items []any `json:"items"`
	Next  int   `json:"next"`
}

func (f forEachCode) Execute(_ context.Context, x *engine.Execution) error {
	s := engine.Scratch[forEachState](x)
	s.Items, s.Next = x.List("items"), 0
	return f.next(x, s)
}

func (f forEachCode) ChildCompleted(_ context.Context, x *engine.Execution, _ engine.Completed) error {
	return f.next(x, engine.Scratch[forEachState](x))
}

func (forEachCode) next(x *engine.Execution, s *forEachState) error {
	body := x.Node().Port("body")
	if body == nil || s.Next >= len(s.Items) {
		return nil
	}
	item := s.Items[s.Next]
	x.SetOutput("currentValue", item)
	x.SetOutput("currentIndex", s.Next)
	x.Schedule(body, engine.Child{Variables: map[string]any{currentValue: item, currentIndex: s.Next}})
	s.Next++
	return nil
}

func parallelForEach() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.ParallelForEach",
		NoEffect:    true,
		Description: "Starts its body for each item and completes when all have. Calls to the outside are in flight together. Each body has its own variables CurrentValue and CurrentIndex.",
		Main:        "items",
		Inputs:      []workflow.InputDescriptor{{Name: "items", Type: "Object[]", Required: true, Null: true, Description: "The items; null is none."}},
		Gives:       itemVariables,
		MainPort:    "body",
		Ports:       []string{"body"},
	}, parallelForEachCode{}
}

type parallelForEachCode struct{ loop }

// parallelState is there while not all bodies are scheduled: of many items so many at a time as the engine
// has room for.
type parallelState struct {
	Items []any `json:"items,omitempty"` // that are left
	Next  int   `json:"next,omitempty"`  // the position of the first of them
}

func (p parallelForEachCode) Execute(_ context.Context, x *engine.Execution) error {
	p.schedule(x, x.List("items"), 0)
	return nil
}

func (p parallelForEachCode) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	if r.Callback == scheduleMore {
		s := engine.Scratch[parallelState](x)
		items, next := s.Items, s.Next
		*s = parallelState{}
		p.schedule(x, items, next)
	}
	return nil
}

const scheduleMore = "more"

// schedule schedules the bodies of items, of which the first is at this position, or of as many as there is
// room for.
func (parallelForEachCode) schedule(x *engine.Execution, items []any, from int) {
	body, n := x.Node().Port("body"), min(x.ScheduleRoom(), len(items))
	for i, item := range items[:n] {
		x.Schedule(body, engine.Child{Variables: map[string]any{currentValue: item, currentIndex: from + i}})
	}
	if n < len(items) && body != nil {
		*engine.Scratch[parallelState](x) = parallelState{items[n:], from + n}
		x.ScheduleRest(scheduleMore)
	}
}

func while() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.While",
		NoEffect:    true,
		Description: "Runs its body as long as the condition holds; it is evaluated before each round.",
		Main:        "condition",
		Inputs:      []workflow.InputDescriptor{{Name: "condition", Type: "Boolean", Default: false, Raw: true, Description: "Whether to run another round."}},
		MainPort:    "body",
		Ports:       []string{"body"},
	}, whileCode{}
}

type whileCode struct{ loop }

func (w whileCode) Execute(_ context.Context, x *engine.Execution) error { return w.next(x) }

func (w whileCode) ChildCompleted(_ context.Context, x *engine.Execution, _ engine.Completed) error {
	return w.next(x)
}

func (whileCode) next(x *engine.Execution) error {
	v, err := x.Evaluate("condition")
	if err != nil {
		return err
	}
	if again, _ := v.(bool); again {
		if x.Node().Port("body") == nil {
			return errors.New("the condition holds and there is no body that could change it")
		}
		x.Schedule(x.Node().Port("body"), engine.Child{})
	}
	return nil
}
