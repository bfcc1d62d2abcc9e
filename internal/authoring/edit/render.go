package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	yamllib "go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// style is what a value may look like where it stands.
type style int

const (
	inBlock style = iota // anything
	inLine               // one line: something stands behind it
	inFlow               // one line between brackets
)

// between is the style of a place that may be between brackets.
func between(flow bool) style {
	if flow {
		return inFlow
	}
	return inBlock
}

// value writes a value of JSON as YAML. Its lines but the first are two columns further in.
func value(v any, s style) (string, error) {
	n, err := valueNode(v, s)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	d, err := yamllib.NewDumper(&b, yamllib.WithIndent(2), yamllib.WithLineWidth(-1))
	if err != nil {
		return "", err
	}
	if err := d.Dump(n); err != nil {
		return "", bad("this value cannot be written as YAML: %v", err)
	}
	if err := d.Close(); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// both writes a value as YAML, and gives its tree.
func (c *draft) both(v any, s style) (string, *node, error) {
	text, err := value(v, s)
	if err != nil {
		return "", nil, err
	}
	n, err := c.snippet(text)
	return text, n, err
}

func valueNode(v any, s style) (*yamllib.Node, error) {
	n := &yamllib.Node{Kind: yamllib.ScalarNode}
	switch v := v.(type) {
	case nil:
		n.Value = "null"
	case bool:
		n.Value = strconv.FormatBool(v)
	case string:
		n.Tag, n.Value = "!!str", strings.ToValidUTF8(v, "\uFFFD")
		switch {
		case strings.Contains(v, "\n") && s == inBlock && asBlock(v):
			n.Style = yamllib.LiteralStyle
		case strings.ContainsAny(v, "\n\r\t\u0085\u2028\u2029\ufeff") || strings.TrimSpace(v) != v,
			s == inFlow && strings.ContainsAny(v, "{}[],"):
			n.Style = yamllib.DoubleQuotedStyle
		}
	case []any:
		n.Kind, n.Style = yamllib.SequenceNode, yamllib.FlowStyle
		for _, e := range v {
			c, err := valueNode(e, inFlow)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, c)
		}
	case map[string]any:
		n.Kind, n.Style = yamllib.MappingNode, yamllib.FlowStyle
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key, err := valueNode(k, inFlow)
			if err != nil {
				return nil, err
			}
			c, err := valueNode(v[k], inFlow)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, key, c)
		}
	default: // a number
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, bad("this is no value of JSON: %v", err)
		}
		n.Value = string(raw)
		if strings.ContainsAny(n.Value, "eE") && !strings.Contains(n.Value, ".") { // 1e9 would be a text for some readers
			n.Value = strings.Replace(strings.ToLower(n.Value), "e", ".0e", 1)
		}
	}
	return n, nil
}

// asBlock tells whether a text can stand behind | as it is.
func asBlock(s string) bool {
	if strings.ContainsAny(s, "\r\t\u0085\u2028\u2029\ufeff") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.TrimRight(line, " ") != line {
			return false
		}
		for _, c := range line {
			if c < ' ' || c == 0x7f {
				return false
			}
		}
	}
	return true
}

// fresh is an activity that is not there yet.
type fresh struct {
	typ, id string
	inputs  map[string]any
}

// check refuses a type that is not known, and inputs that it does not have.
func (d *sites) check(f fresh) (*workflow.Descriptor, error) {
	if f.id != "" {
		if err := workflow.CheckID("id", f.id); err != nil {
			return nil, bad("%v", err)
		}
		if slices.ContainsFunc(d.order, func(s *site) bool { return s.activity.ID == f.id }) {
			return nil, bad("there is an activity %q already", workflow.Shorten(f.id))
		}
	}
	if f.typ == "workflow" && !d.json {
		return nil, nil
	}
	t := d.types.ByShortName(f.typ)
	if t == nil {
		t = d.types.ByType(f.typ)
	}
	if t == nil {
		var names []string
		for _, k := range d.types.All() {
			names = append(names, k.ShortName())
		}
		return nil, bad("there is no activity type %q%s", workflow.Shorten(f.typ), workflow.DidYouMean(f.typ, names))
	}
	for _, name := range slices.Sorted(maps.Keys(f.inputs)) {
		if in, ok := t.Input(name); !ok || in.Name != name {
			var names []string
			for _, in := range t.Inputs {
				names = append(names, in.Name)
			}
			return nil, bad("%s has no input %q%s", t.ShortName(), workflow.Shorten(name), workflow.DidYouMean(name, names))
		}
	}
	return t, nil
}

// yaml writes an activity in lines that begin at the first column; between brackets it is one.
func (d *sites) yaml(f fresh, flow bool) (string, error) {
	t, err := d.check(f)
	if err != nil {
		return "", err
	}
	name := f.typ
	if t != nil {
		name = t.ShortName()
	}
	key, err := value(name, inFlow)
	if err != nil {
		return "", err
	}
	body, err := inputsOf(t, f, flow)
	if err != nil {
		return "", err
	}
	if body != "" && body[0] != '\n' {
		body = " " + body
	}
	var parts []string
	if f.id != "" {
		id, err := value(f.id, inFlow)
		if err != nil {
			return "", err
		}
		parts = append(parts, "id: "+id)
	}
	parts = append(parts, key+":"+body)
	if flow {
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return strings.Join(parts, "\n"), nil
}

// inputsOf writes the inputs of a new activity behind its type.
func inputsOf(t *workflow.Descriptor, f fresh, flow bool) (body string, err error) {
	inputs := slices.Sorted(maps.Keys(f.inputs))
	if t != nil && len(inputs) == 1 && inputs[0] == t.Main && !structured(f.inputs[t.Main]) {
		if body, err = value(f.inputs[t.Main], between(flow)); err != nil {
			return "", err
		}
		inputs = nil
	}
	switch {
	case len(inputs) > 0 && flow:
		if body, err = value(f.inputs, inFlow); err != nil {
			return "", err
		}
	case len(inputs) > 0:
		for _, in := range inputs {
			v, err := value(f.inputs[in], inBlock)
			if err != nil {
				return "", err
			}
			k, err := value(in, inFlow)
			if err != nil {
				return "", err
			}
			body += "\n  " + k + ": " + strings.ReplaceAll(v, "\n", "\n  ")
		}
	case body == "" && t != nil && t.List != "":
		body = "[]"
	}
	return body, nil
}

func structured(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// snippet reads what was written as a tree.
func (d *doc) snippet(text string) (*node, error) {
	tree := parseYAML
	if d.json {
		tree = readJSON
	}
	n, err := tree([]byte(text))
	if err != nil {
		return nil, bad("this cannot be written: %v", err)
	}
	return n, nil
}

// elsa makes an activity as Elsa's JSON has it.
func (d *sites) elsa(f fresh) (map[string]json.RawMessage, error) {
	t, err := d.check(f)
	if err != nil {
		return nil, err
	}
	inputs := f.inputs
	if inputs == nil {
		inputs = map[string]any{}
	}
	return d.exported(map[string]any{t.ShortName(): inputs, "id": f.id})
}

// exported gives the fields that an activity, as YAML has it, gets in Elsa's JSON.
func (d *sites) exported(activity map[string]any) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(map[string]any{"id": "x", "root": []any{activity}})
	if err != nil {
		return nil, bad("this is no value of JSON: %v", err)
	}
	def, problems := yaml.Read(raw, "", d.types)
	if len(problems) > 0 {
		return nil, bad("%s", problems[0].Detail)
	}
	if def.Root == nil || len(def.Root.Activities) != 1 {
		return nil, bad("this cannot be written in Elsa's JSON")
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		a.Place.Pointer = "/" // one that was read so gets no nodeId: it is made of the places above
		return true
	})
	out, err := elsajson.Write(&workflow.Definition{ID: "x", Root: def.Root.Activities[0]}, d.types)
	if err != nil {
		return nil, fmt.Errorf("write an activity as Elsa's JSON: %w", err)
	}
	var whole struct{ Root map[string]json.RawMessage }
	if err := json.Unmarshal(out, &whole); err != nil {
		return nil, fmt.Errorf("write an activity as Elsa's JSON: %w", err)
	}
	return whole.Root, nil
}

// elsaFields are the first fields of an activity in Elsa's JSON.
var elsaFields = []string{"id", "name", "type", "version"}

// json writes fields in an order that people expect, indented if the text is.
func (d *doc) jsonText(fields map[string]json.RawMessage, column int) (string, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	names := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(name)
		if err != nil {
			return "", err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(fields[name])
	}
	b.WriteByte('}')
	return d.pretty(b.Bytes(), column)
}

func rank(name string) int {
	if i := slices.Index(elsaFields, name); i >= 0 {
		return i
	}
	return len(elsaFields)
}

// pretty indents JSON as its neighbours are, or not at all.
func (d *doc) pretty(raw []byte, column int) (string, error) {
	var b bytes.Buffer
	if len(d.starts) < 3 {
		if err := json.Compact(&b, raw); err != nil {
			return "", bad("this is no JSON: %v", err)
		}
		return b.String(), nil
	}
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", bad("this is no JSON: %v", err)
	}
	return d.indented(b.String(), column), nil
}
