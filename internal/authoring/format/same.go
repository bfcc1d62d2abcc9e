package format

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// same tells whether two documents have the same values. Keys of a mapping may be in another
// order.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) || a.Value != b.Value {
		return false
	}
	if a.Kind != yaml.MappingNode {
		return slices.EqualFunc(a.Content, b.Content, same)
	}
	of, with := pairs(a), pairs(b)
	byName := func(p, q pair) int { return cmp.Compare(p.key.Value, q.key.Value) }
	slices.SortStableFunc(of, byName)
	slices.SortStableFunc(with, byName)
	return slices.EqualFunc(of, with, func(p, q pair) bool { return same(p.key, q.key) && same(p.value, q.value) })
}

// pair is one entry of a mapping.
type pair struct{ key, value *yaml.Node }

func pairs(n *yaml.Node) []pair {
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, pair{n.Content[i], n.Content[i+1]})
	}
	return out
}

func sameTexts(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
