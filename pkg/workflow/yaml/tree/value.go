package tree

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// Value reads a document as Go's JSON types, with numbers as definitions have
// them. An error is the first problem.
func Value(src []byte) (any, error) {
	r := New(src, "")
	var v any
	if root := r.Parse(); root != nil && !r.Full {
		v = r.Value(root)
	}
	if problems := r.Report.Problems(); len(problems) > 0 {
		return nil, problems[:1]
	}
	return v, nil
}

// Value gives a node as Go's JSON types, see [Source.Scalar].
func (r *Source) Value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for _, p := range r.Pairs(n) {
			m[p.Name] = r.Value(p.Value)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.Value(c)
		}
		return list
	}
	return r.Scalar(n)
}

// Scalar gives nil, bool, string, float64, or whole numbers that float64 cannot
// hold as [workflow.Number] has them.
func (r *Source) Scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null", "":
		return nil
	case "!!bool":
		if b, err := strconv.ParseBool(strings.ToLower(n.Value)); err == nil {
			return b
		}
	case "!!int", "!!float":
		if write := workflow.TwoVersions(n.Value); write != "" {
			r.Problem("bad-value", n, "%s is another number, or none, in another version of YAML: write %s, or quote it for a text", workflow.Shorten(n.Value), write)
			return n.Value
		}
		if v, ok := number(n.Value); ok {
			return v
		}
	default: // a text; expand has reported tags that mean nothing
		if n.Style == 0 && workflow.IsYAMLNumber(n.Value) {
			r.Problem("bad-value", n, "the number %s is larger than any that there is: quote it for a text", workflow.Shorten(n.Value))
		}
		return n.Value
	}
	r.Problem("bad-value", n, "%s is not a value that JSON has too", strconv.Quote(workflow.Shorten(n.Value)))
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

// Text reads a text; numbers and the like keep their spelling.
func (r *Source) Text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode {
		r.Shape(n, what, "a text")
		return ""
	}
	if IsNull(n) {
		return ""
	}
	return n.Value
}

// Truth reads a boolean, in YAML's older spellings too.
func (r *Source) Truth(n *yaml.Node, what string) bool {
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on":
			return true
		case "false", "no", "off":
			return false
		}
	}
	r.Shape(n, what, "true or false")
	return false
}

// Dict reads a mapping with free keys.
func (r *Source) Dict(n *yaml.Node, what string) map[string]any {
	if IsNull(n) {
		return nil
	}
	m, ok := r.Value(n).(map[string]any)
	if !ok {
		r.Shape(n, what, "a mapping")
	}
	return m
}

// Texts reads a list of texts.
func (r *Source) Texts(n *yaml.Node, what string) []string {
	if IsNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.Shape(n, what, "a list of texts")
		return nil
	}
	out := []string{}
	for _, c := range n.Content {
		out = append(out, r.Text(c, "an item of "+what))
	}
	return out
}

// Choice reads one of some names, without regard to case. Names of Elsa's own
// types (which have a dot) pass, for the compiler to judge.
func (r *Source) Choice(p Pair, names []string) string {
	s := r.Text(p.Value, p.Name)
	for _, name := range names {
		if strings.EqualFold(s, name) {
			return name
		}
	}
	if s != "" && !strings.Contains(s, ".") {
		r.Problem("bad-value", p.Value, "%s must be one of %s, not %q%s", p.Name, strings.Join(names, ", "), workflow.Shorten(s), workflow.DidYouMean(s, names))
	}
	return s
}

// Entries gives the name and value of each entry of a mapping, or of each item
// of a list of mappings that have a name.
func (r *Source) Entries(n *yaml.Node, what string) []Pair {
	switch {
	case IsNull(n):
		return nil
	case n.Kind == yaml.MappingNode:
		return r.Pairs(n)
	}
	r.Shape(n, what, "a mapping from names to what they are")
	return nil
}
