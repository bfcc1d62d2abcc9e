package catalog

import (
	"cmp"
	"context"

	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Source is a stored version as its author wrote it, or converted.
type Source struct {
	ID        string
	Version   int
	Published bool // it is the published one
	Notation  notation.Notation
	Content   []byte
	Converted bool // Content is not what the author wrote
}

// Source gives a version of a definition; 0 is the published one, or the latest
// if none is published. In the notation in which it was published, or if
// as is "", it gives the bytes as they came; otherwise a conversion.
func (c *Catalog) Source(ctx context.Context, id string, version int, as notation.Notation) (Source, error) {
	h, version, err := c.sourceHead(ctx, id, version)
	if err != nil {
		return Source{}, err
	}
	v, err := c.version(ctx, id, version)
	if err != nil {
		return Source{}, err
	}
	out := Source{ID: id, Version: version, Published: version == h.Published, Notation: notation.Notation(v.Notation), Content: []byte(v.Source)}
	if as == "" || as == out.Notation {
		return out, nil
	}
	def, view, problems := c.readStored(v)
	if len(problems) > 0 {
		return Source{}, c.notRunnable(v, problems)
	}
	out.Notation, out.Converted = as, true
	if out.Content, err = notation.Write(as, def, view.Registry); err != nil {
		return Source{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: "definition " + id + " cannot be written as " + string(as) + ": " + err.Error(), Err: err}
	}
	return out, nil
}

// Definition gives a version of a definition as its source says it, also one that
// cannot be compiled here; 0 is the published one, or the latest if none is published.
func (c *Catalog) Definition(ctx context.Context, id string, version int) (*workflow.Definition, error) {
	_, version, err := c.sourceHead(ctx, id, version)
	if err != nil {
		return nil, err
	}
	v, err := c.version(ctx, id, version)
	if err != nil {
		return nil, err
	}
	def, _, problems := c.readStored(v)
	if def == nil || def.Root == nil {
		return nil, c.notRunnable(v, problems)
	}
	return def, nil
}

func (c *Catalog) sourceHead(ctx context.Context, id string, version int) (*store.DefinitionHead, int, error) {
	if version != 0 {
		h, err := c.Standing(ctx, id, version)
		return &h, version, err
	}
	h, err := c.head(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	return h, cmp.Or(h.Published, h.Latest), nil
}

// Schema is the JSON Schema of the YAML notation with the activities that this
// catalogue knows, for editors.
func (c *Catalog) Schema() []byte { return yaml.Schema(c.Types()) }
