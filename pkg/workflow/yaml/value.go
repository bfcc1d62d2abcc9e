package yaml

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// Value reads a document as Go's JSON types, with numbers as definitions have
// them. An error is the first problem.
func Value(src []byte) (any, error) {
	r := newSource(src, "")
	var v any
	if root := r.parse(); root != nil && !r.full {
		v = r.value(root)
	}
	if problems := r.report.Problems(); len(problems) > 0 {
		return nil, problems[:1]
	}
	return v, nil
}

// value gives a node as Go's JSON types, see scalar.
func (r *source) value(n *yaml.Node) any {
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
func (r *source) scalar(n *yaml.Node) any {
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
func (r *source) text(n *yaml.Node, what string) string {
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
func (r *source) truth(n *yaml.Node, what string) bool {
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
func (r *source) dict(n *yaml.Node, what string) map[string]any {
	if isNull(n) {
		return nil
	}
	m, ok := r.value(n).(map[string]any)
	if !ok {
		r.shape(n, what, "a mapping")
	}
	return m
}

// texts reads a list of texts.
func (r *source) texts(n *yaml.Node, what string) []string {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.shape(n, what, "a list of texts")
		return nil
	}
	out := []string{}
	for _, c := range n.Content {
		out = append(out, r.text(c, "an item of "+what))
	}
	return out
}

// choice reads one of some names, without regard to case. Names of Elsa's own
// types (which have a dot) pass, for the compiler to judge.
func (r *source) choice(p pair, names []string) string {
	s := r.text(p.val, p.name)
	for _, name := range names {
		if strings.EqualFold(s, name) {
			return name
		}
	}
	if s != "" && !strings.Contains(s, ".") {
		r.problem("bad-value", p.val, "%s must be one of %s, not %q%s", p.name, strings.Join(names, ", "), workflow.Shorten(s), workflow.DidYouMean(s, names))
	}
	return s
}

// entries gives the name and value of each entry of a mapping, or of each item
// of a list of mappings that have a name.
func (r *source) entries(n *yaml.Node, what string) []pair {
	switch {
	case isNull(n):
		return nil
	case n.Kind == yaml.MappingNode:
		return r.pairs(n)
	}
	r.shape(n, what, "a mapping from names to what they are")
	return nil
}
