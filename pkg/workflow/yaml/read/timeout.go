package read

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// wrapTimeout gives the finished activity, inside a Fork if it has a timeout.
func (b *activityBuilder) wrapTimeout() *workflow.Activity {
	if b.timeout.IsZero() {
		if b.onTimeout != nil {
			b.r.Problem("missing-timeout", b.onTimeout.Key, "onTimeout needs a timeout beside it, such as timeout: 48h")
		}
		return b.a
	}
	id := b.a.ID
	late := &workflow.Activity{Type: notation.SequenceType, ID: id + wrap.OnTimeoutSuffix, Place: b.timeout.Place}
	late.Activities = []*workflow.Activity{{
		Type: notation.DelayType, ID: id + wrap.DelaySuffix, Place: b.timeout.Place,
		Inputs: map[string]workflow.Expression{wrap.TimeSpan: b.timeout},
	}}
	if b.onTimeout != nil && !tree.IsNull(b.onTimeout.Value) {
		n := b.onTimeout.Value
		if n.Kind != yaml.SequenceNode { // one activity is a list of one
			n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
		}
		late.Activities = append(late.Activities, b.r.children(n, late.ID)...)
	}
	return &workflow.Activity{
		Type: notation.ForkType, ID: id + workflow.TimeoutSuffix, Place: b.a.Place,
		Inputs:     map[string]workflow.Expression{wrap.JoinMode: {Kind: workflow.Literal, Value: wrap.WaitAny, Place: b.timeout.Place}},
		Activities: []*workflow.Activity{b.a, late},
	}
}
