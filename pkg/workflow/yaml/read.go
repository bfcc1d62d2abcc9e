package yaml

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

var topKeys = []string{"$schema", "id", "name", "description", "inputs", "variables", "outputs", "outcomes", "options", "customProperties", "root"}

// Read reads a definition from YAML. file names the source in problems and, when
// the definition has no id, its base name is the id. types tells what activities
// look like.
//
// The definition is given as far as it could be read, nil if not at all. With
// any problem it is not to be published; it may be checked further to find more
// problems, some of which then repeat a place that is already reported.
func Read(src []byte, file string, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	if len(src) > workflow.MaxSource {
		return nil, workflow.Problems{{Code: "too-large", Place: workflow.Place{File: file},
			Detail: fmt.Sprintf("the definition has %d bytes; up to %d are read", len(src), workflow.MaxSource)}}
	}
	if types == nil {
		types = workflow.Descriptors{}
	}
	r := &reader{src: src, file: file, types: types, branches: map[string]bool{}}
	for _, d := range types.All() {
		for _, p := range d.Ports {
			r.branches[p] = true
		}
	}
	root := r.parse()
	if root == nil || r.full {
		return nil, r.finish()
	}
	if root.Kind != yaml.MappingNode {
		r.shape(root, "a definition", "a mapping with id and root")
		return nil, r.finish()
	}
	return r.definition(root), r.finish()
}

// Value reads a document as Go's JSON types, with numbers as definitions have
// them. An error is the first problem.
func Value(src []byte) (any, error) {
	r := &reader{src: src}
	root := r.parse()
	if root == nil || r.full {
		return nil, r.problems[:1]
	}
	return r.value(root), nil
}

func (r *reader) definition(n *yaml.Node) *workflow.Definition {
	d := &workflow.Definition{Place: r.place(n)}
	hasRoot := false
	for _, p := range r.pairs(n) {
		switch p.name {
		case "$schema":
		case "id":
			d.ID = r.text(p.val, "id")
			if err := workflow.CheckID("id", d.ID); err != nil {
				r.problem("invalid-id", p.val, "%v", err)
			}
		case "name":
			d.Name = r.text(p.val, "name")
		case "description":
			d.Description = r.text(p.val, "description")
		case "inputs":
			d.Inputs = r.inputs(p.val)
		case "variables":
			d.Variables = r.variables(p.val)
		case "outputs":
			d.Outputs = r.outputs(p.val)
		case "outcomes":
			d.Outcomes = r.texts(p.val, "outcomes")
		case "options":
			r.options(p.val, d)
		case "customProperties":
			for k, v := range r.dict(p.val, p.name) {
				setProperty(&d.CustomProperties, k, v)
			}
		case "root":
			hasRoot = true
			d.Root = r.activity(p.val, spot{id: "root", root: true})
			if d.Root == nil && isNull(p.val) {
				r.shape(p.val, "root", "an activity or a list of activities")
			}
		default:
			r.unknown(p, "a definition", topKeys)
		}
	}
	if !hasRoot {
		r.problem("missing-root", n, "the definition has no root; that is the activity, or list of activities, that runs")
	}
	if d.ID == "" && !has(n, "id") {
		r.identify(d, n)
	}
	if p, over := workflow.Oversize(d.Root); over && !r.full {
		r.problems = append(r.problems, p)
	}
	return d
}

func has(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// identify derives the id from the file's name.
func (r *reader) identify(d *workflow.Definition, n *yaml.Node) {
	base := filepath.Base(r.file)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	if r.file != "" && workflow.CheckID("id", base) == nil {
		d.ID = base
		return
	}
	r.problem("missing-id", n, "the definition has no id; give it one, such as id: order-approval")
}

func (r *reader) texts(n *yaml.Node, what string) []string {
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

func setProperty(m *map[string]any, key string, v any) {
	if *m == nil {
		*m = map[string]any{}
	}
	(*m)[key] = v
}

// finish sorts the problems by place and adds excerpts.
func (r *reader) finish() workflow.Problems {
	sort.SliceStable(r.problems, func(i, j int) bool {
		a, b := r.problems[i].Place, r.problems[j].Place
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	if len(r.problems) == 0 {
		return nil
	}
	lines := bytes.SplitAfter(bytes.TrimPrefix(r.src, []byte("\xef\xbb\xbf")), []byte("\n"))
	for i, p := range r.problems {
		if p.Place.Line <= len(lines) {
			r.problems[i].Excerpt = excerpt(lines[p.Place.Line-1], p.Place)
		}
	}
	return r.problems
}

// excerpt shows one line without searching the whole source for it.
func excerpt(line []byte, at workflow.Place) string {
	rest, ok := strings.CutPrefix(workflow.Excerpt(line, 1, at.Column), "1 | ")
	if !ok {
		return ""
	}
	source, caret, _ := strings.Cut(rest, "\n")
	head := strconv.Itoa(at.Line) + " | "
	return head + source + "\n" + strings.Repeat(" ", len(head)-len("1 | ")) + caret
}
