package part

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// What an edit may be about that an activity holds, and that is no activity.
const (
	Case       = "case"       // of a switch and its like
	State      = "state"      // of a state machine
	Transition = "transition" // out of a state
)

// Kinds are what an edit may be about beside activities.
var Kinds = []string{Case, State, Transition}

// Words of definitions.
const (
	MachineType = "Elsa.StateMachine"
	EventType   = "Elsa.Event"
	StatusCases = "expectedStatusCodes" // their labels are status codes of HTTP
)

// Keys are what may be set of a part, in the order in which they are written. YAML has
// other names than Elsa's JSON.
var Keys = map[string][]string{
	Case:       {"label", "when"},
	State:      {"name", "final", "initial"},
	Transition: {"name", "on", "when", "to"},
}

var jsonKeys = map[string]string{"when": "condition", "on": "trigger", "final": "isFinal"}

// Edit is an edit of a part.
type Edit struct {
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
	*activity.Change
	site  *activity.Site
	what  string
	key   string       // of what holds them
	holds *text.Node   // that, a list or a mapping; nil, or null: there are none
	state int          // of transitions: the position of the state that they leave
	of    *text.Node   // of transitions in YAML, or in a state of JSON: that state
	items []*text.Node // the parts
	names []string     // of states
}

// Apply makes an edit of a case, a state or a transition.
func Apply(c *activity.Change, s *activity.Site, e Edit) error {
	h, err := shelfOf(c, s, e)
	if err != nil {
		return err
	}
	at := -1
	if e.Op != activity.Insert || e.Number != 0 || e.Part == State && e.State != "" {
		if at, err = h.find(e); err != nil {
			return err
		}
	}
	switch e.Op {
	case activity.Insert:
		switch where := cmp.Or(e.Where, activity.After); {
		case where == activity.Before:
			at = max(at, 0)
		case where != activity.After:
			return text.Bad("a %s goes before or after another one, not %q", e.Part, workflow.Shorten(e.Where))
		case at < 0:
			at = len(h.items)
		default:
			at++
		}
		if err := h.keepsFirst(at); err != nil {
			return err
		}
		return h.insertPart(at, e)
	case activity.Delete:
		if err := h.mayGo(at); err != nil {
			return err
		}
		return h.take(at)
	case activity.Move:
		return h.shiftPart(at, e.Where)
	case activity.Set:
		return h.setPart(at, e.Key, e.Value)
	}
	return text.Bad("of a %s, an edit is insert, delete, move or set, not %q", e.Part, workflow.Shorten(e.Op))
}

// shelfOf finds the parts that an edit is about.
func shelfOf(c *activity.Change, s *activity.Site, e Edit) (*shelf, error) {
	t := c.Sites.Types.ByType(s.Activity.Type)
	h := &shelf{Change: c, site: s, what: e.Part}
	switch e.Part {
	case Case:
		if t == nil || t.Cases == "" {
			return nil, text.Refuse(s.Node.Start, "%q is no switch, and has no cases", workflow.Shorten(s.Activity.ID))
		}
		h.key = t.Cases
	case State, Transition:
		if s.Activity.Type != MachineType {
			return nil, text.Refuse(s.Node.Start, "%q is no state machine, and has no states", workflow.Shorten(s.Activity.ID))
		}
		h.key = "states"
	default:
		return nil, text.Bad("a part of an activity is one of %s, not %q%s", strings.Join(Kinds, ", "), workflow.Shorten(e.Part), workflow.DidYouMean(e.Part, Kinds))
	}
	if s.Node.Kind != text.Mapping {
		return nil, text.Refuse(s.Node.Start, "%q is written as a bare name; write a mapping to give it a %s", workflow.Shorten(s.Activity.ID), e.Part)
	}
	h.holds = s.Held(h.key)
	if body := s.Body(); h.holds == nil && body != nil && body.Kind == text.List && e.Part == Case {
		h.holds = body
	}
	if x := h.holds.Val("expression"); c.Text.JSON && x != nil { // an input's wrapper
		h.holds = x.Val("value")
	}
	n := len(s.Activity.Cases)
	if e.Part != Case {
		n = len(s.Activity.States)
		for _, st := range s.Activity.States {
			h.names = append(h.names, st.Name)
		}
	}
	if err := h.open(n); err != nil || e.Part != Transition {
		return h, err
	}
	h.what = State
	at, err := h.find(e)
	if err != nil {
		return nil, err
	}
	return h, h.openState(at)
}

// open finds the parts in what holds them; there have to be as many as the activity has.
func (h *shelf) open(n int) error {
	h.items = nil
	switch {
	case h.holds == nil || h.holds.IsNull():
	case h.holds.Kind == text.List:
		h.items = h.holds.Items
	case h.holds.Kind == text.Mapping && !h.Text.JSON:
		h.items = h.holds.Vals
	}
	if len(h.items) != n {
		return text.Refuse(h.site.Node.Start, "each %s of %q is written in a way that cannot be edited here; edit the text", h.what, workflow.Shorten(h.site.Activity.ID))
	}
	return nil
}

// openState goes on to the transitions of a state.
func (h *shelf) openState(at int) error {
	h.what, h.key, h.state, h.of = Transition, "transitions", at, h.items[at]
	all := h.site.Activity.States[at].Transitions
	h.holds = h.of.Val("transitions")
	if beside := h.site.Node.Val("transitions"); h.Text.JSON && h.holds == nil && beside != nil && beside.Kind == text.List { // as the designer has them
		h.holds, h.items = beside, nil
		for _, t := range all {
			if n := h.Text.MappingAt(t.Place); n != nil && n.Parent == beside {
				h.items = append(h.items, n)
			}
		}
		if len(h.items) == len(all) {
			return nil
		}
	}
	return h.open(len(all))
}

// find gives the position of the part that an edit is about.
func (h *shelf) find(e Edit) (int, error) {
	if h.what == State {
		if i := slices.Index(h.names, e.State); i >= 0 && e.State != "" {
			return i, nil
		}
		return 0, &text.RefusalError{Code: "no-such-part", At: -1, Detail: fmt.Sprintf("there is no state %q in %q%s", workflow.Shorten(e.State), workflow.Shorten(h.site.Activity.ID), workflow.DidYouMean(e.State, h.names))}
	}
	if e.Number < 1 || e.Number > len(h.items) {
		of := h.site.Activity.ID
		if h.what == Transition {
			of = e.State
		}
		return 0, &text.RefusalError{Code: "no-such-part", At: -1, Detail: fmt.Sprintf("there is no %s %d of %q, which has %d", h.what, e.Number, workflow.Shorten(of), len(h.items))}
	}
	return e.Number - 1, nil
}

// insertPart writes a new part.
func (h *shelf) insertPart(at int, e Edit) error {
	given := map[string]any{}
	for key, v := range e.Inputs {
		if !slices.Contains(Keys[h.what], key) || key == "initial" {
			return text.Bad("a new %s has no %q%s", h.what, workflow.Shorten(key), workflow.DidYouMean(key, Keys[h.what]))
		}
		if v = meant(key, v); v != nil {
			given[key] = v
		}
	}
	if err := h.complete(given); err != nil {
		return err
	}
	if h.what == State && !h.Text.JSON && (h.holds == nil || h.holds.Kind != text.List) {
		return h.insertState(at, given)
	}
	if h.holds != nil && h.holds.Kind == text.Mapping {
		return h.insertLabelled(at, given)
	}
	p, err := h.newPart(given)
	if err != nil {
		return err
	}
	if h.holds != nil && h.holds.Kind == text.List {
		if h.Text.JSON && h.what == Transition && at < len(h.items) { // among those of all states
			at = h.items[at].At
		} else if h.Text.JSON && h.what == Transition {
			at = len(h.holds.Items)
		}
		return h.Text.InsertItem(h.holds, at, p)
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
		return activity.Typed(text, workflow.InputDescriptor{Name: key, Type: "Boolean"}, true)
	}
	return text
}

// complete refuses a new part that lacks what it needs, and gives it what it may have instead.
func (h *shelf) complete(given map[string]any) error {
	label, _ := given["label"].(string)
	name, _ := given["name"].(string)
	to, _ := given["to"].(string)
	switch h.what {
	case Case:
		t := h.Sites.Types.ByType(h.site.Activity.Type)
		if _, there := given["label"]; there && label == "" {
			return text.Bad("the label of a case is a text")
		}
		switch {
		case h.key == StatusCases && (label == "" || given["when"] != nil):
			return text.Bad("a case here has a status code as its label, such as 404, and no more")
		case h.key == StatusCases:
		case !t.CaseBodies && label == "":
			return text.Bad("a case of %s needs a label: it is the outcome that leads on", t.ShortName())
		case given["when"] == nil:
			given["when"] = true
		}
		if label != "" && slices.ContainsFunc(h.site.Activity.Cases, func(k workflow.Case) bool { return k.Label == label }) {
			return text.Bad("there is a case %q already", workflow.Shorten(label))
		}
	case State:
		return h.mayBeCalled(name)
	case Transition:
		if !slices.Contains(h.names, to) {
			return text.Bad("a transition leads to a state, and there is no state %q%s", workflow.Shorten(to), workflow.DidYouMean(to, h.names))
		}
		if on, there := given["on"]; there {
			if event, ok := on.(string); !ok || event == "" {
				return text.Bad("a transition waits for the name of an event; write another activity in the text")
			}
		}
	}
	return nil
}

func (h *shelf) mayBeCalled(name string) error {
	switch {
	case name == "":
		return text.Bad("a state needs a name")
	case slices.Contains(h.names, name):
		return text.Bad("there is a state %q already", workflow.Shorten(name))
	}
	return nil
}

// newPart is a new item of a list.
func (h *shelf) newPart(given map[string]any) (*text.Piece, error) {
	if h.Text.JSON {
		raw, err := h.newJSON(given)
		if err != nil {
			return nil, err
		}
		return h.Text.ReadPiece(&text.Piece{Text: func(_ bool, column int) (string, error) { return h.Text.Pretty(raw, column) }})
	}
	return h.Text.ReadPiece(&text.Piece{Text: func(flow bool, column int) (string, error) {
		var rows []string
		for _, key := range Keys[h.what] {
			v := given[key]
			if v == nil {
				continue
			}
			if key == "on" {
				v = map[string]any{"event": v}
			}
			if key == "label" && h.key == StatusCases {
				key = "status"
			}
			text, err := text.Value(v, text.Between(flow))
			if err != nil {
				return "", err
			}
			rows = append(rows, key+": "+text)
		}
		if flow {
			return "{" + strings.Join(rows, ", ") + "}", nil
		}
		return h.Text.Indented(strings.Join(rows, "\n"), column), nil
	}})
}

// newJSON is a new part as Elsa's JSON has it.
func (h *shelf) newJSON(given map[string]any) (json.RawMessage, error) {
	around := map[string]any{"id": "x"}
	switch h.what {
	case Case:
		around[h.Sites.Types.ByType(h.site.Activity.Type).ShortName()], around[h.key] = nil, []any{given}
	case State:
		around["stateMachine"], around["states"] = nil, []any{given}
	case Transition:
		if name, ok := given["on"]; ok {
			given["on"] = map[string]any{"event": name, "id": h.FreeID("event")}
		}
		around["stateMachine"], around["states"] = nil, []any{map[string]any{"name": h.names[h.state], "transitions": []any{given}}}
	}
	fields, err := h.Sites.Exported(around)
	if err != nil {
		return nil, err
	}
	name := map[string]string{Case: h.key, State: "states", Transition: "transitions"}[h.what]
	var all []json.RawMessage
	if err := json.Unmarshal(fields[name], &all); err != nil || len(all) != 1 {
		return nil, text.Refuse(h.site.Node.Start, "this %s cannot be written in Elsa's JSON; edit the text", h.what)
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
	switch m, body := h.site.Node, h.site.Body(); {
	case h.holds != nil && h.holds.Kind == text.Mapping:
		return h.Text.AddEntry(h.holds, at-1, name, v)
	case h.holds != nil:
		return h.Text.SetEntry(h.holds.Parent, h.holds.At, map[string]any{name.(string): v}, false)
	case body != nil && body.Kind == text.Mapping:
		return h.Text.AddEntry(body, len(body.Keys)-1, h.key, map[string]any{name.(string): v})
	default:
		return h.Text.AddEntry(m, h.site.Key, h.key, map[string]any{name.(string): v})
	}
}

// insertLabelled gives a mapping from labels one more.
func (h *shelf) insertLabelled(at int, given map[string]any) error {
	label := given["label"]
	if name, _ := label.(string); name == "" {
		return text.Refuse(h.holds.Start, "the cases stand behind their labels here, so that a new one needs a label")
	}
	if h.key == StatusCases {
		return h.Text.AddEntry(h.holds, at-1, json.Number(label.(string)), []any{})
	}
	if h.Sites.Types.ByType(h.site.Activity.Type).CaseBodies {
		return text.Refuse(h.holds.Start, "the cases stand behind their labels here, which leaves no room for a condition; write a list of label, when and then")
	}
	return h.Text.AddEntry(h.holds, at-1, label, given["when"])
}

// first writes the first part of a list that is not there yet.
func (h *shelf) first(p *text.Piece) error {
	n, body := h.site.Node, h.site.Body()
	if h.what == Transition && !h.Text.JSON {
		return h.firstOfState(p)
	}
	switch v := h.holds; {
	case v != nil && h.Text.JSON:
		out, err := p.Text(true, h.Text.FlowColumn(v.Parent))
		if err != nil {
			return err
		}
		v.Twin.Replace(text.NewList(p.Node))
		h.Text.Swap(v.Start, v.End, "["+out+"]")
		return nil
	case v != nil && v.Written():
		return text.Refuse(v.Start, "nothing can be added to what stands here; edit the text")
	case v != nil:
		return h.Text.Fill(v.Parent, v.At, p)
	case body != nil && body.IsNull() && !body.Written():
		return h.Text.Fill(n, h.site.Key, p)
	case body != nil && body.Kind == text.Mapping:
		return h.Text.NewKey(body, h.key, p, false)
	}
	return h.Text.NewKey(n, h.key, p, false)
}

// firstOfState writes the first transition of a state.
func (h *shelf) firstOfState(p *text.Piece) error {
	v := h.of
	switch {
	case v.Kind == text.Alias:
		return text.Refuse(v.Start, "this state is written once and used again, so that an edit would change each of them; edit the text")
	case h.holds != nil && !h.holds.Written():
		return h.Text.Fill(v, h.holds.At, p)
	case h.holds != nil:
		return text.Refuse(h.holds.Start, "nothing can be added to what stands here; edit the text")
	case v.Kind == text.Mapping && len(v.Keys) > 0:
		return h.Text.NewKey(v, h.key, p, false)
	}
	// The state has nothing yet.
	g := v.Parent
	entry := &text.Node{Kind: text.Mapping, Keys: []*text.Node{text.NewString(h.key)}, Vals: []*text.Node{text.NewList(p.Node)}}
	entry.Adopt()
	if g.Kind == text.List || g.Flow {
		text, err := p.Text(true, 0)
		if err != nil {
			return err
		}
		text = "{" + h.key + ": [" + text + "]}"
		if !v.Written() {
			text = " " + text
		}
		v.Twin.Replace(entry)
		h.Text.Swap(v.Start, v.End, text)
		return nil
	}
	column := h.Text.Indent(g.Keys[v.At].Start) + 2
	item, err := h.Text.Item(p, column+2)
	if err != nil {
		return err
	}
	v.Twin.Replace(entry)
	h.Text.Cut(g.Colons[v.At], v.End)
	h.Text.LineAt(h.Text.Next(v.End), strings.Repeat(" ", column)+h.key+":"+h.Text.EOL+item)
	return nil
}

// mayGo refuses to take a state away that others lead to, or that the machine begins in.
func (h *shelf) mayGo(at int) error {
	if h.what != State {
		return nil
	}
	a, name := h.site.Activity, h.names[at]
	for i, st := range a.States {
		for _, t := range st.Transitions {
			if t.To == name && i != at {
				return text.Refuse(h.Text.Offset(t.Place.Line, t.Place.Column), "a transition of %s leads to %s; take it away or let it lead elsewhere first", workflow.Shorten(st.Name), workflow.Shorten(name))
			}
		}
	}
	if a.Initial == name {
		return text.Refuse(h.items[at].Start, "%s is the initial state; make another one that first", workflow.Shorten(name))
	}
	if a.Initial == "" && at == 0 && len(h.names) > 1 {
		return text.Refuse(h.items[at].Start, "the machine names no initial state, so that it begins in %s, its first; make another one the initial state before", workflow.Shorten(name))
	}
	if h.Text.JSON && len(a.States[at].Transitions) > 0 {
		return text.Refuse(h.items[at].Start, "in Elsa's JSON the transitions of %s may stand elsewhere; take them away first", workflow.Shorten(name))
	}
	return nil
}

// keepsFirst refuses to put another state in the place of the first one, if the machine begins in
// that for want of an initial state.
func (h *shelf) keepsFirst(at int) error {
	if h.what != State || at > 0 || len(h.names) == 0 || h.site.Activity.Initial != "" {
		return nil
	}
	return text.Refuse(h.items[0].Start, "the machine names no initial state, so that it begins in %s, its first; make one the initial state before", workflow.Shorten(h.names[0]))
}

// take takes a part away.
func (h *shelf) take(at int) error {
	n := h.items[at]
	g := n.Parent
	switch {
	case g.Kind == text.List && (len(g.Items) > 1 || g.Flow):
		return h.Text.RemoveItem(g, n.At, true)
	case g.Kind == text.Mapping && (len(g.Keys) > 1 || g.Flow):
		return h.Text.RemoveEntry(g, n.At, true)
	}
	return h.Text.Emptied(g, true)
}

// shiftPart changes the order of two parts.
func (h *shelf) shiftPart(at int, where string) error {
	by := map[string]int{activity.Up: -1, activity.Down: 1}[where]
	switch {
	case by == 0:
		return text.Bad("a %s moves up or down, not %q", h.what, workflow.Shorten(where))
	case at+by < 0 || at+by >= len(h.items):
		return text.Refuse(h.items[at].Start, "nothing stands %s this %s", map[string]string{activity.Up: "above", activity.Down: "below"}[where], h.what)
	}
	n, near := h.items[at], h.items[at+by]
	if n.Parent.Kind != text.List {
		return text.Refuse(n.Start, "what stands behind its name has no order that matters")
	}
	if err := h.keepsFirst(min(at, at+by)); err != nil {
		return err
	}
	p, err := h.Text.Lift(n)
	if err != nil {
		return err
	}
	to := near.At
	if by > 0 {
		to++
	}
	if err := h.Text.InsertItem(near.Parent, to, p); err != nil {
		return err
	}
	return h.Text.RemoveItem(n.Parent, n.At, false)
}

// IntoCase puts a piece into a case, counted from 1, that holds nothing. Of one that holds an
// activity it gives that: the piece goes behind it.
func IntoCase(c *activity.Change, s *activity.Site, number int, p *text.Piece) (*activity.Site, error) {
	e := Edit{Part: Case, Number: number}
	h, err := shelfOf(c, s, e)
	if err != nil {
		return nil, err
	}
	at, err := h.find(e)
	if err != nil {
		return nil, err
	}
	if body := s.Activity.Cases[at].Activity; body != nil {
		if inner := c.Sites.SiteOf(body); inner != nil {
			return inner, nil
		}
	}
	n, key := h.items[at], "then"
	if c.Text.JSON {
		key = "activity"
	}
	switch v := n.Val(key); {
	case h.holds.Kind == text.Mapping && n.IsNull() && !n.Written():
		return nil, c.Text.Fill(h.holds, at, p)
	case v != nil && v.IsNull() && !v.Written():
		return nil, c.Text.Fill(n, v.At, p)
	case n.Kind != text.Mapping || h.holds.Kind == text.Mapping || v != nil:
		return nil, text.Refuse(n.Start, "this case is written in a way that leaves no room for activities; edit the text")
	}
	return nil, c.Text.NewKey(n, key, p, c.Text.JSON)
}
