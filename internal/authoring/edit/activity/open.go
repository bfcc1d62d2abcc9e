package activity

import (
	"bytes"
	"context"
	"errors"

	yamllib "go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Open reads a text that is to be edited.
func Open(ctx context.Context, src []byte, json bool, types workflow.Types) (*Sites, workflow.Problems) {
	d := &Sites{Doc: &text.Doc{JSON: json, EOL: "\n"}, Types: types, At: map[*text.Node]*Site{}, of: map[*workflow.Activity]*Site{}}
	if bytes.HasPrefix(src, byteOrderMark) {
		d.BOM, src = byteOrderMark, src[len(byteOrderMark):]
	}
	if problems := workflow.CheckSize(src, ""); problems != nil {
		return nil, problems
	}
	d.Lines = text.NewLines(src)
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		d.EOL = "\r\n"
	}
	odd := oddBreak(src, json)
	def, problems, treeErr := d.read(ctx, odd < 0)
	if ctx.Err() != nil {
		return nil, workflow.Problems{{Code: "given-up", Detail: "the edit was given up, since its time was over or nobody waits for it any more; nothing is changed"}}
	}
	if def == nil || def.Root == nil {
		if len(problems) == 0 {
			problems = workflow.Problems{{Code: "missing-root", Detail: "the definition has no root yet; write one, such as root: []"}}
		}
		return nil, problems
	}
	for _, p := range problems {
		if p.Code == "too-deep" || p.Code == "too-large" || p.Code == "too-many-activities" || p.Code == "bad-yaml" {
			return nil, problems
		}
	}
	if odd >= 0 {
		line, column := d.Place(odd)
		return nil, workflow.Problems{{Code: "odd-line-break", Place: workflow.Place{Line: line, Column: column},
			Detail: "this character ends a line for YAML and for few editors; write an ordinary line end, or an escape between double quotes"}}.WithExcerpts(src)
	}
	if treeErr != nil {
		return nil, workflow.Problems{{Code: "edit-refused", Detail: treeErr.Error()}}
	}
	d.def = def
	d.locate()
	return d, nil
}

// read reads the definition, and the tree of its text if that can be had.
func (d *Sites) read(ctx context.Context, tree bool) (def *workflow.Definition, problems workflow.Problems, err error) {
	if d.JSON {
		if def, problems = elsajson.Read(d.Src, "", d.Types); def != nil && ctx.Err() == nil {
			d.Root, err = text.ReadJSON(d.Src)
		}
		return def, problems, err
	}
	err = errors.New("there is no definition here")
	def, problems = yaml.ReadTree(ctx, d.Src, d.Types, func(n *yamllib.Node) {
		if tree {
			d.Root, err = text.ReadYAML(d.Lines, n)
		}
	})
	return def, problems, err
}

// oddBreak finds what breaks lines in YAML beside \n and \r\n; -1: nothing does.
func oddBreak(src []byte, json bool) int {
	if json {
		return -1
	}
	for i, c := range src {
		if c == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			return i
		}
	}
	for _, s := range []string{"\u0085", "\u2028", "\u2029"} {
		if i := bytes.Index(src, []byte(s)); i >= 0 {
			return i
		}
	}
	return -1
}
