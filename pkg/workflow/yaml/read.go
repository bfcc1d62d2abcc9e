package yaml

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

var topKeys = []string{"$schema", "id", "name", "description", "inputs", "variables", "outputs", "outcomes", "labels", "options", "customProperties", "root"}

// Read reads a definition from YAML. file names the source in problems and, when
// the definition has no id, its base name is the id. types tells what activities
// look like.
//
// Read gives the definition as far as it could read it, nil if not at all. With any
// problem the definition must not be published. It may be checked further to find more
// problems, some of which then repeat a place that is reported already.
func Read(src []byte, file string, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	return (&reader{in: bytes.NewReader(Readable(src))}).read(src, file, types)
}

// ReadTree is [Read] for those who want to know how the text is written, too: see gets the
// tree that the YAML library made of it, before aliases are replaced, and may not keep it. It
// is not called for a text that is no YAML. When the context ends, the text is read no further,
// which is a problem then.
func ReadTree(ctx context.Context, src []byte, types workflow.Types, see func(*yaml.Node)) (*workflow.Definition, workflow.Problems) {
	in := bytes.NewReader(Readable(src))
	return (&reader{see: see, in: reading(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return in.Read(p)
	})}).read(src, "", types)
}

// reading is a reader that is a function.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }

// read reads a definition with a reader that knows where the text comes from, and what else is
// wanted of it.
func (r *reader) read(src []byte, file string, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	if problems := workflow.CheckSize(src, file); problems != nil {
		return nil, problems
	}
	if types == nil {
		types = workflow.Descriptors{}
	}
	r.src, r.file, r.types, r.report, r.branches = src, file, types, workflow.NewReport(src, file), map[string]bool{}
	for _, d := range types.All() {
		for _, p := range d.Ports {
			r.branches[p] = true
		}
	}
	root := r.parse()
	if root == nil || r.full {
		return nil, r.report.Problems()
	}
	if root.Kind != yaml.MappingNode {
		r.shape(root, "a definition", "a mapping with id and root")
		return nil, r.report.Problems()
	}
	return r.definition(root), r.report.Problems()
}

// Value reads a document as Go's JSON types, with numbers as definitions have
// them. An error is the first problem.
func Value(src []byte) (any, error) {
	r := &reader{src: src, in: bytes.NewReader(Readable(src)), report: workflow.NewReport(src, "")}
	var v any
	if root := r.parse(); root != nil && !r.full {
		v = r.value(root)
	}
	if problems := r.report.Problems(); len(problems) > 0 {
		return nil, problems[:1]
	}
	return v, nil
}

func (r *reader) definition(n *yaml.Node) *workflow.Definition {
	d := &workflow.Definition{Place: r.place(n)}
	r.order(n, topKeys)
	pairs := r.pairs(n)
	for _, p := range pairs {
		r.top(p, d)
	}
	if !slices.ContainsFunc(pairs, func(p pair) bool { return p.name == "root" }) {
		r.problem("missing-root", n, "the definition has no root; that is the activity, or list of activities, that runs")
	}
	if d.ID == "" && !has(n, "id") {
		r.identify(d, n)
	}
	if !r.full {
		r.report.Oversize(d.Root)
	}
	return d
}

// top reads a key of the definition itself.
func (r *reader) top(p pair, d *workflow.Definition) {
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
	case "labels":
		d.Labels = r.labels(p.val)
	case "options":
		r.options(p.val, d)
	case "customProperties":
		for k, v := range r.dict(p.val, p.name) {
			setProperty(&d.CustomProperties, k, v)
		}
	case "root":
		d.Root = r.activity(p.val, idScope{id: "root", root: true})
		if d.Root == nil && isNull(p.val) {
			r.shape(p.val, "root", "an activity or a list of activities")
		}
	default:
		r.unknown(p, "a definition", topKeys)
	}
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
