package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// Limits on the text, beyond those that all notations share.
const (
	maxDepth    = 1000    // nesting of lists and mappings
	maxAliased  = 100_000 // nodes that come from aliases
	maxProblems = 200
)

// reader turns nodes into the domain's types and collects problems.
type reader struct {
	src        []byte
	lines      []int
	file       string
	types      workflow.Types
	problems   workflow.Problems
	aliased    int
	activities int
	full       bool // over a limit: stop
	branches   map[string]bool
}

// parse reads the one document of src, its aliases replaced by copies.
func (r *reader) parse() *yaml.Node {
	if !utf8.Valid(r.src) {
		r.problems = append(r.problems, workflow.Problem{Code: "bad-yaml", Detail: "the text is not valid UTF-8", Place: workflow.Place{File: r.file, Line: 1, Column: 1}})
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(r.src))
	if err != nil {
		r.syntax(err)
		return nil
	}
	var doc, next yaml.Node
	if err := loader.Load(&doc); err != nil {
		r.syntax(err)
		return nil
	}
	if err := loader.Load(&next); !errors.Is(err, io.EOF) && err != nil {
		r.syntax(err)
	} else if err == nil {
		r.problem("bad-yaml", &next, "a file holds one definition; a second document begins here")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return &doc
	}
	return r.expand(doc.Content[0], 0, false)
}

// syntax reports what the YAML library says about broken text.
func (r *reader) syntax(err error) {
	at := workflow.Place{File: r.file, Line: 1, Column: 1}
	text := err.Error()
	if errors.Is(err, io.EOF) {
		text = "there is no definition here"
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		text = one.Message
		if one.Mark.Line > 0 {
			at.Line, at.Column = one.Mark.Line, max(1, one.Mark.Column)
		} else if one.ContextMark.Line > 0 {
			at.Line, at.Column = one.ContextMark.Line, max(1, one.ContextMark.Column)
		}
		if one.ContextMsg != "" {
			text += " (" + one.ContextMsg + ")"
		}
	}
	r.problems = append(r.problems, workflow.Problem{Code: "bad-yaml", Detail: "this is not YAML: " + text, Place: at})
}

// expand replaces aliases by copies of what they name, so that nothing later
// has to know of them, and bounds depth and growth.
func (r *reader) expand(n *yaml.Node, depth int, copied bool) *yaml.Node {
	if r.full {
		return n
	}
	if depth > maxDepth {
		r.full = true
		r.problem("too-deep", n, "lists and mappings may be nested up to %d deep", maxDepth)
		return n
	}
	if n.Kind == yaml.AliasNode {
		n, copied = n.Alias, true
	}
	if copied {
		if r.aliased++; r.aliased > maxAliased {
			r.full = true
			r.problem("too-large", n, "aliases (*%s) repeat too much of the text; write it once", n.Anchor)
			return n
		}
		c := *n
		c.Content = slices.Clone(n.Content)
		n = &c
	}
	for i, kid := range n.Content {
		n.Content[i] = r.expand(kid, depth+1, copied)
	}
	return n
}

func (r *reader) place(n *yaml.Node) workflow.Place {
	return workflow.Place{File: r.file, Line: max(1, n.Line), Column: max(1, n.Column)}
}

func (r *reader) problem(code string, n *yaml.Node, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, workflow.Problem{Code: code, Place: r.place(n), Detail: fmt.Sprintf(format, args...)})
	}
}

// shape reports that n is not what is wanted; what names it.
func (r *reader) shape(n *yaml.Node, what, want string) {
	r.problem("wrong-shape", n, "%s must be %s, not %s", what, want, describe(n))
}

func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	}
	return strconv.Quote(shorten(n.Value))
}

func shorten(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		return string([]rune(s)[:40]) + "…"
	}
	return s
}

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == 0 || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// pair is one entry of a mapping.
type pair struct {
	name     string
	key, val *yaml.Node
}

// pairs gives the entries of a mapping, merged ones (<<) last; it reports keys
// that are doubled or no text.
func (r *reader) pairs(n *yaml.Node) []pair {
	var out []pair
	seen := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			r.shape(k, "a key", "a text")
		case k.Tag == "!!merge":
			if v.Kind == yaml.SequenceNode {
				merged = append(merged, v.Content...)
			} else {
				merged = append(merged, v)
			}
		case seen[k.Value]:
			r.problem("duplicate-key", k, "the key %s is here twice in one mapping", k.Value)
		default:
			seen[k.Value] = true
			out = append(out, pair{k.Value, k, v})
		}
	}
	for _, m := range merged {
		if m.Kind != yaml.MappingNode {
			r.shape(m, "what << merges", "a mapping")
			continue
		}
		for _, p := range r.pairs(m) {
			if !seen[p.name] {
				seen[p.name] = true
				out = append(out, p)
			}
		}
	}
	return out
}

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

// maxExact is the largest whole number up to which float64 holds every one.
const maxExact = 1 << 53

// scalar gives nil, bool, string, float64, or int64 for whole numbers that
// float64 cannot hold.
func (r *reader) scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null", "":
		return nil
	case "!!bool":
		if b, err := strconv.ParseBool(strings.ToLower(n.Value)); err == nil {
			return b
		}
	case "!!int", "!!float":
		if v, ok := number(n.Value); ok {
			return v
		}
	case "!!str", "!!timestamp", "!!binary", "!!merge":
		return n.Value
	default:
		r.problem("unknown-tag", n, "the tag %s has no meaning here; leave it out", n.Tag)
		return n.Value
	}
	r.problem("bad-value", n, "%s is not a value that JSON has too", strconv.Quote(shorten(n.Value)))
	return n.Value
}

func number(s string) (any, bool) {
	s = strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		if i > maxExact || i < -maxExact {
			return i, true
		}
		return float64(i), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, false
	}
	if f == 0 {
		f = 0 // not minus zero
	}
	return f, true
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

// unknown reports a key that is not known at its place.
func (r *reader) unknown(p pair, where string, known []string) {
	if len(r.problems) >= maxProblems {
		return
	}
	r.problem("unknown-key", p.key, "%s has no key %s%s", where, shorten(p.name), workflow.DidYouMean(p.name, known))
}
