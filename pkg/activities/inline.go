package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// InlineFunc is the code of an Inline activity.
type InlineFunc func(ctx context.Context, x *engine.Execution) error

// Inline makes an activity that runs f, for workflows that are built in Go. Such
// a workflow has no YAML or JSON form, so it cannot be published.
func Inline(f InlineFunc) *workflow.Activity {
	return &workflow.Activity{Type: inlineType, Inputs: map[string]workflow.Expression{"code": workflow.Lit(f)}}
}

const inlineType = "Elsa.Inline"

func inline() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        inlineType,
		Description: "Runs Go code; only in workflows that are built in Go.",
		Inputs:      []workflow.InputDescriptor{{Name: "code", Type: "Go", Required: true, Description: "The function."}},
		Outputs:     []workflow.OutputDescriptor{{Name: "result", Type: "Object", Description: "What the code sets."}},
		AnyOutcome:  true,
	}, inlineCode{}
}

type inlineCode struct{}

func (inlineCode) Prepare(p *engine.Preparation) {
	v, _ := p.Constant("code")
	switch f := v.(type) {
	case nil: // reported as missing
	case InlineFunc:
		p.SetData(f)
	case func(context.Context, *engine.Execution) error:
		p.SetData(InlineFunc(f))
	default:
		p.Problem("bad-literal", p.Place("code"), "inline activities hold Go code, and cannot be written in YAML or JSON")
	}
}

func (inlineCode) Execute(ctx context.Context, x *engine.Execution) error {
	return x.Node().Data().(InlineFunc)(ctx, x)
}
