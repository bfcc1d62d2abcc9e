package edit

import (
	"encoding/json"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// setPart gives a key of a part another value; nil takes it away.
func (h *shelf) setPart(at int, key string, v any) error {
	if !slices.Contains(partKeys[h.what], key) {
		return bad("a %s has no %q%s", h.what, workflow.Shorten(key), workflow.DidYouMean(key, partKeys[h.what]))
	}
	v = meant(key, v)
	text, isText := v.(string)
	if v != nil && !isText && slices.Contains([]string{"label", "name", "to", "on"}, key) {
		return bad("the %s of a %s is a text", key, h.what)
	}
	switch n := h.items[at]; {
	case n.kind == alias:
		return refuse(n.start, "this %s is written once and used again, so that an edit would change each of them; edit the text", h.what)
	case h.what == StatePart && key == "name":
		return h.renameState(at, text)
	case key == "initial":
		return h.setInitial(at, v)
	case key == "label":
		return h.setLabel(at, text)
	case key == "on":
		return h.setEvent(at, text)
	case key == "to" && !slices.Contains(h.names, text):
		return bad("a transition leads to a state, and there is no state %q%s", workflow.Shorten(text), workflow.DidYouMean(text, h.names))
	case key == "final" && v == false:
		return h.setKey(at, key, nil)
	}
	return h.setKey(at, key, v)
}

// setKey writes a key of a part, in the order of its keys.
func (h *shelf) setKey(at int, key string, v any) error {
	n := h.items[at]
	switch {
	case h.text.json:
		return h.setKeyJSON(at, key, v)
	case h.holds != nil && h.holds.kind == mapping && h.what == CasePart:
		if v == nil || h.sites.types.ByType(h.site.activity.Type).CaseBodies {
			return refuse(n.start, "the case stands behind its label here, which leaves no room for this; write a list of label, when and then")
		}
		return h.text.setEntry(h.holds, at, v, false)
	case n.isNull() && v != nil && n.parent.kind == mapping:
		return h.text.setEntry(n.parent, n.at, map[string]any{key: v}, false)
	case n.kind == scalar && v != nil && h.what == CasePart: // only its label
		text, want, err := h.text.both(map[string]any{"label": n.text, key: v}, inFlow)
		if err != nil {
			return err
		}
		n.twin.replace(want)
		h.text.swap(n.start, n.end, text)
		return nil
	case n.kind != mapping:
		return refuse(n.start, "this %s is written in a way that leaves no room for %s; edit the text", h.what, key)
	}
	return h.setKeyOf(n, key, v)
}

// setKeyOf writes a key of a part that is a mapping of YAML.
func (h *shelf) setKeyOf(n *node, key string, v any) error {
	name := key
	if key == "label" && n.entry("status") >= 0 {
		name = "status"
	}
	i := n.entry(name)
	switch {
	case v == nil && i < 0:
		return refuse(n.start, "this %s has no %s that could be taken away", h.what, key)
	case v == nil && len(n.keys) == 1 && h.what != StatePart:
		return refuse(n.start, "nothing would be left of this %s; take it away instead", h.what)
	case i >= 0:
		return h.text.setEntry(n, i, v, true)
	}
	behind := -1
	for _, before := range partKeys[h.what][:slices.Index(partKeys[h.what], key)] {
		behind = max(behind, n.entry(before))
	}
	if key == "on" {
		v = map[string]any{"event": v}
	}
	return h.text.addEntry(n, behind, key, v)
}

// setKeyJSON writes a key of a part of Elsa's JSON.
func (h *shelf) setKeyJSON(at int, key string, v any) error {
	n := h.items[at]
	if n.kind != mapping {
		return refuse(n.start, "this %s is written in a way that leaves no room for %s; edit the text", h.what, key)
	}
	name := key
	if other := jsonKeys[key]; other != "" {
		name = other
	}
	if key == "label" && h.key == statusCases {
		name = "statusCode"
	}
	i := n.entry(name)
	if v == nil {
		if i < 0 {
			return refuse(n.start, "this %s has no %s that could be taken away", h.what, key)
		}
		return h.text.removeEntry(n, i, false)
	}
	given := map[string]any{key: v}
	if h.what == TransitionPart && key != "to" {
		given["to"] = h.names[h.state]
	}
	raw, err := h.newJSON(given)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields[name] == nil {
		return refuse(n.start, "this %s cannot be written in Elsa's JSON; edit the text", h.what)
	}
	return h.text.setField(n, i, name, fields[name])
}

// rekey gives an entry of a mapping of YAML another key.
func (h *shelf) rekey(m *node, at int, name any) error {
	text, want, err := h.text.both(name, inFlow)
	if err != nil {
		return err
	}
	k := m.keys[at]
	k.twin.text, k.twin.tag = want.text, want.tag
	h.text.swap(k.start, k.end, text)
	return nil
}

// setLabel gives a case another label. In a flowchart, where it is an outcome, the ways that lead
// on by it go with it.
func (h *shelf) setLabel(at int, label string) error {
	a := h.site.activity
	n, was := h.items[at], a.Cases[at].Label
	needed := h.key == statusCases || !h.sites.types.ByType(a.Type).CaseBodies
	switch {
	case label == was:
		return bad("the edit changes nothing")
	case label == "" && needed:
		return bad("this case needs a label")
	case slices.ContainsFunc(a.Cases, func(c workflow.Case) bool { return label != "" && c.Label == label }):
		return bad("there is a case %q already", workflow.Shorten(label))
	}
	if was != "" && h.sites.role(h.site.node) == chart {
		f, err := chartOf(h.Change, h.site)
		if err != nil {
			return err
		}
		if err := f.renamePort(a.ID, was, label); err != nil {
			return err
		}
	}
	var v any = label
	if label == "" {
		v = nil
	}
	switch {
	case h.holds.kind == mapping && v == nil:
		return bad("this case needs a label")
	case h.holds.kind == mapping && h.key == statusCases && json.Valid([]byte(label)):
		return h.rekey(h.holds, at, json.Number(label))
	case h.holds.kind == mapping:
		return h.rekey(h.holds, at, v)
	case n.kind == scalar && v != nil:
		return h.text.retext(n, label)
	}
	return h.setKey(at, "label", v)
}

// renamePort lets all ways that lead on by one outcome of an activity lead on by another one.
func (f *flowchart) renamePort(id, port, to string) error {
	for i := range f.chains {
		k := &f.chains[i]
		var parts []splice
		for j, e := range k.ends {
			switch {
			case !k.leaves(j, id, port):
			case k.text:
				parts = append(parts, splice{e.start, e.end, spelled(id, to)})
			default:
				at, text := endNode(k.node, "source", "from"), spelled(id, to)
				for _, p := range []*node{k.node.val("port"), k.node.val("sourcePort"), at.parent.val("port")} {
					if p != nil {
						at, text = p, to
					}
				}
				if err := f.text.retext(at, text); err != nil {
					return err
				}
			}
		}
		if len(parts) > 0 {
			if err := f.rewriteAll(k, parts); err != nil {
				return err
			}
		}
	}
	return nil
}

// setEvent lets a transition wait for another event.
func (h *shelf) setEvent(at int, event string) error {
	t := h.site.activity.States[h.state].Transitions[at]
	switch {
	case event == "" && t.Trigger == nil:
		return bad("the transition waits for nothing already")
	case event == "":
		return h.setKey(at, "on", nil)
	case t.Trigger == nil:
		return h.setKey(at, "on", event)
	}
	inner := h.sites.siteOf(t.Trigger)
	if t.Trigger.Type != eventType || inner == nil {
		return refuse(h.items[at].start, "this transition does not wait for an event, but for %q; choose that activity to change it", workflow.Shorten(t.Trigger.ID))
	}
	return h.set(inner, "eventName", event, nil)
}

// said is where a text is written, alone or in an input's wrapper of Elsa's JSON; nil: nowhere.
func said(v *node) *node {
	if x := v.val("expression"); x != nil {
		v = x.val("value")
	}
	if v != nil && v.kind == scalar && v.written() {
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
	if h.holds.kind == mapping {
		if err := h.rekey(h.holds, at, name); err != nil {
			return err
		}
	} else if n := said(h.items[at].val("name")); n != nil {
		if err := h.text.retext(n, name); err != nil {
			return err
		}
	} else {
		return refuse(h.items[at].start, "the name of this state is written in a way that cannot be edited here; edit the text")
	}
	for i, st := range h.site.activity.States {
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
				to := said(n.val("to"))
				if to == nil {
					return refuse(h.items[at].start, "what leads to this state is written in a way that cannot be edited here; edit the text")
				}
				if err := h.text.retext(to, name); err != nil {
					return err
				}
			}
			if leaves := said(n.val("from")); h.text.json && leaves != nil && leaves.text == was {
				if err := h.text.retext(leaves, name); err != nil {
					return err
				}
			}
		}
	}
	if n := said(h.site.held(h.initialKey())); n != nil && n.text == was {
		return h.text.retext(n, name)
	}
	return nil
}

func (h *shelf) initialKey() string {
	if h.text.json {
		return "initialState"
	}
	return "initial"
}

// setInitial makes a state the one that the machine begins with.
func (h *shelf) setInitial(at int, v any) error {
	name, s := h.names[at], h.site
	switch n := said(s.held(h.initialKey())); {
	case v != true:
		return bad("a machine has an initial state; make another one that")
	case s.activity.Initial == name:
		return bad("%q is the initial state already", workflow.Shorten(name))
	case n != nil:
		return h.text.retext(n, name)
	case s.held(h.initialKey()) != nil:
		return refuse(s.node.start, "the initial state is written in a way that cannot be edited here; edit the text")
	case h.text.json:
		raw, err := json.Marshal(name)
		if err != nil {
			return bad("this is no text: %v", err)
		}
		return h.text.setField(s.node, -1, h.initialKey(), raw)
	case s.body().kind == mapping:
		return h.text.addEntry(s.body(), -1, h.initialKey(), name)
	}
	return h.text.addEntry(s.node, s.key, h.initialKey(), name)
}
