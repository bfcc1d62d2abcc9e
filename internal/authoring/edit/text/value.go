package text

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	yamllib "go.yaml.in/yaml/v4"
)

// Style is what a value may look like where it stands.
type Style int

// What a value may look like.
const (
	InBlock Style = iota // anything
	InLine               // one line: something stands behind it
	InFlow               // one line between brackets
)

// Between is the style of a place that may be between brackets.
func Between(flow bool) Style {
	if flow {
		return InFlow
	}
	return InBlock
}

// Value writes a value of JSON as YAML. Its lines but the first are two columns further in.
func Value(v any, s Style) (string, error) {
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
		return "", Bad("this value cannot be written as YAML: %v", err)
	}
	if err := d.Close(); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Both writes a value as YAML, and gives its tree.
func (d *Draft) Both(v any, s Style) (string, *Node, error) {
	text, err := Value(v, s)
	if err != nil {
		return "", nil, err
	}
	n, err := d.Snippet(text)
	return text, n, err
}

func valueNode(v any, s Style) (*yamllib.Node, error) {
	n := &yamllib.Node{Kind: yamllib.ScalarNode}
	switch v := v.(type) {
	case nil:
		n.Value = "null"
	case bool:
		n.Value = strconv.FormatBool(v)
	case string:
		n.Tag, n.Value = "!!str", strings.ToValidUTF8(v, "\uFFFD")
		switch {
		case strings.Contains(v, "\n") && s == InBlock && asBlock(v):
			n.Style = yamllib.LiteralStyle
		case strings.ContainsAny(v, "\n\r\t\u0085\u2028\u2029\ufeff") || strings.TrimSpace(v) != v,
			s == InFlow && strings.ContainsAny(v, "{}[],"):
			n.Style = yamllib.DoubleQuotedStyle
		}
	case []any:
		n.Kind, n.Style = yamllib.SequenceNode, yamllib.FlowStyle
		for _, e := range v {
			c, err := valueNode(e, InFlow)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, c)
		}
	case map[string]any:
		n.Kind, n.Style = yamllib.MappingNode, yamllib.FlowStyle
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key, err := valueNode(k, InFlow)
			if err != nil {
				return nil, err
			}
			c, err := valueNode(v[k], InFlow)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, key, c)
		}
	default: // a number
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, Bad("this is no value of JSON: %v", err)
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

// elsaFields are the first fields of an activity in Elsa's JSON.
var elsaFields = []string{"id", "name", "type", "version"}

// JSONText writes fields in an order that people expect, indented if the text is.
func (d *Doc) JSONText(fields map[string]json.RawMessage, column int) (string, error) {
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
	return d.Pretty(b.Bytes(), column)
}

func rank(name string) int {
	if i := slices.Index(elsaFields, name); i >= 0 {
		return i
	}
	return len(elsaFields)
}

// Pretty indents JSON as its neighbours are, or not at all.
func (d *Doc) Pretty(raw []byte, column int) (string, error) {
	var b bytes.Buffer
	if len(d.Starts) < 3 {
		if err := json.Compact(&b, raw); err != nil {
			return "", Bad("this is no JSON: %v", err)
		}
		return b.String(), nil
	}
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", Bad("this is no JSON: %v", err)
	}
	return d.Indented(b.String(), column), nil
}

// FlowText writes a tree between brackets, in one line.
func (d *Doc) FlowText(n *Node) string {
	var b strings.Builder
	d.writeFlow(&b, n)
	return b.String()
}

func (d *Doc) writeFlow(b *strings.Builder, n *Node) {
	switch n.Kind {
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			d.writeFlow(b, item)
		}
		b.WriteByte(']')
		return
	case Mapping:
		b.WriteByte('{')
		for i, k := range n.Keys {
			if i > 0 {
				b.WriteString(", ")
			}
			d.writeFlow(b, k)
			b.WriteString(": ")
			d.writeFlow(b, n.Vals[i])
		}
		b.WriteByte('}')
		return
	}
	if n.Kind == Scalar && n.Tag == "!!str" {
		if out, err := Value(n.Text, InFlow); err == nil {
			b.WriteString(out)
			return
		}
	}
	if !n.Written() {
		b.WriteString("null")
		return
	}
	b.Write(d.Src[n.Start:n.End])
}
