package notation

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Notation is how a definition is written.
type Notation string

// The notations.
const (
	YAML Notation = "yaml"
	JSON Notation = "json" // Elsa's
)

// ContentType is the media type of the notation.
func (n Notation) ContentType() string {
	if n == JSON {
		return "application/json"
	}
	return "application/yaml"
}

// Of finds the notation by the content type, else by the file's name,
// else by the look of the content.
func Of(contentType, file string, src []byte) Notation {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	switch {
	case strings.HasSuffix(media, "yaml"):
		return YAML
	case strings.HasSuffix(media, "/json"), strings.HasSuffix(media, "+json"):
		return JSON
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".yaml", ".yml":
		return YAML
	case ".json":
		return JSON
	}
	if elsajson.Looks(src) {
		return JSON
	}
	return YAML
}

// Read parses a definition. One without an id gets it from its file's name (in
// Elsa's JSON from its version's id or its name first), or else from its name.
func Read(n Notation, src []byte, file string, registry *engine.Registry) (*workflow.Definition, workflow.Problems) {
	var def *workflow.Definition
	var problems workflow.Problems
	if n == JSON {
		def, problems = elsajson.Read(src, file, registry)
	} else {
		def, problems = yaml.Read(src, file, registry)
	}
	if def != nil && def.ID == "" {
		if id := slug(def.Name); id != "" {
			def.ID = id
			problems = slices.DeleteFunc(problems, func(p workflow.Problem) bool { return p.Code == "missing-id" })
		}
	}
	return def, problems.WithExcerpts(src)
}

// Write writes a definition in a notation.
func Write(n Notation, def *workflow.Definition, registry *engine.Registry) ([]byte, error) {
	if elsajson.IsBound(def) != (n == JSON) {
		if err := elsajson.Bound(def); err != nil {
			return nil, err
		}
	}
	if n == JSON {
		return elsajson.Write(def, registry)
	}
	return yaml.Write(def, registry)
}

// slug makes an id from a name: lower case, with - between words.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	id := strings.Join(words, "-")
	return strings.TrimRight(id[:min(len(id), workflow.MaxIDLength)], "-")
}

// volatile are the fields of an export in Elsa's JSON that change with each
// export, or that publishing sets.
var volatile = []string{
	"$schema", "id", "definitionid", "version", "createdat", "modifiedat", "toolversion", "islatest", "ispublished",
	"isreadonly", "issystem", "links", "tenantid", "providername", "materializername", "materializercontext", "originalsource",
}

// ContentHash identifies what a source says, in any notation; see the
// package documentation.
func ContentHash(n Notation, src []byte) (string, error) {
	var tree any
	if n == JSON {
		model, _ := elsajson.Unwrap(src)
		if err := workflow.Unmarshal(bytes.TrimPrefix(model, []byte("\xef\xbb\xbf")), &tree); err != nil {
			return "", fmt.Errorf("hash definition: %w", err)
		}
		if top, ok := tree.(map[string]any); ok {
			maps.DeleteFunc(top, func(k string, _ any) bool { return slices.Contains(volatile, strings.ToLower(k)) })
		}
	} else {
		var err error
		if tree, err = yaml.Value(src); err != nil {
			return "", fmt.Errorf("hash definition: %w", err)
		}
	}
	return workflow.Hash("definition", tree)
}
