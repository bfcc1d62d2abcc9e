package edit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// What an edit may be about that an activity holds, and that is no activity.
const (
	CasePart       = "case"       // of a switch and its like
	StatePart      = "state"      // of a state machine
	TransitionPart = "transition" // out of a state
)

// Parts are what an edit may be about beside activities.
var Parts = []string{CasePart, StatePart, TransitionPart}

const (
	machineType = "Elsa.StateMachine"
	eventType   = "Elsa.Event"
	statusCases = "expectedStatusCodes" // their labels are status codes of HTTP
)

// partKeys are what may be set of a part, in the order in which they are written. YAML has
// other names than Elsa's JSON.
var partKeys = map[string][]string{
	CasePart:       {"label", "when"},
	StatePart:      {"name", "final", "initial"},
	TransitionPart: {"name", "on", "when", "to"},
}

var jsonKeys = map[string]string{"when": "condition", "on": "trigger", "final": "isFinal"}

// PartEdit is an edit of a part.
type PartEdit struct {
	Op     string // Insert, Delete, Move or Set
	Part   string // which of [Parts]
	State  string // of a state, and of a transition the state that it leaves
	Number int    // of a case or a transition, from 1
	Where  string // of Insert and Move; "": After
	Inputs map[string]any
	Key    string // of Set
	Value  any    // of Set; a text as a person writes it in a field
}

// shelf is where an activity keeps its cases, its states, or the transitions of a state.
type shelf struct {
	*Change
	site  *site
	what  string
	key   string   // of what holds them
	holds *node    // that, a list or a mapping; nil, or null: there are none
	state int      // of transitions: the position of the state that they leave
	of    *node    // of transitions in YAML, or in a state of JSON: that state
	items []*node  // the parts
	names []string // of states
}

// editPart makes an edit of a case, a state or a transition.
func editPart(c *Change, s *site, e PartEdit) error {
	h, err := shelfOf(c, s, e)
	if err != nil {
		return err
	}
	at := -1
	if e.Op != Insert || e.Number != 0 || e.Part == StatePart && e.State != "" {
		if at, err = h.find(e); err != nil {
			return err
		}
	}
	switch e.Op {
	case Insert:
		switch where := cmp.Or(e.Where, After); {
		case where == Before:
			at = max(at, 0)
		case where != After:
			return bad("a %s goes before or after another one, not %q", e.Part, workflow.Shorten(e.Where))
		case at < 0:
			at = len(h.items)
		default:
			at++
		}
		if err := h.keepsFirst(at); err != nil {
			return err
		}
		return h.insertPart(at, e)
	case Delete:
		if err := h.mayGo(at); err != nil {
			return err
		}
		return h.take(at)
	case Move:
		return h.shiftPart(at, e.Where)
	case Set:
		return h.setPart(at, e.Key, e.Value)
	}
	return bad("of a %s, an edit is insert, delete, move or set, not %q", e.Part, workflow.Shorten(e.Op))
}

// shelfOf finds the parts that an edit is about.
func shelfOf(c *Change, s *site, e PartEdit) (*shelf, error) {
	t := c.sites.types.ByType(s.activity.Type)
	h := &shelf{Change: c, site: s, what: e.Part}
	switch e.Part {
	case CasePart:
		if t == nil || t.Cases == "" {
			return nil, refuse(s.node.start, "%q is no switch, and has no cases", workflow.Shorten(s.activity.ID))
		}
		h.key = t.Cases
	case StatePart, TransitionPart:
		if s.activity.Type != machineType {
			return nil, refuse(s.node.start, "%q is no state machine, and has no states", workflow.Shorten(s.activity.ID))
		}
		h.key = "states"
	default:
		return nil, bad("a part of an activity is one of %s, not %q%s", strings.Join(Parts, ", "), workflow.Shorten(e.Part), workflow.DidYouMean(e.Part, Parts))
	}
	if s.node.kind != mapping {
		return nil, refuse(s.node.start, "%q is written as a bare name; write a mapping to give it a %s", workflow.Shorten(s.activity.ID), e.Part)
	}
	h.holds = s.held(h.key)
	if body := s.body(); h.holds == nil && body != nil && body.kind == list && e.Part == CasePart {
		h.holds = body
	}
	if x := h.holds.val("expression"); c.text.json && x != nil { // an input's wrapper
		h.holds = x.val("value")
	}
	n := len(s.activity.Cases)
	if e.Part != CasePart {
		n = len(s.activity.States)
		for _, st := range s.activity.States {
			h.names = append(h.names, st.Name)
		}
	}
	if err := h.open(n); err != nil || e.Part != TransitionPart {
		return h, err
	}
	h.what = StatePart
	at, err := h.find(e)
	if err != nil {
		return nil, err
	}
	return h, h.openState(at)
}

// body is what stands behind the type of an activity in YAML; nil: nothing may.
func (s *site) body() *node {
	if s.key < 0 || s.node.kind != mapping {
		return nil
	}
	return s.node.vals[s.key]
}

// held is the value of a key of an activity, in its body or beside its type; nil: there is none.
func (s *site) held(name string) *node {
	if v := s.body().val(name); v != nil {
		return v
	}
	return s.node.val(name)
}

// open finds the parts in what holds them; there have to be as many as the activity has.
func (h *shelf) open(n int) error {
	h.items = nil
	switch {
	case h.holds == nil || h.holds.isNull():
	case h.holds.kind == list:
		h.items = h.holds.items
	case h.holds.kind == mapping && !h.text.json:
		h.items = h.holds.vals
	}
	if len(h.items) != n {
		return refuse(h.site.node.start, "each %s of %q is written in a way that cannot be edited here; edit the text", h.what, workflow.Shorten(h.site.activity.ID))
	}
	return nil
}

// openState goes on to the transitions of a state.
func (h *shelf) openState(at int) error {
	h.what, h.key, h.state, h.of = TransitionPart, "transitions", at, h.items[at]
	all := h.site.activity.States[at].Transitions
	h.holds = h.of.val("transitions")
	if beside := h.site.node.val("transitions"); h.text.json && h.holds == nil && beside != nil && beside.kind == list { // as the designer has them
		h.holds, h.items = beside, nil
		for _, t := range all {
			if n := h.text.mappingAt(t.Place); n != nil && n.parent == beside {
				h.items = append(h.items, n)
			}
		}
		if len(h.items) == len(all) {
			return nil
		}
	}
	return h.open(len(all))
}

// mappingAt is the mapping that begins at a place; nil: none does.
func (d *doc) mappingAt(at workflow.Place) (found *node) {
	start := d.offset(at.Line, at.Column)
	d.root.each(func(n *node) {
		if n.start == start && n.kind == mapping && found == nil {
			found = n
		}
	})
	return found
}

// find gives the position of the part that an edit is about.
func (h *shelf) find(e PartEdit) (int, error) {
	if h.what == StatePart {
		if i := slices.Index(h.names, e.State); i >= 0 && e.State != "" {
			return i, nil
		}
		return 0, &refusal{"no-such-part", -1, fmt.Sprintf("there is no state %q in %q%s", workflow.Shorten(e.State), workflow.Shorten(h.site.activity.ID), workflow.DidYouMean(e.State, h.names))}
	}
	if e.Number < 1 || e.Number > len(h.items) {
		of := h.site.activity.ID
		if h.what == TransitionPart {
			of = e.State
		}
		return 0, &refusal{"no-such-part", -1, fmt.Sprintf("there is no %s %d of %q, which has %d", h.what, e.Number, workflow.Shorten(of), len(h.items))}
	}
	return e.Number - 1, nil
}

// insertPart writes a new part.
func (h *shelf) insertPart(at int, e PartEdit) error {
	given := map[string]any{}
	for key, v := range e.Inputs {
		if !slices.Contains(partKeys[h.what], key) || key == "initial" {
			return bad("a new %s has no %q%s", h.what, workflow.Shorten(key), workflow.DidYouMean(key, partKeys[h.what]))
		}
		if v = meant(key, v); v != nil {
			given[key] = v
		}
	}
	if err := h.complete(given); err != nil {
		return err
	}
	if h.what == StatePart && !h.text.json && (h.holds == nil || h.holds.kind != list) {
		return h.insertState(at, given)
	}
	if h.holds != nil && h.holds.kind == mapping {
		return h.insertLabelled(at, given)
	}
	p, err := h.newPart(given)
	if err != nil {
		return err
	}
	if h.holds != nil && h.holds.kind == list {
		if h.text.json && h.what == TransitionPart && at < len(h.items) { // among those of all states
			at = h.items[at].at
		} else if h.text.json && h.what == TransitionPart {
			at = len(h.holds.items)
		}
		return h.text.insertItem(h.holds, at, p)
	}
	return h.first(p)
}

// meant is what a value of a part is, where a text may stand for it; nil: nothing.
func meant(key string, v any) any {
	text, ok := v.(string)
	switch {
	case !ok:
		return v
	case text == "":
		return nil
	case slices.Contains([]string{"when", "final", "initial"}, key):
		return typed(text, workflow.InputDescriptor{Name: key, Type: "Boolean"}, true)
	}
	return text
}

// complete refuses a new part that lacks what it needs, and gives it what it may have instead.
func (h *shelf) complete(given map[string]any) error {
	label, _ := given["label"].(string)
	name, _ := given["name"].(string)
	to, _ := given["to"].(string)
	switch h.what {
	case CasePart:
		t := h.sites.types.ByType(h.site.activity.Type)
		if _, there := given["label"]; there && label == "" {
			return bad("the label of a case is a text")
		}
		switch {
		case h.key == statusCases && (label == "" || given["when"] != nil):
			return bad("a case here has a status code as its label, such as 404, and no more")
		case h.key == statusCases:
		case !t.CaseBodies && label == "":
			return bad("a case of %s needs a label: it is the outcome that leads on", t.ShortName())
		case given["when"] == nil:
			given["when"] = true
		}
		if label != "" && slices.ContainsFunc(h.site.activity.Cases, func(k workflow.Case) bool { return k.Label == label }) {
			return bad("there is a case %q already", workflow.Shorten(label))
		}
	case StatePart:
		return h.mayBeCalled(name)
	case TransitionPart:
		if !slices.Contains(h.names, to) {
			return bad("a transition leads to a state, and there is no state %q%s", workflow.Shorten(to), workflow.DidYouMean(to, h.names))
		}
		if on, there := given["on"]; there {
			if text, ok := on.(string); !ok || text == "" {
				return bad("a transition waits for the name of an event; write another activity in the text")
			}
		}
	}
	return nil
}

func (h *shelf) mayBeCalled(name string) error {
	switch {
	case name == "":
		return bad("a state needs a name")
	case slices.Contains(h.names, name):
		return bad("there is a state %q already", workflow.Shorten(name))
	}
	return nil
}

// newPart is a new item of a list.
func (h *shelf) newPart(given map[string]any) (*piece, error) {
	if h.text.json {
		raw, err := h.newJSON(given)
		if err != nil {
			return nil, err
		}
		return h.text.readPiece(&piece{text: func(_ bool, column int) (string, error) { return h.text.pretty(raw, column) }})
	}
	return h.text.readPiece(&piece{text: func(flow bool, column int) (string, error) {
		var rows []string
		for _, key := range partKeys[h.what] {
			v := given[key]
			if v == nil {
				continue
			}
			if key == "on" {
				v = map[string]any{"event": v}
			}
			if key == "label" && h.key == statusCases {
				key = "status"
			}
			text, err := value(v, between(flow))
			if err != nil {
				return "", err
			}
			rows = append(rows, key+": "+text)
		}
		if flow {
			return "{" + strings.Join(rows, ", ") + "}", nil
		}
		return h.text.indented(strings.Join(rows, "\n"), column), nil
	}})
}

// newJSON is a new part as Elsa's JSON has it.
func (h *shelf) newJSON(given map[string]any) (json.RawMessage, error) {
	around := map[string]any{"id": "x"}
	switch h.what {
	case CasePart:
		around[h.sites.types.ByType(h.site.activity.Type).ShortName()], around[h.key] = nil, []any{given}
	case StatePart:
		around["stateMachine"], around["states"] = nil, []any{given}
	case TransitionPart:
		if name, ok := given["on"]; ok {
			given["on"] = map[string]any{"event": name, "id": h.freeID("event")}
		}
		around["stateMachine"], around["states"] = nil, []any{map[string]any{"name": h.names[h.state], "transitions": []any{given}}}
	}
	fields, err := h.sites.exported(around)
	if err != nil {
		return nil, err
	}
	name := map[string]string{CasePart: h.key, StatePart: "states", TransitionPart: "transitions"}[h.what]
	var all []json.RawMessage
	if err := json.Unmarshal(fields[name], &all); err != nil || len(all) != 1 {
		return nil, refuse(h.site.node.start, "this %s cannot be written in Elsa's JSON; edit the text", h.what)
	}
	return all[0], nil
}

// insertState gives a mapping of states one more.
func (h *shelf) insertState(at int, given map[string]any) error {
	v := map[string]any{}
	if given["final"] == true {
		v["final"] = true
	}
	name := given["name"]
	switch m, body := h.site.node, h.site.body(); {
	case h.holds != nil && h.holds.kind == mapping:
		return h.text.addEntry(h.holds, at-1, name, v)
	case h.holds != nil:
		return h.text.setEntry(h.holds.parent, h.holds.at, map[string]any{name.(string): v}, false)
	case body != nil && body.kind == mapping:
		return h.text.addEntry(body, len(body.keys)-1, h.key, map[string]any{name.(string): v})
	default:
		return h.text.addEntry(m, h.site.key, h.key, map[string]any{name.(string): v})
	}
}

// insertLabelled gives a mapping from labels one more.
func (h *shelf) insertLabelled(at int, given map[string]any) error {
	label := given["label"]
	if text, _ := label.(string); text == "" {
		return refuse(h.holds.start, "the cases stand behind their labels here, so that a new one needs a label")
	}
	if h.key == statusCases {
		return h.text.addEntry(h.holds, at-1, json.Number(label.(string)), []any{})
	}
	if h.sites.types.ByType(h.site.activity.Type).CaseBodies {
		return refuse(h.holds.start, "the cases stand behind their labels here, which leaves no room for a condition; write a list of label, when and then")
	}
	return h.text.addEntry(h.holds, at-1, label, given["when"])
}

// first writes the first part of a list that is not there yet.
func (h *shelf) first(p *piece) error {
	n, body := h.site.node, h.site.body()
	if h.what == TransitionPart && !h.text.json {
		return h.firstOfState(p)
	}
	switch v := h.holds; {
	case v != nil && h.text.json:
		text, err := p.text(true, h.text.flowColumn(v.parent))
		if err != nil {
			return err
		}
		v.twin.replace(listOf(p.node))
		h.text.swap(v.start, v.end, "["+text+"]")
		return nil
	case v != nil && v.written():
		return refuse(v.start, "nothing can be added to what stands here; edit the text")
	case v != nil:
		return h.text.fill(v.parent, v.at, p)
	case body != nil && body.isNull() && !body.written():
		return h.text.fill(n, h.site.key, p)
	case body != nil && body.kind == mapping:
		return h.text.newKey(body, h.key, p, false)
	}
	return h.text.newKey(n, h.key, p, false)
}

// firstOfState writes the first transition of a state.
func (h *shelf) firstOfState(p *piece) error {
	v := h.of
	switch {
	case v.kind == alias:
		return refuse(v.start, "this state is written once and used again, so that an edit would change each of them; edit the text")
	case h.holds != nil && !h.holds.written():
		return h.text.fill(v, h.holds.at, p)
	case h.holds != nil:
		return refuse(h.holds.start, "nothing can be added to what stands here; edit the text")
	case v.kind == mapping && len(v.keys) > 0:
		return h.text.newKey(v, h.key, p, false)
	}
	// The state has nothing yet.
	g := v.parent
	entry := &node{kind: mapping, keys: []*node{textNode(h.key)}, vals: []*node{listOf(p.node)}}
	entry.adopt()
	if g.kind == list || g.flow {
		text, err := p.text(true, 0)
		if err != nil {
			return err
		}
		text = "{" + h.key + ": [" + text + "]}"
		if !v.written() {
			text = " " + text
		}
		v.twin.replace(entry)
		h.text.swap(v.start, v.end, text)
		return nil
	}
	column := h.text.indent(g.keys[v.at].start) + 2
	item, err := h.text.item(p, column+2)
	if err != nil {
		return err
	}
	v.twin.replace(entry)
	h.text.cut(g.colons[v.at], v.end)
	h.text.lineAt(h.text.next(v.end), strings.Repeat(" ", column)+h.key+":"+h.text.eol+item)
	return nil
}

// mayGo refuses to take a state away that others lead to, or that the machine begins in.
func (h *shelf) mayGo(at int) error {
	if h.what != StatePart {
		return nil
	}
	a, name := h.site.activity, h.names[at]
	for i, st := range a.States {
		for _, t := range st.Transitions {
			if t.To == name && i != at {
				return refuse(h.text.offset(t.Place.Line, t.Place.Column), "a transition of %s leads to %s; take it away or let it lead elsewhere first", workflow.Shorten(st.Name), workflow.Shorten(name))
			}
		}
	}
	if a.Initial == name {
		return refuse(h.items[at].start, "%s is the initial state; make another one that first", workflow.Shorten(name))
	}
	if a.Initial == "" && at == 0 && len(h.names) > 1 {
		return refuse(h.items[at].start, "the machine names no initial state, so that it begins in %s, its first; make another one the initial state before", workflow.Shorten(name))
	}
	if h.text.json && len(a.States[at].Transitions) > 0 {
		return refuse(h.items[at].start, "in Elsa's JSON the transitions of %s may stand elsewhere; take them away first", workflow.Shorten(name))
	}
	return nil
}

// keepsFirst refuses to put another state in the place of the first one, if the machine begins in
// that for want of an initial state.
func (h *shelf) keepsFirst(at int) error {
	if h.what != StatePart || at > 0 || len(h.names) == 0 || h.site.activity.Initial != "" {
		return nil
	}
	return refuse(h.items[0].start, "the machine names no initial state, so that it begins in %s, its first; make one the initial state before", workflow.Shorten(h.names[0]))
}

// take takes a part away.
func (h *shelf) take(at int) error {
	n := h.items[at]
	g := n.parent
	switch {
	case g.kind == list && (len(g.items) > 1 || g.flow):
		return h.text.removeItem(g, n.at, true)
	case g.kind == mapping && (len(g.keys) > 1 || g.flow):
		return h.text.removeEntry(g, n.at, true)
	}
	return h.text.emptied(g, true)
}

// shiftPart changes the order of two parts.
func (h *shelf) shiftPart(at int, where string) error {
	by := map[string]int{Up: -1, Down: 1}[where]
	switch {
	case by == 0:
		return bad("a %s moves up or down, not %q", h.what, workflow.Shorten(where))
	case at+by < 0 || at+by >= len(h.items):
		return refuse(h.items[at].start, "nothing stands %s this %s", map[string]string{Up: "above", Down: "below"}[where], h.what)
	}
	n, near := h.items[at], h.items[at+by]
	if n.parent.kind != list {
		return refuse(n.start, "what stands behind its name has no order that matters")
	}
	if err := h.keepsFirst(min(at, at+by)); err != nil {
		return err
	}
	p, err := h.text.lift(n)
	if err != nil {
		return err
	}
	to := near.at
	if by > 0 {
		to++
	}
	if err := h.text.insertItem(near.parent, to, p); err != nil {
		return err
	}
	return h.text.removeItem(n.parent, n.at, false)
}

// intoCase puts a piece into a case, counted from 1, that holds nothing. Of one that holds an
// activity it gives that: the piece goes behind it.
func intoCase(c *Change, s *site, number int, p *piece) (*site, error) {
	e := PartEdit{Part: CasePart, Number: number}
	h, err := shelfOf(c, s, e)
	if err != nil {
		return nil, err
	}
	at, err := h.find(e)
	if err != nil {
		return nil, err
	}
	if body := s.activity.Cases[at].Activity; body != nil {
		if inner := c.sites.siteOf(body); inner != nil {
			return inner, nil
		}
	}
	n, key := h.items[at], "then"
	if c.text.json {
		key = "activity"
	}
	switch v := n.val(key); {
	case h.holds.kind == mapping && n.isNull() && !n.written():
		return nil, c.text.fill(h.holds, at, p)
	case v != nil && v.isNull() && !v.written():
		return nil, c.text.fill(n, v.at, p)
	case n.kind != mapping || h.holds.kind == mapping || v != nil:
		return nil, refuse(n.start, "this case is written in a way that leaves no room for activities; edit the text")
	}
	return nil, c.text.newKey(n, key, p, c.text.json)
}
