package edit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/authoring/edit"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

const (
	switched = "id: x\nroot:\n  - switch:\n      # large ones\n      - when: ${{ inputs.n > 5 }} # n\n        then:\n          - writeLine: a\n      - label: small\n        when: true\n        then: {writeLine: b}\n    default:\n      - finish:\n"
	machine  = "id: x\nroot:\n  stateMachine:\n    initial: Draft\n    states:\n      # begins\n      Draft:\n        transitions:\n          - on: {event: submitted} # by hand\n            to: Review\n          - {on: {event: lost}, to: Done}\n      Review: {} # yet\n      Done: {final: true}\n"
	ported   = "id: x\nroot:\n  flowchart:\n    activities:\n      ask: {flowSwitch: [{label: Large, when: true}, {label: Small, when: true}]}\n      a: {writeLine: a}\n      b: {writeLine: b}\n    connections:\n      - ask.Large -> a # good\n      - {from: ask, port: Small, to: b}\n"
	statuses = "id: x\nroot:\n  - sendHttpRequest: {url: u, method: GET}\n    expectedStatusCodes:\n      200: {writeLine: good} # fine\n      404: []\n"
)

// TestPartsAreEditedInTheirPlace holds the text after each kind of edit of a case, a state and a
// transition, byte by byte.
func TestPartsAreEditedInTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src      string
		edit     edit.Edit
		old, new string // what of the text becomes what
	}{
		"a new case": {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Part: edit.CasePart, Inputs: map[string]any{"label": "none", "when": "${{ inputs.n == 0 }}"}},
			"then: {writeLine: b}\n", "then: {writeLine: b}\n      - label: none\n        when: ${{ inputs.n == 0 }}\n"},
		"a new case between": {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Part: edit.CasePart, Number: 1},
			"          - writeLine: a\n", "          - writeLine: a\n      - when: true\n"},
		"a case goes": {switched, edit.Edit{Op: edit.Delete, Activity: "switch1", Part: edit.CasePart, Number: 1},
			"      # large ones\n      - when: ${{ inputs.n > 5 }} # n\n        then:\n          - writeLine: a\n", ""},
		"a case moves": {switched, edit.Edit{Op: edit.Move, Activity: "switch1", Part: edit.CasePart, Number: 2, Where: edit.Up},
			"      # large ones\n      - when: ${{ inputs.n > 5 }} # n\n        then:\n          - writeLine: a\n      - label: small\n        when: true\n        then: {writeLine: b}\n",
			"      - label: small\n        when: true\n        then: {writeLine: b}\n      # large ones\n      - when: ${{ inputs.n > 5 }} # n\n        then:\n          - writeLine: a\n"},
		"a case gets a label":     {switched, edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 1, Key: "label", Text: text("large")}, "- when: ${{ inputs.n > 5 }}", "- label: large\n        when: ${{ inputs.n > 5 }}"},
		"another label":           {switched, edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 2, Key: "label", Text: text("tiny")}, "small", "tiny"},
		"another condition":       {switched, edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 1, Key: "when", Text: text("${{ inputs.n > 6 }}")}, "${{ inputs.n > 5 }}", "${{ inputs.n > 6 }}"},
		"no label":                {switched, edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 2, Key: "label", Text: text("")}, "- label: small\n        when", "- when"},
		"into a case":             {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Where: edit.Into, Branch: "case1", Type: "finish"}, "          - writeLine: a\n", "          - writeLine: a\n          - finish:\n"},
		"into a case of one":      {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Where: edit.Into, Branch: "case2", Type: "finish"}, "        then: {writeLine: b}\n", "        then:\n          - {writeLine: b}\n          - finish:\n"},
		"the first case":          {"id: x\nroot:\n  - switch:\n    default: {finish: }\n", edit.Edit{Op: edit.Insert, Activity: "switch1", Part: edit.CasePart}, "switch:\n", "switch:\n      - when: true\n"},
		"the first between":       {"id: x\nroot: [{switch: []}]\n", edit.Edit{Op: edit.Insert, Activity: "switch1", Part: edit.CasePart}, "[]", "[{when: true}]"},
		"a status":                {statuses, edit.Edit{Op: edit.Insert, Activity: "sendHttpRequest1", Part: edit.CasePart, Inputs: map[string]any{"label": "500"}}, "      404: []\n", "      404: []\n      500: []\n"},
		"another status":          {statuses, edit.Edit{Op: edit.Set, Activity: "sendHttpRequest1", Part: edit.CasePart, Number: 1, Key: "label", Text: text("201")}, "200:", "201:"},
		"into a status":           {statuses, edit.Edit{Op: edit.Insert, Activity: "sendHttpRequest1", Where: edit.Into, Branch: "case2", Type: "finish"}, "404: []\n", "404:\n        - finish:\n"},
		"a new state":             {machine, edit.Edit{Op: edit.Insert, Activity: "root", Part: edit.StatePart, Inputs: map[string]any{"name": "Lost", "final": true}}, "Done: {final: true}\n", "Done: {final: true}\n      Lost: {final: true}\n"},
		"a state ahead":           {machine, edit.Edit{Op: edit.Insert, Activity: "root", Part: edit.StatePart, State: "Done", Where: edit.Before, Inputs: map[string]any{"name": "Lost"}}, "      Done:", "      Lost: {}\n      Done:"},
		"a state is called other": {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.StatePart, State: "Review", Key: "name", Text: text("Check it")}, "Review", "Check it"},
		"the first state, too":    {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.StatePart, State: "Draft", Key: "name", Text: text("New")}, "Draft", "New"},
		"another first":           {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.StatePart, State: "Review", Key: "initial", Value: true}, "initial: Draft", "initial: Review"},
		"final":                   {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.StatePart, State: "Review", Key: "final", Value: true}, "Review: {}", "Review: {final: true}"},
		"not final":               {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.StatePart, State: "Done", Key: "final", Value: false}, "{final: true}", "{}"},
		"a state goes": {strings.Replace(machine, "            to: Review\n", "            to: Done\n", 1), edit.Edit{Op: edit.Delete, Activity: "root", Part: edit.StatePart, State: "Review"},
			"      Review: {} # yet\n", ""},
		"the first transition": {machine, edit.Edit{Op: edit.Insert, Activity: "root", Part: edit.TransitionPart, State: "Review", Inputs: map[string]any{"on": "approved", "to": "Done"}},
			"Review: {} # yet\n", "Review: # yet\n        transitions:\n          - on: {event: approved}\n            to: Done\n"},
		"one more transition": {machine, edit.Edit{Op: edit.Insert, Activity: "root", Part: edit.TransitionPart, State: "Draft", Inputs: map[string]any{"when": "${{ true }}", "to": "Draft"}},
			"to: Done}\n", "to: Done}\n          - when: ${{ true }}\n            to: Draft\n"},
		"a transition goes":  {machine, edit.Edit{Op: edit.Delete, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 2}, "          - {on: {event: lost}, to: Done}\n", ""},
		"transitions change": {machine, edit.Edit{Op: edit.Move, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 1, Where: edit.Down}, "          - on: {event: submitted} # by hand\n            to: Review\n          - {on: {event: lost}, to: Done}\n", "          - {on: {event: lost}, to: Done}\n          - on: {event: submitted} # by hand\n            to: Review\n"},
		"a condition":        {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 1, Key: "when", Text: text("${{ inputs.ok }}")}, "# by hand\n", "# by hand\n            when: ${{ inputs.ok }}\n"},
		"another event":      {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 1, Key: "on", Text: text("sent")}, "submitted", "sent"},
		"no event":           {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 2, Key: "on", Text: text("")}, "{on: {event: lost}, to: Done}", "{to: Done}"},
		"an event":           {strings.Replace(machine, "{on: {event: lost}, to: Done}", "to: Done", 1), edit.Edit{Op: edit.Set, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 2, Key: "on", Text: text("lost")}, "- to: Done", "- on: {event: lost}\n            to: Done"},
		"leads elsewhere":    {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 1, Key: "to", Text: text("Done")}, "to: Review", "to: Done"},
		"an outcome's ways":  {ported, edit.Edit{Op: edit.Set, Activity: "ask", Part: edit.CasePart, Number: 1, Key: "label", Text: text("Big")}, "Large", "Big"},
		"of a mapping":       {ported, edit.Edit{Op: edit.Set, Activity: "ask", Part: edit.CasePart, Number: 2, Key: "label", Text: text("Tiny")}, "Small", "Tiny"},
		"by another outcome": {ported, edit.Edit{Op: edit.Connect, Activity: "ask", Port: "Default", To: "a"}, "to: b}\n", "to: b}\n      - ask.Default -> a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := strings.ReplaceAll(c.src, c.old, c.new)
			res, problems := edit.Apply(t.Context(), []byte(c.src), false, []edit.Edit{c.edit}, activities.Default())
			if len(problems) > 0 || string(res.Text) != want {
				t.Errorf("%v\n%s\nwant\n%s", problems, res.Text, want)
			}
			if _, wrong := yaml.Read(res.Text, "", activities.Default()); len(wrong) > 0 {
				t.Errorf("%v", wrong)
			}
		})
	}
}

// TestPartsThatCannotBeEdited holds that an edit of a part that is not there, or that would leave
// something behind, is refused, and says why.
func TestPartsThatCannotBeEdited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src  string
		edit edit.Edit
		want string
	}{
		"no such case":           {switched, edit.Edit{Op: edit.Delete, Activity: "switch1", Part: edit.CasePart, Number: 3}, "which has 2"},
		"no switch":              {switched, edit.Edit{Op: edit.Insert, Activity: "switch1.case1.writeLine1", Part: edit.CasePart}, "no switch"},
		"no machine":             {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Part: edit.StatePart}, "no state machine"},
		"no part":                {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Part: "kase"}, "case"},
		"a number without part":  {switched, edit.Edit{Op: edit.Delete, Activity: "switch1", Number: 1}, "part"},
		"no such key":            {switched, edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 1, Key: "wen", Text: text("true")}, "when"},
		"a label twice":          {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Part: edit.CasePart, Inputs: map[string]any{"label": "small"}}, "already"},
		"above the first":        {switched, edit.Edit{Op: edit.Move, Activity: "switch1", Part: edit.CasePart, Number: 1, Where: edit.Up}, "above"},
		"no such branch":         {switched, edit.Edit{Op: edit.Insert, Activity: "switch1", Where: edit.Into, Branch: "case3", Type: "finish"}, "which has 2"},
		"an outcome needs one":   {ported, edit.Edit{Op: edit.Insert, Activity: "ask", Part: edit.CasePart}, "needs a label"},
		"a status needs a code":  {statuses, edit.Edit{Op: edit.Insert, Activity: "sendHttpRequest1", Part: edit.CasePart}, "status code"},
		"the first state":        {machine, edit.Edit{Op: edit.Delete, Activity: "root", Part: edit.StatePart, State: "Draft"}, "initial"},
		"the one it begins in":   {strings.Replace(machine, "    initial: Draft\n", "", 1), edit.Edit{Op: edit.Delete, Activity: "root", Part: edit.StatePart, State: "Draft"}, "make another one the initial state"},
		"a state with ways":      {machine, edit.Edit{Op: edit.Delete, Activity: "root", Part: edit.StatePart, State: "Review"}, "leads to"},
		"a state twice":          {machine, edit.Edit{Op: edit.Set, Activity: "root", Part: edit.StatePart, State: "Review", Key: "name", Text: text("Done")}, "already"},
		"no such state":          {machine, edit.Edit{Op: edit.Insert, Activity: "root", Part: edit.TransitionPart, State: "Reviw", Inputs: map[string]any{"to": "Done"}}, "did you mean Review"},
		"to no state":            {machine, edit.Edit{Op: edit.Insert, Activity: "root", Part: edit.TransitionPart, State: "Draft", Inputs: map[string]any{"to": "Doen"}}, "did you mean Done"},
		"another kind of wait":   {strings.Replace(machine, "{event: submitted}", "{delay: 5s}", 1), edit.Edit{Op: edit.Set, Activity: "root", Part: edit.TransitionPart, State: "Draft", Number: 1, Key: "on", Text: text("sent")}, "does not wait for an event"},
		"what an alias repeats":  {"id: x\nroot:\n  - switch:\n      - &c {when: true, label: a}\n      - *c\n", edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 2, Key: "label", Text: text("b")}, "used again"},
		"nothing would be left":  {switched, edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: 1, Key: "then", Text: text("")}, "no"},
		"wrapped in a wrong way": {ported, edit.Edit{Op: edit.Wrap, Activity: "ask", Type: "if"}, "no such outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, problems := edit.Apply(t.Context(), []byte(c.src), false, []edit.Edit{c.edit}, activities.Default())
			if len(problems) != 1 || !strings.Contains(problems[0].Detail, c.want) || res.Text != nil {
				t.Errorf("%v, want %q\n%s", problems, c.want, res.Text)
			}
		})
	}
}

// A machine without an initial state begins in its first. No edit of the order of its states
// makes it begin elsewhere; one that names an initial state may be ordered as people like.
func TestTheOrderOfStatesChangesNoBeginning(t *testing.T) {
	t.Parallel()
	unnamed := `{"definitionId": "x", "root": {"type": "Elsa.StateMachine", "id": "m", "states": [{"name": "A"}, {"name": "B"}, {"name": "C"}], "transitions": []}}`
	named := strings.Replace(unnamed, `"id": "m",`, `"id": "m", "initialState": "B",`, 1)
	inYAML := strings.Replace(machine, "    initial: Draft\n", "", 1)
	state := func(op, name, where string) edit.Edit {
		e := edit.Edit{Op: op, Activity: "m", Part: edit.StatePart, State: name, Where: where}
		if op == edit.Insert {
			e.Inputs = map[string]any{"name": "new"}
		}
		return e
	}
	inRoot := state(edit.Insert, "Draft", edit.Before)
	inRoot.Activity = "root"
	for name, c := range map[string]struct {
		src     string
		json    bool
		edit    edit.Edit
		refused bool
	}{
		"the second up":                 {unnamed, true, state(edit.Move, "B", edit.Up), true},
		"the first down":                {unnamed, true, state(edit.Move, "A", edit.Down), true},
		"another before the first":      {unnamed, true, state(edit.Insert, "A", edit.Before), true},
		"another before it in YAML":     {inYAML, false, inRoot, true},
		"the third up":                  {unnamed, true, state(edit.Move, "C", edit.Up), false},
		"another behind the first":      {unnamed, true, state(edit.Insert, "A", edit.After), false},
		"the second up, named":          {named, true, state(edit.Move, "B", edit.Up), false},
		"the first down, named":         {named, true, state(edit.Move, "A", edit.Down), false},
		"another before the first, too": {named, true, state(edit.Insert, "A", edit.Before), false},
	} {
		res, problems := edit.Apply(t.Context(), []byte(c.src), c.json, []edit.Edit{c.edit}, activities.Default())
		if refused := len(problems) == 1 && strings.Contains(problems[0].Detail, "names no initial state"); refused != c.refused || !refused && (len(problems) > 0 || string(res.Text) == c.src) {
			t.Errorf("%s: %v\n%s", name, problems, res.Text)
		}
	}
}

// shape is what a definition's cases and states are, without their places.
func shape(t interface{ Fatalf(string, ...any) }, src []byte, json bool) []string {
	read := func(src []byte) (*workflow.Definition, workflow.Problems) {
		if json {
			return elsajson.Read(src, "", activities.Default())
		}
		return yaml.Read(src, "", activities.Default())
	}
	def, problems := read(src)
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, src)
	}
	var out []string
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		for i, c := range a.Cases {
			out = append(out, fmt.Sprintf("case %d %s %v", i+1, c.Label, c.Condition.Value))
		}
		for _, s := range a.States {
			out = append(out, fmt.Sprintf("state %s final %t first %t", s.Name, s.Final, a.Initial == s.Name))
			for i, tr := range s.Transitions {
				on := ""
				if tr.Trigger != nil {
					on = fmt.Sprint(tr.Trigger.Inputs["eventName"].Value)
				}
				out = append(out, fmt.Sprintf("transition %d %s %v %s", i+1, on, tr.Condition.Value, tr.To))
			}
		}
		if a.Type == "Elsa.WriteLine" {
			out = append(out, fmt.Sprint("text ", a.Inputs["text"].Value))
		}
		return true
	})
	return out
}

// partful writes a definition with a switch and a machine, as people do.
func partful(t *rapid.T) []byte {
	a := &author{t: t}
	a.line(0, "id: made")
	a.line(0, "root:")
	a.between(2)
	a.line(2, "- switch:")
	at := 6
	if rapid.Bool().Draw(t, "beside") {
		a.line(6, "mode: MatchAny")
		a.line(4, "cases:")
		at = 4 + 2*rapid.IntRange(0, 1).Draw(t, "column")
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "cases") {
		a.between(at)
		if a.chance("flow") {
			a.line(at, fmt.Sprintf("- {label: \"c%d\", when: true, then: {writeLine: t%d}}", i, a.next()))
			continue
		}
		a.line(at, fmt.Sprintf("- label: c%d", i))
		a.line(at+2, fmt.Sprintf("when: ${{ inputs.n > %d }}", i))
		a.line(at+2, "then:")
		a.steps(at+2, 1)
	}
	a.between(2)
	a.line(2, "- stateMachine:")
	a.line(6, "initial: S0")
	a.line(6, "states:")
	n := rapid.IntRange(1, 3).Draw(t, "states")
	for i := range n {
		a.between(8)
		if a.chance("bare") {
			a.line(8, fmt.Sprintf("S%d: {}", i))
			continue
		}
		a.line(8, fmt.Sprintf("S%d:", i))
		if a.chance("entry") {
			a.line(10, fmt.Sprintf("entry: {writeLine: t%d}", a.next()))
		}
		a.line(10, "transitions:")
		for j := range rapid.IntRange(1, 2).Draw(t, "transitions") {
			a.between(12)
			if a.chance("flow") {
				a.line(12, fmt.Sprintf("- {on: {event: e%d}, to: S%d}", j, rapid.IntRange(0, n-1).Draw(t, "to")))
				continue
			}
			a.line(12, fmt.Sprintf("- to: S%d", rapid.IntRange(0, n-1).Draw(t, "to")))
			if a.chance("when") {
				a.line(14, "when: true")
			}
		}
	}
	src := a.out.String()
	if rapid.Bool().Draw(t, "CRLF") {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	return []byte(src)
}

// TestEditsOfAnyParts holds, for switches and machines as people write them, in YAML and in Elsa's
// JSON: an edit of a part does what it says and nothing else, each comment stays, and what was
// inserted, moved or renamed can be undone: to the byte in YAML.
func TestEditsOfAnyParts(t *testing.T) {
	t.Parallel()
	types := activities.Default()
	done := map[string]int{}
	ops := []string{"new case", "delete case", "move case", "label", "condition", "new state", "rename", "final", "first", "new transition", "delete transition", "to", "event", "transition's condition"}
	rapid.Check(t, func(t *rapid.T) {
		src := partful(t)
		json := rapid.Bool().Draw(t, "json")
		if json {
			def, problems := yaml.Read(src, "", types)
			if len(problems) > 0 {
				t.Fatalf("%v\n%s", problems, src)
			}
			out, err := elsajson.Write(def, types)
			if err != nil {
				t.Fatal(err)
			}
			src = out
		}
		apply := func(src []byte, e edit.Edit) ([]byte, workflow.Problems) {
			res, problems := edit.Apply(t.Context(), src, json, []edit.Edit{e}, types)
			return res.Text, problems
		}
		before := shape(t, src, json)
		about := func(id string) edit.About {
			a, problems := edit.Tell(t.Context(), src, json, id, 0, types)
			if len(problems) > 0 {
				t.Fatalf("%v\n%s", problems, src)
			}
			return a
		}
		sw, ma := about("switch1"), about("stateMachine1")
		op := rapid.SampledFrom(ops).Draw(t, "edit")
		k := rapid.IntRange(1, len(sw.Cases)).Draw(t, "case")
		if op == "move case" {
			k = min(k, max(1, len(sw.Cases)-1)) // there is one below it, most often
		}
		st := ma.States[rapid.IntRange(0, len(ma.States)-1).Draw(t, "state")]
		if op == "first" {
			st = ma.States[len(ma.States)-1] // S0 is it already
		}
		trs := 0
		if len(st.Transitions) > 0 {
			trs = rapid.IntRange(1, len(st.Transitions)).Draw(t, "transition")
		}
		e := edit.Edit{Activity: "switch1", Part: edit.CasePart, Number: k}
		if !strings.Contains(op, "case") && op != "label" && op != "condition" {
			e = edit.Edit{Activity: "stateMachine1", Part: edit.StatePart, State: st.Name}
		}
		if strings.Contains(op, "transition") || op == "to" || op == "event" {
			e.Part, e.Number = edit.TransitionPart, trs
			if trs == 0 && op != "new transition" {
				return
			}
		}
		want := slices.Clone(before)
		var undo *edit.Edit
		replace := func(from, to string) {
			for i := range want {
				want[i] = strings.ReplaceAll(want[i], from, to)
			}
		}
		switch op {
		case "new case":
			e.Op, e.Inputs = edit.Insert, map[string]any{"label": "new", "when": "${{ 1 > 0 }}"}
			undo = &edit.Edit{Op: edit.Delete, Activity: "switch1", Part: edit.CasePart, Number: k + 1}
		case "delete case":
			e.Op = edit.Delete
		case "move case":
			e.Op, e.Where = edit.Move, edit.Down
			undo = &edit.Edit{Op: edit.Move, Activity: "switch1", Part: edit.CasePart, Number: k + 1, Where: edit.Up}
		case "label":
			e.Op, e.Key, e.Text = edit.Set, "label", text("a: b")
			undo = &edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: k, Key: "label", Text: text(sw.Cases[k-1].Label)}
			replace(fmt.Sprintf("case %d %s ", k, sw.Cases[k-1].Label), fmt.Sprintf("case %d a: b ", k))
		case "condition":
			e.Op, e.Key, e.Text = edit.Set, "when", text("${{ inputs.z }}")
			undo = &edit.Edit{Op: edit.Set, Activity: "switch1", Part: edit.CasePart, Number: k, Key: "when", Text: text(sw.Cases[k-1].When)}
		case "new state":
			e.Op, e.Inputs = edit.Insert, map[string]any{"name": "new"}
			undo = &edit.Edit{Op: edit.Delete, Activity: "stateMachine1", Part: edit.StatePart, State: "new"}
		case "rename":
			e.Op, e.Key, e.Text = edit.Set, "name", text("Anew")
			undo = &edit.Edit{Op: edit.Set, Activity: "stateMachine1", Part: edit.StatePart, State: "Anew", Key: "name", Text: text(st.Name)}
			replace(st.Name, "Anew")
		case "final":
			e.Op, e.Key, e.Value = edit.Set, "final", true
			replace("state "+st.Name+" final false", "state "+st.Name+" final true")
		case "first":
			e.Op, e.Key, e.Value = edit.Set, "initial", true
			undo = &edit.Edit{Op: edit.Set, Activity: "stateMachine1", Part: edit.StatePart, State: "S0", Key: "initial", Value: true}
			replace("first true", "first false")
			for i := range want {
				if strings.HasPrefix(want[i], "state "+st.Name+" ") {
					want[i] = strings.ReplaceAll(want[i], "first false", "first true")
				}
			}
		case "new transition":
			e.Op, e.Number, e.Inputs = edit.Insert, 0, map[string]any{"on": "paid", "to": st.Name}
			if len(st.Transitions) > 0 {
				undo = &edit.Edit{Op: edit.Delete, Activity: "stateMachine1", Part: edit.TransitionPart, State: st.Name, Number: len(st.Transitions) + 1}
			}
		case "delete transition":
			e.Op = edit.Delete
		case "to":
			e.Op, e.Key, e.Text = edit.Set, "to", text("S0")
			undo = &edit.Edit{Op: edit.Set, Activity: "stateMachine1", Part: edit.TransitionPart, State: st.Name, Number: trs, Key: "to", Text: text(st.Transitions[trs-1].To)}
		case "event":
			e.Op, e.Key, e.Text = edit.Set, "on", text("paid")
			undo = &edit.Edit{Op: edit.Set, Activity: "stateMachine1", Part: edit.TransitionPart, State: st.Name, Number: trs, Key: "on", Text: text(st.Transitions[trs-1].On)}
		case "transition's condition":
			e.Op, e.Key, e.Text = edit.Set, "when", text("${{ inputs.z }}")
			undo = &edit.Edit{Op: edit.Set, Activity: "stateMachine1", Part: edit.TransitionPart, State: st.Name, Number: trs, Key: "when", Text: text(st.Transitions[trs-1].When)}
		}
		after, problems := apply(src, e)
		if len(problems) > 0 {
			nothing := strings.Contains(problems[0].Detail, "changes nothing") || strings.Contains(problems[0].Detail, "already")
			if nothing || op == "move case" && k == len(sw.Cases) || problems[0].Code == "comment-lost" {
				return
			}
			t.Fatalf("%+v is refused: %v\n%s", e, problems, src)
		}
		done[op]++
		got := shape(t, after, json)
		if undo == nil && !strings.HasPrefix(op, "delete") && op != "new transition" || op == "rename" || op == "first" || op == "label" {
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: %q, want %q\n%s\nbecame\n%s", e, got, want, src, after)
			}
		}
		if !strings.HasPrefix(op, "delete") && !slices.Equal(sayings(src), sayings(after)) {
			t.Fatalf("%+v: a comment is lost\n%s\nbecame\n%s", e, src, after)
		}
		if strings.HasPrefix(op, "delete") && len(got) >= len(before) {
			t.Fatalf("%+v: nothing is gone\n%s\nbecame\n%s", e, src, after)
		}
		if undo == nil {
			return
		}
		back, problems := apply(after, *undo)
		if len(problems) > 0 || !slices.Equal(shape(t, back, json), before) {
			t.Fatalf("%+v cannot be undone: %v\n%s\nbecame\n%s\nand then\n%s", e, problems, src, after, back)
		}
		if styled := op == "label" || op == "rename" || op == "condition" || op == "move case"; !json && !styled && string(back) != string(src) {
			t.Fatalf("%+v is undone to another text\n%s\nbecame\n%s\nand then\n%s", e, src, after, back)
		}
	})
	eachWasDone(t, ops, done, nil)
}
