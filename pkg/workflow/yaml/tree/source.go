package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// Limits on the text, beyond those that all notations share.
const (
	maxDepth   = 1000    // nesting of lists and mappings
	maxAliased = 100_000 // nodes that come from aliases
)

// Source is a text whose nodes are read, and the report on it.
type Source struct {
	src     []byte
	in      io.Reader        // gives src, as it can be read
	restore func(*yaml.Node) // what the library makes of that
	see     func(*yaml.Node) // what the library makes of it; nil: nobody wants it
	Report  *workflow.Report
	aliased int
	Full    bool // over a limit: stop
}

// New begins to read src, which file names in problems.
func New(src []byte, file string) *Source {
	text, restore := Readable(src)
	return &Source{src: src, in: bytes.NewReader(text), restore: restore, Report: workflow.NewReport(src, file)}
}

// Show gives the tree to see when it is made. When the context ends, the text is read no further.
func (r *Source) Show(ctx context.Context, see func(*yaml.Node)) {
	in := r.in
	r.see, r.in = see, reading(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return in.Read(p)
	})
}

// reading is a reader that is a function.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }

// Parse reads the one document of src, its aliases replaced by copies.
func (r *Source) Parse() *yaml.Node {
	if !utf8.Valid(r.src) {
		r.Report.Problem("bad-yaml", r.Report.At(1, 1), "the text is not valid UTF-8")
		return nil
	}
	loader, err := yaml.NewLoader(r.in)
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
		r.Problem("bad-yaml", &next, "a file holds one definition; a second document begins here")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return &doc
	}
	r.restore(doc.Content[0])
	if r.see != nil {
		r.see(doc.Content[0])
	}
	return r.expand(doc.Content[0], 0, false)
}

// syntax reports what the YAML library says about broken text.
func (r *Source) syntax(err error) {
	at := r.Report.At(1, 1)
	text := err.Error()
	if errors.Is(err, io.EOF) {
		text = "there is no definition here"
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		text = one.Message
		if one.Mark.Line > 0 {
			at = r.Report.At(one.Mark.Line, one.Mark.Column)
		} else if one.ContextMark.Line > 0 {
			at = r.Report.At(one.ContextMark.Line, one.ContextMark.Column)
		}
		if one.ContextMsg != "" {
			text += " (" + one.ContextMsg + ")"
		}
	}
	text += quoting(text, lineOf(r.src, at.Line))
	if line := lineOf(r.src, at.Line); strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t") {
		text = "the line begins with a tab; lines are indented with spaces"
	}
	r.Report.Problem("bad-yaml", at, "this is not YAML: %s", text)
}

// quoting says which text has to be quoted, where that is why a line is no YAML.
func quoting(message, line string) string {
	_, value, _ := strings.Cut(strings.TrimLeft(line, " -"), ": ")
	value = strings.TrimSpace(value)
	switch {
	case strings.HasPrefix(message, "mapping values are not allowed"):
		return "; a text with a colon and a space in it has to be quoted"
	case strings.HasPrefix(message, "found character that cannot start any token") && value != "" && strings.ContainsAny(value[:1], "@%`"):
		return "; a text that begins with " + value[:1] + " has to be quoted"
	case strings.HasPrefix(message, "did not find expected key") && value != "" && strings.ContainsAny(value[:1], "\"'"):
		return "; behind the quote that ends a text nothing may follow: quote the whole text with the other kind of quotes"
	}
	return ""
}

// lineOf gives a line, counted from 1; "" if there is none.
func lineOf(src []byte, n int) string {
	for line := range bytes.Lines(src) {
		if n--; n == 0 {
			return string(line)
		}
	}
	return ""
}

// tags are those that mean something.
const tags = " !!map !!seq !!null !!bool !!int !!float !!str !!timestamp !!merge "

// expand replaces aliases by copies of what they name, so that nothing later
// has to know of them, and bounds depth and growth.
func (r *Source) expand(n *yaml.Node, depth int, copied bool) *yaml.Node {
	if r.Full {
		return n
	}
	if depth > maxDepth {
		r.Full = true
		r.Problem("too-deep", n, "lists and mappings may be nested up to %d deep", maxDepth)
		return n
	}
	if n.Kind == yaml.AliasNode {
		n, copied = n.Alias, true
	}
	if !copied && n.Tag != "" && !strings.Contains(tags, " "+n.Tag+" ") {
		r.Problem("unknown-tag", n, "the tag %s has no meaning here; leave it out", n.Tag)
	}
	if copied {
		if r.aliased++; r.aliased > maxAliased {
			r.Full = true
			r.Problem("too-large", n, "aliases (*%s) repeat too much of the text; write it once", n.Anchor)
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

// Place gives where n begins.
func (r *Source) Place(n *yaml.Node) workflow.Place {
	return r.Report.At(n.Line, n.Column)
}

// Problem reports what is wrong at n.
func (r *Source) Problem(code string, n *yaml.Node, format string, args ...any) {
	r.Report.Problem(code, r.Place(n), format, args...)
}

// Shape reports that n is not what is wanted; what names it.
func (r *Source) Shape(n *yaml.Node, what, want string) {
	r.Report.WrongShape(r.Place(n), what, want, describe(n))
}

func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case IsNull(n):
		return "empty"
	}
	return strconv.Quote(workflow.Shorten(n.Value))
}

// IsNull tells whether nothing is there.
func IsNull(n *yaml.Node) bool {
	return n == nil || n.Kind == 0 || n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// IsText tells whether a node is a text, and neither a number nor a boolean.
func IsText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// Pair is one entry of a mapping.
type Pair struct {
	Name       string
	Key, Value *yaml.Node
}

// Pairs gives the entries of a mapping, merged ones (<<) last; it reports keys
// that are doubled or no text.
func (r *Source) Pairs(n *yaml.Node) []Pair {
	var out []Pair
	seen := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			if k.Kind == yaml.MappingNode {
				r.Problem("wrong-shape", k, "a key must be a text, not a mapping; a text with {{ }} in it has to be quoted, and an expression is ${{ }}")
				continue
			}
			r.Shape(k, "a key", "a text")
		case k.Tag == "!!merge":
			if v.Kind == yaml.SequenceNode {
				merged = append(merged, v.Content...)
			} else {
				merged = append(merged, v)
			}
		case seen[k.Value]:
			r.Problem("duplicate-key", k, "the key %s is here twice in one mapping", workflow.Shorten(k.Value))
		default:
			seen[k.Value] = true
			out = append(out, Pair{k.Value, k, v})
		}
	}
	for _, m := range merged {
		if m.Kind != yaml.MappingNode {
			r.Shape(m, "what << merges", "a mapping")
			continue
		}
		for _, p := range r.Pairs(m) {
			if !seen[p.Name] {
				seen[p.Name] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// Unknown reports a key that is not known at its place.
func (r *Source) Unknown(p Pair, where string, known []string) {
	for _, ours := range strings.Fields(notation.OtherKeys[p.Name]) {
		if slices.Contains(known, ours) && !r.Report.Full() {
			r.Problem("unknown-key", p.Key, "%s has no key %s (did you mean %s?)", where, workflow.Shorten(p.Name), ours)
			return
		}
	}
	r.Report.UnknownKey(r.Place(p.Key), where, p.Name, known)
}
