package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
)

// Bounds of a source in bytes: a definition's, and that of a file of tests.
const (
	MaxDefinition = workflow.MaxSource
	MaxTests      = 4 << 20
)

// maxDepth bounds how deep lists and mappings are nested.
const maxDepth = 1000

// IsTests tells by its name whether a file has tests.
func IsTests(file string) bool {
	name := strings.ToLower(filepath.Base(file))
	return strings.HasSuffix(name, ".test.yaml") || strings.HasSuffix(name, ".test.yml")
}

// LooksLikeDefinition tells a definition from other YAML and JSON: a mapping with root. What cannot be
// read is one if a line at its margin, or anything in JSON, says root.
func LooksLikeDefinition(src []byte, file string) bool {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if strings.EqualFold(filepath.Ext(file), ".json") {
		var top map[string]json.RawMessage
		if err := json.Unmarshal(src, &top); err != nil {
			var wrong *json.SyntaxError
			return errors.As(err, &wrong) && bytes.Contains(src, []byte(`"root"`))
		}
		return slices.ContainsFunc(slices.Collect(maps.Keys(top)), func(key string) bool { return strings.EqualFold(key, "root") })
	}
	root, err := parse(src, file)
	if err != nil {
		return rootLine.Match(src)
	}
	if root == nil || root.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i].Value == "root" {
			return true
		}
	}
	return false
}

var rootLine = regexp.MustCompile(`(?m)^["']?root["']?[ \t]*:`)

// Source formats the source of a file, which is JSON if its name or its look says so. types
// tells what activities look like. An error of type [workflow.Problems] has the place of what
// is wrong with the source.
func Source(src []byte, file string, types workflow.Types) ([]byte, error) {
	most := MaxDefinition
	if IsTests(file) {
		most = MaxTests
	}
	if len(src) > most {
		return nil, problem(src, file, 1, 1, "it has %d bytes; up to %d are possible", len(src), most)
	}
	ext := strings.ToLower(filepath.Ext(file))
	if ext == ".json" || ext != ".yaml" && ext != ".yml" && json.Valid(src) {
		return indentJSON(src, file)
	}
	return formatYAML(src, file, types)
}

func problem(src []byte, file string, line, column int, format string, args ...any) workflow.Problems {
	r := workflow.NewReport(src, file)
	r.Problem("bad-yaml", r.At(line, column), format, args...)
	return r.Problems()
}

func indentJSON(src []byte, file string) ([]byte, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(src), "", "  "); err != nil {
		r := workflow.NewReport(src, file)
		at, text := r.AtByte(len(src), ""), err.Error()
		var wrong *json.SyntaxError
		if errors.As(err, &wrong) {
			lead := len(src) - len(bytes.TrimLeft(src, " \t\r\n"))
			at = r.AtByte(max(0, lead+int(wrong.Offset)-1), "")
		}
		r.Problem("bad-json", at, "this is not JSON: %s", text)
		return nil, r.Problems()
	}
	return endedAs(src, append(out.Bytes(), '\n')), nil
}

// endedAs ends the lines as the first one of the source ends: a repository may ask for the one or the other.
func endedAs(src, out []byte) []byte {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	return out
}

// formatYAML formats, and looks whether what comes out means the same.
func formatYAML(src []byte, file string, types workflow.Types) ([]byte, error) {
	given := bytes.TrimPrefix(src, []byte("\ufeff"))
	lines, err := split(given, file)
	if err != nil {
		return nil, err
	}
	given = []byte(strings.Join(lines, "\n"))
	root, err := parse(given, file)
	if err != nil || root == nil || root.Kind == yaml.ScalarNode || root.Kind == yaml.AliasNode {
		return src, err // what has no parts has no form
	}
	orders := map[workflow.Place][]string{}
	switch {
	case anchored(root): // what is repeated must come first
	case IsTests(file):
		orders = testOrders(root, file)
	default:
		orders = weftyaml.KeyOrders(given, file, types)
	}
	for {
		l := newLayout(lines, file, orders)
		out := l.document(root)
		if l.refused != nil {
			return nil, l.refused
		}
		wrong := l.changed(root, out, types)
		if wrong == nil {
			return endedAs(src, out), nil
		}
		if len(orders) == 0 {
			return nil, problem(given, file, 1, 1, "it cannot be formatted and stays as it is: %v (a mistake of weft fmt: please tell)", wrong)
		}
		orders = nil // here the order means something
	}
}

// split gives the lines of a source. YAML knows more line breaks than editors do; those that
// they do not show are refused.
func split(src []byte, file string) ([]string, error) {
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	if i := strings.IndexAny(text, "\r\u0085\u2028\u2029"); i >= 0 {
		before := text[:i]
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		return nil, problem([]byte(text), file, line, column, "the character %+q begins a line here that few editors show; write it as an escape in double quotes", []rune(text[i:])[0])
	}
	return strings.Split(text, "\n"), nil
}

// parse gives the one document of a source, nil if it has none.
func parse(src []byte, file string) (*yaml.Node, error) {
	text, restore := weftyaml.Readable(src)
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var doc, next yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntax(src, file, err)
	}
	switch err := loader.Load(&next); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, syntax(src, file, err)
	default:
		return nil, problem(src, file, next.Line, next.Column, "a file holds one document; a second one begins here")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, nil
	}
	if n := tooDeep(doc.Content[0], 0); n != nil {
		return nil, problem(src, file, n.Line, n.Column, "lists and mappings may be nested up to %d deep", maxDepth)
	}
	restore(doc.Content[0])
	return doc.Content[0], nil
}

// syntax is what the YAML library says about broken text, with its place.
func syntax(src []byte, file string, err error) error {
	line, column, text := 1, 1, err.Error()
	var one *yaml.LoadError
	if errors.As(err, &one) {
		text = one.Message
		at := one.Mark
		if at.Line == 0 {
			at = one.ContextMark
		}
		line, column = max(1, at.Line), max(1, at.Column)
		if one.ContextMsg != "" {
			text += " (" + one.ContextMsg + ")"
		}
	}
	return problem(src, file, line, column, "this is not YAML: %s", text)
}

func tooDeep(n *yaml.Node, depth int) *yaml.Node {
	if depth > maxDepth {
		return n
	}
	for _, kid := range n.Content {
		if deep := tooDeep(kid, depth+1); deep != nil {
			return deep
		}
	}
	return nil
}

// anchored tells whether a document has anchors or aliases.
func anchored(n *yaml.Node) bool {
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		return true
	}
	for _, kid := range n.Content {
		if anchored(kid) {
			return true
		}
	}
	return false
}

// Keys of a file of tests, of a case and of a step, in the order of docs/testing.md.
var (
	fileKeys = []string{"$schema", "description", "definition", "others", "now", "properties", "secrets", "mocks", "children", "http", "cases"}
	caseKeys = []string{"name", "now", "properties", "secrets", "mocks", "children", "http", "input", "correlationId", "start", "steps", "expect"}
)

func testOrders(root *yaml.Node, file string) map[workflow.Place][]string {
	orders := map[workflow.Place][]string{place(root, file): fileKeys}
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "cases" {
			for _, c := range root.Content[i+1].Content {
				orders[place(c, file)] = caseKeys
			}
		}
	}
	return orders
}

func place(n *yaml.Node, file string) workflow.Place {
	return workflow.Place{File: file, Line: n.Line, Column: n.Column}
}

// changed tells how what came out differs from what went in, nil if it says the same.
func (l *layout) changed(before *yaml.Node, out []byte, types workflow.Types) error {
	after, err := parse(out, l.file)
	if err != nil {
		return err
	}
	if after == nil || !same(before, after) {
		return errors.New("its values would change")
	}
	then := newLayout(strings.Split(string(out), "\n"), l.file, nil)
	if had, has := l.comments(before), then.comments(after); !sameTexts(had, has) {
		return fmt.Errorf("of its %d comments some would be lost or made", len(had))
	}
	if IsTests(l.file) {
		return nil
	}
	src := []byte(l.text())
	was, problems := weftyaml.Read(src, l.file, types)
	if len(problems) > 0 {
		return nil // it is no definition yet
	}
	is, problems := weftyaml.Read(out, l.file, types)
	if len(problems) > 0 {
		return problems[:1]
	}
	wasText, err := weftyaml.Write(was, types)
	if err != nil {
		return nil //nolint:nilerr // what cannot be written cannot be compared so; its values are the same
	}
	if isText, err := weftyaml.Write(is, types); err != nil || !bytes.Equal(wasText, isText) {
		return errors.New("the definition would be another one")
	}
	return nil
}
