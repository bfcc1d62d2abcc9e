package elsajson

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

var bom = []byte("\xef\xbb\xbf")

// Looks tells whether src is meant as JSON rather than YAML: after a byte order
// mark and white space it begins with { or [.
func Looks(src []byte) bool {
	src = bytes.TrimLeft(bytes.TrimPrefix(src, bom), " \t\r\n")
	return len(src) > 0 && (src[0] == '{' || src[0] == '[')
}

// Unwrap gives the definition inside the designer's save request {"model": …,
// "publish": …}, and what publish says, nil if it says nothing. Other sources
// are given back as they are. [Read] unwraps by itself.
func Unwrap(src []byte) (model []byte, publish *bool) {
	root, _, err := jsontree.Parse(bytes.TrimPrefix(src, bom))
	if err != nil || !root.IsRequest() {
		return src, nil
	}
	if p := root.Get("publish"); p != nil && p.Kind == jsontree.Boolean {
		publish = &p.Yes
	}
	m := root.Get("model")
	return bytes.TrimPrefix(src, bom)[m.Off:m.End], publish
}

// Read reads a definition from Elsa's JSON, alone or inside a save request.
// file names the source in problems. types tells what activities look like; nil
// and unknown types are read by the shape of their fields.
//
// The definition is given as far as it could be read, nil if not at all. With
// any problem it is not to be published; it may be checked further to find more
// problems, some of which then repeat a place that is already reported.
func Read(src []byte, file string, types workflow.Types) (*workflow.Definition, workflow.Problems) {
	if problems := workflow.CheckSize(src, file); problems != nil {
		return nil, problems
	}
	src = bytes.TrimPrefix(src, bom)
	r := newReader(src, file, types)
	root, dups, err := jsontree.Parse(src)
	if err != nil {
		r.report.Problem(err.Code, r.report.AtByte(err.Off, err.Ptr), "%s", err.Msg)
		return nil, r.report.Problems()
	}
	for _, d := range dups {
		r.twice(d.Off, d.Ptr, d.Name)
	}
	c := cur{root, ""}
	if root.IsRequest() {
		for _, m := range root.Members {
			if strings.EqualFold(m.Name, "model") {
				c = c.in(m)
			}
		}
	}
	if c.Kind != jsontree.Object {
		r.shape(c, "a definition", "an object")
		return nil, r.report.Problems()
	}
	def := r.definition(c)
	r.identify(def, c)
	if def.Root == nil {
		if of2 := c.Get("activities"); c.Get("root") == nil && of2 != nil && of2.Kind == jsontree.Array {
			r.problem("missing-root", c, "the definition has activities where a root is expected, as Elsa 1 and 2 write it; Weft reads definitions of Elsa 3: draw it again in Elsa 3, or write it as YAML (docs/notation.md)")
		} else if c.Get("root") == nil {
			r.problem("missing-root", c, "the definition has no root; that is the activity that runs")
		}
	} else if !r.full {
		r.report.Oversize(def.Root)
	}
	return def, r.report.Problems()
}

// identify gives a definition without definitionId an id: its version's id, its
// name, or the name of its file.
func (r *reader) identify(def *workflow.Definition, c cur) {
	if def.ID == "" {
		base := strings.TrimSuffix(filepath.Base(r.file), filepath.Ext(r.file))
		for _, id := range []string{def.VersionID, slug(def.Name), slug(base)} {
			if workflow.CheckID("id", id) == nil {
				def.ID = id
				return
			}
		}
		r.problem("missing-id", c, "the definition has no definitionId")
		return
	}
	if err := workflow.CheckID("definitionId", def.ID); err != nil {
		at := c
		if n := c.Get("definitionId"); n != nil {
			at = cur{n, c.ptr + "/definitionId"}
		}
		r.problem("invalid-id", at, "%v", err)
	}
}

// slug makes an id from a name: lower case, with - between words.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return strings.Join(words, "-")
}
