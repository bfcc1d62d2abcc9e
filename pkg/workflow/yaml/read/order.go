package read

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
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
		r.orders[r.Place(n)] = keys
	}
}

// Keys that stand before what is an activity's own, and behind it.
var (
	keysBefore = []string{notation.WorkflowKey, "inputs", "trigger", "result", "outputs"}
	keysBehind = []string{"timeout", "onTimeout", notation.RetryKey, notation.GiveUpKey, notation.UndoKey, "variables", "commit", "logging", "mergeMode", "version", "customProperties", "metadata"}
)

// keyOrder is the order of the keys of an activity. Below a long value nobody would find who it
// is, nor what its author put above it.
func (b *activityBuilder) keyOrder(key *tree.Pair) []string {
	var keys []string
	if v := key.Value; len(v.Content) > 0 && v.Style&yaml.FlowStyle == 0 {
		keys = append(keys, "id", "name")
		for _, p := range b.ps {
			if p.Key == key.Key {
				break
			}
			keys = append(keys, p.Name)
		}
	}
	keys = append(keys, key.Name, "id", "name")
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
		if !slices.Contains(keysBehind, p.Name) {
			keys = append(keys, p.Name)
		}
	}
	return append(keys, keysBehind...)
}
