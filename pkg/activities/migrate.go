package activities

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
)

// Migrate finds the place in the list again.
func (sequenceActivity) Migrate(x *engine.Execution, m engine.Migration) error {
	s := engine.Scratch[sequenceState](x)
	var at *engine.Node
	switch kids, left := x.Children(), x.Scheduled(); {
	case len(kids) > 0:
		at = kids[0].Node()
	case len(left) > 0:
		at = left[0]
	case s.Next == 0:
		return nil
	default:
		old := m.Old.List()[min(s.Next, len(m.Old.List()))-1]
		if at = m.To(old); at == nil {
			return fmt.Errorf("it stands behind %s, which is not there", old.LocalID())
		}
	}
	s.Next = slices.Index(x.Node().List(), at) + 1
	return nil
}

// Migrate finds the state again, by its name, and its transitions.
func (stateMachineActivity) Migrate(x *engine.Execution, m engine.Migration) error {
	s := engine.Scratch[machineState](x)
	was := m.Old.States()[s.State]
	s.State = slices.IndexFunc(x.Node().States(), func(st engine.NodeState) bool { return st.Name == was.Name })
	if s.State < 0 {
		return fmt.Errorf("it is in the state %s, which is not there", was.Name)
	}
	st := x.Node().States()[s.State]
	if s.Taken >= 0 {
		t := was.Transitions[s.Taken]
		s.Taken = slices.IndexFunc(st.Transitions, func(n engine.NodeTransition) bool { return n.Name == t.Name && n.To == t.To })
		if s.Taken < 0 {
			return fmt.Errorf("it goes from the state %s to %s, and no such transition is there", was.Name, t.To)
		}
	}
	var err error
	x.Retag(func(child *engine.Node, tag string) string {
		if !strings.HasPrefix(tag, "trigger ") {
			return tag
		}
		i := slices.IndexFunc(st.Transitions, func(t engine.NodeTransition) bool { return t.Trigger == child })
		if i < 0 {
			err = fmt.Errorf("%s is no trigger of the state %s", child.LocalID(), st.Name)
			return tag
		}
		return "trigger " + strconv.Itoa(i)
	})
	return err
}
