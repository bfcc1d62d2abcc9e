package yaml

import (
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
	r, problems := newReader(src, file, types)
	if r == nil {
		return nil, problems
	}
	return r.read()
}

// ReadTree is [Read] for those who want to know how the text is written, too: see gets the
// tree that the YAML library made of it, before aliases are replaced, and may not keep it. It
// is not called for a text that is no YAML. When the context ends, the text is read no further,
// which is a problem then.
func ReadTree(ctx context.Context, src []byte, types workflow.Types, see func(*yaml.Node)) (*workflow.Definition, workflow.Problems) {
	r, problems := newReader(src, "", types)
	if r == nil {
		return nil, problems
	}
	r.show(ctx, see)
	return r.read()
}

// reader turns nodes into the domain's types and reports problems.
type reader struct {
	*source
	file       string
	types      workflow.Types
	activities int
	branches   map[string]bool
	orders     map[workflow.Place][]string // of keys, by the mapping's place; nil: they are not wanted
}

// newReader begins to read a definition; nil and why for a text that is too large.
func newReader(src []byte, file string, types workflow.Types) (*reader, workflow.Problems) {
	if problems := workflow.CheckSize(src, file); problems != nil {
		return nil, problems
	}
	if types == nil {
		types = workflow.Descriptors{}
	}
	r := &reader{source: newSource(src, file), file: file, types: types, branches: map[string]bool{}}
	for _, d := range types.All() {
		for _, p := range d.Ports {
			r.branches[p] = true
		}
	}
	return r, nil
}

func (r *reader) read() (*workflow.Definition, workflow.Problems) {
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

func setProperty(m *map[string]any, key string, v any) {
	if *m == nil {
		*m = map[string]any{}
	}
	(*m)[key] = v
}
