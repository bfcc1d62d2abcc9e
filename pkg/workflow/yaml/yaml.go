package yaml

import (
	"context"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/read"
	"github.com/weft-run/weft/pkg/workflow/yaml/schema"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
	"github.com/weft-run/weft/pkg/workflow/yaml/write"
)

// Read reads a definition from YAML. file names the source in problems and, when
// the definition has no id, its base name is the id. types tells what activities
// look like.
//
// Read gives the definition as far as it could read it, nil if not at all. With any
// problem the definition must not be published. It may be checked further to find more
// problems, some of which then repeat a place that is reported already.
func Read(src []byte, file string, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	return read.Definition(src, file, types)
}

// ReadTree is [Read] for those who want to know how the text is written, too: see gets the
// tree that the YAML library made of it, before aliases are replaced, and may not keep it. It
// is not called for a text that is no YAML. When the context ends, the text is read no further,
// which is a problem then.
func ReadTree(ctx context.Context, src []byte, types workflow.Types, see func(*yaml.Node)) (*workflow.Definition, workflow.Problems) {
	return read.WithTree(ctx, src, types, see)
}

// KeyOrders gives the order of the keys of those mappings that stand for a definition, an
// activity, a case, a state or a transition, by the place where the mapping begins: as
// docs/notation.md has them. Keys that are not named come behind those that are. Mappings that
// are not there, such as inputs, have the order that their author gave them. A source that
// cannot be read has none.
func KeyOrders(src []byte, file string, types workflow.Types) map[workflow.Place][]string {
	return read.KeyOrders(src, file, types)
}

// Value reads a document as Go's JSON types, with numbers as definitions have
// them. An error is the first problem.
func Value(src []byte) (any, error) { return tree.Value(src) }

// Readable gives the text as the library takes it, each character at its place, and what restores the tree that it makes of it:
// go.yaml.in/yaml v4.0.0 reads YAML 1.2, and refuses a document that says so; and it refuses pairs of surrogates, which YAML
// takes from JSON.
func Readable(src []byte) (out []byte, restore func(*yaml.Node)) { return tree.Readable(src) }

// Write writes a definition as YAML. Equal definitions give equal bytes. The package's
// doc says what YAML leaves out; that is lost.
func Write(def *workflow.Definition, types workflow.Types) ([]byte, error) {
	return write.Definition(def, types)
}

// Schema gives the JSON Schema (draft 2020-12) of the notation with these types,
// for editors. It is more lenient than [Read] about values, since expressions
// may stand almost anywhere, and as strict about keys and about inputs that are required.
func Schema(types workflow.Types) []byte { return schema.For(types) }

// CommonKeys are the keys that may stand beside the type of any activity.
func CommonKeys() []string { return slices.Clone(notation.CommonNames) }
