package read

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// wrapRetry gives the activity inside a RetryPolicy if it has a retry.
func (b *activityBuilder) wrapRetry(a *workflow.Activity) *workflow.Activity {
	if b.retry == nil {
		if b.onGiveUp != nil {
			b.r.Problem("missing-retry", b.onGiveUp.Key, "onGiveUp needs a retry beside it, such as retry: {attempts: 5}")
		}
		return a
	}
	d := b.r.types.ByType(workflow.RetryType)
	if d == nil {
		b.r.Problem("unknown-activity-type", b.retry.Key, "there is no activity type %s, which a retry is written for", workflow.RetryType)
		return a
	}
	policy := &activityBuilder{r: b.r, d: d, prefix: b.prefix, a: &workflow.Activity{
		Type: d.Type, ID: b.a.ID + workflow.RetrySuffix, Place: b.a.Place, Ports: map[string]*workflow.Activity{wrap.BodyPort: a},
	}}
	policy.settings(b.retry.Value)
	if b.onGiveUp != nil && !tree.IsNull(b.onGiveUp.Value) {
		n := b.onGiveUp.Value
		if n.Kind != yaml.SequenceNode { // one activity is a list of one
			n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
		}
		id := b.a.ID + wrap.OnGiveUpSuffix
		policy.a.Ports[notation.GiveUpKey] = &workflow.Activity{Type: notation.SequenceType, ID: id, Place: b.r.Place(n), Activities: b.r.children(n, id)}
	}
	return policy.a
}

// settings reads what stands behind retry: the inputs, or how many attempts there are.
func (b *activityBuilder) settings(n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode && !notation.IsKind(n):
		var known []string
		for _, in := range b.d.Inputs {
			known = append(known, in.Name)
		}
		for _, p := range b.r.Pairs(n) {
			if in, ok := b.d.Input(p.Name); ok && in.Name == p.Name {
				b.input(p, in)
			} else {
				b.r.Unknown(p, notation.RetryKey, known)
			}
		}
	case tree.IsNull(n) || n.Kind == yaml.SequenceNode:
		b.r.Shape(n, notation.RetryKey, "a number of attempts, or a mapping such as {attempts: 5, delay: 10s}")
	default:
		in, _ := b.d.Input("attempts")
		b.input(tree.Pair{Name: in.Name, Key: n, Value: n}, in)
	}
}
