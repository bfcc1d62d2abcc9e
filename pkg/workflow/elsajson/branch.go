package elsajson

import (
	"encoding/json"
	"strconv"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// statusCases is the field whose cases are labelled by HTTP status codes.
const statusCases = "expectedStatusCodes"

// isBareInput tells whether the field of the cases holds an input's wrapper
// that is not a list of cases, as FlowSendHttpRequest's status codes are.
func isBareInput(f field, d *workflow.Descriptor) bool {
	_, ok := d.Input(f.name)
	return ok && f.IsWrapper()
}

// casesOf gives the list inside a wrapper, if cases are wrapped.
func (ar *activityReader) casesOf(c cur) cur {
	if !c.IsWrapper() {
		return c
	}
	if x := c.Get("expression"); x != nil {
		if v := x.Get("value"); v != nil && v.Kind == jsontree.Array {
			return cur{v, c.ptr + "/expression/value"}
		}
	}
	return cur{&jsontree.Node{Kind: jsontree.Null, Off: c.Off, End: c.End}, c.ptr}
}

// readCase reads one case; a bare text or number is a label.
func (ar *activityReader) readCase(c cur) workflow.Case {
	out := workflow.Case{Place: ar.place(c)}
	if c.Kind == jsontree.String || c.Kind == jsontree.Number {
		out.Label = c.Text
		return out
	}
	if c.Kind != jsontree.Object {
		ar.shape(c, "a case", "an object")
		return out
	}
	fs := ar.fields(c)
	for _, f := range fs {
		switch f.name {
		case "label", "statusCode":
			if s := ar.str(f); s != "" {
				out.Label = s
			}
		case "condition":
			out.Condition = ar.condition(f.cur)
		case "activity":
			out.Activity = ar.activity(f.cur)
		}
	}
	out.Extra = ar.keep(fs, caseFields(out, ar.cases), map[string]bool{"activity": out.Activity != nil})
	return out
}

// caseFields gives the canonical form of a case without its activity.
func caseFields(c workflow.Case, list string) fields {
	var fs fields
	if list == statusCases {
		if n, err := strconv.Atoi(c.Label); err == nil && strconv.Itoa(n) == c.Label {
			fs.set("statusCode", n)
		} else {
			fs.text("statusCode", c.Label)
		}
	} else {
		fs.text("label", c.Label)
	}
	if !c.Condition.IsZero() {
		fs.set("condition", conditionFields(c.Condition))
	}
	return fs
}

func (w *writer) writeCase(c workflow.Case, list, path string) fields {
	fs := caseFields(c, list).restore(c.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, cu cur) fields {
			return caseFields((&activityReader{reader: r, cases: list}).readCase(cu), list)
		})
	})
	if c.Activity != nil {
		fs.set("activity", w.activity(c.Activity, path))
	}
	return fs
}

// state reads a state of a StateMachine; transitions may stand in it or beside.
func (ar *activityReader) state(c cur) workflow.State {
	s := workflow.State{Place: ar.place(c)}
	if c.Kind != jsontree.Object {
		ar.shape(c, "a state", "an object")
		return s
	}
	fs := ar.fields(c)
	holds := map[string]bool{"transitions": true}
	for _, f := range fs {
		switch f.name {
		case "name":
			s.Name = ar.plain(f)
		case "isFinal":
			s.Final = ar.truth(f)
		case "entry":
			s.Entry = ar.activity(f.cur)
			holds[f.name] = s.Entry != nil
		case "exit":
			s.Exit = ar.activity(f.cur)
			holds[f.name] = s.Exit != nil
		case "transitions":
			for _, it := range ar.list(f.cur) {
				t, _ := ar.transition(it)
				s.Transitions = append(s.Transitions, t)
			}
		}
	}
	s.Extra = ar.keep(fs, stateFields(s), holds)
	return s
}

func stateFields(s workflow.State) fields {
	var fs fields
	fs.text("name", s.Name)
	if s.Final {
		fs.set("isFinal", true)
	}
	return fs
}

// transitions gives each transition to the state that it leaves.
func (ar *activityReader) transitions(f field) {
	byName := map[string]*workflow.State{}
	for i := range ar.a.States {
		if s := &ar.a.States[i]; byName[s.Name] == nil {
			byName[s.Name] = s
		}
	}
	for _, c := range ar.list(f.cur) {
		t, from := ar.transition(c)
		if s := byName[from]; s != nil {
			s.Transitions = append(s.Transitions, t)
		} else if c.Kind == jsontree.Object {
			ar.problem("unknown-state", c, "this transition leaves the state %q, which is not there", from)
		}
	}
}

func (ar *activityReader) transition(c cur) (t workflow.Transition, from string) {
	t.Place = ar.place(c)
	if c.Kind != jsontree.Object {
		ar.shape(c, "a transition", "an object")
		return t, ""
	}
	fs := ar.fields(c)
	holds := map[string]bool{"from": true}
	for _, f := range fs {
		switch f.name {
		case "name":
			t.Name = ar.str(f)
		case "from":
			from = ar.str(f)
		case "to":
			t.To = ar.str(f)
		case "trigger":
			t.Trigger = ar.activity(f.cur)
			holds[f.name] = t.Trigger != nil
		case "action":
			t.Action = ar.activity(f.cur)
			holds[f.name] = t.Action != nil
		case "condition":
			t.Condition = ar.condition(f.cur)
		}
	}
	t.Extra = ar.keep(fs, transitionFields(t), holds)
	return t, from
}

func transitionFields(t workflow.Transition) fields {
	var fs fields
	fs.text("name", t.Name)
	fs.set("to", t.To)
	if !t.Condition.IsZero() {
		fs.set("condition", wrap(t.Condition, workflow.InputDescriptor{Type: "Boolean"}))
	}
	return fs
}
