package suite

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
)

const (
	maxTestFile = 4 << 20
	maxNesting  = 200
	maxNodes    = 200_000
	maxText     = 2 * maxTestFile // bytes of its texts, those that aliases repeat included
)

// fileReader reads a test file and reports its problems.
type fileReader struct {
	file   string
	src    []byte
	sent   bool // by somebody, and no file
	report *workflow.Report
	nodes  int // visited so far, those of aliases each time
	bytes  int // of their texts
}

func (r *fileReader) problem(n *yaml.Node, format string, args ...any) {
	r.report.Problem("bad-test", r.report.At(n.Line, n.Column), format, args...)
}

// parse gives the one document of the file, without aliases.
func (r *fileReader) parse() *yaml.Node {
	text, restore := weftyaml.Readable(r.src)
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	var doc yaml.Node
	if err == nil {
		err = loader.Load(&doc)
	}
	at := yaml.Node{Line: 1, Column: 1}
	var one *yaml.LoadError
	switch {
	case errors.Is(err, io.EOF), err == nil && (doc.Kind != yaml.DocumentNode || len(doc.Content) != 1):
		r.problem(&at, "the file is empty; it should have cases")
		return nil
	case errors.As(err, &one):
		at.Line, at.Column = one.Mark.Line, one.Mark.Column
		r.problem(&at, "this is not YAML: %s", one.Message)
		return nil
	case err != nil:
		r.problem(&at, "this is not YAML: %v", err)
		return nil
	}
	restore(doc.Content[0])
	return r.expand(doc.Content[0], 0)
}

// expand replaces aliases by what they name.
func (r *fileReader) expand(n *yaml.Node, depth int) *yaml.Node {
	if r.nodes++; depth > maxNesting || r.nodes > maxNodes {
		r.problem(n, "lists and mappings may be nested up to %d deep, and have up to %d parts, those that aliases repeat included", maxNesting, maxNodes)
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.bytes += len(n.Value); r.bytes > maxText {
		r.problem(n, "the texts have more than %d bytes, those that aliases repeat included", maxText)
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
	}
	if r.report.Empty() {
		for i, kid := range n.Content {
			n.Content[i] = r.expand(kid, depth+1)
		}
	}
	return n
}

// fields reads a mapping with known keys.
func (r *fileReader) fields(n *yaml.Node, what string, known map[string]func(key, value *yaml.Node)) {
	if isNull(n) {
		return
	}
	r.pairs(n, what, func(key, value *yaml.Node) {
		read := known[key.Value]
		if read == nil {
			keys := slices.Sorted(maps.Keys(known))
			r.problem(key, "%s has no key %s%s; known are %s", what, key.Value, workflow.DidYouMean(key.Value, keys), strings.Join(keys, ", "))
			return
		}
		read(key, value)
	})
}

// pairs reads a mapping with any keys.
func (r *fileReader) pairs(n *yaml.Node, what string, each func(key, value *yaml.Node)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.problem(n, "%s should be a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			r.problem(key, "the key is there twice, or is no text")
			continue
		}
		seen[key.Value] = true
		each(key, value)
	}
}

// list reads a list; one item may stand for a list of it.
func (r *fileReader) list(n *yaml.Node, what string, each func(i int, item *yaml.Node)) {
	switch {
	case isNull(n):
	case n.Kind != yaml.SequenceNode:
		r.problem(n, "%s should be a list", what)
	default:
		for i, item := range n.Content {
			each(i, item)
		}
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func (r *fileReader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.problem(n, "%s should be a text", what)
		return ""
	}
	return n.Value
}

// texts reads a list of texts; a single text is a list of one. It is never nil.
func (r *fileReader) texts(n *yaml.Node, what string) []string {
	out := []string{}
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		return append(out, n.Value)
	}
	r.list(n, what, func(_ int, item *yaml.Node) { out = append(out, r.text(item, "an item of "+what)) })
	return out
}

func (r *fileReader) flag(n *yaml.Node, what string) bool {
	b, err := strconv.ParseBool(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.problem(n, "%s should be true or false", what)
	}
	return b
}

func (r *fileReader) number(n *yaml.Node, what string) int {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.problem(n, "%s should be a whole number", what)
	}
	return i
}

func (r *fileReader) duration(n *yaml.Node, what string) time.Duration {
	d, err := value.ParseDuration(n.Value)
	if err == nil && d < 0 {
		err = errors.New("time does not go back")
	}
	if n.Kind != yaml.ScalarNode || err != nil {
		r.problem(n, "%s takes a duration: %v", what, err)
	}
	return d
}

func (r *fileReader) time(n *yaml.Node) time.Time {
	t, err := time.Parse(time.RFC3339, n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.problem(n, "a time is written like 2026-01-31T08:00:00Z")
	} else if !workflow.KeepsTime(t) {
		r.problem(n, "a node keeps times of the years %d to %d, in UTC", workflow.FirstYear, workflow.LastYear)
	}
	return t
}

// value gives a node as JSON's types.
func (r *fileReader) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		return r.object(n, "a value")
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = r.value(item)
		}
		return out
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return r.flag(n, "it")
	case "!!int":
		if i, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64); err == nil {
			return i
		}
		fallthrough
	case "!!float":
		f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
		if err != nil {
			r.problem(n, "%s is no number that JSON has too", n.Value)
		}
		return f
	}
	return n.Value
}

func (r *fileReader) object(n *yaml.Node, what string) map[string]any {
	out := map[string]any{}
	r.pairs(n, what, func(key, value *yaml.Node) { out[key.Value] = r.value(value) })
	return out
}

func (r *fileReader) textMap(n *yaml.Node, what string) map[string]string {
	out := map[string]string{}
	r.pairs(n, what, func(key, value *yaml.Node) { out[key.Value] = r.text(value, key.Value) })
	return out
}
