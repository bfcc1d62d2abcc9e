package elsajson

import (
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/custom"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// activityReader reads one activity: its fields by the type's descriptor, and by
// their shape where that says nothing.
type activityReader struct {
	*reader
	d      *workflow.Descriptor // nil for unknown types and definitions used as activities
	a      *workflow.Activity
	holds  map[string]bool // fields that hold activities, or are derived
	cases  string          // the field that holds cases, if any
	byName map[string]field
}

// activity reads an activity, nil for null and for what is none.
func (r *reader) activity(c cur) *workflow.Activity {
	if c.Kind == jsontree.Null || r.full {
		return nil
	}
	if c.Kind != jsontree.Object {
		r.shape(c, "an activity", "an object")
		return nil
	}
	if r.activities++; r.activities > workflow.MaxActivities {
		r.full = true
		r.report.TooManyActivities(r.place(c))
		return nil
	}
	a := &workflow.Activity{Place: r.place(c)}
	fs := r.fields(c)
	for _, f := range fs {
		if f.name == "type" {
			a.Type = r.str(f)
		}
	}
	if a.Type == "" {
		r.problem("missing-type", c, "an activity needs a type, such as Elsa.WriteLine")
		return nil
	}
	ar := &activityReader{reader: r, d: r.descriptor(a.Type), a: a, holds: map[string]bool{}, byName: map[string]field{}}
	for _, f := range fs {
		ar.byName[f.name] = f
	}
	ar.refer(fs)
	for _, f := range fs {
		if ar.common(f) || ar.structure(f) {
			continue
		}
		if name, clash := ar.clashing(f); clash {
			ar.specific(field{name, f.cur})
		} else {
			ar.specific(f)
		}
	}
	if elsas, other := waitsUnlessSaid[a.Type]; other && a.Ref == nil {
		if wait, given := a.Inputs[waitInput]; !given {
			setInput(a, waitInput, workflow.Expression{Kind: workflow.Literal, Value: elsas})
		} else if wait.Kind == workflow.Literal && wait.Value == !elsas {
			delete(a.Inputs, waitInput) // it is written again
		}
	}
	ar.settings(fs)
	ar.graph(fs)
	if a.ID == "" {
		a.ID = "a-" + workflow.DeriveID(c.ptr)[:10]
	}
	a.Extra = r.keep(fs, (&writer{types: r.types}).activityFields(a), ar.holds)
	return a
}

// waitsUnlessSaid are activities that wait for their children, or not, where a definition says nothing, in Elsa the other way
// round than in the other notation: what is read and written says it.
var waitsUnlessSaid = map[string]bool{"Elsa.ExecuteWorkflow": false, "Elsa.BulkDispatchWorkflows": true}

const waitInput = "waitForCompletion"

// refer reads which definition this activity runs, if its type is the name of
// one. Activities such as ExecuteWorkflow have an input of the same name.
func (ar *activityReader) refer(fs []field) {
	if ar.d != nil {
		if _, ok := ar.d.Input("workflowDefinitionId"); ok {
			return
		}
	}
	var ref workflow.DefinitionRef
	for _, f := range fs {
		if f.Kind != jsontree.String {
			continue
		}
		switch f.name {
		case "workflowDefinitionId":
			ref.ID = f.Text
		case "workflowDefinitionVersionId":
			ref.VersionID = f.Text
		}
	}
	if ref.ID == "" && ref.VersionID == "" {
		return
	}
	for _, f := range fs {
		if f.name == "version" && (f.Kind == jsontree.Number || f.Kind == jsontree.String) {
			ref.Version = ar.whole(f)
		}
	}
	ar.a.Ref = &ref
	ar.d = nil
}

// common reads the fields that every activity has.
func (ar *activityReader) common(f field) bool {
	a := ar.a
	switch f.name {
	case "type":
	case "id":
		a.ID = ar.str(f)
	case "name":
		a.Name = ar.str(f)
	case "version":
		a.Version = ar.whole(f)
	case "customProperties":
		a.CustomProperties = ar.dict(f)
		custom.NameModes(a.CustomProperties)
	case "metadata":
		a.Metadata = ar.dict(f)
	case "nodeId", "applicationProperties", "canStartWorkflow", "runAsynchronously", "source", "line",
		"workflowDefinitionId", "workflowDefinitionVersionId", "latestAvailablePublishedVersion", "latestAvailablePublishedVersionId":
		if ar.d == nil {
			return !f.IsWrapper()
		}
		_, ok := ar.d.Input(f.name)
		return !ok
	default:
		return false
	}
	return true
}

// settings reads what customProperties and their predecessors say.
func (ar *activityReader) settings(fs []field) {
	c := custom.Read(ar.a.CustomProperties)
	for _, f := range fs {
		switch f.name {
		case "applicationProperties":
			old := custom.Peek(ar.dict(f))
			c.CanStart = c.CanStart || old.CanStart
		case "canStartWorkflow":
			c.CanStart = c.CanStart || f.Kind == jsontree.Boolean && f.Yes
		}
	}
	ar.a.CanStart, ar.a.MergeMode, ar.a.CommitStrategy, ar.a.LogPersistence = c.CanStart, c.Merge, c.Commit, c.Logs
}

// structure reads the fields of containers.
func (ar *activityReader) structure(f field) bool {
	switch {
	case ar.isList(f):
		ar.a.Activities = ar.children(f)
	case ar.isCases(f):
		ar.cases = f.name
		ar.holds[f.name] = true
		ar.a.Cases = each(ar.reader, ar.casesOf(f.cur), ar.readCase)
	case ar.isContainer() && ar.container(f):
	case ar.isMachine() && ar.machine(f):
	default:
		return false
	}
	return true
}

// isList tells whether a field has the children. Of a type that nobody knows, its
// content tells.
func (ar *activityReader) isList(f field) bool {
	if ar.d == nil {
		return f.name == "activities" && allActivities(ar.list(f.cur))
	}
	return ar.d.List != "" && f.name == ar.d.List
}

func (ar *activityReader) isCases(f field) bool {
	if ar.d == nil {
		return f.name == "cases" && allCases(ar.list(f.cur))
	}
	return ar.d.Cases != "" && f.name == ar.d.Cases && !isBareInput(f, ar.d)
}

// container reads what a container has beside its children.
func (ar *activityReader) container(f field) bool {
	switch {
	case f.name == "variables" && allDeclarations(ar.list(f.cur)):
		ar.a.Variables = each(ar.reader, f.cur, ar.variable)
	case f.name == "connections" && !f.IsWrapper(): // needs the activities: see graph
	case f.name == "start" && !f.IsWrapper():
		ar.a.Start = ar.idOf(f.cur)
	default:
		return false
	}
	return true
}

// machine reads the fields of a state machine.
func (ar *activityReader) machine(f field) bool {
	switch f.name {
	case "states":
		ar.a.States = each(ar.reader, f.cur, ar.state)
		ar.holds[f.name] = true
	case "transitions":
		ar.holds[f.name] = true // needs the states: see graph
	case "initialState":
		if ar.a.Initial == "" {
			ar.a.Initial = ar.plain(f)
		}
	case "currentState": // where it begins, before its initial state; a reference makes it an output
		state := ""
		if f.Kind == jsontree.String {
			state = strings.TrimSpace(f.Text)
		}
		if state == "" && f.Kind != jsontree.Null {
			return f.Kind == jsontree.String
		}
		if state != "" {
			ar.a.Initial = state
		}
	default:
		return false
	}
	return true
}

// isContainer tells whether the type may have children in a list.
func (ar *activityReader) isContainer() bool { return ar.d == nil || ar.d.List != "" }

const stateMachine = "Elsa.StateMachine"

func (ar *activityReader) isMachine() bool { return ar.a.Type == stateMachine }

func (ar *activityReader) children(f field) []*workflow.Activity {
	ar.holds[f.name] = true
	out := []*workflow.Activity{}
	for _, it := range ar.list(f.cur) {
		if child := ar.activity(it); child != nil {
			out = append(out, child)
		}
	}
	return out
}

// plain reads a text that may be wrapped as a literal input.
func (ar *activityReader) plain(f field) string {
	if f.Kind != jsontree.Object {
		return ar.str(f)
	}
	s, _ := ar.input(f.cur, workflow.InputDescriptor{}).Value.(string)
	return s
}

// idOf reads an activity's id, or that of an activity written in full.
func (r *reader) idOf(c cur) string {
	if id := c.Get("id"); id != nil {
		return id.Text
	}
	return r.str(field{"the id of an activity", c})
}

// specific reads a branch, an input or an output. What is none of them stays
// among the kept fields.
func (ar *activityReader) specific(f field) {
	a, d := ar.a, ar.d
	if d != nil {
		if port := find(d.Ports, f.name); port != "" && (f.IsActivity() || f.Kind == jsontree.Null) {
			ar.port(port, f)
			return
		}
		if in, ok := d.Input(f.name); ok {
			if e := ar.input(f.cur, in); !e.IsZero() {
				setInput(a, in.Name, e)
			}
			return
		}
		for _, out := range d.Outputs {
			if strings.EqualFold(out.Name, f.name) {
				ar.output(out.Name, f)
				return
			}
		}
	}
	switch {
	case f.IsActivity():
		ar.port(f.name, f)
	case f.Kind == jsontree.Object && f.Has("expression"):
		if e := ar.input(f.cur, workflow.InputDescriptor{}); !e.IsZero() {
			setInput(a, f.name, e)
		}
	case f.Kind == jsontree.Object && f.Has("memoryReference"):
		ar.output(f.name, f)
	case a.Ref != nil && f.Kind != jsontree.Null && f.Kind != jsontree.Object:
		setInput(a, f.name, ar.input(f.cur, workflow.InputDescriptor{}))
	}
}

func find(names []string, name string) string {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
	}
	return ""
}

func (ar *activityReader) port(name string, f field) {
	ar.holds[f.name] = f.Kind != jsontree.Null
	if child := ar.activity(f.cur); child != nil {
		if ar.a.Ports == nil {
			ar.a.Ports = map[string]*workflow.Activity{}
		}
		ar.a.Ports[name] = child
	}
}

func (ar *activityReader) output(name string, f field) {
	var target string
	switch f.Kind {
	case jsontree.Null:
		return
	case jsontree.String:
		target = f.Text
	case jsontree.Object:
		if m := f.Get("memoryReference"); m != nil {
			target = memory(m)
		}
	default:
		ar.shape(f.cur, "the output "+name, "an object with a memoryReference")
	}
	if target != "" {
		if ar.a.Outputs == nil {
			ar.a.Outputs = map[string]string{}
		}
		ar.a.Outputs[name] = target
	}
}

func setInput(a *workflow.Activity, name string, e workflow.Expression) {
	if a.Inputs == nil {
		a.Inputs = map[string]workflow.Expression{}
	}
	a.Inputs[name] = e
}
