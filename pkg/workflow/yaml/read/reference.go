package read

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// freeBody reads the value of a type without a descriptor: a mapping of inputs.
func (b *activityBuilder) freeBody(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		if !b.reported {
			b.r.Shape(n, "the value of "+b.a.Type, "a mapping of its inputs")
		}
		return
	}
	for _, p := range b.r.Pairs(n) {
		b.freeInput(p)
	}
}

// freeInput reads an input of a definition used as an activity. Its name begins
// with a small letter, as everywhere; the definition may spell it otherwise.
func (b *activityBuilder) freeInput(p tree.Pair) {
	b.input(p, workflow.InputDescriptor{Name: workflow.LowerFirst(p.Name)})
}

// ref reads workflow: id, or workflow: {id, version, inputs…}.
func (b *activityBuilder) ref(n *yaml.Node) {
	b.a.Ref = &workflow.DefinitionRef{}
	if n.Kind != yaml.MappingNode {
		b.a.Ref.ID = b.r.Text(n, "the id of the definition that is run")
		if b.a.Ref.ID == "" {
			b.r.Shape(n, notation.WorkflowKey, "the id of a definition")
		}
		b.a.Type = notation.Pascal(b.a.Ref.ID)
		return
	}
	for _, p := range b.r.Pairs(n) {
		switch {
		case b.identity(p):
		case p.Name == "inputs":
			for _, in := range b.r.Entries(p.Value, "inputs") {
				b.freeInput(in)
			}
		default:
			b.freeInput(p)
		}
	}
	b.needID(n)
	b.a.Type = notation.Pascal(b.a.Ref.ID)
}

// named reads workflow: … beside a type's name.
func (b *activityBuilder) named(n *yaml.Node) {
	b.a.Ref = &workflow.DefinitionRef{}
	if n.Kind != yaml.MappingNode {
		b.a.Ref.ID = b.r.Text(n, notation.WorkflowKey)
		return
	}
	for _, p := range b.r.Pairs(n) {
		if !b.identity(p) {
			b.r.Unknown(p, notation.WorkflowKey, []string{"id", "version", "versionId"})
		}
	}
	b.needID(n)
}

func (b *activityBuilder) needID(n *yaml.Node) {
	if b.a.Ref.ID == "" && b.a.Ref.VersionID == "" {
		b.r.Problem("missing-id", n, "workflow needs the id of the definition that it runs")
	}
}

func (b *activityBuilder) identity(p tree.Pair) bool {
	switch p.Name {
	case "id":
		b.a.Ref.ID = b.r.Text(p.Value, p.Name)
	case "versionId":
		b.a.Ref.VersionID = b.r.Text(p.Value, p.Name)
	case "version":
		if v, ok := b.r.Scalar(p.Value).(float64); ok && v == float64(int32(v)) {
			b.a.Ref.Version, b.a.Version = int(v), int(v)
		} else {
			b.r.Shape(p.Value, p.Name, "a whole number")
		}
	default:
		return false
	}
	return true
}
