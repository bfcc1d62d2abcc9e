package yaml

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// KeyOrders gives the order of the keys of those mappings that stand for a definition, an
// activity, a case, a state or a transition, by the place where the mapping begins: as
// docs/notation.md has them. Keys that are not named come behind those that are. Mappings that
// are not there, such as inputs, have the order that their author gave them. A source that
// cannot be read has none.
func KeyOrders(src []byte, file string, types workflow.Types) map[workflow.Place][]string {
	orders := map[workflow.Place][]string{}
	if r, _ := newReader(src, file, types); r != nil {
		r.orders = orders
		_, _ = r.read() // only the orders are wanted
	}
	return orders
}

// order keeps the order of the keys of a mapping, if it is wanted.
func (r *reader) order(n *yaml.Node, keys []string) {
	if r.orders != nil {
		r.orders[r.place(n)] = keys
	}
}

// Keys that stand before what is an activity's own, and behind it.
var (
	keysBefore = []string{workflowKey, "inputs", "trigger", "result", "outputs"}
	keysBehind = []string{"timeout", "onTimeout", retryKey, giveUpKey, "variables", "commit", "logging", "mergeMode", "version", "customProperties", "metadata"}
)

// keyOrder is the order of the keys of an activity. Below a long value nobody would find who it
// is, nor what its author put above it.
func (b *activityBuilder) keyOrder(key *pair) []string {
	var keys []string
	if v := key.val; len(v.Content) > 0 && v.Style&yaml.FlowStyle == 0 {
		keys = append(keys, "id", "name")
		for _, p := range b.ps {
			if p.key == key.key {
				break
			}
			keys = append(keys, p.name)
		}
	}
	keys = append(keys, key.name, "id", "name")
	keys = append(keys, keysBefore...)
	if b.d != nil {
		for _, in := range b.d.Inputs {
			keys = append(keys, in.Name)
		}
		if b.d.Cases != "" {
			keys = append(keys, b.d.Cases)
		}
		keys = append(keys, b.d.Ports...)
	}
	for _, p := range b.ps { // other names of inputs and branches, and what is not known
		if !slices.Contains(keysBehind, p.name) {
			keys = append(keys, p.name)
		}
	}
	return append(keys, keysBehind...)
}
