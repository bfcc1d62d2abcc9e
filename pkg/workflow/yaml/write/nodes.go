package write

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// The functions here make nodes of the YAML library.

func text(s string) *yaml.Node {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case strings.Contains(s, "\n") && fitsBlock(s):
		n.Style = yaml.LiteralStyle
	case strings.TrimSpace(s) != s:
		n.Style = yaml.DoubleQuotedStyle // the library loses spaces at the edges of other styles
	}
	return n
}

// fitsBlock tells whether a text can stand as a block (|) without escapes.
func fitsBlock(s string) bool {
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.HasPrefix(s, "\t") {
		return false
	}
	for _, c := range s {
		if c != '\n' && c != '\t' && (c < ' ' || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff) {
			return false
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.TrimRight(line, " \t") != line {
			return false
		}
	}
	return true
}

func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

func empty() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"} }

func list() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode} }

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

// put adds an entry to a mapping.
func put(m *yaml.Node, key string, v *yaml.Node) {
	k := text(key)
	if k.Style == yaml.LiteralStyle {
		k.Style = yaml.DoubleQuotedStyle
	}
	m.Content = append(m.Content, k, v)
}

// putText adds a text unless it is empty.
func putText(m *yaml.Node, key, s string) {
	if s != "" {
		put(m, key, text(s))
	}
}

func single(key string, v *yaml.Node) *yaml.Node {
	m := mapping()
	put(m, key, v)
	return m
}

// flow writes small things on one line.
func flow(n *yaml.Node) *yaml.Node {
	n.Style |= yaml.FlowStyle
	return n
}

// isSmall tells whether a node is worth one line: scalars, or a few of them.
func isSmall(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return len(n.Value) <= 40 && !strings.Contains(n.Value, "\n")
	}
	total := 0
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode || !isSmall(c) {
			return false
		}
		total += len(c.Value) + 2
	}
	return total <= 80
}

// data makes a node of a JSON-like value.
func data(v any) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return plain("null")
	case string:
		return text(v)
	case bool:
		return plain(strconv.FormatBool(v))
	case int64:
		return plain(strconv.FormatInt(v, 10))
	case int:
		return plain(strconv.Itoa(v))
	case float64:
		return floating(v)
	case json.Number:
		n := plain(withPoint(strings.ToLower(v.String())))
		if _, err := v.Float64(); err != nil { // the library takes it for a text
			n.Tag, n.Style = "!!float", yaml.TaggedStyle
		}
		return n
	case []any:
		n := list()
		for _, e := range v {
			n.Content = append(n.Content, data(e))
		}
		if isSmall(n) {
			flow(n)
		}
		return n
	case map[string]any:
		n := mapping()
		for _, k := range slices.Sorted(maps.Keys(v)) {
			put(n, k, data(v[k]))
		}
		if isSmall(n) {
			flow(n)
		}
		return n
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return plain("null")
	}
	var tree any
	if err := workflow.Unmarshal(raw, &tree); err != nil {
		return plain("null")
	}
	return data(tree)
}

func floating(v float64) *yaml.Node {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return plain("null")
	case v == math.Trunc(v) && math.Abs(v) <= workflow.MaxExact:
		return plain(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return plain(withPoint(strconv.FormatFloat(v, 'g', -1, 64)))
}

// withPoint writes 1e+21 as 1.0e+21; the first would be a text for some readers.
func withPoint(number string) string {
	if strings.Contains(number, ".") {
		return number
	}
	return strings.Replace(number, "e", ".0e", 1)
}
