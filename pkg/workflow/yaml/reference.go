package yaml

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// freeBody reads the value of a type without a descriptor: a mapping of inputs.
func (b *activityBuilder) freeBody(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		if !b.reported {
			b.r.shape(n, "the value of "+b.a.Type, "a mapping of its inputs")
		}
		return
	}
	for _, p := range b.r.pairs(n) {
		b.freeInput(p)
	}
}

// freeInput reads an input of a definition used as an activity. Its name begins
// with a small letter, as everywhere; the definition may spell it otherwise.
func (b *activityBuilder) freeInput(p pair) {
	b.input(p, workflow.InputDescriptor{Name: workflow.LowerFirst(p.name)})
}

// ref reads workflow: id, or workflow: {id, version, inputs…}.
func (b *activityBuilder) ref(n *yaml.Node) {
	b.a.Ref = &workflow.DefinitionRef{}
	if n.Kind != yaml.MappingNode {
		b.a.Ref.ID = b.r.text(n, "the id of the definition that is run")
		if b.a.Ref.ID == "" {
			b.r.shape(n, workflowKey, "the id of a definition")
		}
		b.a.Type = pascal(b.a.Ref.ID)
		return
	}
	for _, p := range b.r.pairs(n) {
		switch {
		case b.identity(p):
		case p.name == "inputs":
			for _, in := range b.r.entries(p.val, "inputs") {
				b.freeInput(in)
			}
		default:
			b.freeInput(p)
		}
	}
	b.needID(n)
	b.a.Type = pascal(b.a.Ref.ID)
}

// named reads workflow: … beside a type's name.
func (b *activityBuilder) named(n *yaml.Node) {
	b.a.Ref = &workflow.DefinitionRef{}
	if n.Kind != yaml.MappingNode {
		b.a.Ref.ID = b.r.text(n, workflowKey)
		return
	}
	for _, p := range b.r.pairs(n) {
		if !b.identity(p) {
			b.r.unknown(p, workflowKey, []string{"id", "version", "versionId"})
		}
	}
	b.needID(n)
}

func (b *activityBuilder) needID(n *yaml.Node) {
	if b.a.Ref.ID == "" && b.a.Ref.VersionID == "" {
		b.r.problem("missing-id", n, "workflow needs the id of the definition that it runs")
	}
}

func (b *activityBuilder) identity(p pair) bool {
	switch p.name {
	case "id":
		b.a.Ref.ID = b.r.text(p.val, p.name)
	case "versionId":
		b.a.Ref.VersionID = b.r.text(p.val, p.name)
	case "version":
		if v, ok := b.r.scalar(p.val).(float64); ok && v == float64(int32(v)) {
			b.a.Ref.Version, b.a.Version = int(v), int(v)
		} else {
			b.r.shape(p.val, p.name, "a whole number")
		}
	default:
		return false
	}
	return true
}

// pascal makes the type name that the designer would give a definition.
func pascal(id string) string {
	var out strings.Builder
	for _, w := range strings.FieldsFunc(id, func(c rune) bool { return strings.ContainsRune("-_.: ", c) }) {
		out.WriteString(workflow.UpperFirst(w))
	}
	if out.Len() == 0 {
		return "Workflow"
	}
	return out.String()
}
