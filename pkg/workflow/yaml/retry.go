package yaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// An activity with a retry is written for a RetryPolicy that has it as its body, within
// its timeout if it has one. The activity keeps its id x; around it stand
//
//	x.retry      the RetryPolicy
//	x.onGiveUp   a Sequence of what onGiveUp says
const (
	bodyPort       = "body"
	onGiveUpSuffix = "." + giveUpKey
)

// wrapRetry gives the activity inside a RetryPolicy if it has a retry.
func (b *activityBuilder) wrapRetry(a *workflow.Activity) *workflow.Activity {
	if b.retry == nil {
		if b.onGiveUp != nil {
			b.r.problem("missing-retry", b.onGiveUp.key, "onGiveUp needs a retry beside it, such as retry: {attempts: 5}")
		}
		return a
	}
	d := b.r.types.ByType(workflow.RetryType)
	if d == nil {
		b.r.problem("unknown-activity-type", b.retry.key, "there is no activity type %s, which a retry is written for", workflow.RetryType)
		return a
	}
	policy := &activityBuilder{r: b.r, d: d, prefix: b.prefix, a: &workflow.Activity{
		Type: d.Type, ID: b.a.ID + workflow.RetrySuffix, Place: b.a.Place, Ports: map[string]*workflow.Activity{bodyPort: a},
	}}
	policy.settings(b.retry.val)
	if b.onGiveUp != nil && !isNull(b.onGiveUp.val) {
		n := b.onGiveUp.val
		if n.Kind != yaml.SequenceNode { // one activity is a list of one
			n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
		}
		id := b.a.ID + onGiveUpSuffix
		policy.a.Ports[giveUpKey] = &workflow.Activity{Type: sequenceType, ID: id, Place: b.r.place(n), Activities: b.r.children(n, id)}
	}
	return policy.a
}

// settings reads what stands behind retry: the inputs, or how many attempts there are.
func (b *activityBuilder) settings(n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode && !isKind(n):
		var known []string
		for _, in := range b.d.Inputs {
			known = append(known, in.Name)
		}
		for _, p := range b.r.pairs(n) {
			if in, ok := b.d.Input(p.name); ok && in.Name == p.name {
				b.input(p, in)
			} else {
				b.r.unknown(p, retryKey, known)
			}
		}
	case isNull(n) || n.Kind == yaml.SequenceNode:
		b.r.shape(n, retryKey, "a number of attempts, or a mapping such as {attempts: 5, delay: 10s}")
	default:
		in, _ := b.d.Input("attempts")
		b.input(pair{in.Name, n, n}, in)
	}
}

// coreOf gives the activity that the text shows for a: a itself, or the one inside a Fork
// or a RetryPolicy that stands for its timeout or its retry.
func coreOf(types workflow.Types, a *workflow.Activity) *workflow.Activity {
	body := a
	if a.Type == workflow.RetryType {
		if body = a.Ports[bodyPort]; body == nil || !isRetry(types.ByType(a.Type), a) {
			return a
		}
	}
	core := body
	if inner := timedActivity(body); inner != nil && !owns(typeOf(types, inner), "timeout") {
		core = inner
	}
	if body == a {
		return core
	}
	if d := typeOf(types, core); core.ID == "" || a.ID != core.ID+workflow.RetrySuffix || owns(d, retryKey) || owns(d, giveUpKey) {
		return a
	}
	if late := a.Ports[giveUpKey]; late != nil && late.ID != core.ID+onGiveUpSuffix {
		return a
	}
	return core
}

func typeOf(types workflow.Types, a *workflow.Activity) *workflow.Descriptor {
	if a.Ref != nil {
		return nil
	}
	return types.ByType(a.Type)
}

// isRetry tells whether an activity has nothing that a retry beside its body does not say.
func isRetry(d *workflow.Descriptor, a *workflow.Activity) bool {
	bare := *a
	bare.Ports = nil
	if d == nil || !isPlain(&bare) {
		return false
	}
	for name, e := range a.Inputs {
		if in, ok := d.Input(name); !ok || in.Name != name || e.IsZero() {
			return false
		}
	}
	late := a.Ports[giveUpKey]
	if late == nil {
		return len(a.Ports) == 1
	}
	return len(a.Ports) == 2 && late.Type == sequenceType && late.Activities != nil && len(late.Inputs) == 0 && isPlain(late)
}

// retry writes the policy beside its activity.
func (w *writer) retry(m *yaml.Node, a *workflow.Activity) {
	settings := mapping()
	for _, in := range w.descriptor(a).Inputs {
		if e, ok := a.Inputs[in.Name]; ok {
			put(settings, in.Name, w.expression(e, in))
		}
	}
	if isSmall(settings) || len(settings.Content) == 0 {
		flow(settings)
	}
	put(m, retryKey, settings)
	if late := a.Ports[giveUpKey]; late != nil {
		put(m, giveUpKey, w.children(late.Activities, late.ID))
	}
}
