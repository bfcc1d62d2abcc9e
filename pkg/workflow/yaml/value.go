package yaml

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// value gives a node as Go's JSON types, see scalar.
func (r *reader) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for _, p := range r.pairs(n) {
			m[p.name] = r.value(p.val)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.value(c)
		}
		return list
	}
	return r.scalar(n)
}

// scalar gives nil, bool, string, float64, or whole numbers that float64 cannot
// hold as [workflow.Number] has them.
func (r *reader) scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null", "":
		return nil
	case "!!bool":
		if b, err := strconv.ParseBool(strings.ToLower(n.Value)); err == nil {
			return b
		}
	case "!!int", "!!float":
		if write := workflow.TwoVersions(n.Value); write != "" {
			r.problem("bad-value", n, "%s is another number, or none, in another version of YAML: write %s, or quote it for a text", workflow.Shorten(n.Value), write)
			return n.Value
		}
		if v, ok := number(n.Value); ok {
			return v
		}
	default: // a text; expand has reported tags that mean nothing
		if n.Style == 0 && workflow.IsYAMLNumber(n.Value) {
			r.problem("bad-value", n, "the number %s is larger than any that there is: quote it for a text", workflow.Shorten(n.Value))
		}
		return n.Value
	}
	r.problem("bad-value", n, "%s is not a value that JSON has too", strconv.Quote(workflow.Shorten(n.Value)))
	return n.Value
}

func number(s string) (any, bool) {
	s = strings.ReplaceAll(s, "_", "")
	var v any
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		v = i
	} else if n, ok := workflow.ParseNumber(strings.TrimPrefix(s, "+")); ok {
		v = n
	} else if f, err := strconv.ParseFloat(s, 64); err == nil {
		v = workflow.Float(f)
	}
	return workflow.DefinedNumber(v), v != nil
}

// text reads a text; numbers and the like keep their spelling.
func (r *reader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode {
		r.shape(n, what, "a text")
		return ""
	}
	if isNull(n) {
		return ""
	}
	return n.Value
}

// truth reads a boolean, in YAML's older spellings too.
func (r *reader) truth(n *yaml.Node, what string) bool {
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on":
			return true
		case "false", "no", "off":
			return false
		}
	}
	r.shape(n, what, "true or false")
	return false
}

// dict reads a mapping with free keys.
func (r *reader) dict(n *yaml.Node, what string) map[string]any {
	if isNull(n) {
		return nil
	}
	m, ok := r.value(n).(map[string]any)
	if !ok {
		r.shape(n, what, "a mapping")
	}
	return m
}
