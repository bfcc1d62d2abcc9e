package read

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// Definition reads a definition from YAML. file names the source in problems and, when
// the definition has no id, its base name is the id. types tells what activities
// look like.
//
// The definition is given as far as it could be read, nil if not at all. With any
// problem the definition must not be published. It may be checked further to find more
// problems, some of which then repeat a place that is reported already.
func Definition(src []byte, file string, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	r, problems := newReader(src, file, types)
	if r == nil {
		return nil, problems
	}
	return r.read()
}

// WithTree is [Definition] for those who want to know how the text is written, too: see gets the
// tree that the YAML library made of it, before aliases are replaced, and may not keep it. It
// is not called for a text that is no YAML. When the context ends, the text is read no further,
// which is a problem then.
func WithTree(ctx context.Context, src []byte, types workflow.Types, see func(*yaml.Node)) (*workflow.Definition, workflow.Problems) {
	r, problems := newReader(src, "", types)
	if r == nil {
		return nil, problems
	}
	r.Show(ctx, see)
	return r.read()
}

// reader turns nodes into the domain's types and reports problems.
type reader struct {
	*tree.Source
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
	r := &reader{Source: tree.New(src, file), file: file, types: types, branches: map[string]bool{}}
	for _, d := range types.All() {
		for _, p := range d.Ports {
			r.branches[p] = true
		}
	}
	return r, nil
}

func (r *reader) read() (*workflow.Definition, workflow.Problems) {
	root := r.Parse()
	if root == nil || r.Full {
		return nil, r.Report.Problems()
	}
	if root.Kind != yaml.MappingNode {
		r.Shape(root, "a definition", "a mapping with id and root")
		return nil, r.Report.Problems()
	}
	return r.definition(root), r.Report.Problems()
}

func (r *reader) definition(n *yaml.Node) *workflow.Definition {
	d := &workflow.Definition{Place: r.Place(n)}
	r.order(n, notation.TopKeys)
	pairs := r.Pairs(n)
	for _, p := range pairs {
		r.top(p, d)
	}
	if !slices.ContainsFunc(pairs, func(p tree.Pair) bool { return p.Name == "root" }) {
		r.Problem("missing-root", n, "the definition has no root; that is the activity, or list of activities, that runs")
	}
	if d.ID == "" && !has(n, "id") {
		r.identify(d, n)
	}
	if !r.Full {
		r.Report.Oversize(d.Root)
	}
	return d
}

// top reads a key of the definition itself.
func (r *reader) top(p tree.Pair, d *workflow.Definition) {
	switch p.Name {
	case "$schema":
	case "id":
		d.ID = r.Text(p.Value, "id")
		if err := workflow.CheckID("id", d.ID); err != nil {
			r.Problem("invalid-id", p.Value, "%v", err)
		}
	case "name":
		d.Name = r.Text(p.Value, "name")
	case "description":
		d.Description = r.Text(p.Value, "description")
	case "inputs":
		d.Inputs = r.inputs(p.Value)
	case "variables":
		d.Variables = r.variables(p.Value)
	case "outputs":
		d.Outputs = r.outputs(p.Value)
	case "outcomes":
		d.Outcomes = r.Texts(p.Value, "outcomes")
	case "labels":
		d.Labels = r.labels(p.Value)
	case "options":
		r.options(p.Value, d)
	case "customProperties":
		for k, v := range r.Dict(p.Value, p.Name) {
			setProperty(&d.CustomProperties, k, v)
		}
	case "root":
		d.Root = r.activity(p.Value, notation.Scope{ID: "root", Root: true})
		if d.Root == nil && tree.IsNull(p.Value) {
			r.Shape(p.Value, "root", "an activity or a list of activities")
		}
	default:
		r.Unknown(p, "a definition", notation.TopKeys)
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
	r.Problem("missing-id", n, "the definition has no id; give it one, such as id: order-approval")
}

func setProperty(m *map[string]any, key string, v any) {
	if *m == nil {
		*m = map[string]any{}
	}
	(*m)[key] = v
}
