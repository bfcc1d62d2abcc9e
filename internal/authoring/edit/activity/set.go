package activity

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/text"
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

// Set gives an input, or a key that each activity may have, another value.
func (c *Change) Set(s *Site, key string, value any, field *string) error {
	if key == "" {
		return text.Bad("the edit does not say which input it sets")
	}
	if field != nil && value != nil {
		return text.Bad("a value is given as value or as text, not as both")
	}
	t := c.Sites.Types.ByType(s.Activity.Type)
	in, isInput := workflow.InputDescriptor{Name: key}, s.Activity.Ref != nil && !slices.Contains(settable, key)
	var known []string
	if t != nil && s.Activity.Ref == nil {
		for _, i := range t.Inputs {
			known = append(known, i.Name)
			if i.Name == key {
				in, isInput = i, true
			}
		}
	}
	if !isInput && !slices.Contains(settable, key) {
		name := s.Activity.Type
		if t != nil {
			name = t.ShortName()
		}
		return text.Bad("%s has no input %q%s", name, workflow.Shorten(key), workflow.DidYouMean(key, append(known, settable...)))
	}
	v := value
	if field != nil {
		v = Typed(*field, in, isInput)
	}
	if c.Text.JSON {
		return c.setJSON(s, in, isInput, v)
	}
	if s.Node.Kind == text.List {
		return text.Refuse(s.Node.Start, "a list has no inputs and no keys; write it as sequence: to give it some")
	}
	return c.setYAML(s, t, in, isInput, v)
}

// Typed is the value that a text of a field means.
func Typed(text string, in workflow.InputDescriptor, isInput bool) any {
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
func (c *Change) setYAML(s *Site, t *workflow.Descriptor, in workflow.InputDescriptor, isInput bool, v any) error {
	m := s.Node
	if m.Kind == text.Scalar {
		return c.setBare(s, t, in, isInput, v)
	}
	var body *text.Node
	if s.Key >= 0 {
		body = m.Vals[s.Key]
	}
	if at, i := c.Sites.standing(s, t, in, isInput, body); at != nil {
		return c.Text.SetEntry(at, i, v, at != m || i != s.Key)
	}
	if v == nil {
		return text.Refuse(m.Start, "%q has no %s that could be taken away", workflow.Shorten(s.Activity.ID), in.Name)
	}
	if !isInput || body == nil {
		return c.Text.AddEntry(m, s.Key, in.Name, v)
	}
	main := t != nil && t.Main == in.Name
	switch {
	case body.Kind == text.Mapping && c.Sites.holdsInputs(s, t, body):
		return c.Text.AddEntry(body, len(body.Keys)-1, in.Name, v)
	case body.IsNull() && !body.Written() && main && !structured(v):
		return c.Text.SetEntry(m, s.Key, v, false)
	case !slices.Contains(yaml.CommonKeys(), in.Name) || slices.Contains(yielding, in.Name):
		return c.Text.AddEntry(m, s.Key, in.Name, v)
	}
	return c.inBody(s, t, in, v)
}

// inBody gives the inputs a mapping of their own: beside the type the name means something else.
func (c *Change) inBody(s *Site, t *workflow.Descriptor, in workflow.InputDescriptor, v any) error {
	m := s.Node
	body := m.Vals[s.Key]
	out, err := text.Value(v, text.InFlow)
	if err != nil {
		return err
	}
	out = in.Name + ": " + out
	if !body.IsNull() {
		if x, ok := s.Activity.Inputs[t.Main]; !ok || c.Text.Offset(x.Place.Line, x.Place.Column) != body.Start {
			return text.Refuse(body.Start, "what stands here leaves no room for the input %s; edit the text", in.Name)
		}
		out = t.Main + ": " + c.Text.FlowText(body) + ", " + out
	}
	return c.Text.Write(m, s.Key, "{"+out+"}")
}

// standing finds where a value stands: the mapping and the entry; nil: nowhere.
func (d *Sites) standing(s *Site, t *workflow.Descriptor, in workflow.InputDescriptor, isInput bool, body *text.Node) (*text.Node, int) {
	if isInput && body != nil {
		if x, ok := s.Activity.Inputs[in.Name]; ok && d.Offset(x.Place.Line, x.Place.Column) == body.Start && body.Written() {
			return s.Node, s.Key
		}
		if body.Kind == text.Mapping && body.Entry(in.Name) >= 0 && d.holdsInputs(s, t, body) {
			return body, body.Entry(in.Name)
		}
	}
	if i := s.Node.Entry(in.Name); i >= 0 && i != s.Key {
		return s.Node, i
	}
	return nil, 0
}

// setBare gives an activity that is written as a bare name a value.
func (c *Change) setBare(s *Site, t *workflow.Descriptor, in workflow.InputDescriptor, isInput bool, v any) error {
	n := s.Node
	if v == nil {
		return text.Refuse(n.Start, "%q has no %s that could be taken away", workflow.Shorten(s.Activity.ID), in.Name)
	}
	look := text.InLine
	if n.Parent.Flow {
		look = text.InFlow
	}
	out, inner, err := c.Text.Both(v, look)
	if err != nil {
		return err
	}
	copied := n.Twin
	name := text.NewString(n.Text)
	m := &text.Node{Kind: text.Mapping, Keys: []*text.Node{name}, Vals: []*text.Node{text.NewNull()}, From: copied.From}
	main := isInput && t != nil && t.Main == in.Name
	if main {
		m.Vals[0] = inner
	} else {
		m.Keys, m.Vals = append(m.Keys, text.NewString(in.Name)), append(m.Vals, inner)
	}
	copied.Replace(m)
	m.Adopt()
	c.Text.Focus = m
	switch {
	case n.Parent.Flow && main:
		c.Text.Swap(n.Start, n.End, "{"+string(c.Text.Src[n.Start:n.End])+": "+out+"}")
	case n.Parent.Flow:
		c.Text.Swap(n.Start, n.End, "{"+string(c.Text.Src[n.Start:n.End])+": , "+in.Name+": "+out+"}")
	default:
		column, _ := c.Text.Block(n)
		c.Text.Begin(n, column, "")
		if main {
			c.Text.Put(n.End, ": "+out)
		} else {
			c.Text.Put(n.End, ":"+c.Text.EOL+strings.Repeat(" ", column)+in.Name+": "+out)
		}
	}
	return nil
}

// holdsInputs tells whether what stands behind a type is a mapping of its inputs, and neither
// its main input nor an activity.
func (d *Sites) holdsInputs(s *Site, t *workflow.Descriptor, body *text.Node) bool {
	if d.At[body] != nil {
		return false
	}
	if s.Activity.Ref != nil || t == nil {
		return true
	}
	if x, ok := s.Activity.Inputs[t.Main]; ok && d.Offset(x.Place.Line, x.Place.Column) == body.Start {
		return false
	}
	return true
}

// setJSON sets a value in Elsa's JSON: of an input, its expression.
func (c *Change) setJSON(s *Site, in workflow.InputDescriptor, isInput bool, v any) error {
	n := s.Node
	at := slices.IndexFunc(n.Keys, func(k *text.Node) bool { return strings.EqualFold(k.Text, in.Name) })
	switch {
	case !isInput && in.Name != "id" && in.Name != "name":
		return text.Refuse(n.Start, "in Elsa's JSON %s is no key of an activity; edit the text", in.Name)
	case v == nil && at < 0:
		return text.Refuse(n.Start, "%q has no %s that could be taken away", workflow.Shorten(s.Activity.ID), in.Name)
	case v == nil:
		return c.Text.RemoveEntry(n, at, false)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return text.Bad("this is no value of JSON: %v", err)
	}
	if isInput {
		if n, at, raw, err = c.wrapped(s, in, v, at); err != nil {
			return err
		}
	}
	return c.Text.SetField(n, at, in.Name, raw)
}

// wrapped is an input as Elsa's JSON wraps it, with the object and the entry that it replaces.
func (c *Change) wrapped(s *Site, in workflow.InputDescriptor, v any, at int) (*text.Node, int, json.RawMessage, error) {
	n := s.Node
	t := c.Sites.Types.ByType(s.Activity.Type)
	if t == nil {
		return nil, 0, nil, text.Refuse(n.Start, "the inputs of %s are not known here; edit the text", workflow.Shorten(s.Activity.Type))
	}
	fields, err := c.Sites.Elsa(Fresh{Type: t.ShortName(), Inputs: map[string]any{in.Name: v}})
	if err != nil {
		return nil, 0, nil, err
	}
	raw := fields[in.Name]
	if raw == nil {
		return nil, 0, nil, text.Refuse(n.Start, "the input %s is written in another way in Elsa's JSON; edit the text", in.Name)
	}
	var wrapper struct{ Expression json.RawMessage }
	if at >= 0 && n.Vals[at].Kind == text.Mapping && n.Vals[at].Entry("expression") >= 0 && json.Unmarshal(raw, &wrapper) == nil && wrapper.Expression != nil {
		return n.Vals[at], n.Vals[at].Entry("expression"), wrapper.Expression, nil
	}
	return n, at, raw, nil
}
