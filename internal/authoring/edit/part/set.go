package part

import (
	"encoding/json"
	"slices"

	"github.com/weft-run/weft/internal/authoring/edit/activity"
	"github.com/weft-run/weft/internal/authoring/edit/flow"
	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// setPart gives a key of a part another value; nil takes it away.
func (h *shelf) setPart(at int, key string, v any) error {
	if !slices.Contains(Keys[h.what], key) {
		return text.Bad("a %s has no %q%s", h.what, workflow.Shorten(key), workflow.DidYouMean(key, Keys[h.what]))
	}
	v = meant(key, v)
	str, isText := v.(string)
	if v != nil && !isText && slices.Contains([]string{"label", "name", "to", "on"}, key) {
		return text.Bad("the %s of a %s is a text", key, h.what)
	}
	switch n := h.items[at]; {
	case n.Kind == text.Alias:
		return text.Refuse(n.Start, "this %s is written once and used again, so that an edit would change each of them; edit the text", h.what)
	case h.what == State && key == "name":
		return h.renameState(at, str)
	case key == "initial":
		return h.setInitial(at, v)
	case key == "label":
		return h.setLabel(at, str)
	case key == "on":
		return h.setEvent(at, str)
	case key == "to" && !slices.Contains(h.names, str):
		return text.Bad("a transition leads to a state, and there is no state %q%s", workflow.Shorten(str), workflow.DidYouMean(str, h.names))
	case key == "final" && v == false:
		return h.setKey(at, key, nil)
	}
	return h.setKey(at, key, v)
}

// setKey writes a key of a part, in the order of its keys.
func (h *shelf) setKey(at int, key string, v any) error {
	n := h.items[at]
	switch {
	case h.Text.JSON:
		return h.setKeyJSON(at, key, v)
	case h.holds != nil && h.holds.Kind == text.Mapping && h.what == Case:
		if v == nil || h.Sites.Types.ByType(h.site.Activity.Type).CaseBodies {
			return text.Refuse(n.Start, "the case stands behind its label here, which leaves no room for this; write a list of label, when and then")
		}
		return h.Text.SetEntry(h.holds, at, v, false)
	case n.IsNull() && v != nil && n.Parent.Kind == text.Mapping:
		return h.Text.SetEntry(n.Parent, n.At, map[string]any{key: v}, false)
	case n.Kind == text.Scalar && v != nil && h.what == Case: // only its label
		text, want, err := h.Text.Both(map[string]any{"label": n.Text, key: v}, text.InFlow)
		if err != nil {
			return err
		}
		n.Twin.Replace(want)
		h.Text.Swap(n.Start, n.End, text)
		return nil
	case n.Kind != text.Mapping:
		return text.Refuse(n.Start, "this %s is written in a way that leaves no room for %s; edit the text", h.what, key)
	}
	return h.setKeyOf(n, key, v)
}

// setKeyOf writes a key of a part that is a mapping of YAML.
func (h *shelf) setKeyOf(n *text.Node, key string, v any) error {
	name := key
	if key == "label" && n.Entry("status") >= 0 {
		name = "status"
	}
	i := n.Entry(name)
	switch {
	case v == nil && i < 0:
		return text.Refuse(n.Start, "this %s has no %s that could be taken away", h.what, key)
	case v == nil && len(n.Keys) == 1 && h.what != State:
		return text.Refuse(n.Start, "nothing would be left of this %s; take it away instead", h.what)
	case i >= 0:
		return h.Text.SetEntry(n, i, v, true)
	}
	behind := -1
	for _, before := range Keys[h.what][:slices.Index(Keys[h.what], key)] {
		behind = max(behind, n.Entry(before))
	}
	if key == "on" {
		v = map[string]any{"event": v}
	}
	return h.Text.AddEntry(n, behind, key, v)
}

// setKeyJSON writes a key of a part of Elsa's JSON.
func (h *shelf) setKeyJSON(at int, key string, v any) error {
	n := h.items[at]
	if n.Kind != text.Mapping {
		return text.Refuse(n.Start, "this %s is written in a way that leaves no room for %s; edit the text", h.what, key)
	}
	name := key
	if other := jsonKeys[key]; other != "" {
		name = other
	}
	if key == "label" && h.key == StatusCases {
		name = "statusCode"
	}
	i := n.Entry(name)
	if v == nil {
		if i < 0 {
			return text.Refuse(n.Start, "this %s has no %s that could be taken away", h.what, key)
		}
		return h.Text.RemoveEntry(n, i, false)
	}
	given := map[string]any{key: v}
	if h.what == Transition && key != "to" {
		given["to"] = h.names[h.state]
	}
	raw, err := h.newJSON(given)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields[name] == nil {
		return text.Refuse(n.Start, "this %s cannot be written in Elsa's JSON; edit the text", h.what)
	}
	return h.Text.SetField(n, i, name, fields[name])
}

// rekey gives an entry of a mapping of YAML another key.
func (h *shelf) rekey(m *text.Node, at int, name any) error {
	text, want, err := h.Text.Both(name, text.InFlow)
	if err != nil {
		return err
	}
	k := m.Keys[at]
	k.Twin.Text, k.Twin.Tag = want.Text, want.Tag
	h.Text.Swap(k.Start, k.End, text)
	return nil
}

// setLabel gives a case another label. In a flowchart, where it is an outcome, the ways that lead
// on by it go with it.
func (h *shelf) setLabel(at int, label string) error {
	a := h.site.Activity
	n, was := h.items[at], a.Cases[at].Label
	needed := h.key == StatusCases || !h.Sites.Types.ByType(a.Type).CaseBodies
	switch {
	case label == was:
		return text.Bad("the edit changes nothing")
	case label == "" && needed:
		return text.Bad("this case needs a label")
	case slices.ContainsFunc(a.Cases, func(c workflow.Case) bool { return label != "" && c.Label == label }):
		return text.Bad("there is a case %q already", workflow.Shorten(label))
	}
	if was != "" && h.Sites.Role(h.site.Node) == activity.Chart {
		f, err := flow.ChartOf(h.Change, h.site)
		if err != nil {
			return err
		}
		if err := f.RenamePort(a.ID, was, label); err != nil {
			return err
		}
	}
	var v any = label
	if label == "" {
		v = nil
	}
	switch {
	case h.holds.Kind == text.Mapping && v == nil:
		return text.Bad("this case needs a label")
	case h.holds.Kind == text.Mapping && h.key == StatusCases && json.Valid([]byte(label)):
		return h.rekey(h.holds, at, json.Number(label))
	case h.holds.Kind == text.Mapping:
		return h.rekey(h.holds, at, v)
	case n.Kind == text.Scalar && v != nil:
		return h.Text.Retext(n, label)
	}
	return h.setKey(at, "label", v)
}

// setEvent lets a transition wait for another event.
func (h *shelf) setEvent(at int, event string) error {
	t := h.site.Activity.States[h.state].Transitions[at]
	switch {
	case event == "" && t.Trigger == nil:
		return text.Bad("the transition waits for nothing already")
	case event == "":
		return h.setKey(at, "on", nil)
	case t.Trigger == nil:
		return h.setKey(at, "on", event)
	}
	inner := h.Sites.SiteOf(t.Trigger)
	if t.Trigger.Type != EventType || inner == nil {
		return text.Refuse(h.items[at].Start, "this transition does not wait for an event, but for %q; choose that activity to change it", workflow.Shorten(t.Trigger.ID))
	}
	return h.Set(inner, "eventName", event, nil)
}

// said is where a text is written, alone or in an input's wrapper of Elsa's JSON; nil: nowhere.
func said(v *text.Node) *text.Node {
	if x := v.Val("expression"); x != nil {
		v = x.Val("value")
	}
	if v != nil && v.Kind == text.Scalar && v.Written() {
		return v
	}
	return nil
}

// renameState gives a state another name, wherever it is named.
func (h *shelf) renameState(at int, name string) error {
	if err := h.mayBeCalled(name); err != nil {
		return err
	}
	was := h.names[at]
	if h.holds.Kind == text.Mapping {
		if err := h.rekey(h.holds, at, name); err != nil {
			return err
		}
	} else if n := said(h.items[at].Val("name")); n != nil {
		if err := h.Text.Retext(n, name); err != nil {
			return err
		}
	} else {
		return text.Refuse(h.items[at].Start, "the name of this state is written in a way that cannot be edited here; edit the text")
	}
	for i, st := range h.site.Activity.States {
		if len(st.Transitions) == 0 {
			continue
		}
		from := *h
		if err := from.openState(i); err != nil {
			return err
		}
		for j, t := range st.Transitions {
			n := from.items[j]
			if t.To == was {
				to := said(n.Val("to"))
				if to == nil {
					return text.Refuse(h.items[at].Start, "what leads to this state is written in a way that cannot be edited here; edit the text")
				}
				if err := h.Text.Retext(to, name); err != nil {
					return err
				}
			}
			if leaves := said(n.Val("from")); h.Text.JSON && leaves != nil && leaves.Text == was {
				if err := h.Text.Retext(leaves, name); err != nil {
					return err
				}
			}
		}
	}
	if n := said(h.site.Held(h.initialKey())); n != nil && n.Text == was {
		return h.Text.Retext(n, name)
	}
	return nil
}

func (h *shelf) initialKey() string {
	if h.Text.JSON {
		return "initialState"
	}
	return "initial"
}

// setInitial makes a state the one that the machine begins with.
func (h *shelf) setInitial(at int, v any) error {
	name, s := h.names[at], h.site
	switch n := said(s.Held(h.initialKey())); {
	case v != true:
		return text.Bad("a machine has an initial state; make another one that")
	case s.Activity.Initial == name:
		return text.Bad("%q is the initial state already", workflow.Shorten(name))
	case n != nil:
		return h.Text.Retext(n, name)
	case s.Held(h.initialKey()) != nil:
		return text.Refuse(s.Node.Start, "the initial state is written in a way that cannot be edited here; edit the text")
	case h.Text.JSON:
		raw, err := json.Marshal(name)
		if err != nil {
			return text.Bad("this is no text: %v", err)
		}
		return h.Text.SetField(s.Node, -1, h.initialKey(), raw)
	case s.Body().Kind == text.Mapping:
		return h.Text.AddEntry(s.Body(), -1, h.initialKey(), name)
	}
	return h.Text.AddEntry(s.Node, s.Key, h.initialKey(), name)
}
