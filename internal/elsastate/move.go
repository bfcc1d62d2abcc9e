package elsastate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Moved is an instance in Weft's form: the body of PUT /instances/{id}/state.
type Moved struct {
	Sequence int64             `json:"sequence"`
	Instance workflow.Instance `json:"instance"`
	State    json.RawMessage   `json:"state"`

	waits map[string]string // the bookmark that the end of a child resumes, by the child's id
}

// Children are the instances whose end it waits for.
func (m *Moved) Children() []string {
	var out []string
	for id := range m.waits {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// Adopt says in the child that its end resumes this one.
func (m *Moved) Adopt(child *Moved) {
	child.Instance.Parent = &workflow.Parent{InstanceID: m.Instance.ID, BookmarkID: m.waits[child.Instance.ID]}
}

// The encoded state of pkg/engine, as far as a state of Elsa's has it. [Move] reads what it wrote with the engine.
type (
	document struct {
		V          int            `json:"v"`
		Seq        int64          `json:"seq"`
		Started    bool           `json:"started"`
		Halted     bool           `json:"halted,omitempty"`
		Props      map[string]any `json:"props,omitempty"`
		Executions []execution    `json:"executions"`
		Bookmarks  []bookmark     `json:"bookmarks,omitempty"`
	}
	execution struct {
		ID      string         `json:"id"`
		Number  int64          `json:"n"`
		Parent  int            `json:"parent"`
		Node    string         `json:"node"`
		Faulted bool           `json:"faulted,omitempty"`
		Tag     string         `json:"tag,omitempty"`
		Vars    map[string]any `json:"vars,omitempty"`
		Scope   *scope         `json:"scope,omitempty"`
		Scratch any            `json:"scratch,omitempty"`
		Broken  *call          `json:"broken,omitempty"`
	}
	scope struct {
		Inputs map[string]any `json:"inputs,omitempty"`
	}
	call struct {
		Kind string `json:"kind"`
	}
	bookmark struct {
		*workflow.Bookmark
		On    int    `json:"on"`
		Child string `json:"child,omitempty"`
	}
)

// place is where a context of Elsa's stands.
type place struct {
	id      string // Elsa's
	at      string // in the file
	raw     any
	node    *engine.Node
	index   int  // of its execution
	itself  bool // it is the workflow of a definition, which is no activity here: its execution is that of what is around it
	faulted bool
	kids    []*place
	marks   []mark
}

// mark is a bookmark of Elsa's.
type mark struct {
	raw any
	at  string
}

// mover makes one instance.
type mover struct {
	in       *Instance
	prog     *engine.Program
	out      document
	header   workflow.Instance
	problems workflow.Problems
	waits    map[string]string
	marks    []bookmark
	contexts map[string][]*place // by the id of what is around them
	byID     map[string]*place
	claimed  map[string]bool // bookmarks, by where they stand
}

func (m *mover) refuse(code, at, format string, args ...any) {
	m.problems = append(m.problems, workflow.Problem{Code: code, Detail: fmt.Sprintf(format, args...), Place: workflow.Place{Pointer: at}})
}

// Move makes an instance of this version of a program of one that Elsa exported. Problems say, each with its place in
// the file, why it cannot be.
func Move(in *Instance, prog *engine.Program, version int) (*Moved, workflow.Problems) {
	m := &mover{in: in, prog: prog, waits: map[string]string{}, contexts: map[string][]*place{}, byID: map[string]*place{}, claimed: map[string]bool{}}
	if m.begin(version); len(m.problems) > 0 {
		return nil, m.problems
	}
	m.read()
	m.out = document{V: 1, Started: true, Halted: in.SubStatus == "Faulted", Props: m.mode()}
	root := &place{node: prog.Node("")}
	m.add(root, -1)
	for _, p := range m.contexts[""] {
		m.put(p, root)
	}
	m.left()
	if len(m.problems) > 0 {
		return nil, m.problems
	}
	m.out.Seq = int64(len(m.out.Executions))
	for _, b := range m.marks {
		if m.out.Halted {
			m.out.Bookmarks = append(m.out.Bookmarks, b)
			continue
		}
		m.header.Bookmarks = append(m.header.Bookmarks, *b.Bookmark)
		m.out.Bookmarks = append(m.out.Bookmarks, bookmark{On: b.On, Child: b.Child})
	}
	state, err := workflow.Marshal(m.out)
	if err == nil {
		_, err = engine.Load(prog, m.header, state, engine.Env{Now: func() time.Time { return m.header.UpdatedAt }})
	}
	if err != nil {
		m.refuse("unreadable", in.at, "it would not be readable here: %v", err)
		return nil, m.problems
	}
	return &Moved{Sequence: 1, Instance: m.header, State: state, waits: m.waits}, nil
}

// begin makes the header.
func (m *mover) begin(version int) {
	in, s := m.in, m.in.state
	sub := workflow.SubStatus(in.SubStatus)
	switch {
	case in.Ended():
		m.refuse("ended", in.at+"/subStatus", "it has ended: there is nothing to go on with")
	case flag(s, "isExecuting"), sub == workflow.Executing, in.SubStatus == "Interrupted", sub == workflow.Pending:
		m.refuse("executing", in.at+"/subStatus", "it is %s: pause or drain Elsa until it waits, and export it again", strings.ToLower(in.SubStatus))
	case len(list(s, "scheduledActivities")) > 0:
		m.refuse("executing", in.at+"/scheduledActivities", "activities are scheduled and have not run: let Elsa run them until it waits, and export it again")
	case sub != workflow.Suspended && sub != workflow.Faulted:
		m.refuse("bad-state", in.at+"/subStatus", "%s is no sub-status that is known", workflow.Shorten(in.SubStatus))
	}
	h := &m.header
	*h = workflow.Instance{ID: in.ID, DefinitionID: m.prog.Definition().ID, Version: version, Status: sub.Status(), SubStatus: sub, CorrelationID: text(s, "correlationId"), Name: text(s, "name")}
	for what, name := range map[string]string{"correlationId": h.CorrelationID, "name": h.Name} {
		if err := workflow.CheckName(what, name); err != nil {
			m.refuse("bad-name", in.at+"/"+what, "%v", err)
		}
	}
	var ok, ok2 bool
	if h.CreatedAt, ok = moment(s, "createdAt"); !ok {
		m.refuse("bad-time", in.at+"/createdAt", "it does not say when it was created")
	}
	if h.UpdatedAt, ok2 = moment(s, "updatedAt"); !ok2 {
		h.UpdatedAt = h.CreatedAt
	}
	if sub == workflow.Faulted {
		at, ok := moment(s, "finishedAt")
		if !ok {
			at = h.UpdatedAt
		}
		h.FinishedAt = &at
	}
	if in.Parent != "" {
		h.Parent = &workflow.Parent{InstanceID: in.Parent}
	}
	h.Input, h.Output = m.values(object(s, "input"), in.at+"/input"), m.values(object(s, "output"), in.at+"/output")
	delete(h.Input, "ParentInstanceId") // Elsa's own
	def := m.prog.Definition()
	for _, d := range def.Inputs {
		if v, ok := h.Input[d.Name]; ok {
			h.Input[d.Name] = m.typed(v, alias(d.Type, d.IsArray), in.at+"/input/"+d.Name)
		}
	}
}

// mode is how Elsa was told to run flowcharts.
func (m *mover) mode() map[string]any {
	const property = "Flowchart:ExecutionMode"
	if v := text(get(m.in.state, "properties"), property); v != "" {
		return map[string]any{property: v}
	}
	return nil
}

// values is an object in the engine's value space.
func (m *mover) values(v map[string]any, at string) map[string]any {
	if len(v) == 0 {
		return nil
	}
	n, err := engine.Normalize(v)
	if err != nil {
		m.refuse("bad-value", at, "%v", err)
		return nil
	}
	out, _ := n.(map[string]any)
	return out
}

// typed is a value of a declared type, as it is kept: times and spans are texts.
func (m *mover) typed(v any, alias, at string) any {
	n, err := engine.Normalize(v)
	if err == nil && n != nil {
		switch strings.ToLower(alias) {
		case "string", "guid", "boolean", "bool", "int16", "int32", "int64", "byte", "integer", "int", "long", "single", "double", "decimal", "number":
			if n, err = engine.Convert(n, alias); err == nil {
				n, err = engine.Normalize(n)
			}
		}
	}
	if err != nil {
		m.refuse("bad-value", at, "it does not fit the type %s: %v", cmp.Or(alias, "Object"), err)
		return nil
	}
	return n
}

func alias(typ string, isArray bool) string {
	if isArray {
		return typ + "[]"
	}
	return typ
}

// read finds the contexts, what is around each, and its bookmarks.
func (m *mover) read() {
	s, at := m.in.state, m.in.at
	marks := map[string][]mark{}
	for i, b := range list(s, "bookmarks") {
		of := text(b, "activityInstanceId")
		marks[of] = append(marks[of], mark{b, fmt.Sprintf("%s/bookmarks/%d", at, i)})
	}
	for i, c := range list(s, "activityExecutionContexts") {
		p := &place{id: text(c, "id"), at: fmt.Sprintf("%s/activityExecutionContexts/%d", at, i), raw: c}
		switch status := named(get(c, "status"), "Pending", "Running", "Completed", "Canceled", "Faulted"); status {
		case "Completed", "Canceled":
			continue
		case "Faulted":
			p.faulted = true
		case "Pending":
			m.refuse("executing", p.at+"/status", "the activity %s is scheduled and has not run: let Elsa run it until it waits, and export it again", text(c, "scheduledActivityNodeId"))
		}
		if p.id == "" || m.byID[p.id] != nil {
			m.refuse("bad-state", p.at+"/id", "contexts have an id of their own each, and this one has %q", workflow.Shorten(p.id))
			continue
		}
		p.marks = marks[p.id]
		m.byID[p.id] = p
		around := text(c, "parentContextId")
		m.contexts[around] = append(m.contexts[around], p)
	}
	for i, inc := range list(s, "incidents") {
		m.incident(inc, fmt.Sprintf("%s/incidents/%d", at, i))
	}
}

// maxIncidents is how many an instance remembers here.
const maxIncidents = 50

func (m *mover) incident(raw any, at string) {
	inc := workflow.Incident{ActivityID: text(raw, "activityId"), ActivityType: text(raw, "activityType"), Message: text(raw, "message")}
	inc.Cause = text(get(raw, "exception"), "message")
	if inc.Cause == inc.Message {
		inc.Cause = ""
	}
	if of := text(raw, "activityInstanceId"); of != "" {
		inc.ContextID = m.executionID(of)
	}
	var ok bool
	if inc.Time, ok = moment(raw, "timestamp"); !ok {
		m.refuse("bad-time", at+"/timestamp", "the incident does not say when it happened")
	}
	m.header.Incidents = append(m.header.Incidents, inc)
	if n := len(m.header.Incidents); n > maxIncidents {
		m.header.Incidents = m.header.Incidents[n-maxIncidents:]
	}
}

func (m *mover) executionID(context string) string {
	return workflow.DeriveID(m.in.ID, "elsa", context)
}

// add gives a place its execution.
func (m *mover) add(p *place, parent int) {
	p.index = len(m.out.Executions)
	x := execution{ID: m.executionID(p.id), Number: int64(p.index + 1), Parent: parent, Node: p.node.ID(), Faulted: p.faulted}
	if p.faulted {
		x.Broken = &call{"execute"}
	}
	m.out.Executions = append(m.out.Executions, x)
}

// put finds the activity that a context is of, below what is around it, and then what is inside of it.
func (m *mover) put(p, around *place) {
	node := text(p.raw, "scheduledActivityNodeId")
	p.node = m.child(around.node, node)
	switch {
	case p.node != nil:
		m.add(p, around.index)
		around.kids = append(around.kids, p)
	case bounds(around.node) && !around.itself:
		p.node, p.index, p.itself = around.node, around.index, true
	default:
		m.refuse("unknown-activity", p.at+"/scheduledActivityNodeId", "it stands at the activity %s, and this version of %s has none of that id there: is it of another version?", workflow.Shorten(node), m.header.DefinitionID)
		return
	}
	m.variables(p)
	for _, kid := range m.contexts[p.id] {
		m.put(kid, p)
	}
	if p.itself {
		for _, b := range p.marks {
			m.refuse("unknown-wait", b.at, "the workflow itself waits, and here only activities do")
		}
		around.kids = append(around.kids, p.kids...)
		return
	}
	m.wait(p)
	m.remember(p)
}

// bounds tells whether a node is what a definition runs in.
func bounds(n *engine.Node) bool { return n.Parent() == nil || n.Activity().Ref != nil }

// child is the activity below n that Elsa's id of a node names: its last part is the activity's id.
func (m *mover) child(n *engine.Node, node string) *engine.Node {
	var best *engine.Node
	for _, c := range m.prog.Nodes() {
		id := c.LocalID()
		if c.Parent() == n && (node == id || strings.HasSuffix(node, ":"+id)) && (best == nil || len(id) > len(best.LocalID())) {
			best = c
		}
	}
	return best
}

// left refuses what is at no place.
func (m *mover) left() {
	if len(m.problems) > 0 { // they may be the reason
		return
	}
	for around, places := range m.contexts {
		if around != "" && m.byID[around] == nil {
			m.refuse("bad-state", places[0].at+"/parentContextId", "the context around it, %s, is not in the state", workflow.Shorten(around))
		}
	}
	faulted := false
	for i, b := range list(m.in.state, "bookmarks") {
		if of := m.byID[text(b, "activityInstanceId")]; of == nil {
			m.refuse("unknown-wait", fmt.Sprintf("%s/bookmarks/%d/activityInstanceId", m.in.at, i), "the bookmark is of an activity that does not run")
		}
	}
	for _, p := range m.byID {
		faulted = faulted || p.faulted
		if p.node == nil && len(m.problems) == 0 {
			m.refuse("bad-state", p.at, "it is around itself")
		}
	}
	switch {
	case len(m.problems) > 0:
	case m.out.Halted && !faulted:
		m.refuse("bad-state", m.in.at+"/subStatus", "it is faulted, and no activity of it is: nothing could be tried again")
	case !m.out.Halted && len(m.marks) == 0:
		m.refuse("nothing-waits", m.in.at+"/bookmarks", "it waits for nothing, so that nothing would ever go on, in Elsa neither")
	}
	m.problems.Sort()
}

// variables gives an execution the variables of its scope. One that Elsa does not keep begins again with its first value, as
// in Elsa.
func (m *mover) variables(p *place) {
	declared := p.node.Activity().Variables
	if bounds(p.node) {
		declared = p.node.Port("root").Definition().Variables
		m.inputs(p)
	}
	kept := object(get(p.raw, "properties"), "Variables")
	older := object(get(p.raw, "properties"), "PersistentVariablesDictionary")
	find := func(id, name string) (any, bool) {
		for _, from := range []map[string]any{kept, older} {
			for _, key := range []string{id, name} {
				if v, ok := from[key]; ok && key != "" {
					return v, true
				}
			}
		}
		return nil, false
	}
	x := &m.out.Executions[p.index]
	set := func(name string, v any) {
		if x.Vars == nil {
			x.Vars = map[string]any{}
		}
		x.Vars[name] = v
	}
	for _, d := range declared {
		if v, ok := find(d.ID, d.Name); ok {
			set(d.Name, m.typed(v, alias(d.Type, d.IsArray), p.at+"/properties/Variables/"+cmp.Or(d.ID, d.Name)))
		}
	}
	for i, d := range list(p.raw, "dynamicVariables") {
		name := text(d, "name")
		v, ok := find(text(d, "id"), name)
		if !ok {
			v = get(d, "value")
		}
		set(name, m.typed(v, alias(text(d, "typeName"), flag(d, "isArray")), fmt.Sprintf("%s/dynamicVariables/%d", p.at, i)))
	}
}

// inputs are those of a definition that is used as an activity.
func (m *mover) inputs(p *place) {
	if p.node.Parent() == nil || p.itself {
		return
	}
	given := map[string]any{}
	for _, d := range p.node.Port("root").Definition().Inputs {
		if v := get(get(p.raw, "activityState"), d.Name); v != nil {
			given[d.Name] = m.typed(v, alias(d.Type, d.IsArray), p.at+"/activityState/"+d.Name)
		}
	}
	if len(given) > 0 {
		m.out.Executions[p.index].Scope = &scope{given}
	}
}
