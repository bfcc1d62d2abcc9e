package edit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// yielding are common keys that mean an input where a type has one of their name.
var yielding = []string{"timeout", "onTimeout", "retry", "onGiveUp", "commit", "logging", "mergeMode"}

// texts are common keys whose value is a text.
var texts = []string{"id", "name", "result", "timeout", "commit", "logging", "mergeMode"}

// kinds are the keys that make an expression of a mapping with one of them.
var kinds = []string{"javascript", "js", "liquid", "variable", "input", "literal", "object", "expr", "expression"}

// settable are the common keys that an edit may set.
var settable = []string{"id", "name", "result", "outputs", "trigger", "timeout", "retry", "commit", "logging", "mergeMode", "version"}

// set gives an input, or a key that each activity may have, another value.
func (c *Change) set(s *site, key string, value any, text *string) error {
	if key == "" {
		return bad("the edit does not say which input it sets")
	}
	if text != nil && value != nil {
		return bad("a value is given as value or as text, not as both")
	}
	t := c.sites.types.ByType(s.activity.Type)
	in, isInput := workflow.InputDescriptor{Name: key}, s.activity.Ref != nil && !slices.Contains(settable, key)
	var known []string
	if t != nil && s.activity.Ref == nil {
		for _, i := range t.Inputs {
			known = append(known, i.Name)
			if i.Name == key {
				in, isInput = i, true
			}
		}
	}
	if !isInput && !slices.Contains(settable, key) {
		name := s.activity.Type
		if t != nil {
			name = t.ShortName()
		}
		return bad("%s has no input %q%s", name, workflow.Shorten(key), workflow.DidYouMean(key, append(known, settable...)))
	}
	v := value
	if text != nil {
		v = typed(*text, in, isInput)
	}
	if c.text.json {
		return c.setJSON(s, in, isInput, v)
	}
	if s.node.kind == list {
		return refuse(s.node.start, "a list has no inputs and no keys; write it as sequence: to give it some")
	}
	return c.setYAML(s, t, in, isInput, v)
}

// typed is the value that a text of a field means.
func typed(text string, in workflow.InputDescriptor, isInput bool) any {
	if text == "" {
		return nil
	}
	if strings.Contains(text, "${{") && !strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return text
	}
	v, err := yaml.Value([]byte(text))
	if err != nil {
		return text
	}
	spelled := isInput && slices.Contains([]string{"String", "TimeSpan", "DateTimeOffset", "DateTime", "Variable"}, in.Type) || !isInput && slices.Contains(texts, in.Name)
	m, isMap := v.(map[string]any)
	if spelled && !(isMap && len(m) == 1 && slices.ContainsFunc(kinds, func(k string) bool { _, ok := m[k]; return ok })) {
		return text
	}
	if v == nil {
		return text
	}
	return v
}

// setYAML finds where a value stands or has to stand.
func (c *Change) setYAML(s *site, t *workflow.Descriptor, in workflow.InputDescriptor, isInput bool, v any) error {
	m := s.node
	if m.kind == scalar {
		return c.setBare(s, t, in, isInput, v)
	}
	var body *node
	if s.key >= 0 {
		body = m.vals[s.key]
	}
	if at, i := c.sites.standing(s, t, in, isInput, body); at != nil {
		return c.text.setEntry(at, i, v, at != m || i != s.key)
	}
	if v == nil {
		return refuse(m.start, "%q has no %s that could be taken away", workflow.Shorten(s.activity.ID), in.Name)
	}
	if !isInput || body == nil {
		return c.text.addEntry(m, s.key, in.Name, v)
	}
	main := t != nil && t.Main == in.Name
	switch {
	case body.kind == mapping && c.sites.holdsInputs(s, t, body):
		return c.text.addEntry(body, len(body.keys)-1, in.Name, v)
	case body.isNull() && !body.written() && main && !structured(v):
		return c.text.setEntry(m, s.key, v, false)
	case !slices.Contains(yaml.CommonKeys(), in.Name) || slices.Contains(yielding, in.Name):
		return c.text.addEntry(m, s.key, in.Name, v)
	}
	return c.inBody(s, t, in, v)
}

// inBody gives the inputs a mapping of their own: beside the type the name means something else.
func (c *Change) inBody(s *site, t *workflow.Descriptor, in workflow.InputDescriptor, v any) error {
	m := s.node
	body := m.vals[s.key]
	text, err := value(v, inFlow)
	if err != nil {
		return err
	}
	text = in.Name + ": " + text
	if !body.isNull() {
		if x, ok := s.activity.Inputs[t.Main]; !ok || c.text.offset(x.Place.Line, x.Place.Column) != body.start {
			return refuse(body.start, "what stands here leaves no room for the input %s; edit the text", in.Name)
		}
		text = t.Main + ": " + c.text.flowText(body) + ", " + text
	}
	return c.text.write(m, s.key, "{"+text+"}")
}

// standing finds where a value stands: the mapping and the entry; nil: nowhere.
func (d *sites) standing(s *site, t *workflow.Descriptor, in workflow.InputDescriptor, isInput bool, body *node) (*node, int) {
	if isInput && body != nil {
		if x, ok := s.activity.Inputs[in.Name]; ok && d.offset(x.Place.Line, x.Place.Column) == body.start && body.written() {
			return s.node, s.key
		}
		if body.kind == mapping && body.entry(in.Name) >= 0 && d.holdsInputs(s, t, body) {
			return body, body.entry(in.Name)
		}
	}
	if i := s.node.entry(in.Name); i >= 0 && i != s.key {
		return s.node, i
	}
	return nil, 0
}

// setBare gives an activity that is written as a bare name a value.
func (c *Change) setBare(s *site, t *workflow.Descriptor, in workflow.InputDescriptor, isInput bool, v any) error {
	n := s.node
	if v == nil {
		return refuse(n.start, "%q has no %s that could be taken away", workflow.Shorten(s.activity.ID), in.Name)
	}
	look := inLine
	if n.parent.flow {
		look = inFlow
	}
	text, inner, err := c.text.both(v, look)
	if err != nil {
		return err
	}
	copied := n.twin
	name := textNode(n.text)
	m := &node{kind: mapping, keys: []*node{name}, vals: []*node{nullNode()}, from: copied.from}
	main := isInput && t != nil && t.Main == in.Name
	if main {
		m.vals[0] = inner
	} else {
		m.keys, m.vals = append(m.keys, textNode(in.Name)), append(m.vals, inner)
	}
	copied.replace(m)
	m.adopt()
	c.text.focus = m
	switch {
	case n.parent.flow && main:
		c.text.swap(n.start, n.end, "{"+string(c.text.src[n.start:n.end])+": "+text+"}")
	case n.parent.flow:
		c.text.swap(n.start, n.end, "{"+string(c.text.src[n.start:n.end])+": , "+in.Name+": "+text+"}")
	default:
		column, _ := c.text.block(n)
		c.text.begin(n, column, "")
		if main {
			c.text.put(n.end, ": "+text)
		} else {
			c.text.put(n.end, ":"+c.text.eol+strings.Repeat(" ", column)+in.Name+": "+text)
		}
	}
	return nil
}

// holdsInputs tells whether what stands behind a type is a mapping of its inputs, and neither
// its main input nor an activity.
func (d *sites) holdsInputs(s *site, t *workflow.Descriptor, body *node) bool {
	if d.at[body] != nil {
		return false
	}
	if s.activity.Ref != nil || t == nil {
		return true
	}
	if x, ok := s.activity.Inputs[t.Main]; ok && d.offset(x.Place.Line, x.Place.Column) == body.start {
		return false
	}
	return true
}

// setEntry gives a key another value; without one, the key goes too if it may.
func (c *draft) setEntry(m *node, at int, v any, mayGo bool) error {
	if v != nil {
		val := m.vals[at]
		rest := strings.TrimSpace(string(c.src[max(val.end, m.colons[at]):c.stop(max(val.end, m.colons[at]))]))
		look := between(m.flow)
		if rest != "" && !m.flow {
			look = inLine
		}
		text, err := value(v, look)
		if err != nil {
			return err
		}
		return c.write(m, at, text)
	}
	if mayGo {
		return c.removeEntry(m, at, false)
	}
	m.vals[at].twin.replace(nullNode())
	c.cut(m.colons[at], m.vals[at].end)
	return nil
}

// write puts a text in the place of the value of a key.
func (c *draft) write(m *node, at int, text string) error {
	val := m.vals[at]
	want, err := c.snippet(text)
	if err != nil {
		return err
	}
	val.twin.replace(want)
	text = c.indented(text, c.indent(m.keys[at].start))
	switch {
	case m.colons[at] < 0:
		return refuse(m.keys[at].start, "this key has no value here; edit the text")
	case !val.written():
		c.put(m.colons[at], " "+text)
	case c.start(val.start) != c.start(m.keys[at].start):
		c.swap(m.colons[at], val.end, " "+text)
	default:
		c.swap(val.start, val.end, text)
	}
	return nil
}

// addEntry gives a mapping one more key, behind another one; -1: as the first.
func (c *draft) addEntry(m *node, behind int, key, v any) error {
	text, want, err := c.both(v, between(m.flow))
	if err != nil {
		return err
	}
	name, wantKey, err := c.both(key, inFlow)
	if err != nil {
		return err
	}
	if key == "on" { // the library quotes what other readers take for a truth value
		name = "on"
	}
	copied := m.twin
	copied.keys = slices.Insert(slices.Clone(copied.keys), behind+1, wantKey)
	copied.vals = slices.Insert(slices.Clone(copied.vals), behind+1, want)
	copied.adopt()
	if m.flow {
		c.addFlow(m, behind+1, name+": "+text)
		return nil
	}
	column := c.indent(m.keys[0].start)
	if behind < 0 {
		c.put(m.keys[0].start, name+": "+c.indented(text, column)+c.eol+strings.Repeat(" ", column))
		return nil
	}
	_, to, _ := c.extent(m, behind)
	if behind+1 < len(m.keys) { // comments above the next key are of that
		to = min(to, c.start(m.keys[behind+1].start))
	}
	c.lineAt(to, strings.Repeat(" ", column)+name+": "+c.indented(text, column)+c.eol)
	return nil
}

// setJSON sets a value in Elsa's JSON: of an input, its expression.
func (c *Change) setJSON(s *site, in workflow.InputDescriptor, isInput bool, v any) error {
	n := s.node
	at := slices.IndexFunc(n.keys, func(k *node) bool { return strings.EqualFold(k.text, in.Name) })
	switch {
	case !isInput && in.Name != "id" && in.Name != "name":
		return refuse(n.start, "in Elsa's JSON %s is no key of an activity; edit the text", in.Name)
	case v == nil && at < 0:
		return refuse(n.start, "%q has no %s that could be taken away", workflow.Shorten(s.activity.ID), in.Name)
	case v == nil:
		return c.text.removeEntry(n, at, false)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return bad("this is no value of JSON: %v", err)
	}
	if isInput {
		if n, at, raw, err = c.wrapped(s, in, v, at); err != nil {
			return err
		}
	}
	return c.text.setField(n, at, in.Name, raw)
}

// wrapped is an input as Elsa's JSON wraps it, with the object and the entry that it replaces.
func (c *Change) wrapped(s *site, in workflow.InputDescriptor, v any, at int) (*node, int, json.RawMessage, error) {
	n := s.node
	t := c.sites.types.ByType(s.activity.Type)
	if t == nil {
		return nil, 0, nil, refuse(n.start, "the inputs of %s are not known here; edit the text", workflow.Shorten(s.activity.Type))
	}
	fields, err := c.sites.elsa(fresh{typ: t.ShortName(), inputs: map[string]any{in.Name: v}})
	if err != nil {
		return nil, 0, nil, err
	}
	raw := fields[in.Name]
	if raw == nil {
		return nil, 0, nil, refuse(n.start, "the input %s is written in another way in Elsa's JSON; edit the text", in.Name)
	}
	var wrapper struct{ Expression json.RawMessage }
	if at >= 0 && n.vals[at].kind == mapping && n.vals[at].entry("expression") >= 0 && json.Unmarshal(raw, &wrapper) == nil && wrapper.Expression != nil {
		return n.vals[at], n.vals[at].entry("expression"), wrapper.Expression, nil
	}
	return n, at, raw, nil
}

// setField gives a field of an object another value; -1: it is not there yet.
func (c *draft) setField(n *node, at int, name string, raw json.RawMessage) error {
	text, err := c.pretty(raw, c.flowColumn(n))
	if err != nil {
		return err
	}
	if at >= 0 {
		return c.writeJSON(n, at, text)
	}
	want, err := c.snippet(text)
	if err != nil {
		return err
	}
	n.twin.insertEntry(name, want)
	gap := ": "
	if len(c.starts) < 3 {
		gap = ":"
	}
	c.addFlow(n, len(n.keys), `"`+name+`"`+gap+text)
	return nil
}

func (c *draft) writeJSON(n *node, at int, text string) error {
	want, err := c.snippet(text)
	if err != nil {
		return err
	}
	n.vals[at].twin.replace(want)
	c.swap(n.vals[at].start, n.vals[at].end, text)
	return nil
}
